// SPDX-License-Identifier: BSD-3-Clause
//
// stretto-race-FLAVOUR: races the native collectives against Stretto's, block by block in one process, or times the
// native ones alone. Started by `stretto bench` and `stretto tune` under mpiexec; writes one JSON object a line.
#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "race/timing.hpp"
#include "stretto/error.hpp"
#include "stretto/rules.hpp"

namespace stretto::race {
namespace {

constexpr Bytes largest = Bytes{8} << 30;  // of which MPI can count the doubles in int

struct Wish {
  Kind kind;
  Bytes bytes;
};

struct Options {
  std::string mpi;
  std::string stretto;
  std::vector<Kind> kinds;
  std::vector<Bytes> sizes;
  std::vector<Wish> cells;                   // or these, and nothing else
  std::vector<std::pair<Wish, Wish>> pairs;  // likewise
  double seconds = 0.2;                      // for each cell
  bool smoke = false;
  bool native_only = false;
};

template <typename Each>
void for_each_word(std::string_view list, Each each) {
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    each(word);
    list = word.size() == list.size() ? std::string_view{} : list.substr(word.size() + 1);
  }
}

Kind kind_of(std::string_view word) {
  const auto kind = kind_named(word);
  if (!kind) throw Error("unknown function '" + std::string(word) + "'");
  return *kind;
}

Bytes size_of(std::string_view word) {
  const auto bytes = parse_size(word);
  if (!bytes) throw Error("'" + std::string(word) + "' is no size");
  if (*bytes > largest) throw Error("sizes end at 8G");
  return *bytes;
}

Wish wish_of(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == word.npos) throw Error("'" + std::string(word) + "' has no size: write allreduce:8,bcast:1K");
  return {kind_of(word.substr(0, colon)), size_of(word.substr(colon + 1))};
}

std::pair<Wish, Wish> pair_of(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash == word.npos) throw Error("'" + std::string(word) + "' is no pair: write allreduce:8/allreduce:16");
  return {wish_of(word.substr(0, slash)), wish_of(word.substr(slash + 1))};
}

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
    } else if (name == "--budget") {
      o.seconds = std::strtod(std::string(value).c_str(), nullptr);
    } else if (name == "--collectives") {
      for_each_word(value, [&](std::string_view word) { o.kinds.push_back(kind_of(word)); });
    } else if (name == "--sizes") {
      for_each_word(value, [&](std::string_view word) { o.sizes.push_back(size_of(word)); });
    } else if (name == "--cells") {
      for_each_word(value, [&](std::string_view word) { o.cells.push_back(wish_of(word)); });
    } else if (name == "--pairs") {
      for_each_word(value, [&](std::string_view word) { o.pairs.push_back(pair_of(word)); });
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

struct StrettoLibrary : Library {
  explicit StrettoLibrary(const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) throw Error("cannot load Stretto's library: " + std::string(dlerror()));
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      if (!function) throw Error(path + " has no " + name);
    };
#define STRETTO_FIND(name) find(functions.name, "MPI_" #name);
    STRETTO_NATIVE_COLLECTIVES(STRETTO_FIND)
#undef STRETTO_FIND
    find(finalize, "MPI_Finalize");
    find(last_algorithm, "stretto_last_algorithm");
  }

  decltype(&PMPI_Finalize) finalize;
};

Library native_library() {
  Library library;
#define STRETTO_TAKE(name) library.functions.name = intercept::native().name;
  STRETTO_NATIVE_COLLECTIVES(STRETTO_TAKE)
#undef STRETTO_TAKE
  return library;
}

Cell checked_cell(const Kind& kind, Bytes wish, int ranks) {
  const Cell cell = cell_of(kind, wish, ranks);
  if ((facts(kind.function).irregular || !kind.steps.empty()) && 2 * cell.bytes * ranks > INT_MAX)
    throw Error(name_of(kind) + " counts all parts together by int: sizes end at 1G over the number of ranks");
  return cell;
}

std::vector<Cell> cells_of(const Options& o, int ranks) {
  std::vector<Cell> cells;
  for (const Wish& wish : o.cells) cells.push_back(checked_cell(wish.kind, wish.bytes, ranks));
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

/// Sizes in the proportion that was asked for: one that must be rounded takes the other with it.
Pair rounded(const Wish& left, const Wish& right, int ranks) {
  Pair pair{checked_cell(left.kind, left.bytes, ranks), {}};
  const bool sized = pair.left.bytes > 0;
  pair.right = checked_cell(right.kind, sized ? right.bytes * pair.left.bytes / left.bytes : right.bytes, ranks);
  if (sized && left.bytes == right.bytes) pair.left = checked_cell(left.kind, pair.right.bytes, ranks);
  pair.left.asked = left.bytes;
  pair.right.asked = right.bytes;
  return pair;
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

/// MPICH takes other, shared-memory algorithms from a communicator's sixth collective call on
/// (MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD): what is measured is what lasts, whatever cell comes first.
void settle(const Functions& native) {
  for (int i = 0; i < 10; ++i) {
    double in = i;
    double out = 0;
    native.Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, intercept::constants().world);
  }
}

/// Measures all of them by `correct`; returns whether all results were right.
template <typename One, typename Correct>
bool all_right(const std::vector<One>& all, int rank, Correct correct) {
  bool right = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    right = correct(all[i]) && right;
    if (rank == 0) std::printf("{\"progress\":%zu,\"of\":%zu}\n", i + 1, all.size());
    std::fflush(stdout);
  }
  return right;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  intercept::use_native(options.mpi.c_str());
  const auto& mpi = intercept::native();
  const StrettoLibrary stretto(options.stretto);
  int provided = 0;
  mpi.Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  int rank = 0;
  int ranks = 1;
  mpi.Comm_rank(intercept::constants().world, &rank);
  mpi.Comm_size(intercept::constants().world, &ranks);
  const Library native = native_library();
  std::vector<Pair> pairs;
  for (const auto& [left, right] : options.pairs) pairs.push_back(rounded(left, right, ranks));
  const auto cells = pairs.empty() ? cells_of(options, ranks) : std::vector<Cell>{};
  if (rank == 0) {
    std::printf("{\"machine\":{\"cores\":%ld,\"ranks\":%d,\"mpi_library\":\"%s\"}}\n", sysconf(_SC_NPROCESSORS_ONLN),
                ranks, options.mpi.c_str());
    std::fflush(stdout);
  }
  settle(native.functions);
  const auto stage = [&](const char* what) {
    if (rank == 0) std::printf("{\"stage\":\"%s\"}\n", what);
    std::fflush(stdout);
  };
  const auto raced = [&](const auto& one) {
    const auto result = race(one, native, stretto, options.seconds, stage);
    if (rank == 0) print(one, result, ranks);
    return result.correct;
  };
  const auto timed = [&](const Cell& cell) {
    const Result result = time_native(cell, native, stretto, options.seconds, stage);
    if (rank == 0) print_native(cell, result, ranks);
    return result.correct;
  };
  const bool correct = (options.native_only ? all_right(cells, rank, timed) : all_right(cells, rank, raced)) &&
                       all_right(pairs, rank, raced);
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
