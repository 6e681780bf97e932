// SPDX-License-Identifier: BSD-3-Clause
//
// Many operations under way at once, on several communicators: every rank posts and completes them in an order of its
// own, within what MPI allows. On each communicator all ranks post in the same order; and whoever waits for an
// operation has posted all that others may have posted before it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <random>

#include "transport/matrix.hpp"

namespace stretto::test {

/// A transport among some of the ranks, by their numbers there.
class GroupTransport final : public Transport {
 public:
  GroupTransport(Transport& all, const std::vector<Rank>& members) : all_(all), members_(members) {}
  void send(Rank peer, transport::Tag tag, const void* data, Bytes bytes, Ticket ticket) override {
    all_.send(members_[static_cast<std::size_t>(peer)], tag, data, bytes, ticket);
  }
  void receive(Rank peer, transport::Tag tag, void* data, Bytes bytes, Ticket ticket) override {
    all_.receive(members_[static_cast<std::size_t>(peer)], tag, data, bytes, ticket);
  }
  Outcome wait(std::vector<Ticket>& done, const Deadline& deadline) override { return all_.wait(done, deadline); }
  Outcome poll(std::vector<Ticket>& done) override { return all_.poll(done); }
  void abandon(std::uint32_t operation) override { all_.abandon(operation); }

 private:
  Transport& all_;
  const std::vector<Rank> members_;
};

/// The members of communicators among `ranks` ranks: all of them, and some.
inline std::vector<std::vector<Rank>> groups_of(Rank ranks) {
  std::vector<std::vector<Rank>> groups(5);
  for (Rank r = 0; r < ranks; ++r) {
    groups[0].push_back(r);
    groups[1].insert(groups[1].begin(), r);
    if (r % 2 == 0 || ranks < 4) groups[2].push_back(r);
    if (r < (ranks + 1) / 2 || ranks < 4) groups[3].push_back(r);
    if (r > 0 || ranks < 3) groups[4].push_back(r);
  }
  return groups;
}

/// One rank's end of a communicator.
struct GroupEnd {
  std::unique_ptr<Transport> transport;
  std::vector<transport::shm::Connection*> connections;
  transport::shm::Neighbours node;
  Rank rank = no_rank;  // of me
  Rank ranks = 0;
  transport::Tag tag;

  /// Of a group whose messages go over `all`.
  static GroupEnd of(const Session& all, const std::vector<Rank>& members, std::uint32_t number) {
    GroupEnd end;
    const auto me = std::ranges::find(members, all.rank);
    end.ranks = static_cast<Rank>(members.size());
    end.tag = {number, 65000, 0};  // what counts sequences in shared memory is soon at its end
    if (me == members.end()) return end;
    end.rank = static_cast<Rank>(me - members.begin());
    end.transport = std::make_unique<GroupTransport>(all.transport, members);
    if (!all.node) return end;
    for (const Rank r : members) end.connections.push_back(all.node->connections[static_cast<std::size_t>(r)]);
    end.node = *all.node;
    return end;
  }
  execute::Paths next_paths() {
    node.connections = connections;
    execute::Paths paths = Session{*transport, rank, ranks, connections.empty() ? nullptr : &node}.paths();
    ++tag.sequence;
    paths.tag = tag;
    return paths;
  }
};

/// What all ranks agree on.
struct ManyOperations {
  std::size_t batches;
  std::size_t batch = 12;  ///< operations that are posted before the next wait
  std::uint32_t seed = 1;
};

class Juggler {
 public:
  Juggler(Rank rank, std::vector<GroupEnd> groups, const std::map<Rank, References>& references,
          const ManyOperations& many)
      : groups_(std::move(groups)),
        references_(references),
        many_(many),
        dice_(many.seed),
        mine_(many.seed * 31 + static_cast<std::uint32_t>(rank)) {
    for (const GroupEnd& g : groups_)
      if (auto& list = choices_[g.ranks]; list.empty())
        for (const Algorithm* a : all_algorithms())
          for (const Variant& v : variants(*a, g.ranks, g.ranks / 2))
            if (list.empty() || dice_.below(4) == 0) list.emplace_back(a, v);
  }

