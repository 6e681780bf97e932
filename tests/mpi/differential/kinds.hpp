// SPDX-License-Identifier: BSD-3-Clause
//
// MPI has every collective function three times: it returns when the call is done, or gives a request for it, or a
// request that is started again and again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stretto/function.hpp"

namespace stretto::differential {

enum class Kind : std::uint8_t { blocking, nonblocking, persistent };
inline constexpr Kind all_kinds[] = {Kind::blocking, Kind::nonblocking, Kind::persistent};

constexpr std::string_view name_of(Kind kind) {
  constexpr std::string_view names[] = {"blocking", "nonblocking", "persistent"};
  return names[static_cast<std::size_t>(kind)];
}

/// As MPI calls it: "bcast", "ibcast", "bcast_init".
inline std::string name_of(Function function, Kind kind) {
  const std::string name(facts(function).name);
  if (kind == Kind::nonblocking) return 'i' + name;
  return kind == Kind::persistent ? name + "_init" : name;
}

}  // namespace stretto::differential
