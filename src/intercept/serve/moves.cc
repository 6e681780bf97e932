// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives that move vectors, or equally large parts. What travels is bytes: ranks may describe the same values by
// different types.
#include "intercept/serve/common.hpp"

namespace stretto::intercept {
namespace {

bool is_root(const Communicator& c, int root) { return c.rank() == root; }

/// What gather, scatter, allgather and alltoall give the engine: `each` bytes for every rank.
class EqualParts {
 public:
  EqualParts(Communicator& c, const Decision& decision, Rank root, Bytes each)
      : c_(c),
        each_(each),
        schedule_(schedule_of(c, decision, root, [each](Rank) { return each; })),
        layout_(execute::Layout::per_rank(each, segment_of(decision, 1, c.ranks())).cut_into(schedule_->parts)) {}

  execute::Region all(void* at) const { return {at, layout_, 0}; }
  execute::Region own(void* at) const { return {at, layout_, c_.rank() * each_}; }
  int perform(const Decision& decision, const Origin& origin, bool keep, const execute::Region& input,
              const execute::Region& output) const {
    return intercept::perform(
        c_, decision, schedule_, origin.signature.function,
        {.input = input, .output = output, .sizes = layout_, .element = one_byte, .origin = keep ? &origin : nullptr});
  }

 private:
  Communicator& c_;
  Bytes each_;
  std::shared_ptr<const Schedule> schedule_;
  execute::Layout layout_;
};

/// `in` is not given in place: then all is in `out`.
Origin origin_of(Function function, const Described& in, const Described& out, Rank root) {
  const bool in_place = in.in_place();
  return {{function, in_place, root, {in.count, out.count}, {in.type, out.type}, {}},
          in_place ? out.buffer : in.buffer,
          out.buffer};
}

/// Gather and scatter: `all` is the root's.
Served rooted(Function function, const Described& own, const Described& all, int root, MPI_Comm comm) {
  const bool gathers = function == Function::gather;
  Origin origin = gathers ? origin_of(function, own, all, root) : origin_of(function, all, own, root);
  if (own.in_place()) {
    origin.signature.in_place = true;
    origin.input = origin.output = all.buffer;
  }
  if (const Served replayed = replay(comm, origin)) return replayed;
  Communicator* c = usable(function, comm, [&](const Communicator& at) {
    return (own.in_place() ? bytes_of(all) : bytes_of(own)) * at.ranks();
  });
  if (!c) return std::nullopt;
  const bool root_is_me = is_root(*c, root);
  const bool in_place = own.in_place();
  if (!root_exists(*c, root) || (in_place && !root_is_me) || (!in_place && !valid(own)) ||
      (root_is_me && (!valid(all) || all.in_place())))
    return pass(function, Passed::arguments);
  TypeFacts storage[2];
  const TypeFacts& whole = facts_of(root_is_me ? all.type : own.type, Use::move, storage[0]);
  const TypeFacts& part = in_place ? whole : facts_of(own.type, Use::move, storage[1]);
  if (!whole.usable || !part.usable) return pass(function, Passed::datatype);
  const Bytes each = in_place ? all.count * whole.element.size : own.count * part.element.size;
  if (root_is_me && all.count * whole.element.size != each) return pass(function, Passed::arguments);
  const Decision* decision =
      decide(*c, {.function = function, .shape = {c->ranks(), root}, .bytes = each * c->ranks()});
  if (!decision) return std::nullopt;

  Packed everything(whole, all.count * c->ranks());
  Packed mine(part, own.count);
  auto* at_all = root_is_me ? static_cast<char*>(everything.in(all.buffer)) : nullptr;
  void* at_own = in_place ? at_all + c->rank() * each : mine.in(own.buffer);
  if (root_is_me && !gathers) everything.pack(all.buffer, 0, all.count * c->ranks());
  if (root_is_me && gathers && in_place) everything.pack(all.buffer, c->rank() * all.count, all.count);
  if (gathers && !in_place) mine.pack(own.buffer, 0, own.count);
  const EqualParts parts(*c, *decision, root, each);
  const execute::Region here = parts.own(at_own);
  const execute::Region there = parts.all(at_all);
  const bool keep = &whole != &storage[0] && &part != &storage[1];
  const int code = parts.perform(*decision, origin, keep, gathers ? here : there, gathers ? there : here);
  if (code == MPI_SUCCESS && gathers && root_is_me) everything.unpack(all.buffer);
  if (code == MPI_SUCCESS && !gathers && !in_place) mine.unpack(own.buffer);
  return finish(*c, code);
}

}  // namespace

Served barrier(MPI_Comm comm) {
  const Origin origin{{Function::barrier}};
  if (const Served replayed = replay(comm, origin)) return replayed;
  Communicator* c = usable(Function::barrier, comm, [](const Communicator&) { return 0; });
  if (!c) return std::nullopt;
  const Decision* decision = decide(*c, {.function = Function::barrier, .shape = {c->ranks(), 0}});
  if (!decision) return std::nullopt;
  return perform(*c, *decision, decision->schedule, Function::barrier, {.origin = &origin});
}

Served bcast(const Described& vector, int root, MPI_Comm comm) {
  constexpr Function function = Function::bcast;
  const Origin origin{{function, false, root, {vector.count, 0}, {vector.type, {}}}, nullptr, vector.buffer};
  if (const Served replayed = replay(comm, origin)) return replayed;
  Communicator* c = usable(function, comm, [&](const Communicator&) { return bytes_of(vector); });
  if (!c) return std::nullopt;
  if (!valid(vector) || !root_exists(*c, root)) return pass(function, Passed::arguments);
  TypeFacts storage;
  const TypeFacts& facts = facts_of(vector.type, Use::move, storage);
  if (!facts.usable) return pass(function, Passed::datatype);
  const Bytes bytes = vector.count * facts.element.size;
  const Decision* decision = decide(*c, {.function = function, .shape = {c->ranks(), root}, .bytes = bytes});
  if (!decision) return std::nullopt;
  Packed packed(facts, vector.count);
  void* at = packed.in(vector.buffer);
  if (is_root(*c, root)) packed.pack(vector.buffer, 0, vector.count);
  const auto layout = execute::Layout::whole(bytes, decision->schedule->blocks, segment_of(*decision, 1, 1));
  const int code = perform(
      *c, *decision, decision->schedule, function,
      {.output = {at, layout}, .sizes = layout, .element = one_byte, .origin = &facts != &storage ? &origin : nullptr});
  if (code == MPI_SUCCESS && !is_root(*c, root)) packed.unpack(vector.buffer);
  return finish(*c, code);
}

Served gather(const Described& own, const Described& all, int root, MPI_Comm comm) {
  return rooted(Function::gather, own, all, root, comm);
}

Served scatter(const Described& all, const Described& own, int root, MPI_Comm comm) {
  return rooted(Function::scatter, own, all, root, comm);
}

Served allgather(const Described& own, const Described& all, MPI_Comm comm) {
  constexpr Function function = Function::allgather;
  const Origin origin = origin_of(function, own, all, 0);
  if (const Served replayed = replay(comm, origin)) return replayed;
  Communicator* c = usable(function, comm, [&](const Communicator& at) { return bytes_of(all) * at.ranks(); });
  if (!c) return std::nullopt;
  const bool in_place = own.in_place();
  if (!valid(all) || all.in_place() || (!in_place && !valid(own))) return pass(function, Passed::arguments);
  TypeFacts storage[2];
  const TypeFacts& to = facts_of(all.type, Use::move, storage[0]);
  const TypeFacts& from = in_place ? to : facts_of(own.type, Use::move, storage[1]);
  if (!to.usable || !from.usable) return pass(function, Passed::datatype);
  const Bytes each = all.count * to.element.size;
  if (!in_place && own.count * from.element.size != each) return pass(function, Passed::arguments);
  const Decision* decision = decide(*c, {.function = function, .shape = {c->ranks(), 0}, .bytes = each * c->ranks()});
  if (!decision) return std::nullopt;
  Packed gathered(to, all.count * c->ranks());
  Packed mine(from, own.count);
  auto* output = static_cast<char*>(gathered.in(all.buffer));
  void* input = in_place ? output + c->rank() * each : mine.in(own.buffer);
  if (in_place)
    gathered.pack(all.buffer, c->rank() * all.count, all.count);
  else
    mine.pack(own.buffer, 0, own.count);
  const EqualParts parts(*c, *decision, 0, each);
  const bool keep = &to != &storage[0] && &from != &storage[1];
  const int code = parts.perform(*decision, origin, keep, parts.own(input), parts.all(output));
  if (code == MPI_SUCCESS) gathered.unpack(all.buffer);
  return finish(*c, code);
}

Served alltoall(const Described& from, const Described& to, MPI_Comm comm) {
  constexpr Function function = Function::alltoall;
  const Origin origin = origin_of(function, from, to, 0);
  if (const Served replayed = replay(comm, origin)) return replayed;
  Communicator* c = usable(function, comm, [&](const Communicator& at) { return bytes_of(to) * at.ranks(); });
  if (!c) return std::nullopt;
  const bool in_place = from.in_place();
  if (!valid(to) || to.in_place() || (!in_place && !valid(from))) return pass(function, Passed::arguments);
  TypeFacts storage[2];
  const TypeFacts& arriving = facts_of(to.type, Use::move, storage[0]);
  const TypeFacts& leaving = in_place ? arriving : facts_of(from.type, Use::move, storage[1]);
  if (!arriving.usable || !leaving.usable) return pass(function, Passed::datatype);
  const Bytes each = to.count * arriving.element.size;
  if (!in_place && from.count * leaving.element.size != each) return pass(function, Passed::arguments);
  const Decision* decision = decide(*c, {.function = function, .shape = {c->ranks(), 0}, .bytes = each * c->ranks()});
  if (!decision) return std::nullopt;
  const Described& source = in_place ? to : from;
  Packed input(leaving, source.count * c->ranks(), in_place);
  Packed output(arriving, to.count * c->ranks());
  void* at_input = input.in(source.buffer);
  void* at_output = output.in(to.buffer);
  input.pack(source.buffer, 0, source.count * c->ranks());
  const EqualParts parts(*c, *decision, 0, each);
  const bool keep = &arriving != &storage[0] && &leaving != &storage[1] && !in_place;
  const int code = parts.perform(*decision, origin, keep, parts.all(at_input), parts.all(at_output));
  if (code == MPI_SUCCESS) output.unpack(to.buffer);
  return finish(*c, code);
}

}  // namespace stretto::intercept
