// SPDX-License-Identifier: BSD-3-Clause
//
// stretto-race-FLAVOUR: races the native collectives against Stretto's, block by block in one process, or candidates
// against each other (--plan), or times the native ones alone, or kernels (--reductions). Started by `stretto bench`
// and `stretto tune` under mpiexec; writes one JSON object a line.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "measure/contest.hpp"
#include "measure/plan.hpp"
#include "measure/results.hpp"
#include "measure/timing.hpp"
#include "stretto/error.hpp"

namespace stretto::measure {
namespace {

struct Options {
  std::string mpi;
  std::string stretto;
  std::vector<Kind> kinds;
  std::vector<Bytes> sizes;
  std::vector<Wish> cells;                   // or these, and nothing else
  std::vector<std::pair<Wish, Wish>> pairs;  // likewise
  std::string plan;                          // or this file's cells, each with candidates
  std::string orders;                        // or what comes through the pipes in this folder
  double seconds = 0.2;                      // for each cell
  bool smoke = false;
  bool native_only = false;
  bool reductions = false;  // nothing but the kernels, of rank 0
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
    if (name == "--reductions") {
      o.reductions = true;
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
    } else if (name == "--orders") {
      o.orders = value;
    } else if (name == "--budget") {
      o.seconds = std::strtod(std::string(value).c_str(), nullptr);
    } else if (name == "--collectives") {
      for_each_word(value, ',', [&](std::string_view word) { o.kinds.push_back(kind_of(word)); });
    } else if (name == "--sizes") {
      for_each_word(value, ',', [&](std::string_view word) { o.sizes.push_back(size_of(word)); });
    } else if (name == "--cells") {
      for_each_word(value, ',', [&](std::string_view word) { o.cells.push_back(wish_of(word)); });
    } else if (name == "--pairs") {
      for_each_word(value, ',', [&](std::string_view word) { o.pairs.push_back(pair_of(word)); });
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
  for (const Wish& wish : o.cells) cells.push_back(checked_cell(wish, ranks));
  if (!cells.empty()) return cells;
  for (const Kind& kind : o.kinds) {
    Bytes last = -1;
    for (const Bytes wish : o.sizes) {
      const Cell cell = checked_cell({kind, wish}, ranks);
      if (cell.bytes != last) cells.push_back(cell);
      last = cell.bytes;
    }
  }
  return cells;
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

/// The process's rank and what it calls.
struct Driver {
  const Options& options;
  const StrettoLibrary& stretto;
  Library native;
  int rank = 0;
  int ranks = 1;
  bool crowded = false;  // more ranks than cores

  /// Measures all of them by `correct`; returns whether all results were right.
  template <typename One, typename Correct>
  bool all_right(const std::vector<One>& all, Correct correct) const {
    bool right = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
      right = correct(all[i]) && right;
      if (rank == 0) print_progress(i + 1, all.size());
    }
    return right;
  }

  Stage stage() const {
    return [this](const std::string& what) {
      if (rank == 0) print_stage(what);
    };
  }

  /// A cell or a pair.
  template <typename One>
  bool raced(const One& one) const {
    const auto result = race(one, native, stretto, options.seconds, stage());
    if (rank == 0) print(one, result, ranks);
    return result.correct;
  }

  bool timed(const Cell& cell) const {
    const Result result = time_native(cell, native, stretto, options.seconds, stage());
    if (rank == 0) print_native(cell, result, ranks);
    return result.correct;
  }

  bool contested(const PlannedCell& planned, const Ground& ground) const {
    const Cell cell = checked_cell(planned.wish, ranks);
    const double begun = intercept::native().Wtime();
    const ContestLength length{options.seconds, crowded ? longest_block : short_block};
    const auto entries = contest(cell, planned.candidates, native, ground, length, stage());
    if (rank == 0) print(cell, entries, ranks, intercept::native().Wtime() - begun);
    return std::ranges::all_of(entries, [](const Entry& one) { return one.correct; });
  }

  /// A cell for each line, until the pipe is closed. Every rank has a pipe of its own: who waits for the next line
  /// takes no core from others.
  bool obey() const {
    std::ifstream pipe(options.orders + '/' + std::to_string(rank));
    if (!on_all_ranks(pipe.good())) throw Error("there is no pipe for every rank in " + options.orders);
    bool right = true;
    for (std::string line; std::getline(pipe, line);)
      right =
          all_right(std::vector{checked_cell(wish_of(line), ranks)}, [this](const Cell& one) { return raced(one); }) &&
          right;
    return right;
  }

  bool run() const {
    if (options.reductions) {
      if (rank == 0) print(measured_reductions());
      return true;
    }
    if (!options.orders.empty()) return obey();
    if (!options.plan.empty()) {
      const Ground ground(stretto);
      return all_right(read_plan(options.plan, rank), [&](const PlannedCell& one) { return contested(one, ground); });
    }
    if (!options.pairs.empty()) {
      std::vector<Pair> pairs;
      for (const auto& [left, right] : options.pairs) pairs.push_back(rounded(left, right, ranks));
      return all_right(pairs, [this](const Pair& one) { return raced(one); });
    }
    return all_right(cells_of(options, ranks),
                     [this](const Cell& one) { return options.native_only ? timed(one) : raced(one); });
  }
};

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  intercept::use_native(options.mpi.c_str());
  const auto& mpi = intercept::native();
  const StrettoLibrary stretto(options.stretto);
  int provided = 0;
  mpi.Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  Driver driver{.options = options, .stretto = stretto, .native = native_library()};
  mpi.Comm_rank(intercept::constants().world, &driver.rank);
  mpi.Comm_size(intercept::constants().world, &driver.ranks);
  const int on_nodes = nodes();
  driver.crowded = driver.ranks > on_nodes * sysconf(_SC_NPROCESSORS_ONLN);
  if (driver.rank == 0) print_machine(driver.ranks, on_nodes, options.mpi);
  settle(driver.native.functions);
  const bool correct = driver.run();
  stretto.finalize();
  return correct ? 0 : 1;
}

}  // namespace
}  // namespace stretto::measure

int main(int argc, char** argv) {
  try {
    return stretto::measure::run(argc, argv);
  } catch (const stretto::Error& e) {
    std::fprintf(stderr, "stretto-race: %s\n", e.what());
    return 2;
  }
}
