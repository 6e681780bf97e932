// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks as threads that reach each other through shared memory, all of them or those of one pretended node.
#pragma once

#include "support/ranks.hpp"
#include "transport/shm/node.hpp"
#include "transport/shm/process.hpp"

namespace stretto::test {

/// The shared memory of `ranks` ranks, `per_node` on each node. Segments are reached at the addresses of their owners:
/// mapped twice, a sanitizer would take them for different memory.
class Neighbourhood {
 public:
  Neighbourhood(Rank ranks, Rank per_node, transport::shm::WaitPolicy policy) : members_(size(ranks)) {
    using transport::shm::Process;
    for (Member& m : members_) {
      std::string why;
      m.process = Process::create(Bytes{64} << 20, why);
      if (!m.process) throw std::runtime_error(why);
      m.connections.resize(size(ranks));
    }
    for (Rank a = 0; a < ranks; ++a)
      for (Rank b = 0; b < ranks; ++b)
        if (a != b && a / per_node == b / per_node)
          members_[size(a)].connections[size(b)] = members_[size(a)].process->new_connection();
    for (Rank a = 0; a < ranks; ++a)
      for (Rank b = 0; b < ranks; ++b) {
        Member& mine = members_[size(a)];
        const Member& theirs = members_[size(b)];
        if (!mine.connections[size(b)]) continue;
        auto& segment = theirs.process->segment();
        const std::int64_t process = (a + b) % 3 == 0 ? nobody : segment.handle().process;
        Process::connect(*mine.connections[size(b)], theirs.process->address(*theirs.connections[size(a)]),
                         const_cast<std::byte*>(segment.memory()), segment.doorbell(), process);
      }
    for (Member& m : members_)
      m.neighbours = {.connections = m.connections,
                      .staging = m.process->take_staging_rings().value(),
                      .doorbell = m.process->segment().doorbell(),
                      .segment = m.process->segment().memory(),
                      .policy = policy};
  }

  const transport::shm::Neighbours& of(Rank rank) const { return members_[size(rank)].neighbours; }

 private:
  struct Member {
    std::unique_ptr<transport::shm::Process> process;
    std::vector<transport::shm::Connection*> connections;
    transport::shm::Neighbours neighbours;
  };
  static constexpr std::int64_t nobody = 0;  // whose memory cannot be read: what it lends is refused
  static std::size_t size(Rank r) { return static_cast<std::size_t>(r); }
  std::vector<Member> members_;
};

}  // namespace stretto::test
