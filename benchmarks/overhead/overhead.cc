// SPDX-License-Identifier: BSD-3-Clause
//
// What Stretto itself costs a call, in ns: one passed on to the native library, one served without messages, and one
// served with messages, against the same messages written by hand. Started by benchmarks/overhead/run.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "mpi/native.hpp"

namespace {

using stretto::mpi::constants;
using stretto::mpi::native;

constexpr int samples = 401;
constexpr int calls = 200;

/// Medians of ns per call of two ways to do the same, measured in turn.
template <typename A, typename B>
std::pair<double, double> in_turn(A a, B b) {
  std::vector<double> times[2];
  const auto measure = [](auto& call) {
    const double start = native().Wtime();
    for (int i = 0; i < calls; ++i) call();
    return (native().Wtime() - start) * 1e9 / calls;
  };
  for (int s = 0; s < samples; ++s) {
    times[0].push_back(measure(a));
    times[1].push_back(measure(b));
  }
  for (auto& t : times) std::nth_element(t.begin(), t.begin() + samples / 2, t.end());
  return {times[0][samples / 2], times[1][samples / 2]};
}

/// An 8-byte sum between two ranks, as one would write it with bare messages.
class ByHand {
 public:
  explicit ByHand(int rank) : peer_(1 - rank) {
    MPI_Group group{};
    native().Comm_group(constants().world, &group);
    native().Comm_create(constants().world, group, &comm_);
    native().Group_free(&group);
  }

  void operator()(const double& in, double& out) {
    double arrived = 0;
    MPI_Request requests[2];
    native().Irecv(&arrived, 8, constants().byte, peer_, 0, comm_, &requests[0]);
    native().Isend(&in, 8, constants().byte, peer_, 0, comm_, &requests[1]);
    for (MPI_Request& request : requests) {
      int complete = 0;
      while (!complete) native().Test(&request, &complete, MPI_STATUS_IGNORE);
    }
    out = in + arrived;
  }

 private:
  int peer_;
  MPI_Comm comm_{};
};

void report(const char* what, std::pair<double, double> ns) {
  std::printf("%-62s %9.1f ns %9.1f ns %9.1f ns\n", what, ns.first, ns.second, ns.second - ns.first);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: stretto-overhead MPI-LIBRARY STRETTO-LIBRARY\n");
    return 2;
  }
  // A reduction of one element passes, all others are served.
  setenv("STRETTO_REDUCE", "native", 1);
  stretto::mpi::use_native(argv[1]);
  void* handle = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    std::fprintf(stderr, "stretto-overhead: %s\n", dlerror());
    return 2;
  }
  const auto allreduce = reinterpret_cast<decltype(&PMPI_Allreduce)>(dlsym(handle, "MPI_Allreduce"));
  const auto reduce = reinterpret_cast<decltype(&PMPI_Reduce)>(dlsym(handle, "MPI_Reduce"));
  const auto finalize = reinterpret_cast<decltype(&PMPI_Finalize)>(dlsym(handle, "MPI_Finalize"));
  int provided = 0;
  native().Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  int rank = 0;
  int ranks = 1;
  native().Comm_rank(constants().world, &rank);
  native().Comm_size(constants().world, &ranks);
  const MPI_Datatype type = MPI_DOUBLE;
  const MPI_Op sum = MPI_SUM;
  const MPI_Comm self = MPI_COMM_SELF;
  const MPI_Comm world = constants().world;
  double in = 1;
  double out = 0;

  const auto passed = in_turn([&] { native().Reduce(&in, &out, 1, type, sum, 0, self); },
                              [&] { reduce(&in, &out, 1, type, sum, 0, self); });
  const auto served = in_turn([&] { native().Allreduce(&in, &out, 1, type, sum, self); },
                              [&] { allreduce(&in, &out, 1, type, sum, self); });
  if (rank == 0) {
    std::printf("%-62s %12s %12s %12s\n", "", "without", "with Stretto", "difference");
    report("passed on: MPI_Reduce of 8 bytes on one rank", passed);
    report("served, no messages: MPI_Allreduce of 8 bytes on one rank", served);
  }
  if (ranks == 2) {
    ByHand by_hand(rank);
    const auto messages = in_turn([&] { by_hand(in, out); }, [&] { allreduce(&in, &out, 1, type, sum, world); });
    if (rank == 0) report("served: MPI_Allreduce of 8 bytes, 2 ranks; without = by hand", messages);
  }
  finalize();
  return 0;
}
