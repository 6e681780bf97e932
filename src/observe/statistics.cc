// SPDX-License-Identifier: BSD-3-Clause
#include "observe/statistics.hpp"

#include <string>

#include "support/say.hpp"

namespace stretto::mpi {
namespace {

[[gnu::tls_model("initial-exec")]] thread_local const char* last_served = "native";

}  // namespace

const char* last_algorithm() { return last_served; }
void set_last_algorithm(const char* id) { last_served = id; }

std::string_view name_of(Passed reason) {
  constexpr auto names = std::to_array<std::string_view>(
      {"disabled", "intercommunicator", "arguments", "datatype", "operator", "rules", "MPI or communicator not ready",
       "communicator", "ranks of another world", "progress", "gpu", "fault"});
  static_assert(names.size() == passed_count);
  return names[static_cast<std::size_t>(reason)];
}

Statistics& statistics() {
  static Statistics all;
  return all;
}

Counter& Statistics::of(Function function, const Algorithm& algorithm) {
  return served[static_cast<std::size_t>(function)][number_of(algorithm)];
}

void print_summary() {
  for (const Function f : all_functions) {
    const auto of_function = static_cast<std::size_t>(f);
    std::string by_algorithm;
    std::string by_reason;
    std::uint64_t served = 0;
    std::uint64_t passed = 0;
    const auto add = [](std::string& list, std::string_view name, std::uint64_t n, std::uint64_t& sum) {
      if (n == 0) return;
      sum += n;
      list += (list.empty() ? " (" : ", ") + std::string(name) + ' ' + std::to_string(n);
    };
    for (std::size_t i = 0; const Algorithm* one = algorithm_numbered(i); ++i)
      add(by_algorithm, one->name(), statistics().served[of_function][i].load(), served);
    for (std::size_t i = 0; i < passed_count; ++i)
      add(by_reason, name_of(static_cast<Passed>(i)), statistics().passed[of_function][i].load(), passed);
    if (served + passed == 0) continue;
    say("summary: rank 0 " + std::string(facts(f).name) + " served " + std::to_string(served) + by_algorithm +
        (by_algorithm.empty() ? "" : ")") + ", passed on " + std::to_string(passed) + by_reason +
        (by_reason.empty() ? "" : ")"));
  }
}

}  // namespace stretto::mpi
