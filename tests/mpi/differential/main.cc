// SPDX-License-Identifier: BSD-3-Clause
//
// stretto-differential-FLAVOUR: random collective calls, made natively and with Stretto in one process, must leave the
// same bytes in memory. Started under mpiexec; ends with a line of JSON that says what was compared.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "comparison.hpp"
#include "stretto/algorithm.hpp"
#include "stretto/error.hpp"

namespace stretto::differential {
namespace {

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto flag = [&](const char* its_name, bool& set) { return name == its_name && (set = true); };
    if (flag("--plant", o.plant) || flag("--verbose", o.verbose) || flag("--distrust-native", o.distrust)) continue;
    if (i + 1 == argc) throw Error("option " + std::string(name) + " needs a value");
    const char* value = argv[++i];
    if (name == "--mpi-library") {
      o.mpi = value;
    } else if (name == "--stretto-library") {
      o.stretto = value;
    } else if (name == "--calls") {
      o.calls = std::strtoll(value, nullptr, 10);
    } else if (name == "--seed") {
      o.seed = std::strtoull(value, nullptr, 10);
    } else if (name == "--most-bytes") {
      o.most_bytes = std::strtoll(value, nullptr, 10);
    } else if (name == "--collective") {
      const auto c = collective_named(value);
      if (!c) throw Error("unknown collective '" + std::string(value) + "'");
      o.collectives.push_back(*c);
    } else {
      throw Error("unknown option " + std::string(name));
    }
  }
  if (o.mpi.empty() || o.stretto.empty()) throw Error("--mpi-library and --stretto-library are needed");
  if (o.collectives.empty()) {
    o.collectives.push_back(Collective::barrier);
    for (const Collective c : all_collectives)
      if (c != Collective::barrier) o.collectives.insert(o.collectives.end(), 4, c);
  }
  return o;
}

struct StrettoLibrary {
  Functions functions;
  decltype(&PMPI_Finalize) finalize = nullptr;
  const char* (*last_algorithm)() = nullptr;

  explicit StrettoLibrary(const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) throw Error("cannot load Stretto's library: " + std::string(dlerror()));
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      if (!function) throw Error(path + " has no " + name);
    };
#define STRETTO_FIND(name) find(functions.name, "MPI_" #name);
    STRETTO_EACH_COLLECTIVE(STRETTO_FIND)
    STRETTO_EACH_LARGE_COLLECTIVE(STRETTO_FIND)
#undef STRETTO_FIND
    find(finalize, "MPI_Finalize");
    find(last_algorithm, "stretto_last_algorithm");
  }
};

Functions native_functions() {
  Functions f;
#define STRETTO_TAKE(name) f.name = intercept::native().name;
  STRETTO_EACH_COLLECTIVE(STRETTO_TAKE)
#undef STRETTO_TAKE
  return f;
}

std::int64_t sum_over_ranks(std::int64_t mine) {
  std::int64_t all = 0;
  intercept::native().Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, intercept::constants().world);
  return all;
}

void report(const Comparison& comparison, int rank) {
  std::vector<std::string> names;
  for (const Algorithm* a : all_algorithms()) names.emplace_back(a->id);
  for (const Collective c : all_collectives) names.push_back(std::string(facts(c).name) + "/native");
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

void compare_all(const Options& options, const StrettoLibrary& stretto) {
  const auto& mpi = intercept::native();
  const Functions native = native_functions();
  const std::vector<Basic> basics = predefined_types();
  const Operators operators;
  Communicators communicators;
  const Planner planner(options, basics, operators);
  Comparison comparison(options, native, stretto.functions, stretto.last_algorithm);
  const int rank = communicators.world().rank;
  for (std::int64_t number = 0; number < options.calls; ++number) {
    Random random(mix(options.seed) + static_cast<std::uint64_t>(number));
    if (random.percent(3)) communicators.exchange_one(random);
    const Member& member = communicators.pick(random);
    if (member.comm == intercept::constants().comm_null) continue;
    const Plan plan = planner.plan(number, member, random);
    if (options.verbose)
      std::fprintf(stderr, "rank %d of the world, %d here: %s\n", rank, member.rank, plan.text().c_str());
    const auto wrong = comparison.run(plan);
    if (!wrong) continue;
    std::fprintf(stderr, "difference: seed %llu, %s\ndifference: rank %d of it (%d of the world): %s\n",
                 static_cast<unsigned long long>(options.seed), plan.text().c_str(), member.rank, rank, wrong->c_str());
    std::fflush(stderr);
    mpi.Abort(intercept::constants().world, 1);
  }
  report(comparison, rank);
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  intercept::use_native(options.mpi.c_str());
  const StrettoLibrary stretto(options.stretto);
  int provided = 0;
  intercept::native().Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  compare_all(options, stretto);
  stretto.finalize();
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
