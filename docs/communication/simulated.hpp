/// \file
/// This header is included before the source of a simulated stage, so that the stage calls the
/// replacement of its update.

#pragma once

#include "../../stages/advection_distributed/advection_distributed.hpp"

namespace advection_distributed {

template <typename T>
void update(Weights<T>, Range of_rows, Range of_cols, staircase::View<const T, 2>,
            staircase::View<T, 2>);
template <>
void update<double>(Weights<double>, Range of_rows, Range of_cols, staircase::View<const double, 2>,
                    staircase::View<double, 2>);

}  // namespace advection_distributed
