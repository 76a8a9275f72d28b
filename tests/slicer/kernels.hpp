/// \file
/// The types of the kernels: plain numbers for `slice`, and recording numbers for the test.

#pragma once

#include <algorithm>
#include <staircase/view.hpp>

#ifdef RECORDED
#include "recorded.hpp"
#else
using Real = double;
using Value = double;
#endif

using Matrix = staircase::View<Real, 2>;
using Vector = staircase::View<Real, 1>;
using Rows = Real (*)[20];
using Flat = Real*;
