// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stretto {

/// Words separated by blanks, in place of those that `words` had.
inline void split(std::string_view line, std::vector<std::string_view>& words) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  words.clear();
  for (std::size_t at = 0;;) {
    while (at < line.size() && blank(line[at])) ++at;
    if (at == line.size()) return;
    const std::size_t begin = at;
    while (at < line.size() && !blank(line[at])) ++at;
    words.push_back(line.substr(begin, at - begin));
  }
}

inline std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  split(line, words);
  return words;
}

/// One behind the other, with `between` each two.
template <typename Words>
std::string joined(const Words& words, std::string_view between = " ") {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : between).append(word);
  return text;
}

/// Takes away what stands before the first `separator`, or all, and gives it without that.
inline std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view first = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return first;
}

inline std::string_view take_line(std::string_view& text) { return take_until(text, '\n'); }

/// The number that all of `word` is.
template <typename Number>
std::optional<Number> parsed(std::string_view word) {
  Number number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && end == word.data() + word.size() ? std::optional(number) : std::nullopt;
}

/// With two digits behind the point. Not by printf, which writes a comma where the program's locale has one.
inline std::string two_digits(double number) {
  char text[320];  // the largest number has 309 digits
  const auto written = std::to_chars(text, text + sizeof text, number, std::chars_format::fixed, 2);
  return std::string(text, written.ptr);
}

/// "0-3,7": runs of neighbours as one; what is negative, which is no number, as a question mark.
template <typename Number>
std::string runs_of(const std::vector<Number>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[i] >= 0 && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += numbers[i] < 0 ? "?" : std::to_string(numbers[i]);
    if (end > i + 1) text += '-' + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

/// Calls `each(line, number)` for every line, numbered from 1, without its end and without a # comment.
template <typename Each>
void for_each_line(std::string_view text, Each each) {
  int number = 0;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    each(line.substr(0, line.find('#')), ++number);
  }
}

}  // namespace stretto
