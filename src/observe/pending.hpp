// SPDX-License-Identifier: BSD-3-Clause
//
// Nonblocking and persistent calls as STRETTO_PROFILE and STRETTO_TRACE see them: all are timed, for what posts one and
// what waits for it are calls of their own.
#pragma once

#include <atomic>
#include <memory>

#include "observe/records.hpp"

namespace stretto::mpi::observe {

/// One call, from its posting to its completion. Used by one thread at a time.
class PendingTimes {
 public:
  /// Is the call observed?
  explicit operator bool() const { return records_ != nullptr; }
  void begin(Records& records, Function function, Bytes bytes, Form form, Nanoseconds began);
  /// The same persistent call is started once more.
  void again();
  /// Who does it.
  void served(const Algorithm& algorithm) { key_.algorithm = &algorithm; }
  void passed(Passed why);
  /// The function that posts it returns.
  void posted() { posting_ = execute::now() - begin_; }
  /// Instead: it was MPI_…_init, whose time is added to that of posting.
  void made();
  /// It has ended on this rank, or the native library has said so.
  void over() { over_ = execute::now(); }
  Nanoseconds ended() const { return over_; }
  /// Posted, and not complete?
  bool active() const { return begin_ > 0; }
  /// A wait or test has taken so long, of which this is its share.
  void waited(Nanoseconds time, Nanoseconds share) {
    waited_ += time;
    completing_ += share;
  }
  /// The program knows of its end: counts it, if that is not done yet.
  void complete();
  /// It is not looked at any more.
  void leave() { records_ = nullptr; }
  const Records* records() const { return records_; }
  Form form() const { return key_.form; }

 private:
  Records* records_ = nullptr;
  Key key_{};
  Bytes bytes_ = 0;
  Nanoseconds begin_ = 0, posting_ = 0, over_ = 0, waited_ = 0, completing_ = 0;
};

/// A call on the timeline.
struct Span {
  Nanoseconds begin, end;
  Nanoseconds posting, completing;
  Bytes bytes;
  std::uint16_t algorithm;
  std::uint8_t function;
  Form form;
};

/// The last ones of this process, in the order in which the program completed them.
execute::Latest<Span> spans();

/// Records of a communicator that is not set up yet, and will have these when it is. Null: there is none of `comm`.
Records* early_records(MPI_Comm comm);
std::unique_ptr<Records> take_records(MPI_Comm comm);
/// Before `comm` is freed.
void end_early_records(MPI_Comm comm);
/// Of all communicators that are left.
void end_early_records();

// What the native library does of them, by its requests.
namespace detail {
extern std::atomic<bool> any_pending;
}

/// Has any such call been observed? Else waits need not look for them.
inline bool any_pending() { return detail::any_pending.load(std::memory_order_relaxed); }
void observe_native(MPI_Request request, const PendingTimes& times);
/// Null: it is none of them. Once the native library has completed a request, another thread may be given its handle.
std::shared_ptr<PendingTimes> native_times(MPI_Request request);
void forget_native(MPI_Request request, const std::shared_ptr<PendingTimes>& times);
/// Counts those that are under way on a communicator whose records end.
void forget_natives(const Records& records);

}  // namespace stretto::mpi::observe
