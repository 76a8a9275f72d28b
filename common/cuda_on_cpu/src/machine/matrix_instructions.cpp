/// \file
/// Implements ldmatrix, stmatrix and mma.sync: assembles matrices from the fragments of the lanes,
/// multiplies them, and distributes matrices to the lanes.

#include "cuda_on_cpu/matrix_instructions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cuda_on_cpu/number_formats.hpp"

namespace cuda_on_cpu {
namespace {

constexpr int lanes = 32, columns = 8, most_rows = 16;

int bits_of(ElementType type) {
  switch (type) {
    case ElementType::f64:
      return 64;
    case ElementType::tf32:
    case ElementType::f32:
    case ElementType::s32:
      return 32;
    case ElementType::f16:
    case ElementType::bf16:
      return 16;
    case ElementType::s4:
    case ElementType::u4:
      return 4;
    case ElementType::b1:
      return 1;
    default:
      return 8;
  }
}

bool is_integer(ElementType type) {
  return type == ElementType::s8 || type == ElementType::u8 || type == ElementType::s4 ||
         type == ElementType::u4 || type == ElementType::b1 || type == ElementType::s32;
}

int width_of_register(ElementType type) { return type == ElementType::f64 ? 64 : 32; }

/// The number of elements in a register.
int packed(ElementType type) { return width_of_register(type) / bits_of(type); }

bool is_four_products(const MatrixProduct& p) {
  return p.rows == 8 && p.depth == 4 && p.a == ElementType::f16;
}

/// The number of registers of a lane for a matrix with a given number of elements. The shape m8n8k4
/// of f16 consists of four products and requires four times as many registers.
int registers(const MatrixProduct& product, ElementType type, int elements) {
  return (is_four_products(product) ? 4 : 1) * elements / lanes / packed(type);
}

/// The value of an element in a register. A double represents all floating-point types exactly.
double number(ElementType type, std::uint64_t word, int element) {
  const auto low = static_cast<std::uint32_t>(word);
  const auto field = static_cast<unsigned>(word >> element * bits_of(type));
  switch (type) {
    case ElementType::f64:
      return bit_cast<double>(word);
    case ElementType::f32:
      return bit_cast<float>(low);
    case ElementType::tf32:  // the lowest 13 bits are ignored
      return bit_cast<float>(low & ~0x1fffu);
    case ElementType::f16:
      return Binary16::number(static_cast<std::uint16_t>(field));
    case ElementType::bf16:
      return BFloat16::number(static_cast<std::uint16_t>(field));
    case ElementType::e4m3:
      return E4M3::number(field);
    case ElementType::e5m2:
      return E5M2::number(field);
    case ElementType::s32:
      return static_cast<std::int32_t>(low);
    case ElementType::s8:
      return static_cast<std::int8_t>(field);
    case ElementType::u8:
      return field & 0xff;
    case ElementType::s4:
      return static_cast<int>((field & 0xf) ^ 8) - 8;
    case ElementType::u4:
      return field & 0xf;
    case ElementType::b1:
      return field & 1;
  }
  return 0;
}

/// Stores a sum in a register as a value of the given type.
void put_number(ElementType type, std::uint64_t& word, int element, double value) {
  switch (type) {
    case ElementType::f64:
      word = bit_cast<std::uint64_t>(value);
      break;
    case ElementType::f32:
      word = bit_cast<std::uint32_t>(static_cast<float>(value));
      break;
    case ElementType::s32:
      word = static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
      break;
    default: {
      const std::uint64_t bits = Binary16::bits(static_cast<float>(value));
      word = (word & ~(std::uint64_t{0xffff} << 16 * element)) | bits << 16 * element;
    }
  }
}

struct Position {
  int row, column;
};

// All shapes except m8n8k4 of f16 follow one rule. In this rule, lane / 4 is the group of a lane,
// and lane % 4 is the index of the lane in the group.
Position position_in_a(int lane, int index, int element, int packed) {
  return {lane / 4 + 8 * (index % 2), packed * (lane % 4) + element + 4 * packed * (index / 2)};
}
Position position_in_b(int lane, int index, int element, int packed) {
  return {packed * (lane % 4) + element + 4 * packed * index, lane / 4};
}
/// The position of element i of a lane's fragment of C or D, for every element type.
Position position_in_c(int lane, int i) { return {lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2}; }

/// The matrices of one product. Elements of lanes that take no part are NaN or, for integers, the
/// largest value.
template <typename FactorType, typename SumType, int most_depth>
struct Matrices {
  using Factor = FactorType;
  using Sum = SumType;
  Factor a[most_rows][most_depth], b[most_depth][columns];
  Sum c[most_rows][columns];

