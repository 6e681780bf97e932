// SPDX-License-Identifier: BSD-3-Clause
#include "measure/points.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "stretto/error.hpp"
#include "stretto/graph.hpp"

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
constexpr auto in = Buffer::input;
constexpr auto between = Buffer::scratch;
constexpr auto out = Buffer::output;
using enum Function;
constexpr Component by_allreduce[] = {{allreduce}};
constexpr Component by_scatter_allgather[] = {{scatter, in, between}, {allgather, between, out}};
constexpr Component by_allgather[] = {{allgather}};
constexpr Component by_bcast[] = {{bcast, in, between}, {Local::take_part, between, out}};
constexpr Component by_gather_bcast[] = {{gather}, {bcast, out, out}};
constexpr Component by_alltoall[] = {{alltoall}};
constexpr Component by_reduce_scatter_gather[] = {{reduce_scatter_block, in, between}, {gather, between, out}};
constexpr Component by_reduce_bcast[] = {{reduce}, {bcast, out, out}};
constexpr Component by_reduce_scatter_allgather[] = {{reduce_scatter_block, in, between}, {allgather, between, out}};
constexpr Component by_reduce_scatter[] = {{reduce, in, between}, {scatter, between, out}};
constexpr Component by_exscan[] = {{exscan}, {Local::reduce_local}};

constexpr Benchmark composed[] = {{barrier, Variant::usual, by_allreduce},
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
std::vector<std::int64_t> parts(const Benchmark& benchmark, std::int64_t each, int ranks) {
  std::vector<std::int64_t> n(static_cast<std::size_t>(ranks), each);
  if (!facts(benchmark.function).irregular || benchmark.variant == Variant::even) return n;
  std::int64_t rest = each * ranks;
  for (int r = 0; r < ranks; ++r) {
    auto& part = n[static_cast<std::size_t>(r)];
    if (benchmark.variant == Variant::spike) {
      part = r == 0 ? rest : 0;
    } else if (benchmark.variant == Variant::halving) {
      const std::int64_t share = std::int64_t{1} << std::min(ranks - r, 30);  // of share - 1, half of share are mine
      part = rest - rest * (share / 2 - 1) / (share - 1);
      rest -= part;
    } else {
      part = 2 * each * (ranks - r) / (ranks + 1);
    }
  }
  return n;
}

Bytes element_bytes(const Benchmark& benchmark) {
  return static_cast<Bytes>(benchmark.variant == Variant::maxloc ? pair_bytes : sizeof(double));
}

/// Whether `bytes` are those of one part: reductions go by the vector.
bool by_parts(Function function) {
  const CollectiveFacts& c = facts(facts(function).collective);
  return c.per_rank && !c.reduces;
}

/// Whether the vector is cut into parts of equal size.
bool cuts(const Benchmark& benchmark) {
  if (by_parts(benchmark.function)) return false;
  const auto takes_part = [](Callee callee) { return call_facts(callee).n == Amount::part; };
  return takes_part(benchmark.function) || std::ranges::any_of(benchmark.components, takes_part, &Component::callee);
}

bool near(Function function) { return facts(facts(function).collective).neighbourhood; }

/// On a ring the four ranks before and the four behind, each once: MPICH 4.0 mixes up parts for the same rank.
std::vector<int> nearest(Rank rank, Rank ranks) {
  std::vector<int> near;
  for (Rank step = 1; step <= 4; ++step)
    for (const Rank to : {(rank + step) % ranks, (rank + ranks - step % ranks) % ranks})
      if (to != rank && std::ranges::find(near, to) == near.end()) near.push_back(to);
  return near;
}

std::shared_ptr<const Graph> graph;  // null: nearest() in both directions

Neighbours neighbours_of(Rank rank, Rank ranks) {
  if (!graph) return {nearest(rank, ranks), nearest(rank, ranks)};
  Neighbours near = graph->of(rank);
  for (auto* side : {&near.sources, &near.destinations}) std::erase(*side, no_rank);
  return near;
}

/// The world with these neighbours. Never freed.
MPI_Comm neighbours_of_world(Rank rank, Rank ranks) {
  static MPI_Comm made = mpi::constants().comm_null;
  if (made != mpi::constants().comm_null) return made;
  Neighbours near = neighbours_of(rank, ranks);
  const auto sources = static_cast<int>(near.sources.size()), destinations = static_cast<int>(near.destinations.size());
  for (auto* side : {&near.sources, &near.destinations}) side->resize(side->size() + 1);  // never null
  // MPI_UNWEIGHTED may be a variable of the library.
  const std::vector<int> weights(std::max(near.sources.size(), near.destinations.size()), 1);
  mpi::native().Dist_graph_create_adjacent(mpi::constants().world, sources, near.sources.data(), weights.data(),
                                           destinations, near.destinations.data(), weights.data(), MPI_INFO_NULL, 0,
                                           &made);
  return made;
}

/// A program's operator: MPI cannot know that it would commute.
void add(void* in, void* inout, int* n, MPI_Datatype*) {
  const auto* from = static_cast<const double*>(in);
  auto* into = static_cast<double*>(inout);
  for (int i = 0; i < *n; ++i) into[i] += from[i];
}

}  // namespace

