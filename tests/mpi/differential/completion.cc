// SPDX-License-Identifier: BSD-3-Clause
#include "completion.hpp"

#include <algorithm>
#include <string>
#include <thread>

#include "difference.hpp"

namespace stretto::differential {
namespace {

constexpr int nonsense = -4711;

/// One, any, all or some of a group; or a look at one, which completes nothing.
enum class Ask { one, any, all, some, look };

struct Means {
  const char* name;
  Ask ask;
  bool test;
};

/// What a function said of a group.
struct Answer {
  int code = MPI_SUCCESS;
  int returned = 1;         ///< a test's flag
  bool undefined = false;   ///< said to be without active requests
  std::vector<int> done{};  ///< its members, in the order of the statuses
};

/// The arguments of a function: some requests in any order.
struct Group {
  std::vector<Pending*> members;
  std::vector<MPI_Request> requests;
  std::vector<MPI_Status> statuses;
  bool ignore_statuses = false;

  int size() const { return static_cast<int>(members.size()); }
  MPI_Status* status() { return ignore_statuses ? MPI_STATUS_IGNORE : statuses.data(); }
  MPI_Status* all_statuses() { return ignore_statuses ? MPI_STATUSES_IGNORE : statuses.data(); }
  bool is_active() const { return std::ranges::any_of(members, &Pending::active); }
};

Answer ask_one(const RequestFunctions& f, Group& g, bool test) {
  Answer a;
  a.code = test ? f.Test(g.requests.data(), &a.returned, g.status()) : f.Wait(g.requests.data(), g.status());
  if (a.returned) a.done = {0};
  return a;
}

Answer ask_any(const RequestFunctions& f, Group& g, bool test) {
  Answer a;
  int which = nonsense;
  a.code = test ? f.Testany(g.size(), g.requests.data(), &which, &a.returned, g.status())
                : f.Waitany(g.size(), g.requests.data(), &which, g.status());
  a.undefined = a.returned && which == MPI_UNDEFINED;
  if (a.returned && !a.undefined) a.done = {which};
  return a;
}

Answer ask_all(const RequestFunctions& f, Group& g, bool test) {
  Answer a;
  a.code = test ? f.Testall(g.size(), g.requests.data(), &a.returned, g.all_statuses())
                : f.Waitall(g.size(), g.requests.data(), g.all_statuses());
  if (a.returned)
    for (int i = 0; i < g.size(); ++i) a.done.push_back(i);
  return a;
}

Answer ask_some(const RequestFunctions& f, Group& g, bool test) {
  Answer a;
  int n = nonsense;
  a.done.assign(g.members.size(), nonsense);
  a.code = (test ? f.Testsome : f.Waitsome)(g.size(), g.requests.data(), &n, a.done.data(), g.all_statuses());
  a.undefined = n == MPI_UNDEFINED;
  if (!a.undefined && (n < (test ? 0 : 1) || n > g.size())) throw Difference{"that " + std::to_string(n) + " are done"};
  a.done.resize(a.undefined ? 0 : static_cast<std::size_t>(n));
  return a;
}

/// Where the request is pending its answer is of no use.
Answer look(const RequestFunctions& f, Group& g) {
  Answer a;
  a.code = f.Request_get_status(g.requests[0], &a.returned, g.status());
  if (!g.is_active()) a.done = {0};
  return a;
}

Answer ask(const RequestFunctions& f, const Means& means, Group& group) {
  switch (means.ask) {
    case Ask::one: return ask_one(f, group, means.test);
    case Ask::any: return ask_any(f, group, means.test);
    case Ask::all: return ask_all(f, group, means.test);
    case Ask::some: return ask_some(f, group, means.test);
    case Ask::look: return look(f, group);
  }
  return {};
}

void expect(bool right, const char* otherwise) {
  if (!right) throw Difference{otherwise};
}

void verify_status(const Pending& pending, const MPI_Status& status) {
  if (!pending.active)
    expect(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG,
           "of a request that is not active a status that is not empty");
  else if (pending.envelope)
    expect(status.MPI_SOURCE == pending.envelope->source && status.MPI_TAG == pending.envelope->tag,
           "of a message the status of something else");
}

/// What it says must be possible, and it may change only what it says.
void verify(const Means& means, const Group& group, const Answer& answer) {
  if (answer.code != MPI_SUCCESS) throw Difference{"error " + std::to_string(answer.code)};
  const bool about_many = means.ask == Ask::any || means.ask == Ask::some;
  expect(!answer.undefined || !group.is_active(), "MPI_UNDEFINED and some are active");
  if (about_many && !group.is_active())
    expect(answer.undefined, "something else than MPI_UNDEFINED and none is active");
  if (!group.is_active()) expect(answer.returned, "that requests are pending which are not active");
  std::vector<bool> done(group.members.size());
  for (const int i : answer.done) {
    expect(i >= 0 && i < group.size(), "an index that is out of range");
    const auto at = static_cast<std::size_t>(i);
    expect(!done[at], "the same index twice");
    expect(!about_many || group.members[at]->active, "that a request is done which is not active");
    done[at] = true;
  }
  for (std::size_t i = 0; i < done.size(); ++i) {
    const Pending& pending = *group.members[i];
    const MPI_Request before = *pending.request;
    const bool ends = done[i] && pending.active && !pending.persistent;
    expect(group.requests[i] == (ends ? mpi::constants().request_null : before),
           "another handle than the request had, or not MPI_REQUEST_NULL");
  }
  if (group.ignore_statuses) return;
  for (std::size_t i = 0; i < answer.done.size(); ++i)
    verify_status(*group.members[static_cast<std::size_t>(answer.done[i])], group.statuses[i]);
  if (means.ask == Ask::any && answer.undefined) verify_status(*group.members[0], group.statuses[0]);
}

class Completion {
 public:
  Completion(const RequestFunctions& functions, std::vector<Pending> pending, Random& own)
      : functions_(functions),
        pending_(std::move(pending)),
        own_(own),
        means_(means()) {}

