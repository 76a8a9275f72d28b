/// \file
/// Functions that implement the matrix instructions of PTX: ldmatrix, stmatrix, movmatrix and
/// mma.sync. The rewriter inserts calls of these functions.
///
/// The elements of a matrix are distributed over the lanes of a warp. The elements of one lane are
/// its *fragment*. The PTX ISA defines the positions of these elements in "Warp level matrix
/// instructions".

#pragma once

#include <cstdint>
#include <cstring>

#include "core.hpp"
#include "threads.hpp"

namespace cuda_on_cpu {

/// The element types of matrices in mma.sync.
enum class ElementType : unsigned char {
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  s8,
  u8,
  s4,
  u4,
  b1,
  s32
};

/// The bitwise operation of mma.sync for 1-bit elements; the instruction counts the bits that are
/// set in the results.
enum class BitOperation : unsigned char { none, bit_xor, bit_and };

/// One mma.sync instruction: D = A B + C, with `rows` x `depth` elements of A and `depth` x 8 of B.
struct MatrixProduct {
  int rows, depth;
  ElementType d, a, b, c;
  bool a_by_columns = false, b_by_rows = false;  ///< only for the shape m8n8k4 of f16
  bool saturates = false;                        ///< whether integer sums saturate
  BitOperation operation = BitOperation::none;
};

/// The registers of one lane, one per word, in the order of the operands D, A, B, C.
struct MatrixOperands {
  const MatrixProduct* product;
  std::uint64_t words[32];
};

/// Computes the matrix product of one warp. The records of the lanes have the type MatrixOperands.
void multiply_matrices(void* const* records);

/// The number of registers per lane for the result D.
int registers_of_result(const MatrixProduct& product);

/// A row of an 8 x 8 matrix of 16-bit elements. Each lane loads or stores one row.
struct alignas(16) MatrixRow {
  std::uint16_t elements[8];
};

/// The operands of one lane in ldmatrix or stmatrix: one row of matrix `lane / 8`, and the lane's
/// registers.
struct MatrixTransfer {
  MatrixRow row;
  std::uint32_t registers[4];
  int matrices;
  bool transposes;
};

/// These functions distribute the rows over the registers of all lanes (ldmatrix), or collect rows
/// from the registers (stmatrix). The records of the lanes have the type MatrixTransfer.
void distribute_matrices(void* const* records);
void collect_matrices(void* const* records);

namespace ptx {

template <typename Operand>
__forceinline__ std::uint64_t word_of(const Operand& operand) {
  static_assert(sizeof(Operand) <= 8, "a register has at most 64 bits");
  std::uint64_t word = 0;
  std::memcpy(&word, &operand, sizeof operand);
  return word;
}
template <typename Operand>
__forceinline__ void set_word(Operand& operand, std::uint64_t word) {
  if constexpr (!std::is_const_v<Operand>) std::memcpy(&operand, &word, sizeof operand);
}

/// The instruction mma.sync. The operands are the registers of D, A, B and C, in this order.
template <typename... Operands>
__forceinline__ void mma(const MatrixProduct& product, Operands&&... operands) {
  static_assert(sizeof...(Operands) <= 32, "an instruction has at most 32 registers");
  MatrixOperands record{&product, {word_of(operands)...}};
  warp_collective(all_lanes, &record, multiply_matrices);
  int number = 0;
  const int results = registers_of_result(product);
  (..., (number < results ? set_word(operands, record.words[number]) : void(), ++number));
}

/// The instruction ldmatrix, with .trans if `transposes`. The instruction loads one matrix per
/// register. Lane i passes the address of row i mod 8 of matrix i / 8.
template <bool transposes, typename... Registers>
__forceinline__ void load_matrices(const char* from, Registers&... registers) {
  constexpr int matrices = sizeof...(Registers);
  MatrixTransfer record;
  record.matrices = matrices;
  record.transposes = transposes;
  if (static_cast<int>(lane()) < 8 * matrices)
    record.row = *reinterpret_cast<const MatrixRow*>(from);
  warp_collective(all_lanes, &record, distribute_matrices);
  int number = 0;
  (..., set_word(registers, record.registers[number++]));
}

/// The instruction stmatrix, which stores the registers. The parameters are the same as in
/// load_matrices().
template <bool transposes, typename... Registers>
__forceinline__ void store_matrices(char* to, const Registers&... registers) {
  constexpr int matrices = sizeof...(Registers);
  MatrixTransfer record{
      {}, {static_cast<std::uint32_t>(word_of(registers))...}, matrices, transposes};
  warp_collective(all_lanes, &record, collect_matrices);
  if (static_cast<int>(lane()) < 8 * matrices) *reinterpret_cast<MatrixRow*>(to) = record.row;
}

/// The instruction movmatrix, which transposes a matrix. Each lane passes elements j and j + 1 of
/// row `lane / 4`, with j = 2 (lane mod 4).
template <typename Result, typename First>
__forceinline__ void move_matrix(Result& d, const First& a) {
  MatrixTransfer record{{}, {static_cast<std::uint32_t>(word_of(a))}, 1, true};
  warp_collective(all_lanes, &record, [](void* const* records) {
    collect_matrices(records);
    for (int lane = 0; lane < 32; ++lane)
      if (records[lane] != nullptr) static_cast<MatrixTransfer*>(records[lane])->transposes = false;
    distribute_matrices(records);
  });
  set_word(d, record.registers[0]);
}

}  // namespace ptx
}  // namespace cuda_on_cpu
