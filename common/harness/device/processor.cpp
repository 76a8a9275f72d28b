/// \file
/// The device of programs that compute on the processor.

#include <harness/device.hpp>
#include <harness/machine.hpp>
#include <harness/ranks.hpp>

namespace staircase {

const Device& this_device() {
  static const Device device{.kind = "cpu",
                             .prepare =
                                 [] {
                                   if (const Ranks* ranks = ranks_of_program()) ranks->start();
                                 },
                             .name = [] { return this_machine().cpu; },
                             .ranks = ranks_of_program()};
  return device;
}

}  // namespace staircase
