/// \file
/// Single properties of a device.

#pragma once

#include "cuda_on_cpu/device_properties.hpp"

namespace cuda_on_cpu {

/// The value of an attribute according to the properties; 0 if the CPU device lacks it.
int attribute_of(const cudaDeviceProp& p, cudaDeviceAttr attribute);

}  // namespace cuda_on_cpu
