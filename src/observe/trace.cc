// SPDX-License-Identifier: BSD-3-Clause
//
// The timeline of all ranks as Chrome's trace events: Perfetto and chrome://tracing open it.
#include <limits>
#include <optional>

#include "observe/assembly.hpp"
#include "observe/calls.hpp"
#include "observe/pending.hpp"
#include "observe/write.hpp"
#include "settings/settings.hpp"
#include "support/json.hpp"

namespace stretto::mpi::observe {
using json::quoted;

namespace {

using execute::Activity;
using execute::Event;

constexpr std::string_view names[] = {"call", "send", "receive", "reduce", "copy", "wait"};

/// The events of this process, on rank 0's clock.
Packet packed(Nanoseconds offset) {
  Packet p;
  const auto put = [&](auto events, std::size_t dropped) {
    p.put(dropped, events.size());
    for (auto& one : events) {
      one.begin += offset;
      one.end += offset;
      p.put(one);
    }
  };
  const auto all = timelines();
  p.put(all.size());
  for (const execute::Timeline* timeline : all) put(timeline->in_order(), timeline->dropped());
  const execute::Latest<Span> pending = spans();
  auto by_begin = pending.in_order();
  std::ranges::sort(by_begin, {}, &Span::begin);
  put(std::move(by_begin), pending.dropped());
  return p;
}

/// Microseconds with three digits.
std::string microseconds(Nanoseconds ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(ns / 1000), static_cast<long long>(ns % 1000));
  return text;
}

/// Up to its arguments.
std::string beginning_of(std::string_view name, std::string_view kind, int process, int thread, Nanoseconds begin,
                         Nanoseconds time) {
  return "{\"name\":" + quoted(name) + ",\"cat\":" + quoted(kind) + ",\"ph\":\"X\",\"pid\":" + std::to_string(process) +
         ",\"tid\":" + std::to_string(thread) + ",\"ts\":" + microseconds(begin) + ",\"dur\":" + microseconds(time) +
         ",\"args\":{";
}

std::string text_of(const Event& e, int thread, Nanoseconds zero) {
  const std::string_view kind = names[static_cast<std::size_t>(e.activity)];
  const bool call = e.activity == Activity::call;
  std::string text = beginning_of(call ? facts(static_cast<Function>(e.function)).name : kind, kind, 0, thread,
                                  e.begin - zero, e.end - e.begin) +
                     "\"algorithm\":" + quoted(name_of(e.algorithm));
  if (e.activity != Activity::wait) text += ",\"bytes\":" + std::to_string(e.bytes);
  if (e.peer != no_rank) text += ",\"peer\":" + std::to_string(e.peer);
  if (e.round > 0) text += ",\"round\":" + std::to_string(e.round);
  return text + "}}";
}

std::string text_of(const Span& s, int line, Nanoseconds zero) {
  return beginning_of(facts(static_cast<Function>(s.function)).name, name_of(s.form), 1, line, s.begin - zero,
                      s.end - s.begin) +
         "\"algorithm\":" + quoted(name_of(s.algorithm)) + ",\"bytes\":" + std::to_string(s.bytes) +
         ",\"posting\":" + microseconds(s.posting) + ",\"completing\":" + microseconds(s.completing) + "}}";
}

/// What a process is called, or a thread of it.
std::string naming(int process, std::optional<int> thread, const std::string& name) {
  return std::string("{\"name\":\"") + (thread ? "thread" : "process") +
         "_name\",\"ph\":\"M\",\"pid\":" + std::to_string(process) +
         (thread ? ",\"tid\":" + std::to_string(*thread) : "") + ",\"args\":{\"name\":" + quoted(name) + "}}";
}

/// When the first event of this process began.
Nanoseconds beginning() {
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  for (const execute::Timeline* timeline : timelines())
    for (const Event& e : timeline->in_order()) first = std::min(first, e.begin);
  for (const Span& s : spans().in_order()) first = std::min(first, s.begin);
  return first;
}

void write(Lines& events, int rank, int ranks, Nanoseconds zero, Packet p, std::vector<std::size_t>& dropped) {
  const std::string of_rank = "rank " + std::to_string(rank);
  const auto threads = p.get<std::size_t>();
  for (std::size_t t = 0; t < threads; ++t) {
    const int thread = static_cast<int>(t) * ranks + rank;
    events.add(naming(0, thread, of_rank + (t > 0 ? ", thread " + std::to_string(t) : "")));
    dropped[static_cast<std::size_t>(rank)] += p.get<std::size_t>();
    for (auto n = p.get<std::size_t>(); n > 0; --n) events.add(text_of(p.get<Event>(), thread, zero));
  }
  // Calls that are under way at the same time are on lines of their own.
  dropped[static_cast<std::size_t>(rank)] += p.get<std::size_t>();
  std::vector<Nanoseconds> ends;  // of the last one on each line
  for (auto n = p.get<std::size_t>(); n > 0; --n) {
    const auto span = p.get<Span>();
    const auto free = std::ranges::find_if(ends, [&](Nanoseconds end) { return end <= span.begin; });
    const auto line = free - ends.begin();
    const int number = static_cast<int>(line) * ranks + rank;
    if (free == ends.end()) {
      if (ends.empty()) events.add(naming(1, {}, "nonblocking and persistent calls"));
      ends.push_back(0);
      events.add(naming(1, number, of_rank + (line > 0 ? ", line " + std::to_string(line) : "")));
    }
    ends[static_cast<std::size_t>(line)] = span.end;
    events.add(text_of(span, number, zero));
  }
}

}  // namespace

void write_trace(Assembly& all, const std::string& path) {
  const Nanoseconds offset = all.clock_offset();
  const Nanoseconds first = beginning();
  const bool none = first == std::numeric_limits<Nanoseconds>::max();
  const Nanoseconds zero = all.least(none ? first : first + offset);
  std::optional<Output> file;
  std::optional<Lines> events;
  std::vector<std::size_t> dropped(static_cast<std::size_t>(all.ranks()));
  if (all.rank() == 0) {
    file.emplace("STRETTO_TRACE", path);
    events.emplace(*file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    events->add(naming(0, {}, program_name()));
  }
  all.collect(packed(offset),
              [&](int rank, Packet p) { write(*events, rank, all.ranks(), zero, std::move(p), dropped); });
  if (all.rank() != 0) return;
  events.reset();
  std::string numbers;
  std::size_t sum = 0;
  for (const std::size_t n : dropped) {
    numbers += (numbers.empty() ? "" : ",") + std::to_string(n);
    sum += n;
  }
  file->write(",\"otherData\":{\"format\":\"stretto trace\",\"version\":1,\"stretto\":\"" +
              std::string(stretto_version()) + "\",\"ranks\":" + std::to_string(all.ranks()) +
              ",\"dropped\":" + std::to_string(sum) + ",\"dropped_by_rank\":[" + numbers + "]}}\n");
}

}  // namespace stretto::mpi::observe
