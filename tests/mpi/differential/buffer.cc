// SPDX-License-Identifier: BSD-3-Clause
#include "buffer.hpp"

#include <algorithm>
#include <cstdio>

namespace stretto::differential {

Buffer::Buffer(std::vector<Area> areas, int offset) : areas_(std::move(areas)) {
  constexpr std::ptrdiff_t guard = 64;
  int alignment = 1;
  std::ptrdiff_t low = 0;
  std::ptrdiff_t high = 0;
  for (const Area& area : areas_) {
    for (const Place& p : area.model->places()) alignment = std::max(alignment, p.basic->alignment);
    if (area.elements == 0) continue;
    low = std::min(low, area.at + area.model->low(area.elements));
    high = std::max(high, area.at + area.model->high(area.elements));
  }
  origin_ = guard + offset * alignment + (-low + guard - 1) / guard * guard;
  bytes_.resize(static_cast<std::size_t>(origin_ + high + guard));
  for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = pattern(i);
  meaning_.assign(bytes_.size(), Meaning::hole);
  for (const Area& area : areas_) mark(area);
}

void Buffer::mark(const Area& area) {
  for (std::ptrdiff_t i = 0; i < area.elements; ++i)
    for (const Place& p : area.model->places()) {
      const auto at = meaning_.begin() + origin_ + area.at + i * area.model->extent() + p.at;
      std::fill(at, at + p.basic->size, Meaning::padding);
      for (const Part& part : p.basic->parts) std::fill_n(at + part.offset, part.significant, Meaning::value);
    }
}

void Buffer::fill(std::size_t which, int n, Numbers numbers, std::uint64_t stream, std::int64_t first) {
  const Area& area = areas_[which];
  const Model& model = *area.model;
  auto number = static_cast<std::uint64_t>(first) * model.places().size();
  for (std::ptrdiff_t i = 0; i < n; ++i)
    for (const Place& p : model.places())
      write_value(*p.basic, numbers, mix(stream + 0x9e3779b97f4a7c15u * ++number),
                  bytes_.data() + origin_ + area.at + i * model.extent() + p.at);
}

std::optional<std::string> Buffer::difference(const Buffer& expected) const {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (meaning_[i] == Meaning::value && bytes_[i] != expected.bytes_[i]) return describe(i, expected, "should be");
    if (meaning_[i] == Meaning::hole && bytes_[i] != pattern(i))
      return describe(i, expected, "is in no element and should still be");
  }
  return std::nullopt;
}

std::optional<std::string> Buffer::change(const Buffer& before) const {
  const auto [here, there] = std::mismatch(bytes_.begin(), bytes_.end(), before.bytes_.begin());
  if (here == bytes_.end()) return std::nullopt;
  return describe(static_cast<std::size_t>(here - bytes_.begin()), before, "may not change and was");
}

bool Buffer::damage() {
  const auto found = std::find(meaning_.begin(), meaning_.end(), Meaning::value);
  if (found == meaning_.end()) return false;
  bytes_[static_cast<std::size_t>(found - meaning_.begin())] ^= 1;
  return true;
}

std::string Buffer::describe(std::size_t byte, const Buffer& expected, const char* what) const {
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(byte) - origin_;
  std::string where;
  for (std::size_t part = 0; part < areas_.size(); ++part) {
    const Area& area = areas_[part];
    for (std::ptrdiff_t i = 0; i < area.elements && where.empty(); ++i)
      for (std::size_t p = 0; p < area.model->places().size(); ++p) {
        const Place& place = area.model->places()[p];
        const std::ptrdiff_t start = area.at + i * area.model->extent() + place.at;
        if (at >= start && at < start + place.basic->size)
          where = "part " + std::to_string(part) + ", element " + std::to_string(i) + ", its number " +
                  std::to_string(p) + " (" + place.basic->name + "), ";
      }
  }
  const bool was_pattern = std::string_view(what).starts_with("is in");
  char text[80];
  std::snprintf(text, sizeof text, " is 0x%02x, ", static_cast<unsigned char>(bytes_[byte]));
  std::string line = where + "byte " + std::to_string(at) + " from the buffer's address" + text + what;
  const char right = was_pattern ? pattern(byte) : expected.bytes_[byte];
  std::snprintf(text, sizeof text, " 0x%02x", static_cast<unsigned char>(right));
  return line + text;
}

}  // namespace stretto::differential
