#include "gpu.hpp"

std::optional<staircase::Gpu> staircase::this_gpu() { return {}; }
