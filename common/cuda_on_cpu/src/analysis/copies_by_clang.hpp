/// \file
/// Included before all else by sources that clang instruments: it calls plain functions for copies
/// of structures, which would escape the analysis.

#pragma once

__asm__(".set memcpy, __tsan_memcpy\n.set memmove, __tsan_memmove\n.set memset, __tsan_memset");
