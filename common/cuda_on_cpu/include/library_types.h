/// \file
/// Found in place of CUDA's own header: what CUDA's libraries share.

#pragma once

enum libraryPropertyType { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };
using libraryPropertyType_t = libraryPropertyType;
