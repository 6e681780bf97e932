// SPDX-License-Identifier: BSD-3-Clause
//
// stretto-race-FLAVOUR: races the native collectives against Stretto's, block by block in one process, or candidates
// against each other (--plan), or times the native ones alone. Started by `stretto bench` and `stretto tune` under
// mpiexec; writes one JSON object a line.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "intercept/observe/json.hpp"
#include "race/contest.hpp"
#include "race/plan.hpp"
#include "race/timing.hpp"
#include "stretto/error.hpp"
#include "stretto/sources.hpp"

namespace stretto::race {
namespace {

struct Options {
  std::string mpi;
  std::string stretto;
  std::vector<Kind> kinds;
  std::vector<Bytes> sizes;
  std::vector<std::pair<Kind, Bytes>> cells;  // or these, and nothing else
  std::string plan;                           // or this file's cells, each with candidates
  double seconds = 0.2;                       // for each cell
  bool smoke = false;
  bool native_only = false;
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--smoke") {
      o.smoke = true;
      continue;
    }
    if (name == "--native-only") {
      o.native_only = true;
      continue;
    }
    if (i + 1 == argc) throw Error("option " + std::string(name) + " needs a value");
    const std::string_view value = argv[++i];
    if (name == "--mpi-library") {
      o.mpi = value;
    } else if (name == "--stretto-library") {
      o.stretto = value;
    } else if (name == "--plan") {
      o.plan = value;
    } else if (name == "--budget") {
      o.seconds = std::strtod(std::string(value).c_str(), nullptr);
    } else if (name == "--collectives") {
      for_each_word(value, ',', [&](std::string_view word) { o.kinds.push_back(kind_of(word)); });
    } else if (name == "--sizes") {
      for_each_word(value, ',', [&](std::string_view word) { o.sizes.push_back(size_of(word)); });
    } else if (name == "--cells") {
      for_each_word(value, ',', [&](std::string_view word) { o.cells.push_back(kind_and_size(word)); });
    } else {
      throw Error("unknown option " + std::string(name));
    }
  }
  if (o.mpi.empty() || o.stretto.empty()) throw Error("--mpi-library and --stretto-library are needed");
  if (o.smoke) {
    o.sizes = {8, 65536};
    o.seconds = 0.01;
  }
  if (o.kinds.empty() || o.smoke) {
    o.kinds.clear();
    for (const Function f : all_functions) o.kinds.push_back({f});
  }
  return o;
}

std::vector<Cell> cells_of(const Options& o, int ranks) {
  std::vector<Cell> cells;
  for (const auto& [kind, bytes] : o.cells) cells.push_back(checked_cell(kind, bytes, ranks));
  if (!cells.empty()) return cells;
  for (const Kind& kind : o.kinds) {
    Bytes last = -1;
    for (const Bytes wish : o.sizes) {
      const Cell cell = checked_cell(kind, wish, ranks);
      if (cell.bytes != last) cells.push_back(cell);
      last = cell.bytes;
    }
  }
  return cells;
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

void print_contest(const Cell& cell, const std::vector<Entry>& entries, int ranks, double seconds) {
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

/// MPICH takes other, shared-memory algorithms from a communicator's sixth collective call on
/// (MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD): what is measured is what lasts, whatever cell comes first.
void settle(const Functions& native) {
  for (int i = 0; i < 10; ++i) {
    double in = i;
    double out = 0;
    native.Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, intercept::constants().world);
  }
}

int nodes() {
  MPI_Comm node;
  int mine = 0;
  int all = 0;
  intercept::native().Comm_split_type(intercept::constants().world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  intercept::native().Comm_rank(node, &mine);
  intercept::native().Comm_free(&node);
  const int first = mine == 0 ? 1 : 0;
  intercept::native().Allreduce(&first, &all, 1, MPI_INT, MPI_SUM, intercept::constants().world);
  return all;
}

void print_machine(int ranks, int on_nodes, const std::string& library) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  intercept::native().Get_library_version(version, &length);
  std::printf("{\"machine\":{\"cores\":%ld,\"ranks\":%d,\"nodes\":%d,\"title\":%s,\"mpi_library\":\"%s\"}}\n",
              sysconf(_SC_NPROCESSORS_ONLN), ranks, on_nodes,
              intercept::observe::quoted(this_machine(mpi_title(version))).c_str(), library.c_str());
  std::fflush(stdout);
}

/// The process's rank and what it calls.
struct Driver {
  const Options& options;
  const StrettoLibrary& stretto;
  Functions native;
  int rank = 0;
  int ranks = 1;

  void stage(const std::string& what) const {
    if (rank == 0) std::printf("{\"stage\":\"%s\"}\n", what.c_str());
    std::fflush(stdout);
  }

  void progress(std::size_t done, std::size_t of) const {
    std::printf("{\"progress\":%zu,\"of\":%zu}\n", done, of);
    std::fflush(stdout);
  }

  bool run_cells() const {
    const auto cells = cells_of(options, ranks);
    const auto say = [this](const char* what) { stage(what); };
    bool correct = true;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Result result =
          options.native_only ? time_native(cells[i], native, stretto.functions, options.seconds, say)
                              : race(cells[i], native, stretto.functions, stretto.last_algorithm, options.seconds, say);
      correct = correct && result.correct;
      if (rank != 0) continue;
      options.native_only ? print_native(cells[i], result, ranks) : print(cells[i], result, ranks);
      progress(i + 1, cells.size());
    }
    return correct;
  }

  bool run_plan() const {
    const auto plan = read_plan(options.plan, rank);
    bool correct = true;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const Cell cell = checked_cell(plan[i].kind, plan[i].bytes, ranks);
      const double begun = intercept::native().Wtime();
      const auto entries = contest(cell, plan[i].candidates, native, stretto, options.seconds,
                                   [this](const std::string& what) { stage(what); });
      for (const Entry& one : entries) correct = correct && one.correct;
      if (rank != 0) continue;
      print_contest(cell, entries, ranks, intercept::native().Wtime() - begun);
      progress(i + 1, plan.size());
    }
    return correct;
  }
};

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  intercept::use_native(options.mpi.c_str());
  const auto& mpi = intercept::native();
  const StrettoLibrary stretto(options.stretto);
  int provided = 0;
  mpi.Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  Driver driver{.options = options, .stretto = stretto, .native = native_functions()};
  mpi.Comm_rank(intercept::constants().world, &driver.rank);
  mpi.Comm_size(intercept::constants().world, &driver.ranks);
  const int on_nodes = nodes();
  if (driver.rank == 0) print_machine(driver.ranks, on_nodes, options.mpi);
  settle(driver.native);
  const bool correct = options.plan.empty() ? driver.run_cells() : driver.run_plan();
  stretto.finalize();
  return correct ? 0 : 1;
}

}  // namespace
}  // namespace stretto::race

int main(int argc, char** argv) {
  try {
    return stretto::race::run(argc, argv);
  } catch (const stretto::Error& e) {
    std::fprintf(stderr, "stretto-race: %s\n", e.what());
    return 2;
  }
}
