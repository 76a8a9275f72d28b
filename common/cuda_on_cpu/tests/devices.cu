/// \file
/// What stages share that run on several GPUs.

#include <staircase/devices.hpp>
#include <staircase/error.hpp>
#include <string>
#include <thread>
#include <vector>

#include "device.hpp"

using staircase::OnDevice;
using tap::check;
using tap::expect;
using tap::expect_equal;

namespace {

int available() {
  int count = 0;
  check(cudaGetDeviceCount(&count));
  return count;
}

int current() {
  int device = -1;
  check(cudaGetDevice(&device));
  return device;
}

}  // namespace

TEST(zero_takes_all_devices) {
  expect_equal(staircase::devices(0), tap::table<int>(available(), [](int d) { return d; }));
}

TEST(a_number_takes_the_first_devices) {
  for (int wanted = 1; wanted <= available(); ++wanted)
    expect_equal(staircase::devices(wanted), tap::table<int>(wanted, [](int d) { return d; }));
}

TEST(more_devices_than_there_are_are_refused) {
  const int wanted = available() + 1;
  try {
    staircase::devices(wanted);
    expect(false, "more devices are refused");
  } catch (const staircase::NotAvailable& refusal) {
    const std::string sentence = refusal.what();
    for (const int number : {wanted, available()})
      expect(sentence.find(" " + std::to_string(number) + " ") != std::string::npos,
             "'" + sentence + "' names " + std::to_string(number));
  }
}

TEST(calls_are_meant_for_a_device_in_a_scope_of_one_thread) {
  if (available() < 2) tap::skip("there is one device");
  {
    const OnDevice second(1);
    expect_equal(current(), 1);
    {
      const OnDevice first(0);
      expect_equal(current(), 0);
    }
    expect_equal(current(), 1);
    int elsewhere = -1;
    std::thread([&] { elsewhere = current(); }).join();
    expect_equal(elsewhere, 0);
    const staircase::DeviceArray<double, 1> there(5);
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, there.data()));
    expect_equal(attributes.device, 1);
  }
  expect_equal(current(), 0);
}

TEST(a_device_that_is_not_there_leaves_the_one_before) {
  try {
    const OnDevice none(available());
    expect(false, "a device that is not there is refused");
  } catch (const staircase::Failure&) {
    cudaGetLastError();
  }
  expect_equal(current(), 0);
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
