/// \file
/// Kinds of types: an integer, an array that owns its elements, or a view of other elements.

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

/// The number of bits of an unsigned integer of at least 32 bits; 0 for any other type.
inline int natural_bits(CXType type) {
  const CXTypeKind kind = without_reference(type).kind;
  if (kind == CXType_ULong || kind == CXType_ULongLong) return 64;
  return kind == CXType_UInt ? 32 : 0;
}

/// The name of a class, without its scope and its template arguments.
inline std::string class_name(CXType type) {
  std::string name = text_of(clang_getTypeSpelling(without_reference(type)));
  name = name.substr(0, name.find('<'));
  const std::size_t nested = name.rfind(':');
  if (nested != name.npos) name = name.substr(nested + 1);
  return name.starts_with("const ") ? name.substr(6) : name;
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

/// A type that owns its elements.
inline bool is_owner_type(CXType type) {
  const std::string name = class_name(type);
  return is_c_array_type(type) || name == "Array" || name == "vector" || name == "array";
}

/// A type that packs several elements into a byte.
inline bool is_packed_type(CXType type) {
  return class_name(type) == "vector" &&
         text_of(clang_getTypeSpelling(without_reference(type))).find("vector<bool") !=
             std::string::npos;
}

/// A type that refers to elements that it does not own.
inline bool is_view_type(CXType type) {
  const std::string name = class_name(type);
  return without_reference(type).kind == CXType_Pointer || name == "View" || name == "span";
}

/// A type with elements.
inline bool is_array_type(CXType type) { return is_owner_type(type) || is_view_type(type); }

/// A type with elements of the form a(i, j).
inline bool is_matrix_type(CXType type) {
  const std::string name = class_name(type);
  return name == "View" || name == "Array";
}

}  // namespace slicer
