// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/serve/common.hpp"

#include "intercept/observe/write.hpp"

namespace stretto::intercept {
namespace {

Bytes bytes_of(Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || type == constants().type_null || native().Type_size_x(type, &size) != MPI_SUCCESS) return 0;
  return count * static_cast<Bytes>(size);
}

}  // namespace

Served pass(Function function, Passed reason) {
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
  Communicator* c = communicator(comm);
  if (!c || c->unusable) {
    pass(function, c ? *c->unusable : Passed::not_ready);
    return nullptr;
  }
  begin_packing(c->errors_returned());
  staging().trim();
  return c;
}

const Decision* decide(Communicator& c, const Call& call) {
  const Decision& decision = c.decide(call);
  if (decision.algorithm) return &decision;
  pass(call.function, Passed::rules);
  return nullptr;
}

int finish(const Communicator& c, int code) {
  if (code != MPI_SUCCESS || packing_error() == MPI_SUCCESS) return code;
  if (c.ranks() > 1) native().Comm_call_errhandler(c.comm(), packing_error());
  return packing_error();
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
  free_communicators();  // they count their last calls then
  observe::write_files();
  if (!settings().log_summary) return;
  int rank = 0;
  native().Comm_rank(constants().world, &rank);
  if (rank == 0) print_summary();
}

}  // namespace stretto::intercept