  explicit Matrices(int depth) {
    using Limits = std::numeric_limits<Factor>;
    const Factor none = Limits::has_quiet_NaN ? Limits::quiet_NaN() : Limits::max();
    for (auto& row : a) std::fill_n(row, depth, none);
    std::fill_n(&b[0][0], depth * columns, none);
    std::fill_n(&c[0][0], most_rows * columns, static_cast<Sum>(none));
  }
};

/// In double precision, a sum is a sequence of fused multiply-adds.
using Doubles = Matrices<double, double, 16>;
double dot(const MatrixProduct& p, const Doubles& m, int row, int column) {
  double sum = m.c[row][column];
  for (int k = 0; k < p.depth; ++k) sum = std::fma(m.a[row][k], m.b[k][column], sum);
  return sum;
}

/// The product of two elements of f16, bf16 or tf32 is exact in float. A sum of type f16 is rounded
/// once, at the end.
using Floats = Matrices<float, float, 32>;
double dot(const MatrixProduct& p, const Floats& m, int row, int column) {
  float sum = m.c[row][column];
  for (int k = 0; k < p.depth; ++k) sum += m.a[row][k] * m.b[k][column];
  return sum;
}

/// Sums of integers wrap around or saturate. The product of two single bits is their bitwise AND or
/// XOR.
using Integers = Matrices<std::int16_t, std::int32_t, 256>;
double dot(const MatrixProduct& p, const Integers& m, int row, int column) {
  std::int64_t sum = m.c[row][column];
  for (int k = 0; k < p.depth; ++k) {
    const int a = m.a[row][k], b = m.b[k][column];
    sum += p.operation == BitOperation::bit_xor ? a ^ b : a * b;
  }
  using Limits = std::numeric_limits<std::int32_t>;
  if (p.saturates) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
}

/// Calls `visit(word, element, position)` for each element of a matrix in the records of the
/// participating lanes. `offset` is the index of the first register of the matrix. `place(lane,
/// index, element, then)` calls `then(position)` if the element belongs to this product.
template <typename Visit, typename Place>
void visit_elements(void* const* records, ElementType type, int offset, int count, Visit visit,
                    Place place) {
  for (int lane = 0; lane < lanes; ++lane) {
    auto* operands = static_cast<MatrixOperands*>(records[lane]);
    if (operands == nullptr) continue;
    for (int index = 0; index < count; ++index)
      for (int element = 0; element < packed(type); ++element)
        place(lane, index, element,
              [&](Position at) { visit(operands->words[offset + index], element, at); });
  }
}

/// Positions of the fragments in the four products of m8n8k4 of f16. Lanes 4q to 4q + 3 and
/// lanes 4q + 16 to 4q + 19 compute product q (`quad`).
struct InFourProducts {
  const MatrixProduct& p;
  int quad;