  /// How many operations this rank has carried out.
  std::size_t play() {
    for (std::size_t b = 0; b < many_.batches && failures() == 0; ++b) {
      draw_batch();
      while (post_one())
        if (mine_() % 3 == 0) progress_.poll();
      while (flying_.size() > many_.batch / 2) complete_one();
      while (!flying_.empty() && mine_() % 3 > 0) complete_one();
    }
    while (!flying_.empty()) complete_one();
    return done_;
  }

 private:
  struct Flight {
    std::unique_ptr<Bound> bound;
    execute::Operation* operation;
  };

  void draw_batch() {
    waiting_.resize(groups_.size());
    for (std::size_t i = 0; i < many_.batch; ++i) {
      const std::size_t g = dice_.below(groups_.size());
      const auto& [algorithm, variant] = dice_.one_of(choices_.at(groups_[g].ranks));
      MatrixCase c = draw(dice_, *algorithm, variant);
      if (groups_[g].rank != no_rank) waiting_[g].push_back(std::move(c));
    }
  }

  bool post_one() {
    std::vector<std::size_t> some;
    for (std::size_t g = 0; g < waiting_.size(); ++g)
      if (!waiting_[g].empty()) some.push_back(g);
    if (some.empty()) return false;
    const std::size_t g = some[mine_() % some.size()];
    GroupEnd& group = groups_[g];
    auto bound = std::make_unique<Bound>(waiting_[g].front(), group.rank, references_.at(group.ranks));
    waiting_[g].pop_front();
    const execute::Plan* known = mine_() % 2 == 0 ? bound->plan() : nullptr;
    execute::Operation* const operation = known ? progress_.post_short(bound->work(), group.next_paths(), *known)
                                                : &progress_.post(bound->work(), group.next_paths());
    if (operation)
      flying_.push_back({std::move(bound), operation});
    else
      end(*bound);
    return true;
  }

  void end(const Bound& bound) {
    bound.check();
    ++done_;
  }

  void complete_one() {
    const std::size_t at = mine_() % flying_.size();
    std::swap(flying_[at], flying_.back());
    Flight flight = std::move(flying_.back());
    flying_.pop_back();
    const Outcome outcome = progress_.wait(*flight.operation, Deadline::in(std::chrono::seconds(60)));
    if (outcome != Outcome::ok)
      throw std::runtime_error(
          execute::stall_report(*flight.bound->work().schedule, flight.operation->stalls(),
                                flight.bound->name() + (outcome == Outcome::failed ? ", failed" : ", expired")));
    progress_.release(*flight.operation);
    end(*flight.bound);
  }

  std::vector<GroupEnd> groups_;
  const std::map<Rank, References>& references_;
  ManyOperations many_;
  Dice dice_;  // all ranks throw the same
  std::minstd_rand mine_;
  std::map<Rank, std::vector<std::pair<const Algorithm*, Variant>>> choices_;
  std::vector<std::deque<MatrixCase>> waiting_;  // of the batch, by group
  std::vector<Flight> flying_;
  execute::Progress progress_;
  std::size_t done_ = 0;
};

inline std::map<Rank, References> references_up_to(Rank ranks) {
  std::map<Rank, References> all;
  for (Rank r = 1; r <= ranks; ++r) all.emplace(r, References(r));
  return all;
}

/// On one rank of `all`. Returns how many operations it has carried out.
inline std::size_t many_at_once(const Session& all, const std::map<Rank, References>& references,
                                const ManyOperations& many) {
  std::vector<GroupEnd> groups;
  for (const auto& members : groups_of(all.ranks))
    groups.push_back(GroupEnd::of(all, members, static_cast<std::uint32_t>(groups.size() + 1)));
  return Juggler(all.rank, std::move(groups), references, many).play();
}

}  // namespace stretto::test
