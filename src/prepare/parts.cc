// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives that move parts of different sizes: the v and w functions.
#include "mpi/flavour/flavour.hpp"
#include "prepare/irregular.hpp"
#include "prepare/sizes.hpp"

namespace stretto::intercept {
namespace {

constexpr Bytes most_padding = 4;  // times the bytes that an algorithm was chosen for

using execute::Layout;
using execute::Region;

/// My schedule, and the sizes of the blocks that it keeps in scratch, if it keeps any.
struct Prepared {
  int code = MPI_SUCCESS;
  std::shared_ptr<const Schedule> schedule;
  Layout sizes = Layout::whole(0, 1, 0);
  bool by_slot = false;
};

/// Where only the two ends of a message know its size. `mine` is the size of my part, `inputs` are those of the blocks
/// in my input, from slot `first` on.
Prepared prepare_unknown(Communicator& c, const Decision& decision, Function function, Rank root, Bytes mine,
                         std::span<const Count> inputs, Block first) {
  Prepared p;
  const Count segment = segment_of(decision, 1, c.ranks());
  if (decision.algorithm->needs.counts) {
    const AllSizes all = gather_sizes(c, function, mine);
    p.code = all.code;
    if (p.code != MPI_SUCCESS) return p;
    p.schedule = schedule_of(c, decision, root, [&](Rank r) { return all.bytes[static_cast<std::size_t>(r)]; });
    p.sizes = Layout::irregular(all.bytes, all.bytes, segment);
    return p;
  }
  p.schedule = decision.schedule;
  if (!decision.algorithm->forwards) return p;
  const ScratchSizes told = tell_sizes_along(c, *p.schedule, function, inputs, first);
  p.code = told.code;
  p.sizes = told.layout(segment);
  p.by_slot = true;
  return p;
}

/// `origin`: of a call that may be kept; null if it may not, or its ranks told each other sizes before.
int perform(Communicator& c, const Decision& decision, Function function, const Prepared& p, const Region& input,
            const Region& output, const Origin* origin) {
  return intercept::perform(c, decision, p.schedule, function,
                            {.input = input,
                             .output = output,
                             .sizes = p.sizes,
                             .sizes_by_slot = p.by_slot,
                             .element = one_byte,
                             .origin = decision.algorithm->forwards ? nullptr : origin});
}

/// The buffer of my own part only.
Region own_region(void* at, Rank rank, Bytes bytes, Count segment) {
  return {at, Layout::per_rank(bytes, segment), rank * bytes};
}

Origin origin_of(Function function, const Described& own, const DescribedParts& all, Rank root) {
  const bool gathers = function == Function::gatherv;
  return {.signature = {.function = function,
                        .in_place = own.in_place(),
                        .root = root,
                        .counts = {own.count},
                        .types = {own.type, all.types[0]}},
          .input = gathers && !own.in_place() ? own.buffer : all.buffer,
          .output = gathers || own.in_place() ? all.buffer : own.buffer,
          .parts = {&all}};
}

/// Gatherv and scatterv: `all` is the root's.
Served rooted(Function function, const Described& own, const DescribedParts& all, int root, MPI_Comm comm) {
  const bool gathers = function == Function::gatherv;
  Origin origin = origin_of(function, own, all, root);
  if (const Served replayed = replay(comm, origin)) return replayed;
  Communicator* c = usable(function, comm, [&](const Communicator& at) {
    return !own.in_place() ? bytes_of(own) : at.rank() == root ? bytes_of(all, root) : 0;
  });
  if (!c) return std::nullopt;
  const Rank me = c->rank();
  const bool in_place = own.in_place();
  if (!root_exists(*c, root) || (in_place && me != root) || (!in_place && !valid(own)) ||
      (me == root && all.in_place()))
    return pass(function, Passed::arguments);
  std::optional<IrregularParts> parts;
  if (me == root) {
    parts.emplace(all, c->ranks());
    if (parts->unusable()) return pass(function, *parts->unusable());
  }
  TypeFacts storage;
  const TypeFacts& type = facts_of(in_place ? constants().byte : own.type, Use::move, storage);
  if (!type.usable) return pass(function, Passed::datatype);
  const Bytes own_bytes = in_place ? parts->bytes(me) : own.count * type.element.size;
  const Bytes mine = parts ? parts->bytes(me) : own_bytes;  // on the root the two should be the same
  const bool fits = own_bytes == mine;
  if (parts && !in_place && fits && own.type == all.type(me) &&
      is_alias(origin, own.count, (gathers ? 1 : -1) * all.displacements[me] * type.element.extent))
    return refuse_alias(*c, function);
  Call call{.function = function, .shape = {c->ranks(), root}};
  const int told = add_recent_bytes(*c, call, parts ? parts->sum() : 0, &origin);
  if (told != MPI_SUCCESS) return told;
  const Decision* decision = decide(*c, call);
  if (!decision) return std::nullopt;

  if (parts) parts->copy_if_needed();
  Packed packed(type, in_place ? 0 : own.count);
  void* at_own = in_place ? parts->at(me)
                 : fits   ? packed.in(own.buffer)
                          : fitted(type, gathers ? own.buffer : nullptr, gathers ? own.count : 0, mine);
  if (gathers && in_place) parts->pack(me);
  if (gathers && !in_place && fits) packed.pack(own.buffer, 0, own.count);
  if (!gathers && parts) parts->pack();
  const std::span<const Count> inputs = gathers ? std::span<const Count>(&mine, 1)
                                        : parts ? parts->all_bytes()
                                                : std::span<const Count>();
  const Prepared p = prepare_unknown(*c, *decision, function, root, mine, inputs, gathers ? me : 0);
  if (p.code != MPI_SUCCESS) return p.code;
  const Count segment = segment_of(*decision, 1, c->ranks());
  const Region here = own_region(at_own, me, mine, segment);
  const Region there = parts ? parts->region(segment, p.schedule->parts) : Region{};
  if (me != root) origin.parts = {};
  const bool keep = !decision->algorithm->needs.counts && (parts ? parts->replayable() : true) && &type != &storage &&
                    type.element.dense && fits;
  const int code =
      perform(*c, *decision, function, p, gathers ? here : there, gathers ? there : here, keep ? &origin : nullptr);
  if (code == MPI_SUCCESS && gathers && parts) parts->unpack();
  if (code == MPI_SUCCESS && !gathers && !in_place && fits) packed.unpack(own.buffer);
  if (code == MPI_SUCCESS && !gathers && !fits)
    unfit(type, static_cast<const std::byte*>(at_own), mine, own.count, own.buffer);
  return finish_truncated(*c, function, code, gathers ? own_bytes > mine : own_bytes < mine);
}

/// Every block travels as large as the largest of all.
int perform_padded(Communicator& c, const Decision& decision, Function function, Bytes size, IrregularParts& input,
                   IrregularParts& output) {
  const Count segment = segment_of(decision, 1, c.ranks());
  input.copy(size);
  output.copy(size);
  input.pack();
  const int code = intercept::perform(c, decision, decision.schedule, function,
                                      {.input = input.even_region(size, segment),
                                       .output = output.even_region(size, segment),
                                       .sizes = Layout::per_rank(size, segment),
                                       .element = one_byte});
  if (code == MPI_SUCCESS) output.unpack();
  return code;
}

}  // namespace

Served gatherv(const Described& own, const DescribedParts& all, int root, MPI_Comm comm) {
  return rooted(Function::gatherv, own, all, root, comm);
}

Served scatterv(const DescribedParts& all, const Described& own, int root, MPI_Comm comm) {
  return rooted(Function::scatterv, own, all, root, comm);
}

Served allgatherv(const Described& own, const DescribedParts& all, MPI_Comm comm) {
  constexpr Function function = Function::allgatherv;
  Origin origin{.signature = {.function = function,
                              .in_place = own.in_place(),
                              .counts = {own.count},
                              .types = {own.type, all.types[0]}},
                .input = own.in_place() ? all.buffer : own.buffer,
                .output = all.buffer,
                .parts = {&all}};
  if (const Served replayed = replay(comm, origin)) return replayed;
  Communicator* c = usable(function, comm, [&](const Communicator& at) { return bytes_of_all(all, at.ranks()); });
  if (!c) return std::nullopt;
  const Rank me = c->rank();
  const bool in_place = own.in_place();
  if (all.in_place() || (!in_place && !valid(own))) return pass(function, Passed::arguments);
  IrregularParts parts(all, c->ranks());
  if (parts.unusable()) return pass(function, *parts.unusable());
  TypeFacts storage;
  const TypeFacts& type = facts_of(in_place ? constants().byte : own.type, Use::move, storage);
  if (!type.usable) return pass(function, Passed::datatype);
  const Bytes own_bytes = in_place ? parts.bytes(me) : own.count * type.element.size;
  if (!in_place && own_bytes == parts.bytes(me) && own.type == all.type(me) &&
      is_alias(origin, own.count, all.displacements[me] * type.element.extent))
    return refuse_alias(*c, function);
  const Bytes bytes = parts.sum();
  const Decision* decision = decide(*c, {.function = function, .shape = {c->ranks(), 0}, .bytes = bytes});
  if (!decision) return std::nullopt;
  parts.copy_if_needed();
  Packed packed(type, in_place ? 0 : own.count);
  const bool fits = own_bytes == parts.bytes(me);
  void* at_own = in_place ? parts.at(me)
                 : fits   ? packed.in(own.buffer)
                          : fitted(type, own.buffer, own.count, parts.bytes(me));
  if (in_place)
    parts.pack(me);
  else if (fits)
    packed.pack(own.buffer, 0, own.count);
  const Count segment = segment_of(*decision, 1, c->ranks());
  Prepared p;
  p.schedule = schedule_of(*c, *decision, 0, [&](Rank r) { return parts.bytes(r); });
  const Region output = parts.region(segment, p.schedule->parts);
  p.sizes = output.layout;
  Region input = own_region(at_own, me, parts.bytes(me), segment);
  input.layout = input.layout.cut_into(p.schedule->parts);
  const bool keep = parts.replayable() && &type != &storage && type.element.dense && fits;
  const int code = perform(*c, *decision, function, p, input, output, keep ? &origin : nullptr);
  if (code == MPI_SUCCESS) parts.unpack();
  return finish_truncated(*c, function, code, own_bytes > parts.bytes(me));
}

Served alltoallv(Function function, const DescribedParts& from, const DescribedParts& to, MPI_Comm comm) {
  Origin origin{.signature = {.function = function}, .input = from.buffer, .output = to.buffer, .parts = {&from, &to}};
  bool may_keep = !from.in_place();
  if (!from.own_types) origin.signature.types = {from.types[0], to.types[0]};
  const bool aliased = from.buffer == to.buffer && from.buffer;
  if (const Served replayed = may_keep && !aliased ? replay(comm, origin) : std::nullopt) return replayed;
  Communicator* c = usable(
      function, comm, [&](const Communicator& at) { return bytes_of_all(from.in_place() ? to : from, at.ranks()); });
  if (!c) return std::nullopt;
  if (to.in_place()) return pass(function, Passed::arguments);
  const bool in_place = from.in_place();
  IrregularParts input(in_place ? to : from, c->ranks());
  IrregularParts output(to, c->ranks());
  for (const auto* parts : {&input, &output})
    if (parts->unusable()) return pass(function, *parts->unusable());
  if (may_keep && aliased && from.same_arrays(to) && flavour::alias_error(function, input.sum()) != MPI_SUCCESS)
    return refuse_alias(*c, function);
  Call call{.function = function, .shape = {c->ranks(), 0}};
  const int told = add_recent_bytes(*c, call, input.sum(), may_keep ? &origin : nullptr);
  if (told != MPI_SUCCESS) return told;
  const Decision* decision = decide(*c, call);
  if (!decision) return std::nullopt;
  if (decision->algorithm->padded) {
    Bytes size = std::max(input.largest(), output.largest());
    if (const int code = largest_of_all(*c, function, size); code != MPI_SUCCESS) return code;
    // Calls of late were smaller, or one block is by far the largest: as much memory as for a call of such blocks.
    if (size > most_padding * call.bytes / c->ranks()) {
      call.bytes = size * c->ranks();
      decision = decide(*c, call);
      if (!decision) return std::nullopt;
    }
    if (decision->algorithm->padded) return finish(perform_padded(*c, *decision, function, size, input, output));
    may_keep = false;  // the same arguments of this rank may be chosen otherwise next time
  }
  if (in_place)
    input.copy();
  else
    input.copy_if_needed();
  output.copy_if_needed();
  input.pack();
  const Prepared p = prepare_unknown(*c, *decision, function, 0, 0, input.all_bytes(), 0);
  if (p.code != MPI_SUCCESS) return p.code;
  const Count segment = segment_of(*decision, 1, c->ranks());
  const bool keep = may_keep && !decision->algorithm->needs.counts && input.replayable() && output.replayable();
  const int code = perform(*c, *decision, function, p, input.region(segment, {}), output.region(segment, {}),
                           keep ? &origin : nullptr);
  if (code == MPI_SUCCESS) output.unpack();
  return finish(code);
}

}  // namespace stretto::intercept
