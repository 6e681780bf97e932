// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#include <memory>

namespace stretto::differential {
namespace {

/// What one side passes. MPI ignores the arguments of a side that is not significant: they are nonsense.
template <typename Set>
struct Arguments {
  typename Set::Count count = -1;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<typename Set::Count> all_counts;
  std::vector<typename Set::Displacement> all_displacements;
  std::vector<MPI_Aint> far_displacements;
  std::vector<MPI_Datatype> all_types;

  explicit Arguments(const Side& side, int own_part) {
    if (!side.significant) return;
    // Open MPI refuses null, though there are no parts.
    all_counts.reserve(1);
    all_displacements.reserve(1);
    far_displacements.reserve(1);
    all_types.reserve(1);
    for (const ModelPointer& model : side.models) all_types.push_back(model->type());
    far_displacements.assign(side.displacements.begin(), side.displacements.end());
    if (all_types.empty()) return;  // nor has it parts
    type = all_types[0];
    all_counts.assign(side.counts.begin(), side.counts.end());
    for (const std::ptrdiff_t d : side.displacements)
      all_displacements.push_back(static_cast<typename Set::Displacement>(d));
    count = all_counts.empty() ? side.each : all_counts[static_cast<std::size_t>(own_part) % all_counts.size()];
  }
  const auto* counts() const { return significant(all_counts); }
  const auto* displacements() const { return significant(all_displacements); }
  const auto* far() const { return significant(far_displacements); }
  const auto* types() const { return significant(all_types); }

 private:
  template <typename T>
  static const T* significant(const std::vector<T>& list) {
    return list.capacity() == 0 ? nullptr : list.data();
  }
};

template <typename Set>
struct BothSides {
  Arguments<Set> send;
  Arguments<Set> receive;
};

template <typename Set>
int call_of(const Set& f, const How& how, const Plan& p, const BothSides<Set>& sides, const void* in, void* out) {
  const auto& [s, r] = sides;
  const MPI_Op op = p.op ? p.op->handle : MPI_Op{};
  const MPI_Comm comm = p.member.comm;
  if (p.in_place && p.form->keeps_own_part())
    out = MPI_IN_PLACE;
  else if (p.in_place)
    in = MPI_IN_PLACE;
  switch (p.form->function) {
    case Function::barrier: return f.Barrier(how, comm);
    case Function::bcast: return f.Bcast(how, out, r.count, r.type, p.root, comm);
    case Function::gather: return f.Gather(how, in, s.count, s.type, out, r.count, r.type, p.root, comm);
    case Function::gatherv:
      return f.Gatherv(how, in, s.count, s.type, out, r.counts(), r.displacements(), r.type, p.root, comm);
    case Function::scatter: return f.Scatter(how, in, s.count, s.type, out, r.count, r.type, p.root, comm);
    case Function::scatterv:
      return f.Scatterv(how, in, s.counts(), s.displacements(), s.type, out, r.count, r.type, p.root, comm);
    case Function::allgather: return f.Allgather(how, in, s.count, s.type, out, r.count, r.type, comm);
    case Function::allgatherv:
      return f.Allgatherv(how, in, s.count, s.type, out, r.counts(), r.displacements(), r.type, comm);
    case Function::alltoall: return f.Alltoall(how, in, s.count, s.type, out, r.count, r.type, comm);
    case Function::alltoallv:
      return f.Alltoallv(how, in, s.counts(), s.displacements(), s.type, out, r.counts(), r.displacements(), r.type,
                         comm);
    case Function::alltoallw:
      return f.Alltoallw(how, in, s.counts(), s.displacements(), s.types(), out, r.counts(), r.displacements(),
                         r.types(), comm);
    case Function::reduce: return f.Reduce(how, in, out, r.count, r.type, op, p.root, comm);
    case Function::allreduce: return f.Allreduce(how, in, out, r.count, r.type, op, comm);
    case Function::reduce_scatter_block: return f.Reduce_scatter_block(how, in, out, r.count, r.type, op, comm);
    case Function::reduce_scatter: return f.Reduce_scatter(how, in, out, r.counts(), r.type, op, comm);
    case Function::scan: return f.Scan(how, in, out, r.count, r.type, op, comm);
    case Function::exscan: return f.Exscan(how, in, out, r.count, r.type, op, comm);
    case Function::neighbor_allgather:
      return f.Neighbor_allgather(how, in, s.count, s.type, out, r.count, r.type, comm);
    case Function::neighbor_allgatherv:
      return f.Neighbor_allgatherv(how, in, s.count, s.type, out, r.counts(), r.displacements(), r.type, comm);
    case Function::neighbor_alltoall: return f.Neighbor_alltoall(how, in, s.count, s.type, out, r.count, r.type, comm);
    case Function::neighbor_alltoallv:
      return f.Neighbor_alltoallv(how, in, s.counts(), s.displacements(), s.type, out, r.counts(), r.displacements(),
                                  r.type, comm);
    case Function::neighbor_alltoallw:
      return f.Neighbor_alltoallw(how, in, s.counts(), s.far(), s.types(), out, r.counts(), r.far(), r.types(), comm);
  }
  return MPI_ERR_OTHER;
}

/// Copies of it share the arrays.
template <typename Set>
Call bound(const Set& functions, const Plan& plan, const void* send, void* receive) {
  const auto sides = std::make_shared<const BothSides<Set>>(
      BothSides<Set>{Arguments<Set>(plan.send, plan.member.rank), Arguments<Set>(plan.receive, plan.member.rank)});
  return [&functions, &plan, sides, send, receive](const How& how) {
    return call_of(functions, how, plan, *sides, send, receive);
  };
}

}  // namespace

Call bind(const Functions& functions, const Plan& plan, const void* send, void* receive) {
  return bound(functions, plan, send, receive);
}

#ifdef STRETTO_LARGE_COUNTS
Call bind(const LargeFunctions& functions, const Plan& plan, const void* send, void* receive) {
  return bound(functions, plan, send, receive);
}
#endif

}  // namespace stretto::differential
