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

#include "comparison.hpp"
#include "stretto/algorithm.hpp"
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
    if (flag("--plant", o.plant) || flag("--verbose", o.verbose) || flag("--distrust-native", o.distrust)) continue;
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
    } else {
      throw Error("unknown option " + std::string(name));
    }
  }
  if (s.mpi.empty() || s.libraries.empty()) throw Error("--mpi-library and --stretto-libraries are needed");
  if (o.functions.empty())
    for (const Function f : all_functions) o.functions.insert(o.functions.end(), f == Function::barrier ? 1 : 4, f);
  return s;
}

std::int64_t sum_over_ranks(std::int64_t mine) {
  std::int64_t all = 0;
  intercept::native().Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, intercept::constants().world);
  return all;
}

void report(const Comparison& comparison, int rank) {
  std::vector<std::string> names;
  for (const Function f : all_functions) {
    names.push_back(std::string(facts(f).name) + "/native");
    for (const Algorithm* a : all_algorithms())
      if (a->collective == facts(f).collective)
        names.push_back(std::string(facts(f).name) + '/' + std::string(a->name()));
  }
  std::string line;
  std::int64_t calls = 0;
  for (const std::string& name : names) {
    const auto found = comparison.served().find(name);
    const std::int64_t n = sum_over_ranks(found == comparison.served().end() ? 0 : found->second);
    calls += n;
    if (n > 0) line += (line.empty() ? "" : ", ") + ('"' + name + "\": ") + std::to_string(n);
  }
  const std::int64_t computed = sum_over_ranks(comparison.computed());
  const std::int64_t native_wrong = sum_over_ranks(comparison.native_wrong());
  if (rank == 0)
    std::printf("{\"calls\": %lld, \"computed\": %lld, \"native_wrong\": %lld, \"by\": {%s}}\n",
                static_cast<long long>(calls), static_cast<long long>(computed), static_cast<long long>(native_wrong),
                line.c_str());
}

void compare_all(const Options& options, const std::vector<Library>& libraries) {
  // A library makes communicators of its own, so that it has many calls in a row; but all get their turn twice.
  const auto turns = 2 * static_cast<std::int64_t>(libraries.size());
  const std::int64_t in_a_row = std::clamp<std::int64_t>(options.calls / turns, 1, 64);
  const auto& mpi = intercept::native();
  const Functions native = native_functions();
  const std::vector<Basic> basics = predefined_types();
  const Operators operators;
  Communicators communicators;
  const Planner planner(options, basics, operators);
  Comparison comparison(options, native);
  const int rank = communicators.world().rank;
  for (std::int64_t number = 0; number < options.calls; ++number) {
    Random random(mix(options.seed) + static_cast<std::uint64_t>(number));
    if (random.percent(3)) communicators.exchange_one(random);
    const Member& member = communicators.pick(random);
    if (member.comm == intercept::constants().comm_null) continue;
    const Plan plan = planner.plan(number, member, random);
    if (options.verbose)
      std::fprintf(stderr, "rank %d of the world, %d here: %s\n", rank, member.rank, plan.text().c_str());
    const auto which = static_cast<std::size_t>(number / in_a_row) % libraries.size();
    const auto wrong = comparison.run(plan, libraries[which]);
    if (!wrong) continue;
    std::fprintf(stderr, "difference: seed %llu, %s\ndifference: rank %d of it (%d of the world): %s\n",
                 static_cast<unsigned long long>(options.seed), plan.text().c_str(), member.rank, rank, wrong->c_str());
    std::fflush(stderr);
    std::this_thread::sleep_for(std::chrono::seconds(1));  // launchers drop what was said in the last moment
    mpi.Abort(intercept::constants().world, 1);
  }
  report(comparison, rank);
}

int run(int argc, char** argv) {
  const Started started = parse(argc, argv);
  intercept::use_native(started.mpi.c_str());
  int provided = 0;
  intercept::native().Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
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
