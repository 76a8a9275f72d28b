/// \file
/// A device's properties, one by one.

#pragma once

#include "cuda_on_cpu/device_properties.hpp"

namespace cuda_on_cpu {

/// An attribute from the properties; 0 for what the CPU device lacks.
int attribute_of(const cudaDeviceProp& p, cudaDeviceAttr attribute);

}  // namespace cuda_on_cpu
