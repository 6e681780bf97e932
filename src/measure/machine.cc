// SPDX-License-Identifier: BSD-3-Clause
//
// stretto-machine: the state of two cores and of the memory at this moment, as one JSON object.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/files.hpp"
#include "support/memory.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t line = 128;  // two cache lines: adjacent ones are fetched together
constexpr std::size_t transfer_bytes = 64 << 10;
constexpr std::size_t copy_bytes = 32 << 20;  // of each core, read and written: larger than its share of any cache

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The hardware threads that share the core of `cpu`, as Linux writes them ("0,4" or "0-1"); empty if it does not say.
std::string siblings(int cpu) {
  return stretto::first_line("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
}

/// Two of the cores that this process may use; fewer if there are no two.
std::vector<int> two_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> found;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return found;
  for (int cpu = 0; cpu < CPU_SETSIZE && found.size() < 2; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const std::string shared = siblings(cpu);
    if (found.empty() || shared.empty() || shared != siblings(found[0])) found.push_back(cpu);
  }
  return found;
}

void stay_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/// Runs `work` of 0 and 1, each on a core of its own.
template <typename Work>
void on_both(const std::vector<int>& cores, Work work) {
  std::thread other([&] {
    stay_on(cores[1]);
    work(1);
  });
  stay_on(cores[0]);
  work(0);
  other.join();
}

struct alignas(line) Flag {
  std::atomic<int> value{0};
  void wait_for(int wanted) const {
    while (value.load(std::memory_order_acquire) < wanted) {
    }
  }
  void set(int to) { value.store(to, std::memory_order_release); }
};

/// Seconds for a written cache line to be seen by the other core.
double latency(const std::vector<int>& cores) {
  constexpr int batches = 25;
  constexpr int rounds = 500;
  std::array<Flag, 2> flags;
  std::vector<double> times;
  on_both(cores, [&](int me) {
    for (int b = 0; b < batches; ++b) {
      const auto start = Clock::now();
      for (int i = b * rounds + 1; i <= (b + 1) * rounds; ++i) {
        if (me == 1) flags[0].wait_for(i);
        flags[static_cast<std::size_t>(me)].set(i);
        if (me == 0) flags[1].wait_for(i);
      }
      if (me == 0) times.push_back(seconds_since(start) / rounds / 2);
    }
  });
  return median(times);
}

/// Bytes a second at which a core reads what the other has just written.
double transfer(const std::vector<int>& cores) {
  constexpr int rounds = 400;
  constexpr std::size_t words = transfer_bytes / sizeof(std::uint64_t);
  const auto data = std::make_unique<std::uint64_t[]>(words);
  std::array<Flag, 2> flags;
  std::vector<double> times;
  std::atomic<std::uint64_t> kept{0};  // so that the reading is not left out
  on_both(cores, [&](int me) {
    for (int i = 1; i <= rounds; ++i) {
      if (me == 0) {
        std::fill_n(data.get(), words, static_cast<std::uint64_t>(i));
        flags[0].set(i);
        flags[1].wait_for(i);
      } else {
        flags[0].wait_for(i);
        const auto start = Clock::now();
        std::uint64_t sum = 0;
        for (std::size_t w = 0; w < words; ++w) sum += data[w];
        kept += sum;
        times.push_back(seconds_since(start));
        flags[1].set(i);
      }
    }
  });
  return static_cast<double>(transfer_bytes) / median(times);
}

using Memory = std::unique_ptr<char, decltype([](char* memory) { std::free(memory); })>;

/// Bytes a second, read and written, both cores together: by memcpy, or by stores past the caches if they are faster.
double memory(const std::vector<int>& cores) {
  constexpr int rounds = 5;  // the first touches the memory
  std::array<Flag, 2> flags;
  std::array<std::array<Clock::time_point, 2 * rounds>, 2> begun;
  std::array<std::array<Clock::time_point, 2 * rounds>, 2> ended;
  on_both(cores, [&](int me) {
    const auto mine = static_cast<std::size_t>(me);
    const Memory from(static_cast<char*>(std::aligned_alloc(line, copy_bytes)));
    const Memory to(static_cast<char*>(std::aligned_alloc(line, copy_bytes)));
    std::memset(from.get(), 1, copy_bytes);
    for (int i = 0; i < 2 * rounds; ++i) {
      flags[mine].set(2 * i + 1);
      flags[1 - mine].wait_for(2 * i + 1);
      begun[mine][static_cast<std::size_t>(i)] = Clock::now();
      if (i < rounds) {
        std::memcpy(to.get(), from.get(), copy_bytes);
      } else {
        stretto::copy_non_temporal(to.get(), from.get(), copy_bytes);
      }
      ended[mine][static_cast<std::size_t>(i)] = Clock::now();
      flags[mine].set(2 * i + 2);  // no copy begins while the other core has not ended its own
      flags[1 - mine].wait_for(2 * i + 2);
    }
  });
  const auto rate = [&](std::size_t first) {
    std::vector<double> times;
    for (std::size_t i = first; i < first + rounds - 1; ++i)
      times.push_back(
          std::chrono::duration<double>(std::max(ended[0][i], ended[1][i]) - std::min(begun[0][i], begun[1][i]))
              .count());
    return 4.0 * static_cast<double>(copy_bytes) / median(times);
  };
  return std::max(rate(1), rate(rounds + 1));
}

}  // namespace

int main() {
  const std::vector<int> cores = two_cores();
  if (cores.size() < 2) {
    std::fprintf(stderr, "stretto-machine: there are no two cores to measure between\n");
    return 2;
  }
  const double seconds = latency(cores);
  const double between = transfer(cores);
  const double copied = memory(cores);
  std::printf("{\"latency_ns\":%.2f,\"transfer_gbs\":%.3f,\"memory_gbs\":%.3f,\"cores\":[%d,%d]}\n", seconds * 1e9,
              between / 1e9, copied / 1e9, cores[0], cores[1]);
  return 0;
}
