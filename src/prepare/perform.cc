// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <optional>

#include "prepare/nonblocking_call.hpp"
#include "prepare/prepared_call.hpp"
#include "support/memory.hpp"

namespace stretto::mpi {
namespace {

/// Are the program's buffers, of all ranks of the node, larger than the cache? Each rank may decide for itself.
bool bypass_cache(const Communicator& c, const Algorithm& algorithm, const execute::Work& work) {
  static const Bytes cache = last_level_cache();
  const bool near = facts(algorithm.collective).neighbourhood;
  const auto parts = near ? static_cast<Rank>(work.schedule->blocks) : c.ranks();
  Count elements = 0;
  for (const execute::Region* r : {&work.input, &work.output})
    if (r->at) elements += r->layout.elements(parts);
  return elements * work.element.extent * c.ranks() > cache;
}

/// Where all messages go through the MPI, a call that waits long does not tell so by itself: each is looked at.
bool look_always(const Communicator& c) { return c.ranks() > 1 && !c.node(); }

observe::Sampled sampled(const Communicator& c, Function function, const Algorithm& algorithm) {
  if (!c.records) return {};
  const Bytes bytes = observe::bytes_of_call();
  observe::Record& record = c.records->of({function, observe::size_class(bytes), &algorithm, Passed{}});
  return {record, c.records->world_ranks(), function, bytes, algorithm, look_always(c)};
}

/// One that is not plain. `left`: the native library does it, which is counted.
[[gnu::noinline]] Served run_kept(Worker& w, Communicator& c, Function function, PlanCache::Cached& cached,
                                  bool& left) {
  cached.count_down(CountedAs::blocking);
  if (!cached.algorithm) {
    ++cached.calls;
    left = true;
    return std::nullopt;
  }
  count_again(c, cached);
  const bool observed = static_cast<bool>(cached.sampled);
  if (observed) cached.sampled.begin(cached.calls);
  int reported = MPI_SUCCESS;  // what the program has heard of
  const int code = [&] {
    if (!cached.own_operator) return w.run(c, function, cached.work, &cached.plan);
    const PackingFor program(c.comm());
    const int of_messages = w.run(c, function, cached.work, &cached.plan);
    reported = packing_error();
    return of_messages;
  }();
  if (observed) cached.sampled.end(cached.calls);
  return code == MPI_SUCCESS ? reported : raise(c, mpi_name(function), code);
}

/// Where ranks learn, and the call is like another one of the turn under way.
Served run_in_turn(Worker& w, Communicator& c, const Arguments& arguments) {
  PlanCache::Cached* const cached = c.learner->again(arguments);
  if (!cached) return std::nullopt;
  if (c.records) observe::served(*cached->algorithm, look_always(c));
  bool left = false;
  c.learner->begin_work();
  const Served code = run_kept(w, c, arguments.signature.function, *cached, left);
  if (code == MPI_SUCCESS) c.learner->end_work();
  return code;
}

Served perform_with(Worker& w, Communicator& c, const Arguments& arguments) {
  if (c.learner) {
    c.learner->begin_call();
    if (const Served done = run_in_turn(w, c, arguments)) return done;
  }
  w.call_buffers.trim();
  PreparedCall call(c, arguments, w.call_buffers);
  call.take_turn(CountedAs::blocking);
  const Function function = arguments.signature.function;
  while (call.next(w.scratch())) {
    execute::Work work = call.work();
    const auto kept = call.is_collective() ? count_and_keep(c, call, work, true) : nullptr;
    if (c.learner) c.learner->begin_work();
    const int code = w.run(c, function, work, kept ? &kept->plan : nullptr);
    if (code != MPI_SUCCESS) return raise(c, mpi_name(function), code);
  }
  if (!c.records && call.always_native() && !(c.learner && c.learner->timed()))
    c.plans.keep_native(arguments, call.decision(), statistics().of(function, Passed::rules));
  const Served code = call.end();
  if (c.learner && code) c.learner->end_work();
  return code && *code != MPI_SUCCESS && !call.reported() ? raise(c, mpi_name(function), *code) : code;
}

[[gnu::always_inline]] inline Served find_and_run(Worker& w, Communicator& c, const Arguments& arguments, bool& left) {
  const auto* const found = c.plans.find(arguments, CountedAs::blocking);
  if (!found || (c.careful && c.unusable)) return std::nullopt;
  PlanCache::Cached& cached = **found;
  const Function function = arguments.signature.function;
  if (!cached.is_plain) return run_kept(w, c, function, cached, left);
  count_again(c, cached);
  const int code = w.run(c, function, cached.work, &cached.plan);
  return code == MPI_SUCCESS ? code : raise(c, mpi_name(function), code);
}

}  // namespace

void count_again(Communicator& c, PlanCache::Cached& cached) {
  ++cached.calls;
  ++c.calls;
  set_last_algorithm(cached.algorithm->id.data());
}

void count_served(Communicator& c, Counter& served, const Algorithm& algorithm) {
  served.fetch_add(1, std::memory_order_relaxed);
  set_last_algorithm(algorithm.id.data());
  ++c.calls;
}

void complete_work(const Communicator& c, Function function, const Decision& decision, execute::Work& work) {
  work.depth = std::min(decision.params.depth, c.most_depth());
  const bool lends = decision.params.copy != Copy::staged && settings().kernel_copy;
  work.lend_from = lends ? c.lends_from(function) : 0;
  work.copies_measured = lends && decision.params.copy == Copy::measured;
  work.oversubscribed = c.oversubscribed();
  work.bypass_cache = bypass_cache(c, *decision.algorithm, work);
  work.has_neighbours = c.node() != nullptr;
}

std::shared_ptr<PlanCache::Cached> count_and_keep(Communicator& c, const PreparedCall& call, execute::Work& work,
                                                  bool blocking) {
  const Decision& decision = call.decision();
  count_served(c, *decision.served, *decision.algorithm);
  if (blocking && c.records) observe::served(*decision.algorithm, look_always(c));
  complete_work(c, call.function(), decision, work);
  if (!call.keeps() || segments_of(work) != 1) return nullptr;
  // What blocking calls find is to sample them. They cannot refuse what they have found: it has noted their sizes.
  if (!blocking && (c.records || call.runs_own_operator())) return nullptr;
  bool timed = false;
  if (c.learner) [[unlikely]] {
    timed = blocking ? c.learner->timed() : static_cast<bool>(call.turn());
    const Quiet& counted = call.decision().quiet;
    if (!blocking && !counted[0] && !counted[1]) return nullptr;  // blocking calls of that kind will be counted
  }
  PlanCache& plans =
      timed ? c.learner->plans_of_round(blocking ? CountedAs::blocking : CountedAs::nonblocking) : c.plans;
  auto* const place = plans.place_for(*call.keeps(), call.parts());
  if (!place || (call.keeps()->own_types && (!may_call_the_mpi() || !call.watch_types()))) return nullptr;
  auto kept =
      plans.keep(*place, *call.keeps(), call.parts(), call.decision(), call.schedule(), work,
                 blocking && !timed ? sampled(c, call.function(), *call.decision().algorithm) : observe::Sampled());
  if (blocking && timed) c.learner->keep_for_turn(*kept);
  return kept;
}

Served perform(Communicator& c, const Arguments& arguments) {
  return beside_pending(c, [&](Worker& w) { return perform_with(w, c, arguments); });
}

Served run_cached(Communicator& c, const Arguments& arguments, bool& left) {
  return beside_pending(c, [&](Worker& w) { return find_and_run(w, c, arguments, left); });
}

}  // namespace stretto::mpi
