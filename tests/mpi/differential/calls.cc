// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

namespace stretto::differential {
namespace {

/// What one side passes. MPI ignores the arguments of a side that is not significant: they are nonsense.
template <typename Set>
struct Arguments {
  typename Set::Count count = -1;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<typename Set::Count> all_counts;
  std::vector<typename Set::Displacement> all_displacements;
  std::vector<MPI_Datatype> all_types;

  explicit Arguments(const Side& side, int own_part) {
    if (!side.significant) return;
    for (const ModelPointer& model : side.models) all_types.push_back(model->type());
    type = all_types[0];
    all_counts.assign(side.counts.begin(), side.counts.end());
    for (const std::ptrdiff_t d : side.displacements)
      all_displacements.push_back(static_cast<typename Set::Displacement>(d));
    count = all_counts[static_cast<std::size_t>(own_part) % all_counts.size()];
  }
  const auto* counts() const { return significant(all_counts); }
  const auto* displacements() const { return significant(all_displacements); }
  const auto* types() const { return significant(all_types); }

 private:
  template <typename T>
  static const T* significant(const std::vector<T>& list) {
    return list.empty() ? nullptr : list.data();
  }
};

template <typename Set>
int call_of(const Set& f, const Plan& p, const void* in, void* out) {
  const Arguments<Set> s(p.send, p.member.rank);
  const Arguments<Set> r(p.receive, p.member.rank);
  const MPI_Op op = p.op ? p.op->handle : MPI_Op{};
  const MPI_Comm comm = p.member.comm;
  if (p.in_place && p.form->keeps_own_part())
    out = MPI_IN_PLACE;
  else if (p.in_place)
    in = MPI_IN_PLACE;
  switch (p.form->function) {
    case Function::barrier: return f.Barrier(comm);
    case Function::bcast: return f.Bcast(out, r.count, r.type, p.root, comm);
    case Function::gather: return f.Gather(in, s.count, s.type, out, r.count, r.type, p.root, comm);
    case Function::gatherv:
      return f.Gatherv(in, s.count, s.type, out, r.counts(), r.displacements(), r.type, p.root, comm);
    case Function::scatter: return f.Scatter(in, s.count, s.type, out, r.count, r.type, p.root, comm);
    case Function::scatterv:
      return f.Scatterv(in, s.counts(), s.displacements(), s.type, out, r.count, r.type, p.root, comm);
    case Function::allgather: return f.Allgather(in, s.count, s.type, out, r.count, r.type, comm);
    case Function::allgatherv:
      return f.Allgatherv(in, s.count, s.type, out, r.counts(), r.displacements(), r.type, comm);
    case Function::alltoall: return f.Alltoall(in, s.count, s.type, out, r.count, r.type, comm);
    case Function::alltoallv:
      return f.Alltoallv(in, s.counts(), s.displacements(), s.type, out, r.counts(), r.displacements(), r.type, comm);
    case Function::alltoallw:
      return f.Alltoallw(in, s.counts(), s.displacements(), s.types(), out, r.counts(), r.displacements(), r.types(),
                         comm);
    case Function::reduce: return f.Reduce(in, out, r.count, r.type, op, p.root, comm);
    case Function::allreduce: return f.Allreduce(in, out, r.count, r.type, op, comm);
    case Function::reduce_scatter_block: return f.Reduce_scatter_block(in, out, r.count, r.type, op, comm);
    case Function::reduce_scatter: return f.Reduce_scatter(in, out, r.counts(), r.type, op, comm);
    case Function::scan: return f.Scan(in, out, r.count, r.type, op, comm);
    case Function::exscan: return f.Exscan(in, out, r.count, r.type, op, comm);
  }
  return MPI_ERR_OTHER;
}

}  // namespace

int call(const Functions& functions, const Plan& plan, const void* send, void* receive) {
  return call_of(functions, plan, send, receive);
}

#ifdef STRETTO_MPICH
int call(const LargeFunctions& functions, const Plan& plan, const void* send, void* receive) {
  return call_of(functions, plan, send, receive);
}
#endif

}  // namespace stretto::differential
