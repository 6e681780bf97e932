// SPDX-License-Identifier: BSD-3-Clause
#include "cell.hpp"

#include <smpi/mpi.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "reduce/kernels.hpp"

namespace stretto::lab {
namespace {

constexpr int period = 13;
constexpr Bytes most_memory = Bytes{1} << 30;  // of all ranks' buffers together

/// Small whole numbers: their sums are exact in any order.
double contribution(Rank rank, Count i) { return static_cast<double>((7 * rank + i) % period); }

double reduction(Rank first, Rank last, Count i) {
  double sum = 0;
  for (Rank r = first; r <= last; ++r) sum += contribution(r, i);
  return sum;
}

void add(const execute::Combiner&, const void* left, const void* right, void* target, Count n) {
  static const reduce::Kernel kernel = reduce::kernel(reduce::Op::sum, reduce::Type::f64);
  kernel(left, right, target, n);
}

/// Of results that nobody looks at.
void add_nothing(const execute::Combiner&, const void*, const void*, void*, Count) {}

}  // namespace

Player::Player(const Cell& cell, Rank rank, const Shape& shape)
    : function_(cell.function),
      collective_(facts(cell.function).collective),
      shape_(shape),
      rank_(rank),
      parts_(facts(collective_).neighbourhood ? static_cast<Rank>(graph_of(shape)->slots())
             : facts(collective_).per_rank    ? shape.ranks
                                              : 1) {
  const Bytes unit =
      facts(collective_).reduces && facts(collective_).per_rank ? sizeof(double) * shape.ranks : sizeof(double);
  each_ = collective_ == Collective::barrier ? 0 : std::max<Count>(cell.asked / unit, 1);
  input_ = side(Buffer::input, rank_);
  output_ = side(Buffer::output, rank_);
  folded_ = needed(shape.ranks) > most_memory;
  input_.at = allocate(input_);
  output_.at = allocate(output_);
}

Player::~Player() {
  for (double* at : {input_.at, output_.at}) {
    if (folded_ && at)
      smpi_shared_free(at);
    else
      std::free(at);
  }
}

/// Bytes of all ranks' buffers: the same number on all, for all fold theirs or none does.
Bytes Player::needed(Rank ranks) const {
  const auto of = [this](Rank rank) {
    return static_cast<Bytes>(doubles(side(Buffer::input, rank)) + doubles(side(Buffer::output, rank))) * 8;
  };
  if (!facts(collective_).neighbourhood)
    return of(0) + (ranks - 1) * of(ranks - 1);  // the root is rank 0, the others are alike
  Bytes all = 0;
  for (Rank r = 0; r < ranks; ++r) all += of(r);
  return all;
}

Player::Side Player::side(Buffer which, Rank rank) const {
  Side s{parts_, -1};
  for (Rank part = 0; part < parts_; ++part) {
    if (!slot_exists(collective_, shape_, {}, rank, which, part)) continue;
    s.first = std::min(s.first, part);
    s.last = part;
  }
  return s.exists() ? s : Side{};
}

double* Player::allocate(const Side& s) {
  const std::size_t bytes = doubles(s) * sizeof(double);
  if (bytes == 0) return nullptr;
  return static_cast<double*>(folded_ ? SMPI_SHARED_MALLOC(bytes) : std::malloc(bytes));
}

/// Of the contributor's vector, the number of the first element of a part: of that for me, in an alltoall's output.
Count Player::label(Buffer which, Rank part) const {
  if (facts(collective_).neighbourhood) return block_of(collective_, shape_, rank_, which, part) * each_;
  return (facts(collective_).pairwise && which == Buffer::output ? rank_ : part) * each_;
}

/// each(part, its first element)
template <typename Each>
void Player::for_each(const Side& side, Each each) const {
  for (Rank part = side.first; part <= side.last; ++part) each(part, side.at + (part - side.first) * each_);
}

void Player::refresh() {
  if (folded_ || each_ == 0) return;
  for (const Buffer which : {Buffer::output, Buffer::input})
    for_each(which == Buffer::input ? input_ : output_, [&](Rank part, double* at) {
      const Content before = content_before(collective_, shape_, {}, rank_, which, part);
      const bool given = before.kind == Content::Kind::contribution;
      for (Count i = 0; i < each_; ++i)
        at[i] = given ? contribution(rank_, label(which, part) + i) : std::numeric_limits<double>::quiet_NaN();
    });
}

bool Player::correct() const {
  bool right = true;
  if (each_ == 0) return right;
  for_each(output_, [&](Rank part, const double* at) {
    const Content after = content_after(collective_, shape_, {}, rank_, part);
    if (after.kind == Content::Kind::nothing) return;
    const Count from = label(Buffer::output, part);
    double expected[period];
    for (Count i = 0; i < period; ++i)
      expected[i] = after.kind == Content::Kind::contribution ? contribution(after.from, from + i)
                                                              : reduction(after.from, after.to, from + i);
    for (Count i = 0; i < each_; ++i) right &= at[i] == expected[i % period];
  });
  return right;
}

/// What MPIs do in neighbourhoods, as far as we know all of them; SMPI 3.32 has no such functions.
void Player::send_to_neighbours() const {
  const auto graph = graph_of(shape_);
  const Neighbours& near = graph->of(rank_);
  const auto n = static_cast<int>(each_);
  std::vector<MPI_Request> requests;
  for (const Block slot : graph->arrivals(rank_))  // parts of one source in its order
    MPI_Irecv(output_.at + (slot - output_.first) * each_, n, MPI_DOUBLE, near.sources[static_cast<std::size_t>(slot)],
              0, MPI_COMM_WORLD, &requests.emplace_back());
  for (std::size_t slot = 0; slot < near.destinations.size(); ++slot) {
    if (near.destinations[slot] == no_rank) continue;
    const Count part = facts(collective_).pairwise ? static_cast<Count>(slot) - input_.first : 0;
    MPI_Isend(input_.at + part * each_, n, MPI_DOUBLE, near.destinations[slot], 0, MPI_COMM_WORLD,
              &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void Player::native() const {
  const void* in = input_.at;
  void* out = output_.at;
  const auto n = static_cast<int>(each_);
  const MPI_Comm comm = MPI_COMM_WORLD;
  switch (function_) {
    case Function::barrier: MPI_Barrier(comm); return;
    case Function::bcast: MPI_Bcast(out, n, MPI_DOUBLE, 0, comm); return;
    case Function::gather: MPI_Gather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, 0, comm); return;
    case Function::scatter: MPI_Scatter(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, 0, comm); return;
    case Function::allgather: MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm); return;
    case Function::alltoall: MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm); return;
    case Function::reduce: MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, comm); return;
    case Function::allreduce: MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm); return;
    case Function::reduce_scatter_block: MPI_Reduce_scatter_block(in, out, n, MPI_DOUBLE, MPI_SUM, comm); return;
    case Function::scan: MPI_Scan(in, out, n, MPI_DOUBLE, MPI_SUM, comm); return;
    case Function::neighbor_allgather:
    case Function::neighbor_alltoall: send_to_neighbours(); return;
    default: std::abort();  // the plan has been checked
  }
}

