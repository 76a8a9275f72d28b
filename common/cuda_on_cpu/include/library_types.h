/// \file
/// Replaces the CUDA header of the same name: types that several CUDA libraries use.

#pragma once

enum libraryPropertyType { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };
using libraryPropertyType_t = libraryPropertyType;

/// The element types of arrays and matrices.
enum cudaDataType {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_8I = 3,
  CUDA_C_32F = 4,
  CUDA_C_64F = 5,
  CUDA_C_16F = 6,
  CUDA_C_8I = 7,
  CUDA_R_8U = 8,
  CUDA_R_32I = 10,
  CUDA_R_16BF = 14,
  CUDA_C_16BF = 15,
  CUDA_R_8F_E4M3 = 28,
  CUDA_R_8F_E5M2 = 29
};
using cudaDataType_t = cudaDataType;

/// When a library may emulate the arithmetic of a type with another type.
enum cudaEmulationStrategy {
  CUDA_EMULATION_STRATEGY_DEFAULT = 0,
  CUDA_EMULATION_STRATEGY_PERFORMANT = 1,
  CUDA_EMULATION_STRATEGY_EAGER = 2
};
using cudaEmulationStrategy_t = cudaEmulationStrategy;
enum cudaEmulationMantissaControl {
  CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC = 0,
  CUDA_EMULATION_MANTISSA_CONTROL_FIXED = 1
};
using cudaEmulationMantissaControl_t = cudaEmulationMantissaControl;
enum cudaEmulationSpecialValuesSupport {
  CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT = 0xFFFF,
  CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NONE = 0,
  CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_INFINITY = 1,
  CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NAN = 2
};
using cudaEmulationSpecialValuesSupport_t = cudaEmulationSpecialValuesSupport;
