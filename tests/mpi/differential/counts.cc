// SPDX-License-Identifier: BSD-3-Clause
#include "counts.hpp"

#include <cstdio>
#include <vector>

#include "kinds.hpp"
#include "mpi/native.hpp"
#include "stretto/algorithm.hpp"

namespace stretto::differential {
namespace {

std::int64_t sum_over_ranks(std::int64_t mine) {
  std::int64_t all = 0;
  mpi::native().Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, mpi::constants().world);
  return all;
}

/// Of what may have served calls of a kind: on all ranks the same.
std::vector<std::string> names_of(Kind kind) {
  std::vector<std::string> names;
  for (const Function f : all_functions) {
    const std::string function = name_of(f, kind) + '/';
    names.push_back(function + "native");
    names.push_back(function + Counts::file);
    if (kind == Kind::persistent) names.push_back(function + Counts::together);
    for (const Algorithm* a : all_algorithms())
      if (a->collective == facts(f).collective) names.push_back(function + std::string(a->name()));
  }
  return names;
}

void add(std::string& list, std::string_view name, std::int64_t n) {
  list += (list.empty() ? "\"" : ", \"") + std::string(name) + "\": " + std::to_string(n);
}

}  // namespace

void report(const Counts& counts) {
  std::string by;
  std::string kinds;
  std::int64_t calls = 0;
  for (const Kind kind : all_kinds) {
    std::int64_t of_kind = 0;
    for (const std::string& name : names_of(kind)) {
      const auto found = counts.served.find(name);
      const std::int64_t n = sum_over_ranks(found == counts.served.end() ? 0 : found->second);
      of_kind += n;
      if (n > 0) add(by, name, n);
    }
    add(kinds, name_of(kind), of_kind);
    calls += of_kind;
  }
  const std::int64_t computed = sum_over_ranks(counts.computed);
  const std::int64_t shared = sum_over_ranks(counts.shared);
  const std::int64_t native_wrong = sum_over_ranks(counts.native_wrong);
  int rank = 0;
  mpi::native().Comm_rank(mpi::constants().world, &rank);
  if (rank == 0)
    std::printf(
        "{\"calls\": %lld, \"kinds\": {%s}, \"computed\": %lld, \"shared\": %lld, \"native_wrong\": %lld, \"by\": "
        "{%s}}\n",
        static_cast<long long>(calls), kinds.c_str(), static_cast<long long>(computed), static_cast<long long>(shared),
        static_cast<long long>(native_wrong), by.c_str());
}

}  // namespace stretto::differential
