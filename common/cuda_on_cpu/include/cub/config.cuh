/// \file
/// Found in place of CUB's header, which all of its others include.

#pragma once

#error "CUB does not run on the CPU device; Thrust's algorithms and those of cooperative groups do"
