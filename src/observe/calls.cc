// SPDX-License-Identifier: BSD-3-Clause
#include "observe/calls.hpp"

#include <algorithm>
#include <memory>
#include <mutex>

#include "settings/settings.hpp"

namespace stretto::mpi::observe {
namespace {

using execute::Activity;
using execute::now;
using execute::Observer;
using execute::Timeline;

std::mutex of_timelines;  // guards what follows; never destroyed, like all that a program may use at its very end
std::vector<Timeline*>& all_timelines() {
  static auto& list = *new std::vector<Timeline*>;
  return list;
}
std::vector<Timeline*>& free_timelines() {
  static auto& list = *new std::vector<Timeline*>;
  return list;
}

/// A thread's timeline goes to a later thread: programs may start thousands.
struct Release {
  ~Release() {
    if (!observer().timeline) return;
    const std::lock_guard lock(of_timelines);
    free_timelines().push_back(std::exchange(observer().timeline, nullptr));
  }
};

void take_timeline() {
  static thread_local Release at_end_of_thread;
  const std::lock_guard lock(of_timelines);
  if (free_timelines().empty()) {
    observer().timeline = all_timelines().emplace_back(new Timeline(settings().trace_events));
    return;
  }
  observer().timeline = free_timelines().back();
  free_timelines().pop_back();
}

void add_to_timeline(Function function, std::uint16_t algorithm, Bytes bytes, Nanoseconds begin, Nanoseconds end) {
  observer().timeline->add({.begin = begin,
                            .end = end,
                            .bytes = bytes,
                            .algorithm = algorithm,
                            .activity = Activity::call,
                            .function = static_cast<std::uint8_t>(function)});
}

}  // namespace

namespace detail {
constinit thread_local Call call{};
constinit thread_local Observer observer{};
}  // namespace detail

std::vector<const Timeline*> timelines() {
  const std::lock_guard lock(of_timelines);
  return {all_timelines().begin(), all_timelines().end()};
}

std::uint16_t number_of(const Algorithm& algorithm) {
  return static_cast<std::uint16_t>(stretto::number_of(algorithm) + 1);
}

std::string_view name_of(std::uint16_t number) {
  return number == no_algorithm ? "native" : algorithm_numbered(number - 1u)->id;
}

void begin_call(Function function, Records* records, Bytes bytes, Nanoseconds begin) {
  if (!settings().trace.empty() && !observer().timeline) take_timeline();
  detail::call = {function, records, bytes, nullptr, Passed::not_ready, begin};
  Observer& mine = observer();
  mine.look_closely();
  mine.algorithm = no_algorithm;
  if (records) mine.numbers = records->world_ranks();
}

void served(const Algorithm& algorithm, bool always) {
  Call& call = detail::call;
  if (!call.records) return;
  call.served = &call.records->served({call.function, size_class(call.bytes), &algorithm, Passed{}}, always);
  call.served->record->bytes += call.bytes;
  call.served->sampled.goes_on(++call.served->calls, call.begin, call.bytes);
}

void end_call() {
  Call& call = detail::call;
  Records* const records = std::exchange(call.records, nullptr);
  if (call.served) return call.served->sampled.end(call.served->calls);
  const Nanoseconds end = now();
  Observer& mine = observer();
  records->of({call.function, size_class(call.bytes), nullptr, call.why}) +=
      {.calls = 1, .timed = 1, .bytes = call.bytes, .time = end - call.begin, .waiting = mine.waited()};
  if (mine.timeline) add_to_timeline(call.function, no_algorithm, call.bytes, call.begin, end);
  mine.forget();
}

Sampled::Sampled(Record& record, const std::vector<Rank>& numbers, Function function, Bytes bytes,
                 const Algorithm& algorithm, bool always)
    : record_(&record),
      numbers_(&numbers),
      bytes_(bytes),
      function_(function),
      algorithm_(observe::number_of(algorithm)),
      always_(always || settings().time_all_calls || !settings().trace.empty()) {}

void Sampled::look(std::uint64_t call) {
  Observer& mine = observer();
  if (!settings().trace.empty() && !mine.timeline) take_timeline();
  mine.look_closely();
  mine.algorithm = algorithm_;
  mine.numbers = *numbers_;
  now_ = call;
  begin_ = now();
  bytes_now_ = bytes_;
}

void Sampled::goes_on(std::uint64_t call, Nanoseconds began, Bytes bytes) {
  Observer& mine = observer();
  if (call < next_) return mine.look_away();
  mine.algorithm = algorithm_;
  now_ = call;
  begin_ = began;
  bytes_now_ = bytes;
}

void Sampled::note(std::uint64_t call) {
  const Nanoseconds end = now();
  Observer& mine = observer();
  const Nanoseconds rest = mine.yield_began();
  if (now_ == call) {
    take((rest > 0 ? rest : end) - begin_, mine.waited_before_yield(), static_cast<Nanoseconds>(call - last_));
    ++record_->timed;
    last_ = call;
    next_ = call + pause();
    if (mine.timeline) add_to_timeline(function_, algorithm_, bytes_now_, begin_, end);
  }
  if (rest > 0) {
    record_->time += end - rest;
    record_->waiting += mine.waited() - mine.waited_before_yield();
  }
  mine.forget();
}

/// One call's time before it gave its core away, for `n` calls. Where that is a millisecond, it was interrupted, for by
/// then it would have: then it stands for itself, and the others are taken to be as most are.
void Sampled::take(Nanoseconds time, Nanoseconds waiting, Nanoseconds n) {
  constexpr Nanoseconds interrupted = 1'000'000;
  if (time >= interrupted) {
    record_->time += time + time_ * (n - 1);
    record_->waiting += waiting + waiting_ * (n - 1);
    return;
  }
  record_->time += time * n;
  record_->waiting += waiting * n;
  time_ += (time - time_) / (time_ > 0 ? 8 : 1);
  waiting_ += (waiting - waiting_) / 8;
}

/// At random, for a program's calls may have a rhythm; shorter where times vary.
std::uint64_t Sampled::pause() {
  constexpr Nanoseconds long_enough = 60'000;  // a dozen looks at the clock are a hundredth of it or less
  if (always_ || time_ == 0 || time_ >= long_enough) return 1;  // 0: so far all were interrupted
  const auto mean = static_cast<std::uint32_t>(long_enough / std::max<Nanoseconds>(time_, 100));
  random_ = random_ * 1664525u + 1013904223u;
  return 1 + (random_ >> 16) % (2 * mean);
}

void Sampled::finish(std::uint64_t calls) {
  if (!record_) return;
  record_->calls += calls;
  record_->bytes += static_cast<Bytes>(calls) * bytes_;
  const auto stands_for = static_cast<Nanoseconds>(calls - last_);
  record_->time += time_ * stands_for;
  record_->waiting += waiting_ * stands_for;
  now_ = last_ = 0;
  next_ = 1;
}

}  // namespace stretto::mpi::observe
