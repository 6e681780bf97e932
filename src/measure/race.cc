// SPDX-License-Identifier: BSD-3-Clause
//
// stretto-race-FLAVOUR: times the native collectives against Stretto's, batch by batch in one process, or candidates
// against each other (--plan), or one of the two alone, or kernels (--reductions). Started by `stretto bench` and
// `stretto tune` under mpiexec; writes one JSON object a line.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/plan.hpp"
#include "measure/results.hpp"
#include "stretto/error.hpp"

namespace stretto::measure {
namespace {

struct Options {
  std::string mpi;
  std::string stretto;
  std::vector<Benchmark> benchmarks;
  std::vector<Bytes> sizes;
  std::vector<Mode> modes;
  std::vector<Form> forms;
  std::vector<PointSpec> points;               // or these, and nothing else
  std::vector<std::vector<PointSpec>> groups;  // likewise
  std::string plan;                            // or this file's points, each with candidates
  std::string graph;                           // of neighbours
  std::string orders;                          // or what comes through the pipes in this folder
  double seconds = 0.2;                        // for each point
  bool native_only = false;
  bool stretto_only = false;
  bool overlap = false;     // of nonblocking calls with computation
  bool elsewhere = false;   // that takes none of these cores
  bool reductions = false;  // nothing but the kernels, of rank 0
};

/// What puts each word of a list into `into`, as `read` reads it.
template <typename One, typename Read>
auto words_into(std::vector<One>& into, Read read) {
  return [&into, read](std::string_view list) {
    for_each_word(list, ',', [&](std::string_view word) { into.push_back(read(word)); });
  };
}

Options parse(int argc, char** argv) {
  Options o;
  const std::map<std::string_view, bool*> flags{{"--native-only", &o.native_only},
                                                {"--stretto-only", &o.stretto_only},
                                                {"--reductions", &o.reductions},
                                                {"--overlap", &o.overlap},
                                                {"--compute-elsewhere", &o.elsewhere}};
  const std::map<std::string_view, std::function<void(std::string_view)>> valued{
      {"--mpi-library", [&](auto value) { o.mpi = value; }},
      {"--stretto-library", [&](auto value) { o.stretto = value; }},
      {"--plan", [&](auto value) { o.plan = value; }},
      {"--orders", [&](auto value) { o.orders = value; }},
      {"--graph", [&](auto value) { o.graph = value; }},
      {"--budget", [&](auto value) { o.seconds = std::strtod(value.data(), nullptr); }},
      {"--collectives", words_into(o.benchmarks, benchmark_named)},
      {"--modes", words_into(o.modes, mode_of)},
      {"--forms", words_into(o.forms, form_of)},
      {"--sizes", words_into(o.sizes, size_of)},
      {"--cells", words_into(o.points, spec_of)},
      {"--pairs", words_into(o.groups, group_of)}};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (const auto flag = flags.find(name); flag != flags.end()) {
      *flag->second = true;
      continue;
    }
    const auto option = valued.find(name);
    if (option == valued.end()) throw Error("unknown option " + name);
    if (i + 1 == argc) throw Error("option " + name + " needs a value");
    option->second(argv[++i]);
  }
  if (o.mpi.empty() || o.stretto.empty()) throw Error("--mpi-library and --stretto-library are needed");
  if (o.overlap) {
    o.modes = {Mode::synchronised};
    o.forms = {Form::nonblocking};
  }
  if (o.modes.empty()) o.modes = {Mode::back_to_back};
  if (o.forms.empty()) o.forms = {Form::blocking};
  if (o.benchmarks.empty())
    for (const Function f : all_functions) o.benchmarks.push_back({f});
  return o;
}

std::vector<Point> points_of(const Options& o, const Library& native, int ranks) {
  std::vector<Point> points;
  for (const PointSpec& spec : o.points) points.push_back(checked_point(spec, ranks));
  if (!points.empty()) return points;
  for (const Benchmark& benchmark : o.benchmarks) {
    Bytes last = -1;
    for (const Bytes asked : o.sizes) {
      const Bytes before = std::exchange(last, checked_point({benchmark, asked}, ranks).bytes);
      if (last == before) continue;
      for (const Mode mode : o.modes)
        for (const Form form : o.forms)
          if (o.forms.size() == 1 || native.has(form))  // of several those that the MPI has
            points.push_back(checked_point({benchmark, asked, mode, form}, ranks));
    }
  }
  return points;
}

/// MPICH takes other, shared-memory algorithms from a communicator's sixth collective call on
/// (MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD): what is measured is what lasts, whatever point comes first.
void settle(const Functions& native) {
  for (int i = 0; i < 10; ++i) {
    double in = i;
    double out = 0;
    native.Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, mpi::constants().world);
  }
}