  void run() {
    const auto active = [&] { return std::ranges::any_of(pending_, &Pending::active); };
    while (active()) step();
    if (!pending_.empty() && own_.percent(20)) step();  // of requests that are not active
  }

 private:
  /// Only waits, only tests, which must then bring the calls to their end, or both.
  std::vector<Means> means() {
    const int which = own_.below(4);
    std::vector<Means> list;
    const auto add = [&](bool there, const Means& m) {
      if (there && which != (m.test ? 0 : 1)) list.push_back(m);
    };
    const RequestFunctions& f = functions_;
    add(f.Wait, {"MPI_Wait", Ask::one, false});
    add(f.Waitany, {"MPI_Waitany", Ask::any, false});
    add(f.Waitall, {"MPI_Waitall", Ask::all, false});
    add(f.Waitsome, {"MPI_Waitsome", Ask::some, false});
    add(f.Test, {"MPI_Test", Ask::one, true});
    add(f.Testany, {"MPI_Testany", Ask::any, true});
    add(f.Testall, {"MPI_Testall", Ask::all, true});
    add(f.Testsome, {"MPI_Testsome", Ask::some, true});
    add(f.Request_get_status && !list.empty(), {"MPI_Request_get_status", Ask::look, true});
    if (list.empty()) list.push_back({"MPI_Wait", Ask::one, false});
    return list;
  }

  static bool fits([[maybe_unused]] const Means& means, [[maybe_unused]] const Pending& pending) {
#ifndef STRETTO_OPENMPI
    // Of persistent collectives MPICH 5.0.2's MPI_Request_get_status makes one inactive that is done, its MPI_Testall
    // reports an error, and its MPI_Waitall waits for ever for one that was not yet started.
    const bool inactive = !pending.active && *pending.request != mpi::constants().request_null;
    const bool all = means.ask == Ask::all && (means.test || inactive);
    if (pending.persistent && pending.native && (all || means.ask == Ask::look)) return false;
#endif
    return true;
  }

  Group draw_group(const Means& means) {
    Group group;
    for (Pending& p : pending_)
      if (fits(means, p)) group.members.push_back(&p);
    if (group.members.empty()) return group;
    for (std::size_t i = group.members.size(); i > 1; --i)
      std::swap(group.members[i - 1], group.members[static_cast<std::size_t>(own_.below(static_cast<int>(i)))]);
    const bool of_one = means.ask == Ask::one || means.ask == Ask::look;
    const bool whole = own_.percent(25);
    if (of_one || !whole) group.members.resize(static_cast<std::size_t>(of_one ? 1 : own_.between(1, group.size())));
    for (const Pending* p : group.members) group.requests.push_back(*p->request);
    group.statuses.resize(group.members.size());
    group.ignore_statuses = own_.percent(30);
    return group;
  }

  void step() {
    const Means means = own_.pick(means_);
    Group group = draw_group(means);
    int times = means.test ? own_.between(1, 40) : 1;
    if (group.members.empty()) times = 0;
    for (int i = 0; i < times && !came_to_an_end(means, group); ++i) std::this_thread::yield();
  }

  bool came_to_an_end(const Means& means, Group& group) {
    for (MPI_Status& status : group.statuses) status.MPI_SOURCE = status.MPI_TAG = nonsense;
    Answer answer;
    try {
      answer = ask(functions_, means, group);
      verify(means, group, answer);
    } catch (const Difference& d) {
      throw Difference{std::string(means.name) + " on " + std::to_string(group.size()) + " requests says " + d.text};
    }
    for (std::size_t i = 0; i < group.members.size(); ++i) *group.members[i]->request = group.requests[i];
    for (const int i : answer.done) complete(*group.members[static_cast<std::size_t>(i)]);
    std::erase_if(pending_, [](const Pending& p) { return !p.request; });
    return !answer.done.empty() || answer.undefined;
  }

  void complete(Pending& pending) {
    if (!pending.active) return;
    pending.active = false;
    if (pending.completed && pending.completed()) pending.request = nullptr;  // another turn's
  }

  const RequestFunctions& functions_;
  std::vector<Pending> pending_;
  Random& own_;
  const std::vector<Means> means_;
};

}  // namespace

void complete(const RequestFunctions& functions, std::vector<Pending> pending, Random& own) {
  Completion(functions, std::move(pending), own).run();
}

}  // namespace stretto::differential