std::string name_of(const Benchmark& benchmark) {
  std::string name(facts(benchmark.function).name);
  for (const NamedVariant& one : variants)
    if (one.variant == benchmark.variant) name += one.suffix;
  std::string_view joint = "-by-";
  for (const Component& component : benchmark.components) {
    if (component.callee == Callee(Local::take_part)) continue;  // costs next to nothing
    name.append(joint).append(name_of(component.callee));
    joint = "+";
  }
  return name;
}

Benchmark benchmark_named(std::string_view name) {
  for (const NamedVariant& one : variants) {
    if (!name.ends_with(one.suffix)) continue;
    const auto function = function_named(name.substr(0, name.size() - one.suffix.size()));
    if (function && one.suits(*function)) return Benchmark{*function, one.variant};
  }
  for (const Benchmark& benchmark : composed)
    if (name == name_of(benchmark)) return benchmark;
  if (const auto function = function_named(name)) return Benchmark{*function};
  throw Error("unknown function '" + std::string(name) + "'");
}

void take_graph(std::string_view text, int ranks) { graph = parse_graph(std::string(text), ranks); }

Point point_of(const Benchmark& benchmark, Bytes asked, int ranks) {
  if (benchmark.function == Function::barrier) return {benchmark, 0, 0};
  const Bytes unit = element_bytes(benchmark) * (cuts(benchmark) ? ranks : 1);
  return {benchmark, std::max<Bytes>(asked / unit, 1) * unit, asked};
}

Runner::Runner(const Point& point)
    : benchmark_(point.benchmark),
      mode_(point.mode),
      form_(point.form),
      self_{point.benchmark.function},
      comm_(mpi::constants().world) {
  mpi::native().Comm_rank(mpi::constants().world, &rank_);
  mpi::native().Comm_size(mpi::constants().world, &ranks_);
  if (benchmark_.variant == Variant::maxloc) {
    type_ = MPI_DOUBLE_INT;
    op_ = MPI_MAXLOC;
    doubles_ = 2;
  }
  if (benchmark_.variant == Variant::ordered) mpi::native().Op_create(add, 0, &op_);
  if (near(benchmark_.function)) comm_ = neighbours_of_world(rank_, ranks_);
  count(point);
  if (irregular(benchmark_.function) && facts(facts(benchmark_.function).collective).pairwise) describe_pairs();
  // MPIs refuse null, also where there are no neighbours.
  const auto provide = [](auto& buffer, std::size_t size) {
    buffer.reserve(std::max<std::size_t>(size, 1));
    buffer.resize(size);
  };
  provide(in_, room(in));
  for (auto& buffer : between_) provide(buffer, room(between));
  for (auto& buffer : out_) provide(buffer, room(out));
  for (auto* list : {&counts_, &displacements_, &in_counts_, &in_displacements_, &in_bytes_, &out_bytes_})
    provide(*list, list->size());
  for (auto* list : {&in_far_, &out_far_}) provide(*list, list->size());
  provide(types_, types_.size());
  for (const bool stretto : {false, true})
    for (const Component& component : components()) calls_[stretto ? 1 : 0].push_back(prepared(component, stretto));
}

Runner::~Runner() {
  free_requests();
  if (benchmark_.variant == Variant::ordered) mpi::native().Op_free(&op_);
}

void Runner::count(const Point& point) {
  const std::int64_t elements =
      std::max<std::int64_t>(point.bytes / element_bytes(benchmark_), 1);  // 1: barrier by allreduce
  const bool one_part = by_parts(benchmark_.function);
  const auto each = parts(benchmark_, one_part ? elements : elements / ranks_, ranks_);
  std::vector<Rank> sources(each.size());
  std::iota(sources.begin(), sources.end(), 0);
  destinations_ = sources.size();
  if (near(benchmark_.function)) {
    const Neighbours own = neighbours_of(rank_, ranks_);
    sources = own.sources;
    destinations_ = own.destinations.size();
  }
  std::int64_t at = 0;
  for (const Rank source : sources) {
    counts_.push_back(static_cast<int>(each[static_cast<std::size_t>(source)]));
    displacements_.push_back(static_cast<int>(at));
    at += counts_.back();
  }
  mine_ = static_cast<int>(each[static_cast<std::size_t>(rank_)]);
  vector_ = one_part ? at : elements;
}

