// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/serve.hpp"

#include "communicator/node.hpp"
#include "mpi/progress.hpp"
#include "mpi/types.hpp"
#include "observe/write.hpp"
#include "prepare/background.hpp"
#include "prepare/perform.hpp"
#include "prepare/requests.hpp"
#include "settings/settings.hpp"

namespace stretto::intercept {
namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local PassedCall last_passed{};

/// Of what the program describes; 0 where the description is wrong.
Bytes bytes_of(Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || type == constants().type_null || native().Type_size_x(type, &size) != MPI_SUCCESS) return 0;
  return count * static_cast<Bytes>(size);
}

Bytes part_bytes(const Arguments& a, int side, Rank r) {
  const PartsArguments* parts = a.parts[static_cast<std::size_t>(side)];
  const MPI_Datatype type = a.signature.types[static_cast<std::size_t>(side)];
  if (!parts) return bytes_of(a.signature.counts[static_cast<std::size_t>(side)], type);
  return parts->counts.given() ? bytes_of(parts->counts[r], parts->types ? parts->types[r] : type) : 0;
}

/// What this rank sends.
Bytes bytes_to_neighbours(Communicator& c, const Arguments& a) {
  const auto graph = c.graph();
  if (!graph) return 0;
  const std::vector<Rank>& to = graph->of(c.rank()).destinations;
  Bytes sum = 0;
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i] != no_rank) sum += part_bytes(a, 0, static_cast<Rank>(i));
  return sum;
}

/// The number of bytes of an observed call (docs/profile.md).
Bytes observed_bytes(Communicator& c, const Arguments& a) {
  const Signature& s = a.signature;
  const CollectiveFacts& collective = facts(facts(s.function).collective);
  if (collective.neighbourhood) return bytes_to_neighbours(c, a);
  if (collective.rooted && collective.per_rank) {
    const bool gathers = collective.parts_out;
    const bool irregular = facts(s.function).irregular;
    if (s.in_place && irregular && c.rank() != s.root) return 0;
    return part_bytes(a, gathers == s.in_place ? 1 : 0, c.rank()) * (irregular ? 1 : c.ranks());
  }
  const bool by_input = collective.reduces || (collective.pairwise && facts(s.function).irregular && !s.in_place);
  const int side = by_input ? 0 : 1;
  if (!facts(s.function).irregular) return part_bytes(a, side, 0) * (collective.per_rank ? c.ranks() : 1);
  Bytes sum = 0;
  for (Rank r = 0; r < c.ranks(); ++r) sum += part_bytes(a, side, r);
  return sum;
}

/// The state of `comm`, or null after counting why the call is left native.
Communicator* usable(MPI_Comm comm, const Arguments& arguments) {
  const Function function = arguments.signature.function;
  if (settings().observes()) [[unlikely]] {
    const auto begin = execute::now();
    Communicator* c = communicator(comm, function);
    const bool known = c && c->unusable != Passed::intercommunicator;  // their counts go by the other side's ranks
    observe::begin_call(function, c ? c->records.get() : nullptr, known ? observed_bytes(*c, arguments) : 0, begin);
  }
  if (settings().disabled) {
    pass(function, Passed::disabled);
    return nullptr;
  }
  Communicator* c = communicator(comm, function);
  if (!c || c->unusable) {
    pass(function, c ? *c->unusable : Passed::not_ready);
    return nullptr;
  }
  return c;
}

}  // namespace

PassedCall passed_call() { return last_passed; }

Served pass(Function function, Passed reason) {
  last_passed = {function, reason};
  statistics().of(function, reason).fetch_add(1, std::memory_order_relaxed);
  set_last_algorithm("native");
  observe::passed(reason);
  return std::nullopt;
}

Served serve(MPI_Comm comm, const Arguments& arguments) {
  if (const Served done = run_cached(comm, arguments)) return done;
  Communicator* c = usable(comm, arguments);
  if (!c) return std::nullopt;
  const PackingFor program(comm);
  return perform(*c, arguments);
}

void before_finalize() {
  const std::optional<bool> agreed = world_writes();
  end_background();
  free_carriers();
  free_communicators();  // they count their last calls then
  end_progress();
  depart();
  observe::write_files(agreed);
  if (!settings().log_summary) return;
  int rank = 0;
  native().Comm_rank(constants().world, &rank);
  if (rank == 0) print_summary();
}

}  // namespace stretto::intercept
