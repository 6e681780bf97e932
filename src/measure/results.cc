// SPDX-License-Identifier: BSD-3-Clause
#include "measure/results.hpp"

#include <unistd.h>

#include <cstdio>

#include "mpi/queries.hpp"
#include "stretto/sources.hpp"
#include "support/json.hpp"

namespace stretto::measure {
namespace {

/// The last line is out before a call begins that may never end.
void end_line(const char* text) {
  std::puts(text);
  std::fflush(stdout);
}

const char* word(bool b) { return b ? "true" : "false"; }
long long number(Bytes bytes) { return static_cast<long long>(bytes); }

void begin(const Point& point, int ranks) {
  std::printf(R"({"cell":"%s","function":"%s","mode":"%s","form":"%s","asked":%lld,"bytes":%lld,"ranks":%d)",
              name_of(point.benchmark).c_str(), facts(point.benchmark.function).name.data(), name_of(point.mode).data(),
              name_of(point.form).data(), number(point.asked), number(point.bytes), ranks);
}

void print_time(const char* library, const Time& time) {
  std::printf(R"(,"%s_us":%.4f,"%s_spread":%.3f,"%s_calls":%d)", library, time.us, library, time.spread, library,
              time.calls);
}

/// ,"name":[…] with what `print_one` prints of each.
template <typename One, typename Print>
void print_list(const char* name, const std::vector<One>& all, Print print_one) {
  std::printf(",\"%s\":[", name);
  for (const One& one : all) {
    if (&one != all.data()) std::printf(",");
    print_one(one);
  }
  std::printf("]");
}

/// Of each point or part: [microseconds, whether disturbed] for each batch.
void print_batches(const char* library, const std::vector<std::vector<Batch>>& of) {
  print_list(library, of, [](const std::vector<Batch>& batches) {
    const char* before = "[";
    for (const Batch& one : batches) {
      std::printf("%s[%.4f,%d]", before, one.us, one.disturbed ? 1 : 0);
      before = ",";
    }
    std::printf(batches.empty() ? "[]" : "]");
  });
}

}  // namespace

void print_machine(int ranks, int on_nodes, const std::string& library) {
  std::printf(R"({"machine":{"cores":%ld,"ranks":%d,"nodes":%d,"title":%s,"mpi_library":%s)",
              sysconf(_SC_NPROCESSORS_ONLN), ranks, on_nodes,
              json::quoted(this_machine(mpi_title(mpi::library_version()))).c_str(), json::quoted(library).c_str());
  end_line("}}");
}

void print(const Point& point, const Result& r, int ranks, double seconds) {
  begin(point, ranks);
  if (r.native.calls > 0) {
    print_time("native", r.native);
    if (r.native_form != point.form) std::printf(R"(,"native_form":"%s")", name_of(r.native_form).data());
  }
  if (r.stretto.calls > 0) {
    print_time("stretto", r.stretto);
    std::printf(R"(,"algorithm":"%s")", r.algorithm.c_str());
  }
  if (r.native.calls > 0 && r.stretto.calls > 0) std::printf(R"(,"ratio":%.4f)", r.native.us / r.stretto.us);
  std::printf(R"(,"correct":%s,"repetitions":%d,"seconds":%.3f)", word(r.correct), r.batches, seconds);
  end_line("}");
}

void print(const std::vector<Point>& group, const GroupResult& r, int ranks, double seconds) {
  std::printf(R"({"ranks":%d)", ranks);
  print_list("pair", group, [](const Point& one) { std::printf("\"%s\"", name_of(one.benchmark).c_str()); });
  print_list("forms", group, [](const Point& one) { std::printf("\"%s\"", name_of(one.form).data()); });
  print_list("asked", group, [](const Point& one) { std::printf("%lld", number(one.asked)); });
  print_list("bytes", group, [](const Point& one) { std::printf("%lld", number(one.bytes)); });
  print_list("algorithms", r.algorithms, [](const std::string& one) { std::printf("\"%s\"", one.c_str()); });
  print_batches("native", r.native);
  print_batches("stretto", r.stretto);
  std::printf(R"(,"correct":%s,"seconds":%.3f)", word(r.correct), seconds);
  end_line("}");
}

void print(const Point& point, const OverlapResult& r, int ranks, double seconds) {
  begin(point, ranks);
  std::printf(R"(,"algorithm":"%s")", r.algorithm.c_str());
  print_batches("native", r.native);
  print_batches("stretto", r.stretto);
  std::printf(R"(,"correct":%s,"seconds":%.3f)", word(r.correct), seconds);
  end_line("}");
}

void print(const Point& point, const std::vector<CandidateResult>& candidates, int ranks, double seconds) {
  begin(point, ranks);
  std::printf(R"(,"correct":%s,"seconds":%.3f,"candidates":[)", word(all_correct(candidates)), seconds);
  for (const CandidateResult& one : candidates)
    std::printf(R"(%s{"words":"%s","algorithm":"%s","us":%.4f,"spread":%.3f,"calls":%d,"blocks":%d,"correct":%s})",
                &one == candidates.data() ? "" : ",", one.words.c_str(), one.algorithm.c_str(), one.time.us,
                one.time.spread, one.time.calls, one.batches, word(one.correct));
  end_line("]}");
}

void print_progress(std::size_t done, std::size_t of) {
  std::printf("{\"progress\":%zu,\"of\":%zu", done, of);
  end_line("}");
}

void print_stage(const std::string& what) { end_line(("{\"stage\":\"" + what + "\"}").c_str()); }

}  // namespace stretto::measure
