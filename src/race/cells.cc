// SPDX-License-Identifier: BSD-3-Clause
#include "race/cells.hpp"

#include <algorithm>
#include <numeric>
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

enum class Extent : std::uint8_t { nothing, one, all };  // of a buffer: a part or, without parts, the vector; all parts

struct Buffers {
  Extent in;
  Extent out;
  bool result_on_root_only = false;
};

Buffers buffers_of(Function function) {
  switch (function) {
    case Function::barrier: return {Extent::nothing, Extent::nothing};
    case Function::bcast: return {Extent::one, Extent::one};
    case Function::gather:
    case Function::gatherv: return {Extent::one, Extent::all, true};
    case Function::scatter:
    case Function::scatterv: return {Extent::all, Extent::one};
    case Function::allgather:
    case Function::allgatherv: return {Extent::one, Extent::all};
    case Function::alltoall:
    case Function::alltoallv:
    case Function::alltoallw: return {Extent::all, Extent::all};
    case Function::reduce: return {Extent::one, Extent::one, true};
    case Function::allreduce:
    case Function::scan:
    case Function::exscan: return {Extent::one, Extent::one};
    case Function::reduce_scatter_block:
    case Function::reduce_scatter: return {Extent::all, Extent::one};
  }
  return {};
}

/// A cell's buffers and its call. Values are small whole numbers: their sums are exact in any order.
class Runner {
 public:
  Runner(const Cell& cell, const World& world) : cell_(cell), world_(world) {
    const FunctionFacts& f = facts(cell.function);
    const CollectiveFacts& c = facts(f.collective);
    auto each = static_cast<std::int64_t>(cell.bytes / Bytes{sizeof(double)});
    if (c.reduces && c.per_rank) each /= world.ranks;
    std::int64_t at = 0;
    for (int r = 0; r < world.ranks; ++r) {
      // Falling, with the same mean.
      const std::int64_t n = f.irregular ? 2 * each * (world.ranks - r) / (world.ranks + 1) : each;
      counts_.push_back(static_cast<int>(n));
      displacements_.push_back(static_cast<int>(at));
      at += n;
    }
    mine_ = counts_[static_cast<std::size_t>(world.rank)];
    if (f.irregular && f.collective == Collective::alltoall) describe_pairs();
    in_.resize(elements(buffers_of(cell.function).in, in_counts()));
    native_out_.resize(elements(buffers_of(cell.function).out, counts_));
    stretto_out_ = native_out_;
  }

  void refresh(int repetition) {
    for (std::size_t i = 0; i < in_.size(); ++i)
      in_[i] = static_cast<double>((i + static_cast<std::size_t>(7 * world_.rank + repetition)) % 251);
    if (cell_.function == Function::bcast) native_out_ = stretto_out_ = in_;
  }

  void call(const Functions& f, bool stretto);

  bool equal() const {
    if (buffers_of(cell_.function).result_on_root_only && world_.rank != 0) return true;
    if (cell_.function == Function::exscan && world_.rank == 0) return true;
    return native_out_ == stretto_out_;
  }

 private:
  const std::vector<int>& in_counts() const { return in_counts_.empty() ? counts_ : in_counts_; }

  std::size_t elements(Extent extent, const std::vector<int>& counts) const {
    if (extent == Extent::nothing) return 0;
    if (extent == Extent::one) return static_cast<std::size_t>(mine_);
    return static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  }

  /// Rank s sends the same to all: the counts fall with s.
  void describe_pairs() {
    in_counts_.assign(counts_.size(), mine_);
    for (int r = 0; r < world_.ranks; ++r) {
      in_displacements_.push_back(r * mine_);
      in_bytes_.push_back(in_displacements_.back() * static_cast<int>(sizeof(double)));
      out_bytes_.push_back(displacements_[static_cast<std::size_t>(r)] * static_cast<int>(sizeof(double)));
    }
    types_.assign(counts_.size(), type_);
  }

  Cell cell_;
  World world_;
  MPI_Datatype type_ = MPI_DOUBLE;
  MPI_Op op_ = MPI_SUM;
  int mine_ = 0;
  std::vector<int> counts_, displacements_;
  std::vector<int> in_counts_, in_displacements_, in_bytes_, out_bytes_;  // of alltoallv and alltoallw
  std::vector<MPI_Datatype> types_;
  std::vector<double> in_, native_out_, stretto_out_;
};

void Runner::call(const Functions& f, bool stretto) {
  const double* in = in_.data();
  double* out = (stretto ? stretto_out_ : native_out_).data();
  const int n = mine_;
  const int* counts = counts_.data();
  const int* at = displacements_.data();
  switch (cell_.function) {
    case Function::barrier: f.Barrier(world_.comm); break;
    case Function::bcast: f.Bcast(out, n, type_, 0, world_.comm); break;
    case Function::gather: f.Gather(in, n, type_, out, n, type_, 0, world_.comm); break;
    case Function::gatherv: f.Gatherv(in, n, type_, out, counts, at, type_, 0, world_.comm); break;
    case Function::scatter: f.Scatter(in, n, type_, out, n, type_, 0, world_.comm); break;
    case Function::scatterv: f.Scatterv(in, counts, at, type_, out, n, type_, 0, world_.comm); break;
    case Function::allgather: f.Allgather(in, n, type_, out, n, type_, world_.comm); break;
    case Function::allgatherv: f.Allgatherv(in, n, type_, out, counts, at, type_, world_.comm); break;
    case Function::alltoall: f.Alltoall(in, n, type_, out, n, type_, world_.comm); break;
    case Function::alltoallv:
      f.Alltoallv(in, in_counts_.data(), in_displacements_.data(), type_, out, counts, at, type_, world_.comm);
      break;
    case Function::alltoallw:
      f.Alltoallw(in, in_counts_.data(), in_bytes_.data(), types_.data(), out, counts, out_bytes_.data(), types_.data(),
                  world_.comm);
      break;
    case Function::reduce: f.Reduce(in, out, n, type_, op_, 0, world_.comm); break;
    case Function::allreduce: f.Allreduce(in, out, n, type_, op_, world_.comm); break;
    case Function::reduce_scatter_block: f.Reduce_scatter_block(in, out, n, type_, op_, world_.comm); break;
    case Function::reduce_scatter: f.Reduce_scatter(in, out, counts, type_, op_, world_.comm); break;
    case Function::scan: f.Scan(in, out, n, type_, op_, world_.comm); break;
    case Function::exscan: f.Exscan(in, out, n, type_, op_, world_.comm); break;
  }
}

/// Seconds of one call, out of `calls` in a row. Each library brings the ranks together with its own barrier: one that
/// holds its core while it waits would be charged to the other.
double timed(Runner& runner, const Functions& f, bool stretto, int calls) {
  const auto& mpi = intercept::native();
  f.Barrier(constants().world);
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

Bytes measured_bytes(Function function, Bytes wish, int ranks) {
  if (function == Function::barrier) return 0;
  const CollectiveFacts& c = facts(facts(function).collective);
  const Bytes unit = Bytes{sizeof(double)} * (c.reduces && c.per_rank ? ranks : 1);
  return std::max<Bytes>(wish / unit, 1) * unit;
}

Result race(const Cell& cell, const Functions& native, const Functions& stretto, const char* (*last_algorithm)(),
            double seconds) {
  const auto& mpi = intercept::native();
  const World world;
  Runner runner(cell, world);
  Result result{0, 0, 0, true, {}};

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
