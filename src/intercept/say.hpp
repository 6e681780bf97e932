// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cctype>
#include <cstdio>
#include <string>

#include "stretto/function.hpp"

namespace stretto::intercept {

/// As programs call it: "MPI_Reduce_scatter".
inline std::string mpi_name(Function function) {
  std::string name(facts(function).name);
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return "MPI_" + name;
}

/// One line to standard error in one piece, and a hint if there is one.
inline void say(const std::string& what, const std::string& hint = {}) {
  std::string line = "stretto: " + what + '\n';
  if (!hint.empty()) line += "hint: " + hint + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace stretto::intercept
