// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI functions that Stretto takes the place of, as its users name them: in rules, variables, logs and reports.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stretto/collective.hpp"

namespace stretto {

enum class Function : std::uint8_t {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce,
  allreduce,
  reduce_scatter_block,
  reduce_scatter,
  scan,
  exscan
};

inline constexpr Function all_functions[] = {Function::barrier,        Function::bcast,
                                             Function::gather,         Function::gatherv,
                                             Function::scatter,        Function::scatterv,
                                             Function::allgather,      Function::allgatherv,
                                             Function::alltoall,       Function::alltoallv,
                                             Function::alltoallw,      Function::reduce,
                                             Function::allreduce,      Function::reduce_scatter_block,
                                             Function::reduce_scatter, Function::scan,
                                             Function::exscan};

struct FunctionFacts {
  std::string_view name;  ///< "reduce_scatter_block"
  Collective collective;
  bool irregular;    ///< the parts of the ranks may differ in size
  bool bytes_known;  ///< to all ranks; else a choice goes by what they told each other of late
};

const FunctionFacts& facts(Function function);
std::string mpi_name(Function function);  ///< as programs call it: "MPI_Reduce_scatter"
std::optional<Function> function_named(std::string_view name);

}  // namespace stretto
