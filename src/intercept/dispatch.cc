// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/dispatch.hpp"

#include <cstring>

#include "intercept/operators.hpp"
#include "intercept/perform.hpp"
#include "intercept/settings.hpp"
#include "intercept/types.hpp"

namespace stretto::intercept {
namespace {

Served pass(Collective collective, Passed reason) {
  statistics().of(collective, reason).fetch_add(1, std::memory_order_relaxed);
  set_last_algorithm("native");
  return std::nullopt;
}

/// The state of `comm`, or null after counting why the call is passed on.
Communicator* usable(Collective collective, MPI_Comm comm) {
  if (settings().disabled) {
    pass(collective, Passed::disabled);
    return nullptr;
  }
  Communicator* c = communicator(comm);
  if (!c || c->unusable) {
    pass(collective, c ? *c->unusable : Passed::not_ready);
    return nullptr;
  }
  begin_packing(c->ranks() > 1 ? c->messages() : comm);
  return c;
}

/// The end of a served call: errors of the program's types are found on the way.
int finish(const Communicator& c, int code) {
  if (code != MPI_SUCCESS || packing_error() == MPI_SUCCESS) return code;
  if (c.ranks() > 1) native().Comm_call_errhandler(c.comm(), packing_error());
  return packing_error();
}

/// Null after counting that the rules say `native`.
const Decision* decide(Communicator& c, const Call& call) {
  const Decision& decision = c.decide(call);
  if (decision.algorithm) return &decision;
  pass(call.collective, Passed::rules);
  return nullptr;
}

/// Where the engine reads or writes a buffer of `count` elements of a type: there, or, if the type has holes, in a
/// packed copy.
class Packed {
 public:
  Packed(const TypeFacts& type, Count count) : type_(type), count_(count) {}

  void* in(void* buffer) {
    if (type_.element.dense) return buffer;
    if (!copy_) copy_ = staging().take(count_ * type_.element.size);
    return copy_;
  }
  /// Packs elements first … first+n-1 of `buffer`.
  void pack(const void* buffer, Count first, Count n) {
    if (type_.element.dense || n == 0) return;
    type_.element.pack(type_.element, static_cast<const char*>(buffer) + first * type_.element.extent, n,
                       copy_ + first * type_.element.size);
  }
  void unpack(void* buffer) {
    if (type_.element.dense || count_ == 0) return;
    type_.element.unpack(type_.element, copy_, count_, buffer);
  }

 private:
  const TypeFacts& type_;
  Count count_;
  std::byte* copy_ = nullptr;
};

constexpr execute::Element one_byte{};

/// The operator's and the type's part of a reduction; unusable ones have been counted.
struct Reduction {
  TypeFacts storage;
  const TypeFacts& type;
  OperatorFacts op;
  bool usable = false;

  Reduction(Collective collective, const MPI_Datatype& t, const MPI_Op& o)
      : type(t == constants().type_null ? storage : facts_of(t, Use::combine, storage)) {
    if (t == constants().type_null || o == constants().op_null) {
      pass(collective, Passed::arguments);
      return;
    }
    if (!type.usable) {
      pass(collective, Passed::datatype);
      return;
    }
    op = facts_of(o, type);
    usable = op.usable;
    if (!usable) pass(collective, Passed::op);
  }

  Call call(Collective collective, const Shape& shape, Count elements) const {
    return {collective, shape, elements * type.element.size, op.commutative, op.predefined};
  }
};

}  // namespace

Served barrier(MPI_Comm comm) {
  Communicator* c = usable(Collective::barrier, comm);
  if (!c) return std::nullopt;
  const Decision* decision = decide(*c, {.collective = Collective::barrier, .shape = {c->ranks(), 0}});
  if (!decision) return std::nullopt;
  return perform(*c, *decision, Collective::barrier, {});
}

Served bcast(void* buffer, MPI_Count count, const MPI_Datatype& type, int root, MPI_Comm comm) {
  constexpr Collective collective = Collective::bcast;
  Communicator* c = usable(collective, comm);
  if (!c) return std::nullopt;
  if (count < 0 || root < 0 || root >= c->ranks() || type == constants().type_null)
    return pass(collective, Passed::arguments);
  TypeFacts storage;
  const TypeFacts& facts = facts_of(type, Use::move, storage);
  if (!facts.usable) return pass(collective, Passed::datatype);
  const Bytes bytes = count * facts.element.size;
  const Decision* decision = decide(*c, {.collective = collective, .shape = {c->ranks(), root}, .bytes = bytes});
  if (!decision) return std::nullopt;
  staging().reset();
  Packed packed(facts, count);
  void* vector = packed.in(buffer);
  if (c->rank() == root) packed.pack(buffer, 0, count);
  const int code =
      perform(*c, *decision, collective, {.output = vector, .element = one_byte, .combiner = {}, .count = bytes});
  if (code == MPI_SUCCESS && c->rank() != root) packed.unpack(buffer);
  return finish(*c, code);
}

Served reduce(const void* sendbuf, void* recvbuf, MPI_Count count, const MPI_Datatype& type, const MPI_Op& op, int root,
              MPI_Comm comm) {
  constexpr Collective collective = Collective::reduce;
  Communicator* c = usable(collective, comm);
  if (!c) return std::nullopt;
  const bool is_root = c->rank() == root;
  if (count < 0 || root < 0 || root >= c->ranks() || (is_root ? recvbuf : sendbuf) == MPI_IN_PLACE)
    return pass(collective, Passed::arguments);
  const Reduction reduction(collective, type, op);
  if (!reduction.usable) return std::nullopt;
  const Decision* decision = decide(*c, reduction.call(collective, {c->ranks(), root}, count));
  if (!decision) return std::nullopt;
  const int code = perform(*c, *decision, collective,
                           {.input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf,
                            .output = is_root ? recvbuf : nullptr,
                            .element = reduction.type.element,
                            .combiner = reduction.op.combiner,
                            .count = count});
  return finish(*c, code);
}

Served allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, const MPI_Datatype& type, const MPI_Op& op,
                 MPI_Comm comm) {
  constexpr Collective collective = Collective::allreduce;
  Communicator* c = usable(collective, comm);
  if (!c) return std::nullopt;
  if (count < 0 || recvbuf == MPI_IN_PLACE) return pass(collective, Passed::arguments);
  const Reduction reduction(collective, type, op);
  if (!reduction.usable) return std::nullopt;
  const Decision* decision = decide(*c, reduction.call(collective, {c->ranks(), 0}, count));
  if (!decision) return std::nullopt;
  const int code = perform(*c, *decision, collective,
                           {.input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf,
                            .output = recvbuf,
                            .element = reduction.type.element,
                            .combiner = reduction.op.combiner,
                            .count = count});
  return finish(*c, code);
}

