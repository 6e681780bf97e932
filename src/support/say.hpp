// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <string>

namespace stretto {

/// One line to standard error in one piece, and a hint if there is one.
inline void say(const std::string& what, const std::string& hint = {}) {
  std::string line = "stretto: " + what + '\n';
  if (!hint.empty()) line += "hint: " + hint + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace stretto
