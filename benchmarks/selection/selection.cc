// SPDX-License-Identifier: BSD-3-Clause
//
// What it costs to find the algorithm of a call, in ns: one that was seen before and is no replay, one of a size that
// is new, and the first of its kind, for which the rules are read from the top. Needs no MPI and no launcher:
//
//   build/release/benchmarks/stretto-selection-mpich
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

#include "communicator/communicator.hpp"

namespace {

using namespace stretto;
using mpi::Communicator;
using Clock = std::chrono::steady_clock;

constexpr Rank ranks = 8;
constexpr int samples = 201;
constexpr int calls_of_a_sample = 4096;

/// Communicator without MPI: nothing is sent.
std::unique_ptr<Communicator> communicator() {
  return std::make_unique<Communicator>(mpi::constants().comm_null, 0, ranks);
}

Call call_of(Function function, Bytes bytes, Rank root = 0) {
  return {.function = function, .shape = {ranks, root, {}}, .bytes = bytes};
}

/// A few hundred kinds of calls, as a program with many phases makes them: several functions, sizes and roots.
std::vector<Call> mixed(std::size_t n) {
  constexpr Function functions[] = {Function::allreduce, Function::bcast, Function::allgather, Function::reduce,
                                    Function::alltoall};
  std::vector<Call> calls;
  for (std::size_t i = 0; i < n; ++i) {
    const Function function = functions[i % std::size(functions)];
    const bool rooted = facts(facts(function).collective).rooted;
    calls.push_back(call_of(function, Bytes{8} << (i / std::size(functions)) % 18, rooted ? i % ranks : 0));
  }
  return calls;
}

/// Median ns of one look-up of `calls`, which come in an order that no branch predictor learns.
double cost(Communicator& c, const std::vector<Call>& calls) {
  std::vector<double> times;
  std::minstd_rand random(1);
  std::vector<std::uint16_t> order(calls_of_a_sample);
  for (auto& at : order) at = static_cast<std::uint16_t>(random() % calls.size());
  for (int s = -1; s < samples; ++s) {
    std::uintptr_t sum = 0;  // so that nothing is left out
    const auto start = Clock::now();
    for (const std::uint16_t at : order) sum += reinterpret_cast<std::uintptr_t>(c.decide(calls[at]).algorithm);
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count() / calls_of_a_sample;
    std::ranges::shuffle(order, random);
    if (sum == 0) std::puts("nothing was served");
    if (s >= 0) times.push_back(ns);  // the first round makes the choices
  }
  std::nth_element(times.begin(), times.begin() + samples / 2, times.end());
  return times[samples / 2];
}

/// Median ns of one choice for each of `calls` on a new communicator.
double cost_when_new(const std::vector<Call>& calls) {
  std::vector<double> times;
  for (int s = 0; s < samples; ++s) {
    const auto c = communicator();
    const auto start = Clock::now();
    for (const Call& call : calls) c->decide(call);
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() /
                    static_cast<double>(calls.size()));
  }
  std::nth_element(times.begin(), times.begin() + samples / 2, times.end());
  return times[samples / 2];
}

/// Calls of one kind, none of them of the same size as another.
std::vector<Call> of_all_sizes() {
  std::vector<Call> calls;
  for (int i = 1; i <= calls_of_a_sample; ++i) calls.push_back(call_of(Function::allreduce, Bytes{264} * i));
  return calls;
}

}  // namespace

int main() {
  const auto c = communicator();
  std::printf("%-66s %10s\n", "", "ns");
  const auto report = [](const char* what, double ns) { std::printf("%-66s %10.1f\n", what, ns); };
  report("the same call again", cost(*c, {call_of(Function::allreduce, 65536)}));
  report("two kinds of calls", cost(*c, {call_of(Function::allreduce, 65536), call_of(Function::bcast, 8)}));
  report("16 kinds of calls", cost(*c, mixed(16)));
  report("360 kinds of calls", cost(*c, mixed(360)));
  report("every call of a new size", cost_when_new(of_all_sizes()));
  report("the first call of a kind, its schedule included", cost_when_new(mixed(20)));
}
