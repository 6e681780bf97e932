// SPDX-License-Identifier: BSD-3-Clause
#include "race/cells.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace stretto::race {
namespace {

struct NamedVariant {
  std::string_view suffix;
  Kind kind;
};
constexpr NamedVariant variants[] = {{"-ordered", {Function::reduce, Variant::ordered}},
                                     {"-ordered", {Function::allreduce, Variant::ordered}},
                                     {"-ordered", {Function::reduce_scatter_block, Variant::ordered}},
                                     {"-ordered", {Function::reduce_scatter, Variant::ordered}},
                                     {"-ordered", {Function::scan, Variant::ordered}},
                                     {"-ordered", {Function::exscan, Variant::ordered}},
                                     {"-maxloc", {Function::allreduce, Variant::maxloc}},
                                     {"-spike", {Function::allgatherv, Variant::spike}},
                                     {"-halving", {Function::allgatherv, Variant::halving}}};

// MPI_DOUBLE_INT: a double, an int and a hole.
constexpr std::size_t pair_bytes = 2 * sizeof(double);
constexpr std::size_t pair_data = sizeof(double) + sizeof(int);

enum class Extent : std::uint8_t { nothing, one, all };  // of a buffer: a part or, without parts, the vector; all parts

struct Buffers {
  Extent in;
  Extent out;
  bool result_on_root_only = false;
};

Buffers buffers_of(Function function) {
  switch (function) {
    case Function::barrier: return {Extent::nothing, Extent::nothing};
    case Function::bcast: return {Extent::one, Extent::one};
    case Function::gather:
    case Function::gatherv: return {Extent::one, Extent::all, true};
    case Function::scatter:
    case Function::scatterv: return {Extent::all, Extent::one};
    case Function::allgather:
    case Function::allgatherv: return {Extent::one, Extent::all};
    case Function::alltoall:
    case Function::alltoallv:
    case Function::alltoallw: return {Extent::all, Extent::all};
    case Function::reduce: return {Extent::one, Extent::one, true};
    case Function::allreduce:
    case Function::scan:
    case Function::exscan: return {Extent::one, Extent::one};
    case Function::reduce_scatter_block:
    case Function::reduce_scatter: return {Extent::all, Extent::one};
  }
  return {};
}

/// The elements of each rank's part; `each` on average.
std::vector<std::int64_t> parts(const Kind& kind, std::int64_t each, int ranks) {
  std::vector<std::int64_t> n(static_cast<std::size_t>(ranks), each);
  if (!facts(kind.function).irregular) return n;
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

std::size_t elements(Extent extent, int mine, const std::vector<int>& counts) {
  if (extent == Extent::nothing) return 0;
  if (extent == Extent::one) return static_cast<std::size_t>(mine);
  return static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
}

Bytes element_bytes(const Kind& kind) {
  return static_cast<Bytes>(kind.variant == Variant::maxloc ? pair_bytes : sizeof(double));
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
  for (const auto& [suffix, one] : variants)
    if (one.variant == kind.variant && one.function == kind.function) name += suffix;
  return name;
}

std::optional<Kind> kind_named(std::string_view name) {
  for (const auto& [suffix, kind] : variants)
    if (name == name_of(kind)) return kind;
  if (const auto function = function_named(name)) return Kind{*function};
  return std::nullopt;
}

Cell cell_of(const Kind& kind, Bytes wish, int ranks) {
  if (kind.function == Function::barrier) return {kind, 0, 0};
  const CollectiveFacts& c = facts(facts(kind.function).collective);
  const Bytes unit = element_bytes(kind) * (c.reduces && c.per_rank ? ranks : 1);
  return {kind, std::max<Bytes>(wish / unit, 1) * unit, wish};
}

Runner::Runner(const Cell& cell) : kind_(cell.kind) {
  intercept::native().Comm_rank(intercept::constants().world, &rank_);
  intercept::native().Comm_size(intercept::constants().world, &ranks_);
  if (kind_.variant == Variant::maxloc) {
    type_ = MPI_DOUBLE_INT;
    op_ = MPI_MAXLOC;
    doubles_ = 2;
  }
  if (kind_.variant == Variant::ordered) intercept::native().Op_create(add, 0, &op_);
  const FunctionFacts& f = facts(kind_.function);
  const CollectiveFacts& c = facts(f.collective);
  auto each = static_cast<std::int64_t>(cell.bytes / element_bytes(kind_));
  if (c.reduces && c.per_rank) each /= ranks_;
  std::int64_t at = 0;
  for (const std::int64_t n : parts(kind_, each, ranks_)) {
    counts_.push_back(static_cast<int>(n));
    displacements_.push_back(static_cast<int>(at));
    at += n;
  }
  mine_ = counts_[static_cast<std::size_t>(rank_)];
  if (f.irregular && f.collective == Collective::alltoall) describe_pairs();
  const Buffers buffers = buffers_of(kind_.function);
  in_.resize(elements(buffers.in, mine_, in_counts_.empty() ? counts_ : in_counts_) * doubles_);
  native_out_.resize(elements(buffers.out, mine_, counts_) * doubles_);
  stretto_out_ = native_out_;
}

Runner::~Runner() {
  if (kind_.variant == Variant::ordered) intercept::native().Op_free(&op_);
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

void Runner::refresh(int repetition) {
  int value = (7 * rank_ + repetition) % 251;
  for (std::size_t i = 0; i < in_.size(); i += doubles_) {
    in_[i] = value;
    if (doubles_ == 2) std::memcpy(&in_[i + 1], &rank_, sizeof rank_);
    value = value == 250 ? 0 : value + 1;
  }
  if (kind_.function == Function::bcast) native_out_ = stretto_out_ = in_;
}

void Runner::spoil() {
  if (kind_.function == Function::bcast)
    stretto_out_ = in_;
  else
    std::ranges::fill(stretto_out_, -1.0);
}

bool Runner::equal() const {
  if (buffers_of(kind_.function).result_on_root_only && rank_ != 0) return true;
  if (kind_.function == Function::exscan && rank_ == 0) return true;
  if (kind_.variant != Variant::maxloc) return native_out_ == stretto_out_;
  for (std::size_t i = 0; i < native_out_.size(); i += doubles_)
    if (std::memcmp(&native_out_[i], &stretto_out_[i], pair_data) != 0) return false;
  return true;
}

void Runner::call(const Functions& f, bool stretto, MPI_Comm comm) {
  const double* in = in_.data();
  double* out = (stretto ? stretto_out_ : native_out_).data();
  const int n = mine_;
  const int* counts = counts_.data();
  const int* at = displacements_.data();
  switch (kind_.function) {
    case Function::barrier: f.Barrier(comm); break;
    case Function::bcast: f.Bcast(out, n, type_, 0, comm); break;
    case Function::gather: f.Gather(in, n, type_, out, n, type_, 0, comm); break;
    case Function::gatherv: f.Gatherv(in, n, type_, out, counts, at, type_, 0, comm); break;
    case Function::scatter: f.Scatter(in, n, type_, out, n, type_, 0, comm); break;
    case Function::scatterv: f.Scatterv(in, counts, at, type_, out, n, type_, 0, comm); break;
    case Function::allgather: f.Allgather(in, n, type_, out, n, type_, comm); break;
    case Function::allgatherv: f.Allgatherv(in, n, type_, out, counts, at, type_, comm); break;
    case Function::alltoall: f.Alltoall(in, n, type_, out, n, type_, comm); break;
    case Function::alltoallv:
      f.Alltoallv(in, in_counts_.data(), in_displacements_.data(), type_, out, counts, at, type_, comm);
      break;
    case Function::alltoallw:
      f.Alltoallw(in, in_counts_.data(), in_bytes_.data(), types_.data(), out, counts, out_bytes_.data(), types_.data(),
                  comm);
      break;
    case Function::reduce: f.Reduce(in, out, n, type_, op_, 0, comm); break;
    case Function::allreduce: f.Allreduce(in, out, n, type_, op_, comm); break;
    case Function::reduce_scatter_block: f.Reduce_scatter_block(in, out, n, type_, op_, comm); break;
    case Function::reduce_scatter: f.Reduce_scatter(in, out, counts, type_, op_, comm); break;
    case Function::scan: f.Scan(in, out, n, type_, op_, comm); break;
    case Function::exscan: f.Exscan(in, out, n, type_, op_, comm); break;
  }
}

}  // namespace stretto::race
