/// \file
/// The vector types of CUDA, such as float4, with the same alignment as on a GPU.

#pragma once

#include "core.hpp"

#define CUDA_ON_CPU_VECTORS(name, Value, align2, align4)                         \
  struct name##1 {                                                               \
    Value x;                                                                     \
  };                                                                             \
  struct alignas(align2) name##2 {                                               \
    Value x, y;                                                                  \
  };                                                                             \
  struct name##3 {                                                               \
    Value x, y, z;                                                               \
  };                                                                             \
  struct alignas(align4) name##4 {                                               \
    Value x, y, z, w;                                                            \
  };                                                                             \
  inline name##1 make_##name##1(Value x) { return {x}; }                         \
  inline name##2 make_##name##2(Value x, Value y) { return {x, y}; }             \
  inline name##3 make_##name##3(Value x, Value y, Value z) { return {x, y, z}; } \
  inline name##4 make_##name##4(Value x, Value y, Value z, Value w) { return {x, y, z, w}; }

CUDA_ON_CPU_VECTORS(char, signed char, 2, 4)
CUDA_ON_CPU_VECTORS(uchar, unsigned char, 2, 4)
CUDA_ON_CPU_VECTORS(short, short, 4, 8)
CUDA_ON_CPU_VECTORS(ushort, unsigned short, 4, 8)
CUDA_ON_CPU_VECTORS(int, int, 8, 16)
CUDA_ON_CPU_VECTORS(long, long, 16, 16)
CUDA_ON_CPU_VECTORS(ulong, unsigned long, 16, 16)
CUDA_ON_CPU_VECTORS(longlong, long long, 16, 16)
CUDA_ON_CPU_VECTORS(ulonglong, unsigned long long, 16, 16)
CUDA_ON_CPU_VECTORS(float, float, 8, 16)
CUDA_ON_CPU_VECTORS(double, double, 16, 16)

struct uint1 {
  unsigned x;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint1 make_uint1(unsigned x) { return {x}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

#undef CUDA_ON_CPU_VECTORS

// Vectors of four 64-bit values. Since CUDA 13, their names contain the alignment.
#define CUDA_ON_CPU_ALIGNED_VECTOR(name, Value, bytes)                                      \
  struct alignas(bytes) name##4_##bytes##a {                                                \
    Value x, y, z, w;                                                                       \
  };                                                                                        \
  inline name##4_##bytes##a make_##name##4_##bytes##a(Value x, Value y, Value z, Value w) { \
    return {x, y, z, w};                                                                    \
  }

CUDA_ON_CPU_ALIGNED_VECTOR(long, long, 16)
CUDA_ON_CPU_ALIGNED_VECTOR(long, long, 32)
CUDA_ON_CPU_ALIGNED_VECTOR(ulong, unsigned long, 16)
CUDA_ON_CPU_ALIGNED_VECTOR(ulong, unsigned long, 32)
CUDA_ON_CPU_ALIGNED_VECTOR(longlong, long long, 16)
CUDA_ON_CPU_ALIGNED_VECTOR(longlong, long long, 32)
CUDA_ON_CPU_ALIGNED_VECTOR(ulonglong, unsigned long long, 16)
CUDA_ON_CPU_ALIGNED_VECTOR(ulonglong, unsigned long long, 32)
CUDA_ON_CPU_ALIGNED_VECTOR(double, double, 16)
CUDA_ON_CPU_ALIGNED_VECTOR(double, double, 32)

#undef CUDA_ON_CPU_ALIGNED_VECTOR
