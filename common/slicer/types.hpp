/// \file
/// Properties of types: whether a type is an integer, an array that owns its elements, or a view of
/// other elements.

#pragma once

#include <clang-c/Index.h>

#include <string>

#include "source.hpp"

namespace slicer {

inline CXType without_reference(CXType type) {
  type = clang_getCanonicalType(type);
  const bool is_reference =
      type.kind == CXType_LValueReference || type.kind == CXType_RValueReference;
  return is_reference ? clang_getCanonicalType(clang_getPointeeType(type)) : type;
}

inline bool is_reference(CXType type) {
  type = clang_getCanonicalType(type);
  return type.kind == CXType_LValueReference || type.kind == CXType_RValueReference ||
         text_of(clang_getTypeSpelling(type)).ends_with("&");
}

inline bool is_constant_type(CXType type) {
  return clang_isConstQualifiedType(without_reference(type));
}

inline bool is_wide_integer_type(CXType type) {
  switch (without_reference(type).kind) {
    case CXType_Int:
    case CXType_UInt:
    case CXType_Long:
    case CXType_ULong:
    case CXType_LongLong:
    case CXType_ULongLong:
      return true;
    default:
      return false;
  }
}

inline bool is_integer_type(CXType type) {
  const CXTypeKind kind = without_reference(type).kind;
  return is_wide_integer_type(type) || kind == CXType_Short || kind == CXType_UShort;
}

inline bool is_natural_type(CXType type) {
  const CXTypeKind kind = without_reference(type).kind;
  return kind == CXType_UInt || kind == CXType_ULong || kind == CXType_ULongLong ||
         kind == CXType_UShort;
}

/// The number of bits of an integer; 0 for any other type.
inline int bits_of(CXType type) {
  return is_integer_type(type) ? static_cast<int>(8 * clang_Type_getSizeOf(without_reference(type)))
                               : 0;
}

/// Whether `type` can represent all values of the type `value`. A wide integer type (see
/// is_wide_integer_type()) is assumed to do so.
inline bool holds(CXType type, CXType value) {
  if (is_wide_integer_type(type)) return true;
  const bool is_signed = !is_natural_type(type), was_signed = !is_natural_type(value);
  return bits_of(value) > 0 && bits_of(type) >= bits_of(value) + (is_signed && !was_signed) &&
         (is_signed || !was_signed);
}

/// The number of bits of an unsigned integer of at least 32 bits; 0 for any other type.
inline int natural_bits(CXType type) {
  const CXTypeKind kind = without_reference(type).kind;
  if (kind == CXType_ULong || kind == CXType_ULongLong) return 64;
  return kind == CXType_UInt ? 32 : 0;
}

inline bool is_c_array_type(CXType type) {
  switch (without_reference(type).kind) {
    case CXType_ConstantArray:
    case CXType_VariableArray:
    case CXType_IncompleteArray:
    case CXType_DependentSizedArray:
      return true;
    default:
      return false;
  }
}

/// Whether a class owns its elements, refers to elements of other objects, or represents elements
/// by proxies. The declaration of the class decides, not only its name.
enum class Holding { nothing, own, others, proxies };
Holding holding_of(CXType type);

/// Whether a type owns its elements.
inline bool is_owner_type(CXType type) {
  return is_c_array_type(type) || holding_of(type) == Holding::own;
}

/// Whether the elements of a type may be bits: std::vector<bool>.
bool is_packed_type(CXType type);

/// Whether a type refers to elements that it does not own.
inline bool is_view_type(CXType type) {
  return without_reference(type).kind == CXType_Pointer || holding_of(type) == Holding::others;
}

/// Whether proxy objects represent the elements of a class, according to its source: a(i, j)
/// returns an object that is constructed from members and from both subscripts.
inline bool is_proxy_array_type(CXType type) { return holding_of(type) == Holding::proxies; }

/// Whether a type has elements.
inline bool is_array_type(CXType type) {
  return is_owner_type(type) || is_view_type(type) || is_proxy_array_type(type);
}

/// Whether a call operator selects the elements of a type: a(i, j).
bool is_matrix_type(CXType type);

/// Whether a type depends on a template's parameters.
bool is_dependent_type(CXType type);

/// Whether a template that is read for numbers may be instantiated for a type: a number other than
/// bool, or a pointer or a container with such elements.
bool may_stand_for_number(CXType type);

/// Whether a function is called as an instance of a template for types that are not numbers.
bool is_made_for_others(CXCursor function);
/// Whether an argument makes a parameter of a template stand for a type that is not a number.
bool is_made_for_others(CXType parameter, CXType argument);

/// Whether a type is a built-in number or std::complex, whose operators only read their operands.
bool is_number_type(CXType type);

/// Whether copying an object of this type has no side effect: a number, an enumerator, a pointer, a
/// view, or a class of such members without its own copy operations and destructor.
bool is_plain_type(CXType type);

/// Whether a copy of an object has separate memory: a plain type, or a container of the standard
/// library with such elements.
bool is_value_type(CXType type);

/// Whether the default constructor of a class has no side effect.
bool makes_plainly(CXType type);

/// Whether an expression is an element of an array of proxies.
bool is_element_of_proxy(CXCursor expression);

/// The name of a declaration, qualified by namespaces and classes but not by inline namespaces.
std::string qualified_name(CXCursor declaration);

/// Whether a declaration belongs to the standard library and has the given name.
bool is_of_library(CXCursor declaration, const std::string& name);

}  // namespace slicer