int nodes() {
  MPI_Comm node;
  int mine = 0;
  int all = 0;
  mpi::native().Comm_split_type(mpi::constants().world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  mpi::native().Comm_rank(node, &mine);
  mpi::native().Comm_free(&node);
  const int first = mine == 0 ? 1 : 0;
  mpi::native().Allreduce(&first, &all, 1, MPI_INT, MPI_SUM, mpi::constants().world);
  return all;
}

/// Measures what the options ask for; every function returns whether all results were right.
struct Driver {
  const Options& options;
  const Setting& setting;
  int rank;
  int ranks;
  bool oversubscribed;  // more ranks than cores

  template <typename One, typename Correct>
  bool all_right(const std::vector<One>& all, Correct correct) const {
    bool right = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
      right = correct(all[i]) && right;
      if (rank == 0) print_progress(i + 1, all.size());
    }
    return right;
  }

  /// A point, or several.
  template <typename One, typename Measure>
  bool printed(const One& one, Measure measure) const {
    const double begun = mpi::native().Wtime();
    const auto result = measure();
    if (rank == 0) print(one, result, ranks, mpi::native().Wtime() - begun);
    return result.correct;
  }

  bool compared(const Point& point) const {
    if (!setting.native.has(point.form)) throw Error("this MPI has no persistent collectives");
    if (options.overlap) return printed(point, [&] { return overlap(point, setting, options.elsewhere); });
    const bool alone = options.native_only || options.stretto_only;
    return printed(point,
                   [&] { return alone ? time_alone(point, setting, options.stretto_only) : compare(point, setting); });
  }

  bool paired(const PlannedPoint& planned, MPI_Comm shared) const {
    const Point point = checked_point(planned.spec, ranks);
    const double begun = mpi::native().Wtime();
    const auto results =
        paired_benchmark(point, planned.candidates, shared, oversubscribed ? longest_batch : short_batch, setting);
    if (rank == 0) print(point, results, ranks, mpi::native().Wtime() - begun);
    return all_correct(results);
  }

  /// A point for each line, until the pipe is closed. Every rank has a pipe of its own: who waits for the next line
  /// takes no core from others.
  bool obey() const {
    std::ifstream pipe(options.orders + '/' + std::to_string(rank));
    if (!on_all_ranks(pipe.good())) throw Error("there is no pipe for every rank in " + options.orders);
    bool right = true;
    for (std::string line; std::getline(pipe, line);) {
      right = compared(checked_point(spec_of(line), ranks)) && right;
      if (rank == 0) print_progress(1, 1);
    }
    return right;
  }

  bool run() const {
    if (options.reductions) {
      if (rank == 0) print_reductions();
      return true;
    }
    if (!options.orders.empty()) return obey();
    if (!options.plan.empty()) {
      MPI_Comm shared = mpi::constants().comm_null;
      mpi::native().Comm_dup(mpi::constants().world, &shared);
      const bool right =
          all_right(read_plan(options.plan, rank), [&](const PlannedPoint& one) { return paired(one, shared); });
      setting.stretto.free(&shared);
      return right;
    }
    if (!options.groups.empty())
      return all_right(options.groups, [this](const std::vector<PointSpec>& specs) {
        const std::vector<Point> group = rounded(specs, ranks);
        return printed(group, [&] { return compare(group, setting); });
      });
    return all_right(points_of(options, setting.native, ranks), [this](const Point& one) { return compared(one); });
  }
};

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  mpi::use_native(options.mpi.c_str());
  const auto& mpi = mpi::native();
  const StrettoLibrary stretto(options.stretto);
  int provided = 0, rank = 0, ranks = 1;
  stretto.init(&argc, &argv, MPI_THREAD_SINGLE, &provided);  // which may ask for more
  mpi.Comm_rank(mpi::constants().world, &rank);
  mpi.Comm_size(mpi::constants().world, &ranks);
  if (!options.graph.empty()) take_graph(options.graph, ranks);
  const int on_nodes = nodes();
  if (rank == 0) print_machine(ranks, on_nodes, options.mpi);
  const Library native = native_library();
  settle(native.functions);
  const Setting setting{native, stretto, options.seconds, [rank](const std::string& what) {
                          if (rank == 0) print_stage(what);
                        }};
  const bool oversubscribed = ranks > on_nodes * sysconf(_SC_NPROCESSORS_ONLN);
  const bool correct = Driver{options, setting, rank, ranks, oversubscribed}.run();
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
