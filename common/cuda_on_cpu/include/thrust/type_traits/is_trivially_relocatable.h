/// \file
/// Wraps the Thrust header of the same name, which declares classes `__half` and `__half2`. On the
/// CPU device, these names are aliases, so the header's classes are renamed.

#pragma once

#include <thrust/detail/static_assert.h>
#include <thrust/iterator/iterator_traits.h>
#include <thrust/type_traits/is_contiguous_iterator.h>

#pragma push_macro("__half")
#pragma push_macro("__half2")
#define __half cuda_on_cpu_half_of_thrust
#define __half2 cuda_on_cpu_half2_of_thrust
#include_next <thrust/type_traits/is_trivially_relocatable.h>
#pragma pop_macro("__half2")
#pragma pop_macro("__half")
