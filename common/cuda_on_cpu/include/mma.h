/// \file
/// Replaces the CUDA header of the same name: matrix products by a warp (nvcuda::wmma).
///
/// CUDA does not specify which lane contains which element of a matrix. On the CPU device, element
/// i of a lane is element 32 i + lane of the tile in row-major order.

#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

/// Rounds a value to tf32, which has 10 fraction bits, as tensor cores require.
inline float __float_to_tf32(float number) {
  const auto bits = cuda_on_cpu::bit_cast<std::uint32_t>(number);
  return cuda_on_cpu::bit_cast<float>((bits + 0x1000u) & 0xffff'e000u);
}

}  // namespace wmma
}  // namespace nvcuda

namespace cuda_on_cpu {
namespace wmma {

/// The extents of a matrix in a product of an m × k and a k × n matrix.
template <typename Use, int m, int n, int k>
struct Extent {
  static constexpr int rows = std::is_same<Use, nvcuda::wmma::matrix_b>::value ? k : m;
  static constexpr int columns = std::is_same<Use, nvcuda::wmma::matrix_a>::value ? k : n;
};

/// The type in which a fragment stores elements of type `Element`.
template <typename Element>
struct Kept {
  using Type = Element;
};
template <>
struct Kept<nvcuda::wmma::precision::tf32> {
  using Type = float;
};

/// The type in which products are summed. For integers, this type is wider than the elements, so
/// that a sum of 16 products of 8-bit integers does not overflow.
template <typename Element>
using Sum =
    std::conditional_t<std::is_integral<Element>::value, std::int32_t,
                       std::conditional_t<std::is_same<Element, double>::value, double, float>>;

template <typename Element>
constexpr bool is_element_of(int m, int n, int k) {
  if (std::is_same<Element, double>::value) return m == 8 && n == 8 && k == 4;
  if (std::is_same<Element, nvcuda::wmma::precision::tf32>::value)
    return m == 16 && n == 16 && k == 8;
  return k == 16 && m * n == 256 && (m == 8 || m == 16 || m == 32);
}

}  // namespace wmma
}  // namespace cuda_on_cpu

namespace nvcuda {
namespace wmma {

/// The elements of a matrix that belong to one lane.
template <typename Use, int m, int n, int k, typename Element, typename Layout = void>
class fragment {
 public:
  static_assert(std::is_same<Use, accumulator>::value ||
                    cuda_on_cpu::wmma::is_element_of<Element>(m, n, k),
                "tensor cores have no product of this shape and type");
  using element_type = typename cuda_on_cpu::wmma::Kept<Element>::Type;
  using storage_element_type = element_type;
  static constexpr int rows = cuda_on_cpu::wmma::Extent<Use, m, n, k>::rows;
  static constexpr int columns = cuda_on_cpu::wmma::Extent<Use, m, n, k>::columns;
  static constexpr int num_elements = rows * columns / 32;
  static constexpr int num_storage_elements = num_elements;

  element_type x[num_elements];
};

template <typename Use, int m, int n, int k, typename Element, typename Layout, typename Value>
__forceinline__ void fill_fragment(fragment<Use, m, n, k, Element, Layout>& matrix,
                                   const Value& value) {
  for (auto& element : matrix.x)
    element = static_cast<typename std::decay<decltype(element)>::type>(value);
}

}  // namespace wmma
}  // namespace nvcuda

