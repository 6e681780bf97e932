// SPDX-License-Identifier: BSD-3-Clause
//
// unit_tests [FILE or part of a test's name]; or --update: writes tests/golden anew.
#include "support/test.hpp"

namespace stretto::golden_test {
void update();
}

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--update") {
    stretto::golden_test::update();
    return 0;
  }
  return stretto::test::run(argc, argv);
}
