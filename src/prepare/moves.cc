// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives that move vectors, or equally large parts. What travels is bytes: ranks may describe the same values by
// different types.
#include "prepare/common.hpp"

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

/// Rows of `each` bytes, one for each rank, from or to rows of n elements: what does not fit is left out.
std::byte* fitted_rows(const TypeFacts& type, const void* from, Count n, Bytes each, Rank ranks) {
  std::byte* rows = staging().take(each * ranks);
  std::memset(rows, 0, static_cast<std::size_t>(each * ranks));
  for (Rank r = 0; r < ranks; ++r)
    fit(type, static_cast<const char*>(from) + r * n * type.element.extent, n, rows + r * each, each);
  return rows;
}
void unfit_rows(const TypeFacts& type, const std::byte* rows, Bytes each, Rank ranks, Count n, void* to) {
  for (Rank r = 0; r < ranks; ++r)
    unfit(type, rows + r * each, each, n, static_cast<char*>(to) + r * n * type.element.extent);
}

/// The root's description of all parts does not match that of its own, and it is the only one that sees it: it does
/// what the others wait for, by the sizes that they know. `each` is that.
struct RootMismatch {
  const TypeFacts& whole;
  const TypeFacts& part;
  const Described& all;
  const Described& own;
  Bytes each;

  Bytes of_all() const { return all.count * whole.element.size; }
  Bytes of_own() const { return own.count * part.element.size; }

  int gather(Communicator& c, const Decision& decision, const Origin& origin) const {
    const EqualParts parts(c, decision, c.rank(), each);
    std::byte* rows = staging().take(each * c.ranks());
    std::byte* mine = fitted(part, own.buffer, own.count, each);
    const int code = parts.perform(decision, origin, false, parts.own(mine), parts.all(rows));
    if (code == MPI_SUCCESS) unfit_rows(whole, rows, each, c.ranks(), all.count, all.buffer);
    return finish_truncated(c, Function::gather, code, of_all() < each);
  }
  int scatter(Communicator& c, const Decision& decision, const Origin& origin) const {
    const EqualParts parts(c, decision, c.rank(), each);
    std::byte* rows = fitted_rows(whole, all.buffer, all.count, each, c.ranks());
    std::byte* mine = staging().take(each);
    const int code = parts.perform(decision, origin, false, parts.all(rows), parts.own(mine));
    if (code == MPI_SUCCESS) unfit(part, mine, each, own.count, own.buffer);
    return finish_truncated(c, Function::scatter, code, of_own() < each);
  }
};

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
  // In a gather the others know what they send, in a scatter what they are sent.
  const bool by_all = in_place || (root_is_me && !gathers);
  const Bytes each = by_all ? all.count * whole.element.size : own.count * part.element.size;
  if (root_is_me && !in_place && own.count > 0 && own.count == all.count && own.type == all.type &&
      is_alias(origin, own.count, (gathers ? 1 : -1) * c->rank() * all.count * whole.element.extent))
    return refuse_alias(*c, function);
  const Decision* decision =
      decide(*c, {.function = function, .shape = {c->ranks(), root}, .bytes = each * c->ranks()});
  if (!decision) return std::nullopt;
  if (root_is_me && !in_place && all.count * whole.element.size != own.count * part.element.size) {
    const RootMismatch mismatch{whole, part, all, own, each};
    return gathers ? mismatch.gather(*c, *decision, origin) : mismatch.scatter(*c, *decision, origin);
  }

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
  return finish(code);
}

}  // namespace

Served barrier(MPI_Comm comm) {
  Origin origin{{Function::barrier}};
  if (const Served replayed = replay(comm, origin)) return replayed;
  Communicator* c = usable(Function::barrier, comm, [](const Communicator&) { return 0; });
  if (!c) return std::nullopt;
  const Decision* decision = decide(*c, {.function = Function::barrier, .shape = {c->ranks(), 0}});
  if (!decision) return std::nullopt;
  return perform(*c, *decision, decision->schedule, Function::barrier, {.origin = &origin});
}

Served bcast(const Described& vector, int root, MPI_Comm comm) {
  constexpr Function function = Function::bcast;
  Origin origin{{function, false, root, {vector.count, 0}, {vector.type, {}}}, nullptr, vector.buffer};
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
  return finish(code);
}

Served gather(const Described& own, const Described& all, int root, MPI_Comm comm) {
  return rooted(Function::gather, own, all, root, comm);
}

Served scatter(const Described& all, const Described& own, int root, MPI_Comm comm) {
  return rooted(Function::scatter, own, all, root, comm);
}

Served allgather(const Described& own, const Described& all, MPI_Comm comm) {
  constexpr Function function = Function::allgather;
  Origin origin = origin_of(function, own, all, 0);
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
  const Bytes own_bytes = in_place ? each : own.count * from.element.size;
  if (!in_place && own.count == all.count && own.type == all.type &&
      is_alias(origin, own.count, c->rank() * all.count * to.element.extent))
    return refuse_alias(*c, function);
  const Decision* decision = decide(*c, {.function = function, .shape = {c->ranks(), 0}, .bytes = each * c->ranks()});
  if (!decision) return std::nullopt;
  Packed gathered(to, all.count * c->ranks());
  Packed mine(from, own.count);
  auto* output = static_cast<char*>(gathered.in(all.buffer));
  // What the others wait for is as large as what they send.
  const bool fits = own_bytes == each;
  void* input = in_place ? output + c->rank() * each
                : fits   ? mine.in(own.buffer)
                         : fitted(from, own.buffer, own.count, each);
  if (in_place)
    gathered.pack(all.buffer, c->rank() * all.count, all.count);
  else if (fits)
    mine.pack(own.buffer, 0, own.count);
  const EqualParts parts(*c, *decision, 0, each);
  const bool keep = &to != &storage[0] && &from != &storage[1] && fits;
  const int code = parts.perform(*decision, origin, keep, parts.own(input), parts.all(output));
  if (code == MPI_SUCCESS) gathered.unpack(all.buffer);
  return finish_truncated(*c, function, code, own_bytes > each);
}

Served alltoall(const Described& from, const Described& to, MPI_Comm comm) {
  constexpr Function function = Function::alltoall;
  Origin origin = origin_of(function, from, to, 0);
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
  const Bytes leaving_bytes = in_place ? each : from.count * leaving.element.size;
  if (!in_place && from.count == to.count && from.type == to.type && is_alias(origin, to.count, 0))
    return refuse_alias(*c, function);
  const Decision* decision = decide(*c, {.function = function, .shape = {c->ranks(), 0}, .bytes = each * c->ranks()});
  if (!decision) return std::nullopt;
  const Described& source = in_place ? to : from;
  Packed input(leaving, source.count * c->ranks(), in_place);
  Packed output(arriving, to.count * c->ranks());
  const bool fits = leaving_bytes == each;
  void* at_input = fits ? input.in(source.buffer) : fitted_rows(leaving, from.buffer, from.count, each, c->ranks());
  void* at_output = output.in(to.buffer);
  if (fits) input.pack(source.buffer, 0, source.count * c->ranks());
  const EqualParts parts(*c, *decision, 0, each);
  const bool keep = &arriving != &storage[0] && &leaving != &storage[1] && !in_place && fits;
  const int code = parts.perform(*decision, origin, keep, parts.all(at_input), parts.all(at_output));
  if (code == MPI_SUCCESS) output.unpack(to.buffer);
  return finish_truncated(*c, function, code, leaving_bytes > each);
}

}  // namespace stretto::intercept
