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

/// An array of any shape in row-major order, read from or written to a `.npy` file.
struct NpyArray {
  using Values = std::variant<Elements<double>, Elements<float>, Elements<std::int32_t>,
                              Elements<std::int64_t>>;

  std::vector<std::size_t> shape;  ///< extents, outermost first; empty for a scalar
  Values values;                   ///< f8, f4, i4 or i8, little-endian in the file

  /// The number of elements.
  std::size_t size() const;
  /// NumPy's name of the element type: `<f8`, `<f4`, `<i4` or `<i8`.
  std::string_view dtype() const;
  /// The elements, converted to f64. The overload for rvalues moves the elements if they are f64.
  Elements<double> as_double() const&;
  Elements<double> as_double() &&;
};

/// The header of a `.npy` file, and the position of the first element.
struct NpyLayout {
  std::vector<std::size_t> shape;
  std::string dtype;           ///< `<f8`, `<f4`, `<i4` or `<i8`
  bool column_major;           ///< whether the file has Fortran order
  std::size_t elements_begin;  ///< offset in bytes from the beginning of the file
};

/// Reads the header of a `.npy` file and checks that the size of the file matches the header.
/// \throws BadInput if the file cannot be read or is not a file that read_npy() supports
NpyLayout read_npy_layout(const std::filesystem::path& path);

/// An array with the shape and element type of a file, but without any elements.
NpyArray without_elements(const NpyLayout& layout);

/// Rearranges the elements of a column-major array into row-major order.
void to_row_major(NpyArray& array);

/// The bytes at the beginning of a `.npy` file, up to the first element.
std::string npy_header(std::string_view dtype, const std::vector<std::size_t>& shape);

/// Reads a `.npy` file (versions 1 to 3; element types f4, f8, i4 and i8; C or Fortran order).
/// \throws BadInput if the file cannot be read or is not such a file
/// \throws NotEnoughMemory if the elements do not fit into the available memory
NpyArray read_npy(const std::filesystem::path& path);

/// Writes a `.npy` file (version 1, C order) under a temporary name, and then renames the file.
/// \throws BadInput if the file cannot be written; no partial file remains
void write_npy(const std::filesystem::path& path, const NpyArray& array);

}  // namespace staircase
