// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives that combine.
#include <cstring>

#include "mpi/operators.hpp"
#include "prepare/common.hpp"

namespace stretto::intercept {
namespace {

using execute::Layout;

/// The operator's and the type's part of a reduction; unusable ones have been counted.
struct Reduction {
  TypeFacts storage;
  const TypeFacts& type;
  OperatorFacts op;
  bool usable = false;

  Reduction(Function function, const Operands& o)
      : type(o.type == constants().type_null ? storage : facts_of(o.type, Use::combine, storage)) {
    if (o.type == constants().type_null || o.op == constants().op_null) {
      pass(function, Passed::arguments);
      return;
    }
    if (!type.usable) {
      pass(function, Passed::datatype);
      return;
    }
    op = facts_of(o.op, type);
    usable = op.usable;
    if (!usable) pass(function, Passed::op);
  }

  /// Are the type and the operator MPI's own?
  bool predefined() const { return &type != &storage && op.predefined; }

  Call call(Function function, const Shape& shape, Count elements) const {
    return {function, shape, elements * type.element.size, op.commutative, op.predefined};
  }
};

void* input_of(const Operands& o) { return o.send == MPI_IN_PLACE ? o.receive : const_cast<void*>(o.send); }

Origin origin_of(Function function, const Operands& o, Count count, Rank root) {
  return {{function, o.send == MPI_IN_PLACE, root, {count, 0}, {o.type, {}}, o.op}, input_of(o), o.receive};
}

int perform(Communicator& c, const Decision& decision, const std::shared_ptr<const Schedule>& schedule,
            const Origin& origin, const Reduction& reduction, const execute::Region& input,
            const execute::Region& output, bool keep = true) {
  return intercept::perform(c, decision, schedule, origin.signature.function,
                            {.input = input,
                             .output = output,
                             .sizes = input.layout,
                             .element = reduction.type.element,
                             .combiner = reduction.op.combiner,
                             .origin = keep && reduction.predefined() ? &origin : nullptr});
}

/// A vector that the algorithm cuts.
int perform_whole(Communicator& c, const Decision& decision, const Origin& origin, const Reduction& reduction,
                  bool has_output) {
  const auto layout = Layout::whole(origin.signature.counts[0], decision.schedule->blocks,
                                    segment_of(decision, reduction.type.element.size, 1));
  return perform(c, decision, decision.schedule, origin, reduction, {const_cast<void*>(origin.input), layout},
                 {has_output ? origin.output : nullptr, layout});
}

void copy_elements(const execute::Element& element, const void* from, Count count, void* to) {
  if (count == 0) return;
  if (element.dense) {
    std::memcpy(to, from, static_cast<std::size_t>(count * element.size));
    return;
  }
  std::byte* packed = staging().take(count * element.size);
  element.pack(element, from, count, packed);
  element.unpack(element, packed, count, to);
}

/// Reduce-scatter: parts of the vector, `layout` tells which; mine has `count` elements.
Served perform_parts(Communicator& c, const Decision& decision, const Origin& origin, const Reduction& reduction,
                     const std::shared_ptr<const Schedule>& schedule, const Layout& layout, Count count) {
  const execute::Element& element = reduction.type.element;
  const Layout cut = layout.cut_into(schedule->parts);
  const Count mine = layout.first(c.rank());
  // In place the result belongs to the front of the vector, and the rest of it, my part too, stays as it was.
  const bool aside = origin.signature.in_place && mine > 0;
  void* target = aside ? staging().take(footprint(element, count)) - element.lower : origin.output;
  const int code = perform(c, decision, schedule, origin, reduction, {const_cast<void*>(origin.input), cut},
                           {target, cut, mine}, !aside);
  if (code == MPI_SUCCESS && aside) copy_elements(element, target, count, origin.output);
  return finish(code);
}

}  // namespace

Served reduce(const Operands& o, MPI_Count count, int root, MPI_Comm comm) {
  constexpr Function function = Function::reduce;
  Origin origin = origin_of(function, o, count, root);
  if (const Served replayed = replay(comm, origin)) return replayed;
  Communicator* c = usable(function, comm, [&](const Communicator&) { return bytes_of({nullptr, count, o.type}); });
  if (!c) return std::nullopt;
  const bool is_root = c->rank() == root;
  if (count < 0 || !root_exists(*c, root) || (is_root ? o.receive : o.send) == MPI_IN_PLACE)
    return pass(function, Passed::arguments);
  if (is_root && is_alias(origin, count, 0)) return refuse_alias(*c, function);
  const Reduction reduction(function, o);
  if (!reduction.usable) return std::nullopt;
  const Decision* decision = decide(*c, reduction.call(function, {c->ranks(), root}, count));
  if (!decision) return std::nullopt;
  return finish(perform_whole(*c, *decision, origin, reduction, is_root));
}

Served reduce_everywhere(Function function, const Operands& o, MPI_Count count, MPI_Comm comm) {
  Origin origin = origin_of(function, o, count, 0);
  if (const Served replayed = replay(comm, origin)) return replayed;
  Communicator* c = usable(function, comm, [&](const Communicator&) { return bytes_of({nullptr, count, o.type}); });
  if (!c) return std::nullopt;
  if (count < 0 || o.receive == MPI_IN_PLACE) return pass(function, Passed::arguments);
  if (is_alias(origin, count, 0)) return refuse_alias(*c, function);
  const Reduction reduction(function, o);
  if (!reduction.usable) return std::nullopt;
  const Decision* decision = decide(*c, reduction.call(function, {c->ranks(), 0}, count));
  if (!decision) return std::nullopt;
  return finish(perform_whole(*c, *decision, origin, reduction, true));
}

Served reduce_scatter_block(const Operands& o, MPI_Count count, MPI_Comm comm) {
  constexpr Function function = Function::reduce_scatter_block;
  Origin origin = origin_of(function, o, count, 0);
  if (const Served replayed = replay(comm, origin)) return replayed;
  Communicator* c =
      usable(function, comm, [&](const Communicator& at) { return bytes_of({nullptr, count, o.type}) * at.ranks(); });
  if (!c) return std::nullopt;
  if (count < 0 || o.receive == MPI_IN_PLACE) return pass(function, Passed::arguments);
  if (is_alias(origin, count, 0)) return refuse_alias(*c, function);
  const Reduction reduction(function, o);
  if (!reduction.usable) return std::nullopt;
  const Decision* decision = decide(*c, reduction.call(function, {c->ranks(), 0}, count * c->ranks()));
  if (!decision) return std::nullopt;
  const auto schedule = schedule_of(*c, *decision, 0, [count](Rank) { return count; });
  const Count segment = segment_of(*decision, reduction.type.element.size, c->ranks());
  return perform_parts(*c, *decision, origin, reduction, schedule, Layout::per_rank(count, segment), count);
}

Served reduce_scatter(const Operands& o, Numbers counts, MPI_Comm comm) {
  constexpr Function function = Function::reduce_scatter;
  const DescribedParts parts{nullptr, counts, static_cast<const int*>(nullptr), o.type};
  Origin origin = origin_of(function, o, 0, 0);
  origin.parts = {&parts};
  if (const Served replayed = replay(comm, origin)) return replayed;
  Communicator* c = usable(function, comm, [&](const Communicator& at) { return bytes_of_all(parts, at.ranks()); });
  if (!c) return std::nullopt;
  if (!counts.given() || o.receive == MPI_IN_PLACE) return pass(function, Passed::arguments);
  const Rank ranks = c->ranks();
  Count* each = stage_numbers(ranks);
  Count* first = stage_numbers(ranks);
  Count all = 0;
  for (Rank r = 0; r < ranks; ++r) {
    if (counts[r] < 0) return pass(function, Passed::arguments);
    each[r] = counts[r];
    first[r] = all;
    all += counts[r];
  }
  if (is_alias(origin, all, 0)) return refuse_alias(*c, function);
  const Reduction reduction(function, o);
  if (!reduction.usable) return std::nullopt;
  const Decision* decision = decide(*c, reduction.call(function, {ranks, 0}, all));
  if (!decision) return std::nullopt;
  const auto schedule = schedule_of(*c, *decision, 0, [each](Rank r) { return each[r]; });
  const auto n = static_cast<std::size_t>(ranks);
  const Count segment = segment_of(*decision, reduction.type.element.size, ranks);
  return perform_parts(*c, *decision, origin, reduction, schedule, Layout::irregular({each, n}, {first, n}, segment),
                       each[c->rank()]);
}

}  // namespace stretto::intercept
