// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/observed.hpp"

#include <algorithm>
#include <utility>

#include "prepare/requests.hpp"

namespace stretto::mpi {
namespace {

using observe::Nanoseconds;
using observe::PendingTimes;

/// Of what the program describes; 0 where the description is wrong.
Bytes bytes_of(Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || type == constants().type_null || native().Type_size_x(type, &size) != MPI_SUCCESS) return 0;
  return count * static_cast<Bytes>(size);
}

Bytes part_bytes(const Arguments& a, int side, Rank r) {
  const PartsArguments* parts = a.parts[static_cast<std::size_t>(side)];
  const MPI_Datatype type = a.signature.types[static_cast<std::size_t>(side)];
  if (!parts) return bytes_of(a.signature.counts[static_cast<std::size_t>(side)], type);
  return parts->counts.given() ? bytes_of(parts->counts[r], parts->types ? parts->types[r] : type) : 0;
}

/// What this rank sends.
Bytes bytes_to_neighbours(Communicator& c, const Arguments& a) {
  const auto graph = c.graph();
  if (!graph) return 0;
  const std::vector<Rank>& to = graph->of(c.rank()).destinations;
  Bytes sum = 0;
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i] != no_rank) sum += part_bytes(a, 0, static_cast<Rank>(i));
  return sum;
}

Bytes bytes_among(Rank rank, Rank ranks, const Arguments& a) {
  const Signature& s = a.signature;
  const CollectiveFacts& collective = facts(facts(s.function).collective);
  if (collective.rooted && collective.per_rank) {
    const bool gathers = collective.parts_out;
    const bool irregular = facts(s.function).irregular;
    if (s.in_place && irregular && rank != s.root) return 0;
    return part_bytes(a, gathers == s.in_place ? 1 : 0, rank) * (irregular ? 1 : ranks);
  }
  const bool by_input = collective.reduces || (collective.pairwise && facts(s.function).irregular && !s.in_place);
  const int side = by_input ? 0 : 1;
  if (!facts(s.function).irregular) return part_bytes(a, side, 0) * (collective.per_rank ? ranks : 1);
  Bytes sum = 0;
  for (Rank r = 0; r < ranks; ++r) sum += part_bytes(a, side, r);
  return sum;
}

/// On a communicator for which Stretto keeps nothing yet.
Bytes early_bytes(MPI_Comm comm, const Arguments& a) {
  int inter = 0, rank = 0, ranks = 1;
  native().Comm_test_inter(comm, &inter);
  if (inter || facts(facts(a.signature.function).collective).neighbourhood) return 0;
  native().Comm_rank(comm, &rank);
  native().Comm_size(comm, &ranks);
  return bytes_among(rank, ranks, a);
}

[[gnu::tls_model("initial-exec")]] constinit thread_local ObservedWait* outermost = nullptr;

/// Is a native call over? A nonblocking one's request is null then. The program does not learn it by this question.
bool is_over(MPI_Request request, Form form) {
  if (form == Form::nonblocking) return request == constants().request_null;
  int over = 0;
  return native().Request_get_status(request, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS || over;
}

void end_native(PendingTimes& times) {
  times.over();
  times.complete();
}

}  // namespace

Bytes observed_bytes(Communicator& c, const Arguments& a) {
  if (c.unusable == Passed::intercommunicator) return 0;  // their counts go by the other side's ranks
  if (facts(facts(a.signature.function).collective).neighbourhood) return bytes_to_neighbours(c, a);
  return bytes_among(c.rank(), c.ranks(), a);
}

void observe_native(MPI_Comm comm, const Arguments& arguments, Form form, Nanoseconds began, MPI_Request request) {
  Communicator* const c = communicator_at_hand(comm);
  observe::Records* const records = c ? c->records.get() : observe::early_records(comm);
  if (!records || request == constants().request_null) return;
  PendingTimes times;
  const Bytes bytes = c ? observed_bytes(*c, arguments) : early_bytes(comm, arguments);
  times.begin(*records, arguments.signature.function, bytes, form, began);
  times.passed(passed_call().reason);
  form == Form::persistent ? times.made() : times.posted();
  observe::observe_native(request, times);
}

int start_natively(MPI_Request* request) {
  const auto times = observe::any_pending() && request ? observe::native_times(*request) : nullptr;
  if (times) {
    end_native(*times);  // unless a wait or test has asked for it
    times->again();
  }
  const int code = native().Start(request);
  if (times) times->posted();
  return code;
}

void ObservedWait::begin(int n, const MPI_Request* requests) {
  if (outermost || !requests) return;
  Seen seen{requests};
  seen.began = execute::now();  // before any is asked for, which can end others: none has ended before it
  for (int i = 0; i < n; ++i) {
    if (requests[i] == constants().request_null) continue;
    if (Request* const own = request_of(requests[i])) {
      if (own->active && own->call().times && !own->done()) seen.own.push_back(&own->call());
      continue;
    }
    auto times = observe::native_times(requests[i]);
    if (!times || !times->active()) continue;
    if (is_over(requests[i], times->form()))
      end_native(*times);
    else
      seen.natives.push_back({i, requests[i], std::move(times)});
  }
  if (seen.own.empty() && seen.natives.empty()) return;
  outermost = this;
  seen_ = std::make_unique<Seen>(std::move(seen));
}

void ObservedWait::divide() {
  if (std::exchange(seen_->divided, true)) return;
  const auto& [requests, own, natives, began, divided] = *seen_;
  const Nanoseconds now = execute::now();
  const auto time = [now, began = began](const PendingCall& call) {
    return (call.done() ? call.times.ended() : now) - began;
  };
  Nanoseconds longest = natives.empty() ? 0 : now - began;
  for (const PendingCall* call : own) longest = std::max(longest, time(*call));
  const Nanoseconds share = longest / static_cast<Nanoseconds>(own.size() + natives.size());
  for (PendingCall* call : own) call->times.waited(time(*call), share);
  for (const Native& one : natives) one.times->waited(now - began, share);
}

void ObservedWait::divide_time() {
  if (outermost) outermost->divide();
}

void ObservedWait::end() {
  divide();
  outermost = nullptr;
  for (const Native& one : seen_->natives) {
    const MPI_Request left = seen_->requests[one.at];
    if (!is_over(left, one.times->form())) continue;
    end_native(*one.times);
    if (left == constants().request_null) observe::forget_native(one.request, one.times);
  }
}

}  // namespace stretto::mpi
