// SPDX-License-Identifier: BSD-3-Clause
#include "observe/pending.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "mpi/native.hpp"
#include "mpi/queries.hpp"
#include "observe/calls.hpp"
#include "settings/settings.hpp"

namespace stretto::mpi::observe {
namespace {

using execute::now;

// Guards what follows; taken before that of records. Never destroyed, like all that a program may use at its very end.
std::mutex of_early_and_native;
std::map<MPI_Comm, std::unique_ptr<Records>>& early() {
  static auto& by_comm = *new std::map<MPI_Comm, std::unique_ptr<Records>>;
  return by_comm;
}
std::unordered_map<MPI_Request, std::shared_ptr<PendingTimes>>& natives() {
  static auto& by_request = *new std::unordered_map<MPI_Request, std::shared_ptr<PendingTimes>>;
  return by_request;
}

std::mutex of_spans;  // guards what follows
execute::Latest<Span>& all_spans() {
  static auto& only = *new execute::Latest<Span>(settings().trace_events);
  return only;
}

void add(const Span& span) {
  const std::lock_guard lock(of_spans);
  all_spans().add(span);
}

}  // namespace

std::atomic<bool> detail::any_pending{false};

void PendingTimes::begin(Records& records, Function function, Bytes bytes, Form form, Nanoseconds began) {
  detail::any_pending.store(true, std::memory_order_relaxed);
  records_ = &records;
  key_ = {function, size_class(bytes), nullptr, Passed{}, form};
  bytes_ = bytes;
  begin_ = began;
  posting_ = over_ = waited_ = completing_ = 0;
}

void PendingTimes::again() {
  begin_ = now();
  posting_ = over_ = waited_ = completing_ = 0;
}

void PendingTimes::passed(Passed why) {
  key_.algorithm = nullptr;
  key_.why = why;
}

void PendingTimes::made() {
  const Nanoseconds time = now() - begin_;
  records_->add(key_, {.time = time, .posting = time});
  begin_ = 0;
}

void PendingTimes::complete() {
  if (!records_ || !active() || over_ == 0) return;
  const Nanoseconds under_way = over_ - begin_;
  records_->add(key_, {.calls = 1,
                       .timed = 1,
                       .bytes = bytes_,
                       .time = posting_ + completing_,
                       .posting = posting_,
                       .completing = completing_,
                       .under_way = under_way,
                       .overlapped = std::max<Nanoseconds>(under_way - posting_ - waited_, 0)});
  if (!settings().trace.empty())
    add({.begin = begin_,
         .end = over_,
         .posting = posting_,
         .completing = completing_,
         .bytes = bytes_,
         .algorithm = key_.algorithm ? observe::number_of(*key_.algorithm) : no_algorithm,
         .function = static_cast<std::uint8_t>(key_.function),
         .form = key_.form});
  begin_ = over_ = 0;
}

execute::Latest<Span> spans() {
  if (!any_pending()) return execute::Latest<Span>(0);
  const std::lock_guard lock(of_spans);
  return all_spans();
}

Records* early_records(MPI_Comm comm) {
  if (comm == (native(), constants().comm_null) || !world_is_up()) return nullptr;
  const std::lock_guard lock(of_early_and_native);
  auto& found = early()[comm];
  if (!found) found = std::make_unique<Records>(comm);
  return found.get();
}

std::unique_ptr<Records> take_records(MPI_Comm comm) {
  const std::lock_guard lock(of_early_and_native);
  auto found = early().extract(comm);
  return found.empty() ? std::make_unique<Records>(comm) : std::move(found.mapped());
}

void end_early_records(MPI_Comm comm) {
  std::unique_lock lock(of_early_and_native);
  const auto found = early().extract(comm);
  lock.unlock();  // they forget what is native of them
}

void end_early_records() {
  std::unique_lock lock(of_early_and_native);
  const auto all = std::exchange(early(), {});
  lock.unlock();
}

void observe_native(MPI_Request request, const PendingTimes& times) {
  const std::lock_guard lock(of_early_and_native);
  natives().insert_or_assign(request, std::make_shared<PendingTimes>(times));
}

std::shared_ptr<PendingTimes> native_times(MPI_Request request) {
  const std::lock_guard lock(of_early_and_native);
  const auto found = natives().find(request);
  return found == natives().end() ? nullptr : found->second;
}

void forget_native(MPI_Request request, const std::shared_ptr<PendingTimes>& times) {
  const std::lock_guard lock(of_early_and_native);
  const auto found = natives().find(request);
  if (found != natives().end() && found->second == times) natives().erase(found);
}

void forget_natives(const Records& records) {
  const std::lock_guard lock(of_early_and_native);
  for (auto& [request, times] : natives()) {
    if (times->records() != &records) continue;
    times->over();
    times->complete();
    times->leave();
  }
}

}  // namespace stretto::mpi::observe