  bool has(int lane) const { return lane % 16 / 4 == quad; }
  static int upper(int lane) { return lane < 16 ? 0 : 4; }
  Position in_a(int lane, int i) const {
    return p.a_by_columns ? Position{i + upper(lane), lane % 4}
                          : Position{lane % 4 + upper(lane), i};
  }
  Position in_b(int lane, int i) const {
    return p.b_by_rows ? Position{lane % 4, i + upper(lane)} : Position{i, lane % 4 + upper(lane)};
  }
  static Position in_c(ElementType type, int lane, int i) {
    if (type == ElementType::f16) return {lane % 4 + upper(lane), i};
    return {(lane & 1) + (i & 2) + upper(lane), (i & 4) + (lane & 2) + (i & 1)};
  }
};

template <typename All>
void multiply(const MatrixProduct& p, void* const* records, int quad) {
  const int of_d = registers(p, p.d, p.rows * columns), of_a = registers(p, p.a, p.rows * p.depth),
            of_b = registers(p, p.b, p.depth * columns), of_c = registers(p, p.c, p.rows * columns);
  const InFourProducts four{p, quad};
  const bool is_one = !is_four_products(p);
  All m(p.depth);
  visit_elements(
      records, p.a, of_d, of_a,
      [&](std::uint64_t word, int element, Position at) {
        m.a[at.row][at.column] = static_cast<typename All::Factor>(number(p.a, word, element));
      },
      [&](int lane, int index, int element, auto use) {
        if (is_one)
          use(position_in_a(lane, index, element, packed(p.a)));
        else if (four.has(lane))
          use(four.in_a(lane, index * 2 + element));
      });
  visit_elements(
      records, p.b, of_d + of_a, of_b,
      [&](std::uint64_t word, int element, Position at) {
        m.b[at.row][at.column] = static_cast<typename All::Factor>(number(p.b, word, element));
      },
      [&](int lane, int index, int element, auto use) {
        if (is_one)
          use(position_in_b(lane, index, element, packed(p.b)));
        else if (four.has(lane))
          use(four.in_b(lane, index * 2 + element));
      });
  const auto in_sums = [&](ElementType type) {
    return [&p, is_one, four, type](int lane, int index, int element, auto use) {
      const int i = index * packed(type) + element;
      if (is_one)
        use(position_in_c(lane, i));
      else if (four.has(lane))
        use(InFourProducts::in_c(type, lane, i));
    };
  };
  visit_elements(
      records, p.c, of_d + of_a + of_b, of_c,
      [&](std::uint64_t word, int element, Position at) {
        m.c[at.row][at.column] = static_cast<typename All::Sum>(number(p.c, word, element));
      },
      in_sums(p.c));
  visit_elements(
      records, p.d, 0, of_d,
      [&](std::uint64_t& word, int element, Position at) {
        put_number(p.d, word, element, dot(p, m, at.row, at.column));
      },
      in_sums(p.d));
}

/// Element `column` of row `row` of matrix `matrix`. The record of lane `8 matrix + row` contains
/// this row. The result is null if the lane does not take part.
std::uint16_t* element_of(void* const* records, int matrix, int row, int column) {
  auto* holder = static_cast<MatrixTransfer*>(records[8 * matrix + row]);
  return holder == nullptr ? nullptr : &holder->row.elements[column];
}

/// Calls `visit(element, register, shift)` for each element in the registers of the participating
/// lanes. `shift` is the position of the element's lowest bit in the register.
template <typename Visit>
void visit_transfer(void* const* records, Visit visit) {
  for (int lane = 0; lane < lanes; ++lane) {
    auto* mine = static_cast<MatrixTransfer*>(records[lane]);
    if (mine == nullptr) continue;
    for (int matrix = 0; matrix < mine->matrices; ++matrix)
      for (int i = 0; i < 2; ++i) {
        const int group = lane / 4, member = 2 * (lane % 4) + i;
        visit(mine->transposes ? element_of(records, matrix, member, group)
                               : element_of(records, matrix, group, member),
              mine->registers[matrix], 16 * i);
      }
  }
}

}  // namespace

int registers_of_result(const MatrixProduct& product) {
  return registers(product, product.d, product.rows * columns);
}

void multiply_matrices(void* const* records) {
  const auto* const* first =
      std::find_if(records, records + lanes, [](void* record) { return record != nullptr; });
  const MatrixProduct& product = *static_cast<const MatrixOperands*>(*first)->product;
  for (int quad = 0; quad < (is_four_products(product) ? 4 : 1); ++quad)
    if (product.a == ElementType::f64)
      multiply<Doubles>(product, records, quad);
    else if (is_integer(product.a))
      multiply<Integers>(product, records, quad);
    else
      multiply<Floats>(product, records, quad);
}

void distribute_matrices(void* const* records) {
  visit_transfer(records, [](const std::uint16_t* element, std::uint32_t& to, int shift) {
    const std::uint32_t bits = element == nullptr ? 0xffffu : *element;
    to = (to & ~(0xffffu << shift)) | bits << shift;
  });
}

void collect_matrices(void* const* records) {
  visit_transfer(records, [](std::uint16_t* element, std::uint32_t from, int shift) {
    if (element != nullptr) *element = static_cast<std::uint16_t>(from >> shift);
  });
}

}  // namespace cuda_on_cpu
