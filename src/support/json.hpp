// SPDX-License-Identifier: BSD-3-Clause
//
// Texts and numbers as JSON has them.
#pragma once

#include <charconv>
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

/// Nine digits. Not by printf, which writes a comma where the program's locale has one.
inline std::string number(double value) {
  char text[32];
  const auto written = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 9);
  return std::string(text, written.ptr);
}

}  // namespace stretto::json
