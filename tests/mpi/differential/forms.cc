// SPDX-License-Identifier: BSD-3-Clause
#include "forms.hpp"

#include <iterator>

namespace stretto::differential {
namespace {

constexpr SideForm none{};
constexpr SideForm one{Who::all, false};
constexpr SideForm parts{Who::all, true};
constexpr SideForm root_one{Who::root, false};
constexpr SideForm root_parts{Who::root, true};

constexpr Form table[] = {
    {Function::barrier, none, none},
    {Function::bcast, none, one},
    {Function::gather, one, root_parts, Who::root},
    {Function::gatherv, one, root_parts, Who::root},
    {Function::scatter, root_parts, one, Who::root},
    {Function::scatterv, root_parts, one, Who::root},
    {Function::allgather, one, parts, Who::all},
    {Function::allgatherv, one, parts, Who::all},
    {Function::alltoall, parts, parts, Who::all},
    {Function::alltoallv, parts, parts, Who::all},
    {Function::alltoallw, parts, parts, Who::all, Over::nothing, true},
    {Function::reduce, one, root_one, Who::root, Over::all},
    {Function::allreduce, one, one, Who::all, Over::all},
    {Function::reduce_scatter_block, parts, one, Who::all, Over::all},
    {Function::reduce_scatter, parts, one, Who::all, Over::all},
    {Function::scan, one, one, Who::all, Over::up_to_me},
    {Function::exscan, one, one, Who::all, Over::before_me},
    {Function::neighbor_allgather, one, parts},
    {Function::neighbor_allgatherv, one, parts},
    {Function::neighbor_alltoall, parts, parts},
    {Function::neighbor_alltoallv, parts, parts},
    {Function::neighbor_alltoallw, parts, parts, Who::nobody, Over::nothing, true},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(table); ++i)
    if (table[i].function != all_functions[i]) return false;
  return std::size(table) == std::size(all_functions);
}
static_assert(in_order());

}  // namespace

const Form& form_of(Function function) { return table[static_cast<std::size_t>(function)]; }

}  // namespace stretto::differential