/// As the preloaded library would: what is only moved, is moved as bytes.
execute::Work Player::work(const Schedule& schedule, const Params& params) const {
  const bool reduces = facts(collective_).reduces;
  const Bytes size = reduces ? sizeof(double) : 1;
  const Count each = each_ * static_cast<Count>(sizeof(double)) / size;
  const Count segment = params.segment > 0 ? std::max<Count>(params.segment / parts_ / size, 1) : 0;
  const auto layout = facts(collective_).per_rank ? execute::Layout::per_rank(each, segment).cut_into(schedule.parts)
                                                  : execute::Layout::whole(each, schedule.blocks, segment);
  const auto region = [&](const Side& s) -> execute::Region {
    return {s.at, layout, facts(collective_).per_rank && s.exists() ? s.first * each : 0};
  };
  return {.schedule = &schedule,
          .element = {.size = size, .extent = size, .span = size},
          .combiner = {.combine = folded_ ? add_nothing : add},
          .input = region(input_),
          .output = region(output_),
          .sizes = layout,
          .depth = params.depth};
}

bool Player::perform(const AlgorithmSpec& spec, execute::Progress& progress, transport::Transport& transport) {
  Shape shape = shape_;
  const Count part = facts(collective_).reduces ? each_ : each_ * static_cast<Count>(sizeof(double));
  if (spec.algorithm->needs.counts) shape.counts.assign(static_cast<std::size_t>(shape.ranks), part);
  const Schedule schedule = build_schedule(*spec.algorithm, shape, rank_, spec.params);
  return progress.run(work(schedule, spec.params), transport, Deadline()) == transport::Outcome::ok;
}

}  // namespace stretto::lab
