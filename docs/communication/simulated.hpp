/// \file
/// What is included ahead of a stage's source that is to be simulated, so that the stage calls what
/// stands for its update.

#pragma once

#include "../../stages/advection_distributed/advection_distributed.hpp"

namespace advection_distributed {

template <typename T>
void update(Weights<T>, Share of_rows, Share of_cols, staircase::View<const T, 2>,
            staircase::View<T, 2>);
template <>
void update<double>(Weights<double>, Share of_rows, Share of_cols, staircase::View<const double, 2>,
                    staircase::View<double, 2>);

}  // namespace advection_distributed
