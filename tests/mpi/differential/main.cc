// SPDX-License-Identifier: BSD-3-Clause
//
// stretto-differential-FLAVOUR: random collective calls, made natively and with Stretto in one process, must leave the
// same bytes in memory. Started under mpiexec; ends with a line of JSON that says what was compared.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

#include "batch.hpp"
#include "difference.hpp"
#include "draws.hpp"
#include "stretto/error.hpp"

namespace stretto::differential {
namespace {

struct Started {
  Options options;
  std::string mpi;
  std::vector<LibraryOptions> libraries;
};

void parse_function(Options& o, std::string_view name) {
  const auto f = function_named(name);
  if (!f) throw Error("unknown function '" + std::string(name) + "'");
  o.functions.push_back(*f);
}

/// "blocking,persistent"
void parse_kinds(Options& o, const std::string& list) {
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    const auto kind = std::ranges::find(all_kinds, name, [](Kind k) { return name_of(k); });
    if (kind == std::end(all_kinds)) throw Error("unknown kind '" + name + "'");
    o.kinds.push_back(*kind);
  }
}

/// A file with a library on each line: its path, then its settings as NAME=VALUE. They are too many for a command line.
std::vector<LibraryOptions> listed_libraries(const char* path) {
  std::ifstream file(path);
  if (!file) throw Error("cannot read " + std::string(path));
  std::vector<LibraryOptions> libraries;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    LibraryOptions& library = libraries.emplace_back();
    words >> library.path;
    for (std::string setting; words >> setting;) library.settings.push_back(setting);
  }
  return libraries;
}

Started parse(int argc, char** argv) {
  Started s;
  Options& o = s.options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto flag = [&](const char* its_name, bool& set) { return name == its_name && (set = true); };
    if (flag("--plant", o.plant) || flag("--verbose", o.verbose) || flag("--distrust-native", o.distrust) ||
        flag("--threads", o.threads))
      continue;
    if (i + 1 == argc) throw Error("option " + std::string(name) + " needs a value");
    const char* value = argv[++i];
    if (name == "--mpi-library") {
      s.mpi = value;
    } else if (name == "--stretto-libraries") {
      s.libraries = listed_libraries(value);
    } else if (name == "--calls") {
      o.calls = std::strtoll(value, nullptr, 10);
    } else if (name == "--seed") {
      o.seed = std::strtoull(value, nullptr, 10);
    } else if (name == "--most-bytes") {
      o.most_bytes = std::strtoll(value, nullptr, 10);
    } else if (name == "--function") {
      parse_function(o, value);
    } else if (name == "--kinds") {
      parse_kinds(o, value);
    } else {
      throw Error("unknown option " + std::string(name));
    }
  }
  if (s.mpi.empty() || s.libraries.empty()) throw Error("--mpi-library and --stretto-libraries are needed");
  if (o.kinds.empty()) o.kinds.assign(std::begin(all_kinds), std::end(all_kinds));
  if (o.functions.empty())
    for (const Function f : all_functions) o.functions.insert(o.functions.end(), f == Function::barrier ? 1 : 4, f);
  return s;
}

[[noreturn]] void end_with(const Difference& difference, const Options& options, int rank, const std::string& calls) {
  std::fprintf(stderr,
               "difference: seed %llu, %s\ndifference: that was rank %d of the world, in the batch of calls %s\n",
               static_cast<unsigned long long>(options.seed), difference.text.c_str(), rank, calls.c_str());
  std::fflush(stderr);
  std::this_thread::sleep_for(std::chrono::seconds(1));  // launchers drop what was said in the last moment
  mpi::native().Abort(mpi::constants().world, 1);
  std::abort();
}

void compare_all(const Options& options, const std::vector<Library>& libraries) {
  const std::vector<Basic> basics = predefined_types();
  const Operators operators;
  Communicators communicators;
  const Planner planner(options, basics, operators);
  const Draws draws(options, libraries, planner);
  const Member world = communicators.world();
  Run run{options, native_functions(), Oracle(options.seed), {}};
  for (std::int64_t number = 0; number < options.calls;) {
    Drawn drawn = draws.batch(number, communicators);
    Batch batch(std::move(drawn.plans), run, draws.library(number), world, draws.common(number));
    try {
      batch.make();
    } catch (const Difference& d) {
      end_with(d, options, world.rank, std::to_string(number) + " to " + std::to_string(drawn.end - 1));
    }
    number = drawn.end;
  }
  report(run.counts);
}

int run(int argc, char** argv) {
  const Started started = parse(argc, argv);
  mpi::use_native(started.mpi.c_str());
  const int level = started.options.threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int provided = 0;
  mpi::native().Init_thread(&argc, &argv, level, &provided);
  if (provided < level) throw Error("the MPI has no MPI_THREAD_MULTIPLE");
  const std::vector<Library> libraries(started.libraries.begin(), started.libraries.end());
  compare_all(started.options, libraries);
  libraries[0].finalize();
  return 0;
}

}  // namespace
}  // namespace stretto::differential

int main(int argc, char** argv) {
  try {
    return stretto::differential::run(argc, argv);
  } catch (const stretto::Error& e) {
    std::fprintf(stderr, "stretto-differential: %s\n", e.what());
    return 2;
  }
}
