/// \file
/// Replaces the CUDA header of the same name: named mathematical constants.

#pragma once

#include <limits>
#include "cuda_on_cpu/standard.hpp"

inline constexpr float CUDART_INF_F = std::numeric_limits<float>::infinity();
inline constexpr float CUDART_NAN_F = std::numeric_limits<float>::quiet_NaN();
inline constexpr float CUDART_PI_F = cuda_on_cpu::pi<float>;
inline constexpr double CUDART_INF = std::numeric_limits<double>::infinity();
inline constexpr double CUDART_NAN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double CUDART_PI = cuda_on_cpu::pi<double>;
