// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/standstill.hpp"

#include <algorithm>

#include "communicator/communicator.hpp"
#include "settings/settings.hpp"

namespace stretto::mpi {

bool Standstill::look(const Communicator& c, std::uint64_t wait, std::uint64_t moves, Moment now) {
  using namespace std::chrono;
  constexpr milliseconds between{100};
  const auto enough = duration_cast<Moment::duration>(duration<double>(settings().standstill));
  // What a process has told holds for so long: it may get no core for a while.
  const auto fresh = std::min<Moment::duration>(seconds{2}, enough / 2);
  if (enough == Moment::duration{}) return false;
  if (wait != wait_ || moves != moves_ || now - looked_ > fresh) {
    since_ = told_ = now;
    wait_ = wait;
    moves_ = moves;
    found_ = false;
  }
  looked_ = now;
  if (now - told_ < between) return false;  // most waits are over by then
  told_ = now;
  const auto others = c.one_node() && c.node() ? others_wait_since(*c.node(), now - fresh) : std::nullopt;
  const Moment latest = others ? std::max(since_, *others) : now;
  tell_wait(latest, now);
  // One that has gone on since then has told nothing for `fresh`.
  if (found_ || now - latest < enough + fresh) return false;
  return found_ = true;
}

}  // namespace stretto::mpi
