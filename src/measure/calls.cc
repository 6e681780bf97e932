// SPDX-License-Identifier: BSD-3-Clause
#include "measure/calls.hpp"

#include <algorithm>

namespace stretto::measure {
namespace {

using enum Amount;
using F = const Functions&;
using A = const CallArguments&;

// The root is rank 0. A bcast's vector stands in `out`, where its root's input has been put.
namespace of {

void barrier(F f, A a) { f.Barrier(a.comm); }
void bcast(F f, A a) { f.Bcast(a.out, a.n, a.type, 0, a.comm); }
void gather(F f, A a) { f.Gather(a.in, a.n, a.type, a.out, a.n, a.type, 0, a.comm); }
void gatherv(F f, A a) { f.Gatherv(a.in, a.n, a.type, a.out, a.counts, a.at, a.type, 0, a.comm); }
void scatter(F f, A a) { f.Scatter(a.in, a.n, a.type, a.out, a.n, a.type, 0, a.comm); }
void scatterv(F f, A a) { f.Scatterv(a.in, a.counts, a.at, a.type, a.out, a.n, a.type, 0, a.comm); }
void allgather(F f, A a) { f.Allgather(a.in, a.n, a.type, a.out, a.n, a.type, a.comm); }
void allgatherv(F f, A a) { f.Allgatherv(a.in, a.n, a.type, a.out, a.counts, a.at, a.type, a.comm); }
void alltoall(F f, A a) { f.Alltoall(a.in, a.n, a.type, a.out, a.n, a.type, a.comm); }
void alltoallv(F f, A a) { f.Alltoallv(a.in, a.in_counts, a.in_at, a.type, a.out, a.counts, a.at, a.type, a.comm); }
void alltoallw(F f, A a) {
  f.Alltoallw(a.in, a.in_counts, a.in_bytes, a.types, a.out, a.counts, a.out_bytes, a.types, a.comm);
}
void reduce(F f, A a) { f.Reduce(a.in, a.out, a.n, a.type, a.op, 0, a.comm); }
void allreduce(F f, A a) { f.Allreduce(a.in, a.out, a.n, a.type, a.op, a.comm); }
void reduce_scatter_block(F f, A a) { f.Reduce_scatter_block(a.in, a.out, a.n, a.type, a.op, a.comm); }
void reduce_scatter(F f, A a) { f.Reduce_scatter(a.in, a.out, a.counts, a.type, a.op, a.comm); }
void scan(F f, A a) { f.Scan(a.in, a.out, a.n, a.type, a.op, a.comm); }
void exscan(F f, A a) { f.Exscan(a.in, a.out, a.n, a.type, a.op, a.comm); }
// The vector is the parts for or of all neighbours.
void neighbor_allgather(F f, A a) { f.Neighbor_allgather(a.in, a.n, a.type, a.out, a.n, a.type, a.comm); }
void neighbor_allgatherv(F f, A a) { f.Neighbor_allgatherv(a.in, a.n, a.type, a.out, a.counts, a.at, a.type, a.comm); }
void neighbor_alltoall(F f, A a) { f.Neighbor_alltoall(a.in, a.n, a.type, a.out, a.n, a.type, a.comm); }
void neighbor_alltoallv(F f, A a) {
  f.Neighbor_alltoallv(a.in, a.in_counts, a.in_at, a.type, a.out, a.counts, a.at, a.type, a.comm);
}
void neighbor_alltoallw(F f, A a) {
  f.Neighbor_alltoallw(a.in, a.in_counts, a.in_far, a.types, a.out, a.counts, a.out_far, a.types, a.comm);
}

}  // namespace of

constexpr decltype(CallFacts::call) calls[] = {
#define STRETTO_OPERATION(with, function, ...) of::function,
    STRETTO_FUNCTIONS(STRETTO_OPERATION, )
#undef STRETTO_OPERATION
};

/// After an exscan, which gives rank 0 nothing.
void add_mine(F, A a) {
  if (a.rank == 0)
    std::copy_n(a.in, a.n, a.out);
  else
    mpi::native().Reduce_local(a.in, a.out, a.n, a.type, a.op);
}

void take_mine(F, A a) { std::copy_n(a.in + a.at[a.rank], a.n, a.out); }

constexpr CallFacts take_part = {vector, part, part, false, take_mine};
constexpr CallFacts reduce_local = {vector, vector, vector, false, add_mine};

}  // namespace

CallFacts call_facts(Callee callee) {
  const auto* function = std::get_if<Function>(&callee);
  if (!function) return std::get<Local>(callee) == Local::take_part ? take_part : reduce_local;
  const auto call = calls[static_cast<std::size_t>(*function)];
  if (*function == Function::barrier) return {nothing, nothing, nothing, false, call};
  const CollectiveFacts& of = facts(facts(*function).collective);
  return {of.parts_out && !of.parts_in ? part : vector, of.parts_in && !of.parts_out ? part : vector,
          of.per_rank ? part : vector, of.rooted && (of.reduces || of.parts_out), call};
}

std::string_view name_of(Callee callee) {
  if (const auto* function = std::get_if<Function>(&callee)) return facts(*function).name;
  return std::get<Local>(callee) == Local::take_part ? "take_part" : "reduce_local";
}

}  // namespace stretto::measure
