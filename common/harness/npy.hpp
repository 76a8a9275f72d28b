/// \file
/// NumPy's `.npy` files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <staircase/array.hpp>

namespace staircase {

/// An array of any shape, in row-major order, as a `.npy` file holds it.
struct NpyArray {
  using Values = std::variant<Elements<double>, Elements<float>, Elements<std::int32_t>,
                              Elements<std::int64_t>>;

  std::vector<std::size_t> shape;  ///< extents, outermost first; empty for a single number
  Values values;                   ///< f8, f4, i4 or i8, little-endian in the file

  /// Number of elements.
  std::size_t size() const;
  /// NumPy's name of the element type: `<f8`, `<f4`, `<i4` or `<i8`.
  std::string_view dtype() const;
  /// The elements as f64; an array that is given up and holds f64 hands them over.
  Elements<double> as_double() const&;
  Elements<double> as_double() &&;
};

/// What the header of a `.npy` file says, and where the elements begin.
struct NpyLayout {
  std::vector<std::size_t> shape;
  std::string dtype;           ///< `<f8`, `<f4`, `<i4` or `<i8`
  bool column_major;           ///< Fortran's order
  std::size_t elements_begin;  ///< in bytes from the beginning of the file
};

/// Reads the header of a `.npy` file, which is then known to have as many elements as it says.
/// \throws BadInput as read_npy() does
NpyLayout read_npy_layout(const std::filesystem::path& path);

/// No elements yet, of the type that the file has.
NpyArray without_elements(const NpyLayout& layout);

/// Brings a column-major array into row-major order.
void to_row_major(NpyArray& array);

/// What a `.npy` file has before its elements.
std::string npy_header(std::string_view dtype, const std::vector<std::size_t>& shape);

/// Reads a `.npy` file (versions 1 to 3; f4, f8, i4, i8; C or Fortran order).
/// \throws BadInput if the file cannot be read or is not such a file; the sentence names the file.
NpyArray read_npy(const std::filesystem::path& path);

/// Writes a `.npy` file (version 1, C order) under a temporary name, then renames it.
/// \throws BadInput if it cannot be written; nothing is left behind then.
void write_npy(const std::filesystem::path& path, const NpyArray& array);

}  // namespace staircase