namespace cuda_on_cpu {
namespace wmma {

/// Waits for all lanes of the warp, but does not order their memory accesses.
__forceinline__ void meet() { warp_collective(all_lanes, nullptr, nullptr); }

/// Calls `move(element, offset in memory)` for each element of a lane.
template <typename Fragment, typename Move>
__forceinline__ void for_each_element(Fragment& matrix, unsigned pitch, bool by_rows,
                                      const Move& move) {
  for (int i = 0; i < Fragment::num_elements; ++i) {
    const unsigned number = 32u * i + lane();
    const unsigned row = number / Fragment::columns, column = number % Fragment::columns;
    move(matrix.x[i], by_rows ? row * pitch + column : column * pitch + row);
  }
}

/// The addresses of the fragments of one lane. The fragments of all lanes form the matrices.
template <typename FragmentD, typename FragmentA, typename FragmentB, typename FragmentC>
struct Product {
  FragmentD* d;
  const FragmentA* a;
  const FragmentB* b;
  const FragmentC* c;
};

/// Assembles the fragments of all lanes into a row-major matrix. Elements of lanes that do not
/// participate are zero.
template <typename Fragment, typename Record, typename Wide>
CUDA_ON_CPU_NOT_ANALYSED void gather(void* const* records, const Fragment* Record::*matrix,
                                     Wide* whole) {
  for (int lane = 0; lane < 32; ++lane) {
    const auto* record = static_cast<const Record*>(records[lane]);
    for (int e = 0; e < Fragment::num_elements; ++e)
      whole[32 * e + lane] =
          record == nullptr ? Wide(0) : static_cast<Wide>((record->*matrix)->x[e]);
  }
}

template <typename To>
To saturated(std::int64_t sum) {
  constexpr std::int64_t least = (std::numeric_limits<To>::min)(),
                         most = (std::numeric_limits<To>::max)();
  return static_cast<To>(sum < least ? least : sum > most ? most : sum);
}

template <typename FragmentD, typename FragmentA, typename FragmentB, typename FragmentC,
          bool saturates>
CUDA_ON_CPU_NOT_ANALYSED void multiply(void* const* records) {
  using Record = Product<FragmentD, FragmentA, FragmentB, FragmentC>;
  using To = typename FragmentD::element_type;
  using Wide = Sum<typename FragmentA::element_type>;
  using Total = std::conditional_t<std::is_integral<Wide>::value, std::int64_t, Wide>;
  constexpr int depth = FragmentA::columns, columns = FragmentD::columns,
                elements = FragmentD::rows * FragmentD::columns;
  Wide a[FragmentD::rows * depth], b[depth * columns];
  Total sums[elements];
  gather(records, &Record::a, a);
  gather(records, &Record::b, b);
  gather(records, &Record::c, sums);
  for (int i = 0; i < FragmentD::rows; ++i) {
    Wide row[columns] = {};
    for (int l = 0; l < depth; ++l)
      for (int j = 0; j < columns; ++j) row[j] += a[i * depth + l] * b[l * columns + j];
    for (int j = 0; j < columns; ++j) sums[i * columns + j] += row[j];
  }
  for (int lane = 0; lane < 32; ++lane)
    if (const auto* record = static_cast<const Record*>(records[lane]))
      for (int e = 0; e < FragmentD::num_elements; ++e) {
        const Total sum = sums[32 * e + lane];
        if constexpr (saturates && std::is_integral<To>::value)
          record->d->x[e] = saturated<To>(sum);
        else
          record->d->x[e] = static_cast<To>(sum);
      }
}

}  // namespace wmma
}  // namespace cuda_on_cpu

namespace nvcuda {
namespace wmma {

template <typename Use, int m, int n, int k, typename Element, typename Layout, typename Memory>
__forceinline__ void load_matrix_sync(fragment<Use, m, n, k, Element, Layout>& matrix,
                                      const Memory* from, unsigned pitch) {
  cuda_on_cpu::wmma::meet();
  cuda_on_cpu::wmma::for_each_element(
      matrix, pitch, std::is_same<Layout, row_major>::value,
      [from](auto& element, unsigned place) { element = from[place]; });
}
template <int m, int n, int k, typename Element, typename Memory>
__forceinline__ void load_matrix_sync(fragment<accumulator, m, n, k, Element>& matrix,
                                      const Memory* from, unsigned pitch, layout_t layout) {
  cuda_on_cpu::wmma::meet();
  cuda_on_cpu::wmma::for_each_element(
      matrix, pitch, layout == mem_row_major,
      [from](auto& element, unsigned place) { element = from[place]; });
}
template <int m, int n, int k, typename Element, typename Memory>
__forceinline__ void store_matrix_sync(Memory* to,
                                       const fragment<accumulator, m, n, k, Element>& matrix,
                                       unsigned pitch, layout_t layout) {
  cuda_on_cpu::wmma::meet();
  cuda_on_cpu::wmma::for_each_element(
      matrix, pitch, layout == mem_row_major,
      [to](const auto& element, unsigned place) { to[place] = element; });
}

/// Computes D = A B + C. If `saturates`, integer results out of range become the nearest
/// representable value.
template <int m, int n, int k, typename ElementD, typename ElementC, typename ElementA,
          typename ElementB, typename LayoutA, typename LayoutB>
void mma_sync(fragment<accumulator, m, n, k, ElementD>& d,
              const fragment<matrix_a, m, n, k, ElementA, LayoutA>& a,
              const fragment<matrix_b, m, n, k, ElementB, LayoutB>& b,
              const fragment<accumulator, m, n, k, ElementC>& c, bool saturates = false) {
  using FragmentD = fragment<accumulator, m, n, k, ElementD>;
  using FragmentA = fragment<matrix_a, m, n, k, ElementA, LayoutA>;
  using FragmentB = fragment<matrix_b, m, n, k, ElementB, LayoutB>;
  using FragmentC = fragment<accumulator, m, n, k, ElementC>;
  cuda_on_cpu::wmma::Product<FragmentD, FragmentA, FragmentB, FragmentC> record{&d, &a, &b, &c};
  cuda_on_cpu::warp_collective(
      cuda_on_cpu::all_lanes, &record,
      saturates ? cuda_on_cpu::wmma::multiply<FragmentD, FragmentA, FragmentB, FragmentC, true>
                : cuda_on_cpu::wmma::multiply<FragmentD, FragmentA, FragmentB, FragmentC, false>);
}

}  // namespace wmma
}  // namespace nvcuda
