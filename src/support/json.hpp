// SPDX-License-Identifier: BSD-3-Clause
//
// Texts and numbers as JSON has them.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace stretto::json {

/// A text in quotes. Bytes that are not ASCII, of whatever encoding, become question marks.
inline std::string quoted(std::string_view text) {
  std::string all = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') all += '\\';
    all += letter >= ' ' && letter < 127 ? letter : '?';
  }
  return all + '"';
}

inline std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

}  // namespace stretto::json
