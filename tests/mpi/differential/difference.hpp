// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace stretto::differential {

/// What is thrown where something is not as MPI wants it, in words. It ends the run.
struct Difference {
  std::string text;
};

}  // namespace stretto::differential
