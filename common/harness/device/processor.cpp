/// \file
/// The device of programs that compute on the processor.

#include <harness/device.hpp>
#include <harness/machine.hpp>

namespace staircase {

const Device& this_device() {
  static const Device device{
      .kind = "cpu", .prepare = [] {}, .name = [] { return this_machine().cpu; }};
  return device;
}

}  // namespace staircase
