// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string_view>

namespace stretto {

extern const char* const shipped_rules_text;  ///< rules/default.rules as it was when the library was built

inline std::uint64_t digest_of_rules(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h | 1;
}
inline const std::uint64_t shipped_digest = digest_of_rules(shipped_rules_text);
}  // namespace stretto
