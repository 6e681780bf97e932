// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <tuple>

namespace stretto::patterns {

/// What `make` returns for these keys, and this thread's last of its kind again if that had the same: the schedules of
/// all ranks are made one after the other. A program that calls MPI when this thread's objects are gone gets one that
/// nobody frees.
template <typename Made, typename Make, typename... Keys>
std::shared_ptr<const Made> last_made(Make make, const Keys&... keys) {
  struct Last {
    std::tuple<Keys...> keys;
    std::shared_ptr<const Made> made;
  };
  thread_local Last* kept = nullptr;
  struct Release {
    ~Release() {
      delete kept;
      kept = nullptr;
    }
  };
  static thread_local Release at_end_of_thread;
  if (!kept) kept = new Last;
  if (!kept->made || kept->keys != std::tie(keys...)) *kept = {{keys...}, std::make_shared<const Made>(make())};
  return kept->made;
}

}  // namespace stretto::patterns
