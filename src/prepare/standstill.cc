// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/standstill.hpp"

#include <algorithm>
#include <atomic>

#include "communicator/communicator.hpp"
#include "settings/settings.hpp"

namespace stretto::mpi {

namespace {

using execute::Nanoseconds;

std::atomic<bool> has_said_perhaps = false;

bool lowest_of_node(const Communicator& c) {
  if (!c.node()) return true;
  const auto& connections = c.node()->connections;
  return std::all_of(connections.begin(), connections.begin() + c.rank(), [](const auto* one) { return !one; });
}

}  // namespace

Standstill::Found Standstill::look(const Communicator& c, std::uint64_t wait, std::uint64_t moves, bool certain,
                                   Nanoseconds now) {
  const auto enough = static_cast<Nanoseconds>(settings().standstill * 1e9);
  // What a process has told holds for so long: it may get no core for a while.
  const auto fresh = std::min<Nanoseconds>(2'000'000'000, enough / 2);
  const auto between = std::min<Nanoseconds>(100'000'000, fresh / 4);
  if (enough == 0) return Found::nothing;
  if (wait != wait_ || moves != moves_ || now - looked_ > fresh) {
    since_ = told_ = now;
    moves_ = moves;
    found_ &= wait == wait_;
    wait_ = wait;
  }
  looked_ = now;
  if (now - told_ < between) return Found::nothing;  // most waits are over by then
  told_ = now;
  certain &= c.one_node() && c.node();
  if (certain) {
    const auto others = others_wait_since(*c.node(), now - fresh);
    const Nanoseconds latest = others ? std::max(since_, *others) : now;
    tell_wait(latest, now);
    // Who has left its wait since then has told nothing for `fresh`.
    if (found_ || now - latest < enough + fresh) return Found::nothing;
    found_ = true;
    return Found::sure;
  }
  if (found_ || now - since_ < enough * doubtful) return Found::nothing;
  found_ = true;
  return lowest_of_node(c) && !has_said_perhaps.exchange(true) ? Found::perhaps : Found::nothing;
}

}  // namespace stretto::mpi
