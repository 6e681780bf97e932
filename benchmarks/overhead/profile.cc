// SPDX-License-Identifier: BSD-3-Clause
//
// What a profile costs: the same calls on 2 ranks by two copies of the library, of which one profiles, in turn in one
// process. Prints one line for each call: its name, ns without, and the median of the ratios of blocks that follow each
// other. Started, many times, by benchmarks/overhead/profile.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mpi/native.hpp"

namespace {

using stretto::mpi::constants;
using stretto::mpi::native;

constexpr int pairs = 201;

/// A copy of the library: what it says when it is first called is what the environment is then.
struct Library {
  void* handle;
  template <typename F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(dlsym(handle, name));
  }
  decltype(PMPI_Allreduce)* allreduce = function<decltype(PMPI_Allreduce)>("MPI_Allreduce");
  decltype(PMPI_Bcast)* bcast = function<decltype(PMPI_Bcast)>("MPI_Bcast");
  decltype(PMPI_Barrier)* barrier = function<decltype(PMPI_Barrier)>("MPI_Barrier");
  decltype(PMPI_Finalize)* finalize = function<decltype(PMPI_Finalize)>("MPI_Finalize");
};

Library opened(const char* path) {
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    std::fprintf(stderr, "stretto-profile-cost: %s\n", dlerror());
    std::exit(2);
  }
  return {handle};
}

/// ns of a call, `calls` in a row; until all ranks have made them.
template <typename Calls>
double block(const Library& library, Calls& call, int calls) {
  const double start = native().Wtime();
  for (int i = 0; i < calls; ++i) call(library);
  library.barrier(constants().world);
  return (native().Wtime() - start) * 1e9 / calls;
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <typename Calls>
void measure(const std::string& name, const Library& plain, const Library& profiling, Calls call) {
  constexpr double block_ns = 5e5;  // of short calls some are looked at in every block
  int calls = 200;
  for (const Library* library : {&plain, &profiling, &plain}) {
    double ns = block(*library, call, calls);
    native().Bcast(&ns, 1, MPI_DOUBLE, 0, constants().world);
    calls = std::clamp(static_cast<int>(block_ns / ns), 5, 5000);
  }
  std::vector<double> ratios;
  std::vector<double> times;
  for (int pair = 0; pair < pairs; ++pair) {
    double ns[2];
    for (int turn = 0; turn < 2; ++turn) {
      const int which = (pair + turn) % 2;
      ns[which] = block(which == 1 ? profiling : plain, call, calls);
    }
    times.push_back(ns[0]);
    ratios.push_back(ns[1] / ns[0]);
  }
  int rank = 0;
  native().Comm_rank(constants().world, &rank);
  if (rank == 0) std::printf("%s %.1f %.5f\n", name.c_str(), median(times), median(ratios));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: stretto-profile-cost MPI-LIBRARY STRETTO-LIBRARY ITS-COPY PROFILE\n");
    return 2;
  }
  stretto::mpi::use_native(argv[1]);
  int provided = 0;
  native().Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  const Library plain = opened(argv[2]);
  const Library profiling = opened(argv[3]);
  const MPI_Comm world = constants().world;
  plain.barrier(world);
  if (std::string(argv[4]) != "-") setenv("STRETTO_PROFILE", argv[4], 1);
  profiling.barrier(world);
  unsetenv("STRETTO_PROFILE");

  std::vector<double> in(1 << 13, 1);
  std::vector<double> out(in.size());
  measure("barrier", plain, profiling, [&](const Library& l) { l.barrier(world); });
  for (const int bytes : {8, 1 << 10, 1 << 16}) {
    const std::string size = ' ' + std::to_string(bytes);
    const int n = bytes / 8;
    measure("allreduce" + size, plain, profiling,
            [&](const Library& l) { l.allreduce(in.data(), out.data(), n, MPI_DOUBLE, MPI_SUM, world); });
    measure("bcast" + size, plain, profiling, [&](const Library& l) { l.bcast(in.data(), n, MPI_DOUBLE, 0, world); });
  }
  profiling.finalize();
  return 0;
}
