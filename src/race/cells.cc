// SPDX-License-Identifier: BSD-3-Clause
#include "race/cells.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace stretto::race {
namespace {

using intercept::constants;

struct World {
  MPI_Comm comm = constants().world;
  int rank = 0;
  int ranks = 1;
  World() {
    intercept::native().Comm_rank(comm, &rank);
    intercept::native().Comm_size(comm, &ranks);
  }
};

/// A cell's buffers and its call. Values are small whole numbers: their sums are exact in any order.
class Runner {
 public:
  Runner(const Cell& cell, const World& world) : cell_(cell), world_(world) {
    const bool per_rank = facts(cell.collective).per_rank;
    doubles_ = static_cast<std::size_t>(cell.bytes) / sizeof(double);
    if (cell.collective == Collective::reduce_scatter_block) doubles_ /= static_cast<std::size_t>(world.ranks);
    const std::size_t all = per_rank ? doubles_ * static_cast<std::size_t>(world.ranks) : doubles_;
    in_.resize(cell.collective == Collective::allgather ? doubles_ : all);
    for (auto* out : {&native_out_, &stretto_out_})
      out->resize(cell.collective == Collective::reduce_scatter_block ? doubles_ : all);
  }

  Bytes bytes() const {
    return static_cast<Bytes>((cell_.collective == Collective::allgather ? doubles_ : in_.size()) * sizeof(double));
  }

  void refresh(int repetition) {
    for (std::size_t i = 0; i < in_.size(); ++i)
      in_[i] = static_cast<double>((i + static_cast<std::size_t>(7 * world_.rank + repetition)) % 251);
    if (cell_.collective == Collective::bcast) native_out_ = stretto_out_ = in_;
  }

  void call(const Functions& f, bool stretto) {
    double* out = (stretto ? stretto_out_ : native_out_).data();
    const auto n = static_cast<int>(doubles_);
    switch (cell_.collective) {
      case Collective::barrier: f.barrier(world_.comm); break;
      case Collective::bcast: f.bcast(out, n, type_, 0, world_.comm); break;
      case Collective::reduce: f.reduce(in_.data(), out, n, type_, op_, 0, world_.comm); break;
      case Collective::allreduce: f.allreduce(in_.data(), out, n, type_, op_, world_.comm); break;
      case Collective::allgather: f.allgather(in_.data(), n, type_, out, n, type_, world_.comm); break;
      case Collective::reduce_scatter_block: f.reduce_scatter_block(in_.data(), out, n, type_, op_, world_.comm); break;
    }
  }

  bool equal() const {
    if (cell_.collective == Collective::reduce && world_.rank != 0) return true;
    return native_out_ == stretto_out_;
  }

 private:
  Cell cell_;
  World world_;
  MPI_Datatype type_ = MPI_DOUBLE;
  MPI_Op op_ = MPI_SUM;
  std::size_t doubles_ = 0;
  std::vector<double> in_, native_out_, stretto_out_;
};

/// Seconds of one call, out of `calls` in a row. Each library brings the ranks together with its own barrier: one that
/// holds its core while it waits would be charged to the other.
double timed(Runner& runner, const Functions& f, bool stretto, int calls) {
  const auto& mpi = intercept::native();
  f.barrier(constants().world);
  const double start = mpi.Wtime();
  for (int i = 0; i < calls; ++i) runner.call(f, stretto);
  return (mpi.Wtime() - start) / calls;
}

double slowest(double seconds) {
  double all = 0;
  intercept::native().Allreduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, constants().world);
  return all;
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Result race(const Cell& cell, const Functions& native, const Functions& stretto, const char* (*last_algorithm)(),
            double seconds) {
  const auto& mpi = intercept::native();
  const World world;
  Runner runner(cell, world);
  Result result{runner.bytes(), 0, 0, 0, true, {}};

  // The first calls connect, choose and touch memory; the later ones tell how many fit into the time.
  double one = 0;
  for (int i = 0; i < 3; ++i) {
    runner.refresh(i);
    one = std::max(timed(runner, native, false, 1), timed(runner, stretto, true, 1));
  }
  result.algorithm = last_algorithm();
  one = slowest(one);
  const int calls = static_cast<int>(std::clamp(20e-6 / one, 1.0, 100.0));  // one sample is well above the clock's step
  result.repetitions = static_cast<int>(std::clamp(seconds / (2 * calls * one + 10e-6), 3.0, 2000.0));

  std::vector<double> native_times;
  std::vector<double> stretto_times;
  for (int i = 0; i < result.repetitions; ++i) {
    runner.refresh(i);
    const bool native_first = i % 2 == 0;
    for (const bool with_stretto : {!native_first, native_first})
      (with_stretto ? stretto_times : native_times)
          .push_back(timed(runner, with_stretto ? stretto : native, with_stretto, calls));
    result.correct = result.correct && runner.equal();
  }
  const auto reduce_times = [&](std::vector<double>& times) {
    std::vector<double> all(times.size());
    mpi.Allreduce(times.data(), all.data(), static_cast<int>(times.size()), MPI_DOUBLE, MPI_MAX, world.comm);
    return median(all) * 1e6;
  };
  result.native_us = reduce_times(native_times);
  result.stretto_us = reduce_times(stretto_times);
  int correct = result.correct ? 1 : 0;
  int all_correct = 0;
  mpi.Allreduce(&correct, &all_correct, 1, MPI_INT, MPI_MIN, world.comm);
  result.correct = all_correct == 1;
  return result;
}

}  // namespace stretto::race
