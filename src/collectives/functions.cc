// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/function.hpp"

namespace stretto {
namespace {

constexpr FunctionFacts facts_of(std::string_view name, Collective collective, PartSizes sizes) {
  return {name, collective, sizes == PartSizes::all || sizes == PartSizes::own,
          sizes != PartSizes::own && sizes != PartSizes::neighbours};
}

constexpr FunctionFacts function_table[] = {
#define STRETTO_FACTS(with, function, in_mpi, collective, sizes) \
  facts_of(#function, Collective::collective, PartSizes::sizes),
    STRETTO_FUNCTIONS(STRETTO_FACTS, )
#undef STRETTO_FACTS
};

constexpr std::string_view mpi_names[] = {
#define STRETTO_NAME(with, function, in_mpi, ...) "MPI_" #in_mpi,
    STRETTO_FUNCTIONS(STRETTO_NAME, )
#undef STRETTO_NAME
};

}  // namespace

const FunctionFacts& facts(Function function) { return function_table[static_cast<std::size_t>(function)]; }

std::string mpi_name(Function function) { return std::string(mpi_names[static_cast<std::size_t>(function)]); }

std::optional<Function> function_named(std::string_view name) {
  for (Function f : all_functions)
    if (facts(f).name == name) return f;
  return std::nullopt;
}

}  // namespace stretto
