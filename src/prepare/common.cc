// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/common.hpp"

#include <algorithm>

#include "communicator/node.hpp"
#include "communicator/raise.hpp"
#include "mpi/flavour/flavour.hpp"
#include "mpi/progress.hpp"
#include "observe/write.hpp"

namespace stretto::intercept {
namespace {

Bytes bytes_of(Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || type == constants().type_null || native().Type_size_x(type, &size) != MPI_SUCCESS) return 0;
  return count * static_cast<Bytes>(size);
}

[[gnu::tls_model("initial-exec")]] constinit thread_local PassedCall last_passed{};

}  // namespace

PassedCall passed_call() { return last_passed; }

Served pass(Function function, Passed reason) {
  last_passed = {function, reason};
  statistics().of(function, reason).fetch_add(1, std::memory_order_relaxed);
  set_last_algorithm("native");
  observe::passed(reason);
  return std::nullopt;
}

Bytes bytes_of(const Described& d) { return bytes_of(d.count, d.type); }

Bytes bytes_of(const DescribedParts& d, Rank rank) {
  return d.counts.given() && d.types ? bytes_of(d.counts[rank], d.type(rank)) : 0;
}

Bytes bytes_of_all(const DescribedParts& d, Rank ranks) {
  Bytes sum = 0;
  for (Rank r = 0; r < ranks; ++r) sum += bytes_of(d, r);
  return sum;
}

Communicator* usable(Function function, MPI_Comm comm) {
  if (settings().disabled) {
    pass(function, Passed::disabled);
    return nullptr;
  }
  Communicator* c = communicator(comm, function);
  if (!c || c->unusable) {
    pass(function, c ? *c->unusable : Passed::not_ready);
    return nullptr;
  }
  begin_packing(comm);
  staging().trim();
  return c;
}

const Decision* decide(Communicator& c, const Call& call) {
  const Decision& decision = c.decide(call);
  if (decision.algorithm) return &decision;
  pass(call.function, Passed::rules);
  return nullptr;
}

int finish(int code) { return code != MPI_SUCCESS ? code : packing_error(); }

bool is_alias(Origin& origin, Count elements, Bytes distance) {
  origin.alias = no_alias;
  if (!origin.signature.in_place && flavour::alias_error(origin.signature.function, elements) != MPI_SUCCESS)
    origin.alias = distance;
  return origin.aliased();
}

Served refuse_alias(const Communicator& c, Function function) {
  constexpr Count several = 2;  // which are forbidden where any are
  pass(function, Passed::arguments);
  return raise(c, function, flavour::alias_error(function, several));
}

int finish_truncated(const Communicator& c, Function function, int code, bool truncated) {
  code = finish(code);
  return code == MPI_SUCCESS && truncated ? raise(c, function, MPI_ERR_TRUNCATE) : code;
}

void fit(const TypeFacts& type, const void* from, Count n, std::byte* to, Bytes bytes) {
  const Bytes size = type.element.size;
  pack_elements(type, from, size > 0 ? std::min(n, bytes / size) : 0, to);
}

std::byte* fitted(const TypeFacts& type, const void* from, Count n, Bytes bytes) {
  std::byte* copy = staging().take(bytes);
  std::memset(copy, 0, static_cast<std::size_t>(bytes));
  fit(type, from, n, copy, bytes);
  return copy;
}

void unfit(const TypeFacts& type, const std::byte* from, Bytes bytes, Count n, void* to) {
  const Bytes size = type.element.size;
  unpack_elements(type, from, size > 0 ? std::min(n, bytes / size) : 0, to);
}

void pack_elements(const TypeFacts& type, const void* from, Count n, std::byte* to) {
  if (n == 0) return;
  if (type.element.dense)
    std::memcpy(to, from, static_cast<std::size_t>(n * type.element.size));
  else
    type.element.pack(type.element, from, n, to);
}

void unpack_elements(const TypeFacts& type, const std::byte* from, Count n, void* to) {
  if (n == 0) return;
  if (type.element.dense)
    std::memcpy(to, from, static_cast<std::size_t>(n * type.element.size));
  else
    type.element.unpack(type.element, from, n, to);
}

void* Packed::in(void* buffer) {
  if (!copies_) return buffer;
  if (!copy_) copy_ = staging().take(count_ * type_.element.size);
  return copy_;
}

void Packed::pack(const void* buffer, Count first, Count n) {
  if (!copies_) return;
  pack_elements(type_, static_cast<const char*>(buffer) + first * type_.element.extent, n,
                copy_ + first * type_.element.size);
}

void Packed::unpack(void* buffer) const {
  if (copies_) unpack_elements(type_, copy_, count_, buffer);
}

Count* stage_numbers(Count n) { return reinterpret_cast<Count*>(staging().take(n * Bytes{sizeof(Count)})); }

void before_finalize() {
  const std::optional<bool> agreed = world_writes();
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
