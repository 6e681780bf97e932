// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/function.hpp"

#include <cctype>

namespace stretto {
namespace {

constexpr FunctionFacts table[] = {
    {"barrier", Collective::barrier, false, true},
    {"bcast", Collective::bcast, false, true},
    {"gather", Collective::gather, false, true},
    {"gatherv", Collective::gather, true, false},
    {"scatter", Collective::scatter, false, true},
    {"scatterv", Collective::scatter, true, false},
    {"allgather", Collective::allgather, false, true},
    {"allgatherv", Collective::allgather, true, true},
    {"alltoall", Collective::alltoall, false, true},
    {"alltoallv", Collective::alltoall, true, false},
    {"alltoallw", Collective::alltoall, true, false},
    {"reduce", Collective::reduce, false, true},
    {"allreduce", Collective::allreduce, false, true},
    {"reduce_scatter_block", Collective::reduce_scatter, false, true},
    {"reduce_scatter", Collective::reduce_scatter, true, true},
    {"scan", Collective::scan, false, true},
    {"exscan", Collective::exscan, false, true},
};
static_assert(std::size(table) == std::size(all_functions));

}  // namespace

const FunctionFacts& facts(Function function) { return table[static_cast<std::size_t>(function)]; }

std::string mpi_name(Function function) {
  std::string name(facts(function).name);
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return "MPI_" + name;
}

std::optional<Function> function_named(std::string_view name) {
  for (Function f : all_functions)
    if (facts(f).name == name) return f;
  return std::nullopt;
}

}  // namespace stretto
