// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "mpi/native.hpp"
#include "observe/calls.hpp"

namespace stretto::mpi::observe {
namespace {

/// Of many in a row; the least of some tries, for an interrupted one tells nothing.
template <typename Call>
double nanoseconds_of(Call call) {
  constexpr int tries = 5, calls = 1000;
  double least = 0;
  for (int t = 0; t < tries; ++t) {
    const Nanoseconds begin = execute::now();
    for (int i = 0; i < calls; ++i) call();
    const double one = static_cast<double>(execute::now() - begin) / calls;
    least = t == 0 ? one : std::min(least, one);
  }
  return least;
}

}  // namespace

TimingCost timing_cost() {
  TimingCost cost;
  Records scratch(constants().self);
  cost.native_ns = nanoseconds_of([&] {
    begin_call(Function::allreduce, &scratch, sizeof(double), execute::now());
    end_call();
  });
  scratch.drop();
  Record record;
  Sampled sampled(record, scratch.world_ranks(), Function::allreduce, 0, *all_algorithms().front(), true);
  std::uint64_t number = 0;
  cost.served_ns = nanoseconds_of([&] {
    sampled.begin(++number);
    observer().idle();
    observer().active(0, true);
    sampled.end(number);
  });
  return cost;
}

}  // namespace stretto::mpi::observe
