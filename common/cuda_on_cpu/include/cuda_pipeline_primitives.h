/// \file
/// Replaces the CUDA header of the same name and includes cuda_pipeline.h, which contains its
/// declarations.

#pragma once

#include "cuda_pipeline.h"
