// SPDX-License-Identifier: BSD-3-Clause
#include "measure/results.hpp"

#include <unistd.h>

#include <cstdio>

#include "stretto/sources.hpp"
#include "support/json.hpp"

namespace stretto::measure {
namespace {

/// Of left and right: [microseconds, whether disturbed] for each block.
std::string json(const std::vector<Block> (&sides)[2]) {
  std::string text;
  for (const auto& side : sides) {
    text += text.empty() ? "[" : "],[";
    for (std::size_t i = 0; i < side.size(); ++i) {
      char word[48];
      std::snprintf(word, sizeof word, "%s[%.4f,%d]", i == 0 ? "" : ",", side[i].us, side[i].disturbed ? 1 : 0);
      text += word;
    }
  }
  return "[" + text + "]]";
}

}  // namespace

void print_machine(int ranks, int on_nodes, const std::string& library) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  intercept::native().Get_library_version(version, &length);
  std::printf("{\"machine\":{\"cores\":%ld,\"ranks\":%d,\"nodes\":%d,\"title\":%s,\"mpi_library\":%s}}\n",
              sysconf(_SC_NPROCESSORS_ONLN), ranks, on_nodes, json::quoted(this_machine(mpi_title(version))).c_str(),
              json::quoted(library).c_str());
  std::fflush(stdout);
}

void print(const Cell& cell, const Result& r, int ranks) {
  std::printf(
      "{\"cell\":\"%s\",\"function\":\"%s\",\"asked\":%lld,\"bytes\":%lld,\"ranks\":%d,\"native_us\":%.4f,"
      "\"stretto_us\":%.4f,\"ratio\":%.4f,\"native_spread\":%.3f,\"stretto_spread\":%.3f,\"native_calls\":%d,"
      "\"stretto_calls\":%d,\"algorithm\":\"%s\",\"correct\":%s,\"repetitions\":%d,\"seconds\":%.3f}\n",
      name_of(cell.kind).c_str(), std::string(facts(cell.kind.function).name).c_str(),
      static_cast<long long>(cell.asked), static_cast<long long>(cell.bytes), ranks, r.native.us, r.stretto.us,
      r.native.us / r.stretto.us, r.native.spread, r.stretto.spread, r.native.calls, r.stretto.calls,
      r.algorithm.c_str(), r.correct ? "true" : "false", r.blocks, r.seconds);
}

void print_native(const Cell& cell, const Result& r, int ranks) {
  std::printf(
      "{\"cell\":\"%s\",\"function\":\"%s\",\"asked\":%lld,\"bytes\":%lld,\"ranks\":%d,\"native_us\":%.4f,"
      "\"native_spread\":%.3f,\"native_calls\":%d,\"correct\":%s,\"repetitions\":%d,\"seconds\":%.3f}\n",
      name_of(cell.kind).c_str(), std::string(facts(cell.kind.function).name).c_str(),
      static_cast<long long>(cell.asked), static_cast<long long>(cell.bytes), ranks, r.native.us, r.native.spread,
      r.native.calls, r.correct ? "true" : "false", r.blocks, r.seconds);
}

void print(const Pair& pair, const PairResult& r, int ranks) {
  const auto number = [](Bytes bytes) { return static_cast<long long>(bytes); };
  std::printf(
      "{\"pair\":[\"%s\",\"%s\"],\"asked\":[%lld,%lld],\"bytes\":[%lld,%lld],\"ranks\":%d,\"native\":%s,"
      "\"stretto\":%s,\"algorithms\":[\"%s\",\"%s\"],"
      "\"correct\":%s,\"seconds\":%.3f}\n",
      name_of(pair.left.kind).c_str(), name_of(pair.right.kind).c_str(), number(pair.left.asked),
      number(pair.right.asked), number(pair.left.bytes), number(pair.right.bytes), ranks, json(r.native).c_str(),
      json(r.stretto).c_str(), r.algorithms[0].c_str(), r.algorithms[1].c_str(), r.correct ? "true" : "false",
      r.seconds);
}

void print(const Cell& cell, const std::vector<Entry>& entries, int ranks, double seconds) {
  bool correct = true;
  for (const Entry& one : entries) correct = correct && one.correct;
  std::printf(
      "{\"cell\":\"%s\",\"function\":\"%s\",\"asked\":%lld,\"bytes\":%lld,\"ranks\":%d,\"correct\":%s,"
      "\"seconds\":%.3f,\"candidates\":[",
      name_of(cell.kind).c_str(), std::string(facts(cell.kind.function).name).c_str(),
      static_cast<long long>(cell.asked), static_cast<long long>(cell.bytes), ranks, correct ? "true" : "false",
      seconds);
  for (const Entry& one : entries)
    std::printf(
        "%s{\"words\":\"%s\",\"algorithm\":\"%s\",\"us\":%.4f,\"spread\":%.3f,\"calls\":%d,\"blocks\":%d,"
        "\"correct\":%s}",
        &one == entries.data() ? "" : ",", one.words.c_str(), one.algorithm.c_str(), one.time.us, one.time.spread,
        one.time.calls, one.blocks, one.correct ? "true" : "false");
  std::printf("]}\n");
}

void print(const std::vector<Reduction>& reductions) {
  std::printf("{\"reductions\":[");
  for (const Reduction& one : reductions)
    std::printf("%s[\"%s\",\"%s\",%.4f]", &one == reductions.data() ? "" : ",", reduce::name_of(one.op).data(),
                reduce::name_of(one.type).data(), one.ratio);
  std::printf("]}\n");
}

void print_progress(std::size_t done, std::size_t of) {
  std::printf("{\"progress\":%zu,\"of\":%zu}\n", done, of);
  std::fflush(stdout);
}

void print_stage(const std::string& what) {
  std::printf("{\"stage\":\"%s\"}\n", what.c_str());
  std::fflush(stdout);
}

}  // namespace stretto::measure