/// Rank s sends the same to all: the counts fall with s.
void Runner::describe_pairs() {
  in_counts_.assign(destinations_, mine_);
  for (std::size_t i = 0; i < destinations_; ++i) {
    in_displacements_.push_back(static_cast<int>(i) * mine_);
    in_bytes_.push_back(in_displacements_.back() * static_cast<int>(sizeof(double)));
  }
  for (const int at : displacements_) out_bytes_.push_back(at * static_cast<int>(sizeof(double)));
  in_far_.assign(in_bytes_.begin(), in_bytes_.end());
  out_far_.assign(out_bytes_.begin(), out_bytes_.end());
  types_.assign(std::max(counts_.size(), destinations_), type_);
}

/// The doubles that the components read or write there.
std::size_t Runner::room(Buffer which) const {
  std::int64_t most = 0;
  const auto fit = [&](Amount extent, bool input) {
    const bool sends_parts = input && (!in_counts_.empty() || near(benchmark_.function));
    const std::int64_t all = sends_parts ? static_cast<std::int64_t>(destinations_) * mine_ : vector_;
    most = std::max<std::int64_t>(most, extent == Amount::nothing ? 0 : extent == Amount::part ? mine_ : all);
  };
  for (const Component& component : components()) {
    if (component.from == which) fit(call_facts(component.callee).in, true);
    if (component.to == which) fit(call_facts(component.callee).out, false);
  }
  return static_cast<std::size_t>(most) * doubles_;
}

void Runner::refresh(int repetition) {
  const int first = (7 * rank_ + repetition) % 251;
  // An alltoall that takes the place of an allgather sends my part to all.
  const bool repeated = call_facts(benchmark_.function).in == Amount::part && !benchmark_.components.empty();
  const std::size_t period = repeated ? static_cast<std::size_t>(mine_) : in_.size();
  int value = first;
  for (std::size_t i = 0; i < in_.size(); i += doubles_) {
    if (i % period == 0) value = first;
    in_[i] = value;
    if (doubles_ == 2) std::memcpy(&in_[i + 1], &rank_, sizeof rank_);
    value = value == 250 ? 0 : value + 1;
  }
  // The vector of a bcast stands there before the call; the others' buffers are full as well.
  const Component& begin = components().front();
  if (begin.callee != Callee(Function::bcast)) return;
  for (auto& buffer : begin.to == out ? out_ : between_) std::copy(in_.begin(), in_.end(), buffer.begin());
}

void Runner::spoil() {
  if (benchmark_.function == Function::bcast && rank_ == 0) return;  // the root's is the input
  std::ranges::fill(out_[1], -1.0);
}

bool Runner::has_result() const {
  if (call_facts(benchmark_.function).result_on_root_only && rank_ != 0) return false;
  return !(benchmark_.function == Function::exscan && rank_ == 0);
}

bool Runner::same(const std::vector<double>& a, const std::vector<double>& b) const {
  if (!has_result()) return true;
  if (benchmark_.variant != Variant::maxloc) return a == b;
  for (std::size_t i = 0; i < a.size(); i += doubles_)
    if (std::memcmp(&a[i], &b[i], pair_data) != 0) return false;
  return true;
}

bool Runner::equal() const { return same(out_[0], out_[1]); }

bool Runner::agrees(const Runner& other) const {
  const bool comparable = facts(benchmark_.function).collective == facts(other.benchmark_.function).collective &&
                          benchmark_.function != Function::barrier && type_ == other.type_ &&
                          counts_ == other.counts_ && vector_ == other.vector_;
  return !comparable || same(out_[0], other.out_[0]);
}

std::string Runner::call_and_name(const Library& stretto) {
  if (form_ != Form::blocking) stretto.functions.Barrier(comm_);  // sets the communicator up
  std::string names;
  for (std::size_t i = 0; i < components().size(); ++i) {
    calls_[1][i].call(stretto.in(form_), calls_[1][i].arguments);
    if (!std::holds_alternative<Function>(components()[i].callee)) continue;
    if (!names.empty()) names += '+';
    names += stretto.last_algorithm();
  }
  return names;
}

Runner::Call Runner::prepared(const Component& component, bool stretto) {
  const auto buffer = [&](Buffer which) {
    return which == in ? in_.data() : (which == out ? out_ : between_)[stretto ? 1 : 0].data();
  };
  const CallFacts& operation = call_facts(component.callee);
  return {operation.call,
          {.in = buffer(component.from),
           .out = buffer(component.to),
           .n = operation.n == Amount::vector ? static_cast<int>(vector_) : mine_,
           .rank = rank_,
           .counts = counts_.data(),
           .at = displacements_.data(),
           .in_counts = in_counts_.data(),
           .in_at = in_displacements_.data(),
           .in_bytes = in_bytes_.data(),
           .out_bytes = out_bytes_.data(),
           .in_far = in_far_.data(),
           .out_far = out_far_.data(),
           .types = types_.data(),
           .type = type_,
           .op = op_,
           .comm = comm_}};
}

}  // namespace stretto::measure
