// SPDX-License-Identifier: BSD-3-Clause
#include "communicators.hpp"

namespace stretto::differential {
namespace {

using intercept::constants;
using intercept::native;

Member member_of(MPI_Comm comm, std::string text) {
  Member m{comm, std::move(text)};
  if (comm == constants().comm_null) return m;
  native().Comm_rank(comm, &m.rank);
  native().Comm_size(comm, &m.ranks);
  return m;
}

}  // namespace

Communicators::Communicators() { all_.push_back(member_of(constants().world, "world")); }

Communicators::~Communicators() {
  for (std::size_t i = 1; i < all_.size(); ++i)
    if (all_[i].comm != constants().comm_null) native().Comm_free(&all_[i].comm);
}

Member Communicators::make(Random& random) const {
  const Member& world = all_[0];
  const int kind = random.below(5);
  const std::uint64_t common = random.next();
  Random own(common + static_cast<std::uint64_t>(world.rank));
  MPI_Comm comm{};
  const auto split = [&](int color, int key) { native().Comm_split(world.comm, color, key, &comm); };
  switch (kind) {
    case 0: split(own.below(3), own.below(100)); return member_of(comm, "random split");
    case 1: split(0, -world.rank); return member_of(comm, "reversed");
    case 2: native().Comm_dup(world.comm, &comm); return member_of(comm, "duplicate");
    case 3: split(world.rank, 0); return member_of(comm, "alone");
    default: split(own.percent(70) ? 0 : MPI_UNDEFINED, own.below(100)); return member_of(comm, "some, shuffled");
  }
}

void Communicators::exchange_one(Random& random) {
  if (all_.size() < most) {
    all_.push_back(make(random));
    return;
  }
  Member& old = all_[static_cast<std::size_t>(random.between(1, static_cast<int>(most) - 1))];
  if (old.comm != constants().comm_null) native().Comm_free(&old.comm);
  old = make(random);
}

const Member& Communicators::pick(Random& random) const {
  if (random.percent(40)) return all_[0];
  return random.pick(all_);
}

}  // namespace stretto::differential
