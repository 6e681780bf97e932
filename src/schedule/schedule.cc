// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/schedule.hpp"

#include <algorithm>

namespace stretto {

Block blocks_in(std::span<const Range> ranges) {
  Block n = 0;
  for (const Range& r : ranges) n += r.count;
  return n;
}

Ranges wrapped(Buffer buffer, Block first, Block count, Block modulus) {
  if (count <= 0) return {};
  first %= modulus;
  if (first < 0) first += modulus;
  const Block head = std::min(count, modulus - first);
  if (head == count) return {{buffer, first, count}};
  return {{buffer, first, head}, {buffer, 0, count - head}};
}

std::string_view name_of(Buffer buffer) {
  switch (buffer) {
    case Buffer::input: return "input";
    case Buffer::output: return "output";
    case Buffer::scratch: return "scratch";
  }
  return "?";
}

}  // namespace stretto