Served allgather(const void* sendbuf, MPI_Count sendcount, const MPI_Datatype& sendtype, void* recvbuf,
                 MPI_Count recvcount, const MPI_Datatype& recvtype, MPI_Comm comm) {
  constexpr Collective collective = Collective::allgather;
  Communicator* c = usable(collective, comm);
  if (!c) return std::nullopt;
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (recvcount < 0 || recvtype == constants().type_null || recvbuf == MPI_IN_PLACE ||
      (!in_place && (sendcount < 0 || sendtype == constants().type_null)))
    return pass(collective, Passed::arguments);
  TypeFacts storage[2];
  const TypeFacts& to = facts_of(recvtype, Use::move, storage[0]);
  const TypeFacts& from = in_place ? to : facts_of(sendtype, Use::move, storage[1]);
  if (!to.usable || !from.usable) return pass(collective, Passed::datatype);
  const Bytes each = recvcount * to.element.size;
  if (!in_place && sendcount * from.element.size != each) return pass(collective, Passed::arguments);
  const Decision* decision =
      decide(*c, {.collective = collective, .shape = {c->ranks(), 0}, .bytes = each * c->ranks()});
  if (!decision) return std::nullopt;
  staging().reset();
  Packed gathered(to, recvcount * c->ranks());
  auto* output = static_cast<char*>(gathered.in(recvbuf));
  Packed own(from, sendcount);
  const void* input = nullptr;
  if (in_place) {
    gathered.pack(recvbuf, c->rank() * recvcount, recvcount);
    input = output + c->rank() * each;
  } else {
    input = own.in(const_cast<void*>(sendbuf));
    own.pack(sendbuf, 0, sendcount);
  }
  const int code = perform(*c, *decision, collective,
                           {.input = input,
                            .output = output,
                            .input_origin = c->rank(),
                            .element = one_byte,
                            .combiner = {},
                            .count = each});
  if (code == MPI_SUCCESS) gathered.unpack(recvbuf);
  return finish(*c, code);
}

Served reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, const MPI_Datatype& type,
                            const MPI_Op& op, MPI_Comm comm) {
  constexpr Collective collective = Collective::reduce_scatter_block;
  Communicator* c = usable(collective, comm);
  if (!c) return std::nullopt;
  if (recvcount < 0 || recvbuf == MPI_IN_PLACE) return pass(collective, Passed::arguments);
  const Reduction reduction(collective, type, op);
  if (!reduction.usable) return std::nullopt;
  const Decision* decision = decide(*c, reduction.call(collective, {c->ranks(), 0}, recvcount * c->ranks()));
  if (!decision) return std::nullopt;
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const execute::Element& element = reduction.type.element;
  const int code = perform(*c, *decision, collective,
                           {.input = in_place ? recvbuf : sendbuf,
                            .output = recvbuf,
                            .output_origin = in_place ? 0 : c->rank(),
                            .element = element,
                            .combiner = reduction.op.combiner,
                            .count = recvcount});
  if (code != MPI_SUCCESS || !in_place || recvcount == 0 || c->rank() == 0) return finish(*c, code);
  // In place the result was reduced where the own block stood; MPI wants it at the beginning.
  const char* block = static_cast<const char*>(recvbuf) + c->rank() * recvcount * element.extent;
  if (element.dense) {
    std::memmove(recvbuf, block, static_cast<std::size_t>(recvcount * element.size));
  } else {
    staging().reset();
    std::byte* packed = staging().take(recvcount * element.size);
    element.pack(element, block, recvcount, packed);
    element.unpack(element, packed, recvcount, recvbuf);
  }
  return finish(*c, code);
}

void before_finalize() {
  if (settings().log_summary) {
    int rank = 0;
    native().Comm_rank(constants().world, &rank);
    if (rank == 0) print_summary();
  }
  free_communicators();
}

}  // namespace stretto::intercept
