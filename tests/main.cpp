#include "support.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return staircase::test::run_all_tests();
}
