// SPDX-License-Identifier: BSD-3-Clause
#include "measure/sampler.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>

namespace stretto::measure {

using mpi::constants;
using mpi::native;

namespace {

template <typename Number>
std::vector<Number> on_all(std::vector<Number> all, MPI_Datatype type) {
  native().Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), type, MPI_MAX, constants().world);
  return all;
}

}  // namespace

long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

/// Seconds of one call, out of a batch of them. The barriers are the batch's own library's: a rank that spins in the
/// other's, for ranks that still work, would take their cores away where these are short.
double Sampler::batch(int n) {
  const double start = native().Wtime();
  const double seconds =
      runner.mode() == Mode::back_to_back ? back_to_back(n) : synchronised(library, comm, n, [this] { call(); });
  const double all = (native().Wtime() - start) / n;
  pace = pace > 0 ? std::min(pace, all) : all;
  return seconds;
}

double Sampler::back_to_back(int n) const {
  library.functions.Barrier(comm);
  const double start = native().Wtime();
  for (int i = 0; i < n; ++i) call();
  const double seconds = native().Wtime() - start;
  library.functions.Barrier(comm);
  return seconds / n;
}

/// The best of some batches, as `patience` lasts: what else the machine does must not make them look full.
double Sampler::quickest(int n, double patience) {
  double best = slowest(batch(n));
  double spent = best * n;
  for (int i = 0; i < 4 && spent < patience; ++i) {
    const double next = slowest(batch(n));
    spent += next * n;
    best = std::min(best, next);
  }
  return best;
}

/// The first call connects, chooses and touches memory. Never fewer than were tried: one call after a barrier may cost
/// nothing, where its data wait in a buffer, of which the eighth must wait for room. Nor so many that their barriers
/// take much longer: one of ranks that share cores may take a thousand times as long as the call.
void Sampler::calibrate(double batch_seconds, double patience, int likely) {
  constexpr double with_barriers = 8;
  double most = 0;
  for (calls = std::max(likely / 3, 1);; calls *= 8) {
    one = quickest(calls, patience);
    most = with_barriers * batch_seconds / slowest(pace);
    if (4 * calls * one > batch_seconds || 8 * calls > most) break;
  }
  calls *= static_cast<int>(std::max(std::ceil(std::min(batch_seconds / one, most) / calls), 1.0));
}

void Sampler::try_again(double patience) { one = std::min(one, quickest(calls, patience)); }

void Sampler::time_batch() {
  if (cheap()) call();
  const long before = preemptions();
  times.push_back(batch(calls));
  disturbed.push_back(preemptions() != before ? 1 : 0);
}

void Sampler::take_estimate() {
  times.push_back(one);
  disturbed.push_back(0);
}

std::vector<Batch> batches(const std::vector<double>& times, const std::vector<int>& disturbed) {
  const std::vector<int> disturbed_of_all = on_all(disturbed, MPI_INT);
  std::vector<Batch> list;
  for (const double seconds : on_all(times, MPI_DOUBLE))
    list.push_back({seconds * 1e6, disturbed_of_all[list.size()] != 0});
  return list;
}

std::vector<Batch> Sampler::batches() const { return measure::batches(times, disturbed); }

Time Sampler::summary() const { return measure::summary(on_all(times, MPI_DOUBLE), calls); }

double Sampler::slowest(double seconds) const { return measure::slowest(seconds, library.functions.Allreduce); }

double slowest(double seconds, decltype(&PMPI_Allreduce) allreduce) {
  double all = 0;
  allreduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, constants().world);
  return all;
}

bool on_all_ranks(bool here) { return slowest(here ? 0 : 1) == 0; }

Time summary(const std::vector<double>& times, int calls) {
  const double median = quantile(times, 0.5);
  return {median * 1e6, (quantile(times, 0.75) - quantile(times, 0.25)) / median, calls};
}

double quantile(std::vector<double> times, double share) {
  std::ranges::sort(times);
  const double at = share * static_cast<double>(times.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  return std::lerp(times[low], times[std::min(low + 1, times.size() - 1)], at - static_cast<double>(low));
}

}  // namespace stretto::measure
