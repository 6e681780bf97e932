// SPDX-License-Identifier: BSD-3-Clause
//
// Who may move an operation on.
#include "stretto/builder.hpp"
#include "support/test.hpp"
#include "support/work.hpp"

namespace stretto::execute::rights_test {
namespace {

using test::Guarded;
using test::Kind;
using test::kinds;
using test::work_on;
using transport::Outcome;
using transport::Tag;
using transport::Ticket;
using transport::Transport;

const Kind& sums = kinds[0];

/// Nothing ever comes; counts who asks.
class Silent final : public Transport {
 public:
  void send(Rank, Tag, const void*, Bytes, Ticket) override {}
  void receive(Rank, Tag, void*, Bytes, Ticket) override {}
  Outcome wait(std::vector<Ticket>&, const Deadline&) override { return Outcome::expired; }
  Outcome poll(std::vector<Ticket>&) override {
    ++asked;
    return Outcome::ok;
  }
  void abandon(std::uint32_t) override {}
  int asked = 0;
};

TEST(only_those_with_the_right_move_an_operation_on) {
  Builder b(0, 2, 1);
  b.receive(1, output(0));
  const Schedule schedule = b.finish();
  Guarded in(sums, 1), out(sums, 1);
  const Work work = work_on(schedule, sums, Layout::whole(1, 1, 0), in.at(0), out.at(0));
  for (const Rights needed : {Rights{true, false}, Rights{false, true}, Rights{true, true}, Rights{false, false}}) {
    Silent transport;
    Paths paths(transport);
    paths.needed = needed;
    Progress progress;
    Operation& operation = progress.post(work, paths);
    for (const Rights rights : {Rights{false, false}, Rights{true, false}, Rights{false, true}, Rights{true, true}}) {
      const bool may = (rights.mpi || !needed.mpi) && (rights.operators || !needed.operators);
      const int before = transport.asked;
      progress.poll(rights);
      CHECK_EQ(transport.asked - before, may ? 1 : 0);
    }
    progress.release(operation);
  }
}

}  // namespace
}  // namespace stretto::execute::rights_test
