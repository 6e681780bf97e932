// SPDX-License-Identifier: BSD-3-Clause
#include "measure/cells.hpp"

#include <algorithm>
#include <cstring>

namespace stretto::measure {
namespace {

bool reduces(Function f) { return facts(facts(f).collective).reduces; }
bool irregular(Function f) { return facts(f).irregular; }

struct NamedVariant {
  Variant variant;
  std::string_view suffix;
  bool (*suits)(Function);
};
constexpr NamedVariant variants[] = {
    {Variant::ordered, "-ordered", reduces},
    {Variant::maxloc, "-maxloc", [](Function f) { return f == Function::allreduce; }},
    {Variant::spike, "-spike", [](Function f) { return f == Function::allgatherv; }},
    {Variant::halving, "-halving", [](Function f) { return f == Function::allgatherv; }},
    {Variant::even, "-even", irregular}};

// One function made of others. A vector is all parts together, whatever function it is the vector of.
constexpr auto in = Place::in;
constexpr auto between = Place::between;
constexpr auto out = Place::out;
using enum Function;
constexpr Step by_allreduce[] = {{allreduce}};
constexpr Step by_scatter_allgather[] = {{scatter, in, between}, {allgather, between, out}};
constexpr Step by_allgather[] = {{allgather}};
constexpr Step by_bcast[] = {{bcast, in, between}, {Local::take_part, between, out}};
constexpr Step by_gather_bcast[] = {{gather}, {bcast, out, out}};
constexpr Step by_alltoall[] = {{alltoall}};
constexpr Step by_reduce_scatter_gather[] = {{reduce_scatter_block, in, between}, {gather, between, out}};
constexpr Step by_reduce_bcast[] = {{reduce}, {bcast, out, out}};
constexpr Step by_reduce_scatter_allgather[] = {{reduce_scatter_block, in, between}, {allgather, between, out}};
constexpr Step by_reduce_scatter[] = {{reduce, in, between}, {scatter, between, out}};
constexpr Step by_exscan[] = {{exscan}, {Local::reduce_local}};

constexpr Kind composed[] = {{barrier, Variant::usual, by_allreduce},
                             {bcast, Variant::usual, by_scatter_allgather},
                             {gather, Variant::usual, by_allgather},
                             {scatter, Variant::usual, by_bcast},
                             {allgather, Variant::usual, by_gather_bcast},
                             {allgather, Variant::usual, by_alltoall},
                             {reduce, Variant::usual, by_allreduce},
                             {reduce, Variant::usual, by_reduce_scatter_gather},
                             {allreduce, Variant::usual, by_reduce_bcast},
                             {allreduce, Variant::usual, by_reduce_scatter_allgather},
                             {reduce_scatter_block, Variant::usual, by_reduce_scatter},
                             {scan, Variant::usual, by_exscan}};

// MPI_DOUBLE_INT: a double, an int and a hole.
constexpr std::size_t pair_bytes = 2 * sizeof(double);
constexpr std::size_t pair_data = sizeof(double) + sizeof(int);

/// The elements of each rank's part; `each` on average.
std::vector<std::int64_t> parts(const Kind& kind, std::int64_t each, int ranks) {
  std::vector<std::int64_t> n(static_cast<std::size_t>(ranks), each);
  if (!facts(kind.function).irregular || kind.variant == Variant::even) return n;
  std::int64_t rest = each * ranks;
  for (int r = 0; r < ranks; ++r) {
    auto& part = n[static_cast<std::size_t>(r)];
    if (kind.variant == Variant::spike) {
      part = r == 0 ? rest : 0;
    } else if (kind.variant == Variant::halving) {
      const std::int64_t share = std::int64_t{1} << std::min(ranks - r, 30);  // of share - 1, half of share are mine
      part = rest - rest * (share / 2 - 1) / (share - 1);
      rest -= part;
    } else {
      part = 2 * each * (ranks - r) / (ranks + 1);
    }
  }
  return n;
}

Bytes element_bytes(const Kind& kind) {
  return static_cast<Bytes>(kind.variant == Variant::maxloc ? pair_bytes : sizeof(double));
}

/// Whether `bytes` are those of one part: reductions go by the vector.
bool by_parts(Function function) {
  const CollectiveFacts& c = facts(facts(function).collective);
  return c.per_rank && !c.reduces;
}

/// Whether the vector is cut into parts of equal size.
bool cuts(const Kind& kind) {
  if (by_parts(kind.function)) return false;
  return operation_of(kind.function).n == Extent::part ||
         std::any_of(kind.steps.begin(), kind.steps.end(),
                     [](const Step& step) { return operation_of(step.action).n == Extent::part; });
}

/// A program's operator: MPI cannot know that it would commute.
void add(void* in, void* inout, int* n, MPI_Datatype*) {
  const auto* from = static_cast<const double*>(in);
  auto* into = static_cast<double*>(inout);
  for (int i = 0; i < *n; ++i) into[i] += from[i];
}

}  // namespace

std::string name_of(const Kind& kind) {
  std::string name(facts(kind.function).name);
  for (const NamedVariant& one : variants)
    if (one.variant == kind.variant) name += one.suffix;
  std::string_view joint = "-by-";
  for (const Step& step : kind.steps) {
    if (step.action == Action(Local::take_part)) continue;  // costs next to nothing
    name.append(joint).append(name_of(step.action));
    joint = "+";
  }
  return name;
}

std::optional<Kind> kind_named(std::string_view name) {
  for (const NamedVariant& one : variants) {
    if (!name.ends_with(one.suffix)) continue;
    const auto function = function_named(name.substr(0, name.size() - one.suffix.size()));
    if (function && one.suits(*function)) return Kind{*function, one.variant};
  }
  for (const Kind& kind : composed)
    if (name == name_of(kind)) return kind;
  if (const auto function = function_named(name)) return Kind{*function};
  return std::nullopt;
}

Cell cell_of(const Kind& kind, Bytes wish, int ranks) {
  if (kind.function == Function::barrier) return {kind, 0, 0};
  const Bytes unit = element_bytes(kind) * (cuts(kind) ? ranks : 1);
  return {kind, std::max<Bytes>(wish / unit, 1) * unit, wish};
}

Runner::Runner(const Cell& cell) : kind_(cell.kind), self_{cell.kind.function} {
  intercept::native().Comm_rank(intercept::constants().world, &rank_);
  intercept::native().Comm_size(intercept::constants().world, &ranks_);
  if (kind_.variant == Variant::maxloc) {
    type_ = MPI_DOUBLE_INT;
    op_ = MPI_MAXLOC;
    doubles_ = 2;
  }
  if (kind_.variant == Variant::ordered) intercept::native().Op_create(add, 0, &op_);
  count(cell);
  if (kind_.function == Function::alltoallv || kind_.function == Function::alltoallw) describe_pairs();
  in_.resize(room(Place::in));
  for (auto& buffer : between_) buffer.resize(room(Place::between));
  for (auto& buffer : out_) buffer.resize(room(Place::out));
  for (const bool stretto : {false, true})
    for (const Step& step : steps()) calls_[stretto ? 1 : 0].push_back(prepared(step, stretto));
}

Runner::~Runner() {
  if (kind_.variant == Variant::ordered) intercept::native().Op_free(&op_);
}

void Runner::count(const Cell& cell) {
  const std::int64_t elements =
      std::max<std::int64_t>(cell.bytes / element_bytes(kind_), 1);  // 1: barrier by allreduce
  const bool one_part = by_parts(kind_.function);
  std::int64_t at = 0;
  for (const std::int64_t n : parts(kind_, one_part ? elements : elements / ranks_, ranks_)) {
    counts_.push_back(static_cast<int>(n));
    displacements_.push_back(static_cast<int>(at));
    at += n;
  }
  mine_ = counts_[static_cast<std::size_t>(rank_)];
  vector_ = one_part ? at : elements;
}

/// Rank s sends the same to all: the counts fall with s.
void Runner::describe_pairs() {
  in_counts_.assign(counts_.size(), mine_);
  for (int r = 0; r < ranks_; ++r) {
    in_displacements_.push_back(r * mine_);
    in_bytes_.push_back(in_displacements_.back() * static_cast<int>(sizeof(double)));
    out_bytes_.push_back(displacements_[static_cast<std::size_t>(r)] * static_cast<int>(sizeof(double)));
  }
  types_.assign(counts_.size(), type_);
}

/// The doubles that the steps read or write there.
std::size_t Runner::room(Place place) const {
  std::int64_t most = 0;
  const auto fit = [&](Extent extent, bool input) {
    const std::int64_t all = input && !in_counts_.empty() ? std::int64_t{ranks_} * mine_ : vector_;
    most = std::max<std::int64_t>(most, extent == Extent::nothing ? 0 : extent == Extent::part ? mine_ : all);
  };
  for (const Step& step : steps()) {
    if (step.from == place) fit(operation_of(step.action).in, true);
    if (step.to == place) fit(operation_of(step.action).out, false);
  }
  return static_cast<std::size_t>(most) * doubles_;
}

void Runner::refresh(int repetition) {
  const int first = (7 * rank_ + repetition) % 251;
  // An alltoall that takes the place of an allgather sends my part to all.
  const bool repeated = operation_of(kind_.function).in == Extent::part && !kind_.steps.empty();
  const std::size_t period = repeated ? static_cast<std::size_t>(mine_) : in_.size();
  int value = first;
  for (std::size_t i = 0; i < in_.size(); i += doubles_) {
    if (i % period == 0) value = first;
    in_[i] = value;
    if (doubles_ == 2) std::memcpy(&in_[i + 1], &rank_, sizeof rank_);
    value = value == 250 ? 0 : value + 1;
  }
  put_vector_of_bcast();
}

/// Where it stands before the call; the others' buffers are full as well.
void Runner::put_vector_of_bcast() {
  const Step& begin = steps().front();
  if (begin.action != Action(Function::bcast)) return;
  for (auto& buffer : begin.to == Place::out ? out_ : between_) std::copy(in_.begin(), in_.end(), buffer.begin());
}

void Runner::spoil() {
  if (kind_.function == Function::bcast && rank_ == 0) return;  // the root's is the input
  std::ranges::fill(out_[1], -1.0);
}

bool Runner::has_result() const {
  if (operation_of(kind_.function).result_on_root_only && rank_ != 0) return false;
  return !(kind_.function == Function::exscan && rank_ == 0);
}

bool Runner::same(const std::vector<double>& a, const std::vector<double>& b) const {
  if (!has_result()) return true;
  if (kind_.variant != Variant::maxloc) return a == b;
  for (std::size_t i = 0; i < a.size(); i += doubles_)
    if (std::memcmp(&a[i], &b[i], pair_data) != 0) return false;
  return true;
}

bool Runner::equal() const { return same(out_[0], out_[1]); }

bool Runner::agrees(const Runner& other) const {
  const bool comparable = facts(kind_.function).collective == facts(other.kind_.function).collective &&
                          kind_.function != Function::barrier && type_ == other.type_ && counts_ == other.counts_ &&
                          vector_ == other.vector_;
  return !comparable || same(out_[0], other.out_[0]);
}

std::string Runner::call_and_name(const Functions& f, const char* (*last_algorithm)()) {
  std::string names;
  for (std::size_t i = 0; i < steps().size(); ++i) {
    calls_[1][i].call(f, calls_[1][i].arguments);
    if (!std::holds_alternative<Function>(steps()[i].action)) continue;
    if (!names.empty()) names += '+';
    names += last_algorithm();
  }
  return names;
}

Runner::Call Runner::prepared(const Step& step, bool stretto) {
  const auto buffer = [&](Place place) {
    return place == Place::in ? in_.data() : (place == Place::out ? out_ : between_)[stretto ? 1 : 0].data();
  };
  const Operation& operation = operation_of(step.action);
  return {operation.call,
          {.in = buffer(step.from),
           .out = buffer(step.to),
           .n = operation.n == Extent::vector ? static_cast<int>(vector_) : mine_,
           .rank = rank_,
           .counts = counts_.data(),
           .at = displacements_.data(),
           .in_counts = in_counts_.data(),
           .in_at = in_displacements_.data(),
           .in_bytes = in_bytes_.data(),
           .out_bytes = out_bytes_.data(),
           .types = types_.data(),
           .type = type_,
           .op = op_,
           .comm = intercept::constants().world}};
}

}  // namespace stretto::measure
