// SPDX-License-Identifier: BSD-3-Clause
#include "comparison.hpp"

#include <cstdio>

namespace stretto::differential {
namespace {

int call(const Functions& f, const Plan& p, const void* in, void* out) {
  const MPI_Datatype type = p.receive ? p.receive->type() : MPI_Datatype{};
  const MPI_Op op = p.op ? p.op->handle : MPI_Op{};
  const MPI_Comm comm = p.member.comm;
  const int n = p.receive_count;
  const MPI_Datatype send_type = p.send ? p.send->type() : type;
  switch (p.collective) {
    case Collective::barrier: return f.Barrier(comm);
    case Collective::bcast: return f.Bcast(out, n, type, p.root, comm);
    case Collective::reduce: return f.Reduce(in, out, n, type, op, p.root, comm);
    case Collective::allreduce: return f.Allreduce(in, out, n, type, op, comm);
    case Collective::allgather: return f.Allgather(in, p.send_count, send_type, out, n, type, comm);
    case Collective::reduce_scatter_block: return f.Reduce_scatter_block(in, out, n, type, op, comm);
  }
  return MPI_ERR_OTHER;
}

#ifdef STRETTO_MPICH
int call_large(const Functions& f, const Plan& p, const void* in, void* out) {
  const MPI_Datatype type = p.receive ? p.receive->type() : MPI_Datatype{};
  const MPI_Op op = p.op ? p.op->handle : MPI_Op{};
  const MPI_Comm comm = p.member.comm;
  const MPI_Count n = p.receive_count;
  const MPI_Datatype send_type = p.send ? p.send->type() : type;
  switch (p.collective) {
    case Collective::barrier: return f.Barrier(comm);
    case Collective::bcast: return f.Bcast_c(out, n, type, p.root, comm);
    case Collective::reduce: return f.Reduce_c(in, out, n, type, op, p.root, comm);
    case Collective::allreduce: return f.Allreduce_c(in, out, n, type, op, comm);
    case Collective::allgather: return f.Allgather_c(in, p.send_count, send_type, out, n, type, comm);
    case Collective::reduce_scatter_block: return f.Reduce_scatter_block_c(in, out, n, type, op, comm);
  }
  return MPI_ERR_OTHER;
}
#else
int call_large(const Functions& f, const Plan& p, const void* in, void* out) { return call(f, p, in, out); }
#endif

bool is_root(const Plan& p) { return p.member.rank == p.root; }

}  // namespace

Comparison::Comparison(const Options& options, const Functions& native, const Functions& stretto,
                       const char* (*last_algorithm)())
    : options_(options),
      native_(native),
      stretto_(stretto),
      last_algorithm_(last_algorithm) {}

std::uint64_t Comparison::stream(const Plan& plan, int rank) const {
  return mix(options_.seed + mix(static_cast<std::uint64_t>(plan.number) * 64 + static_cast<std::uint64_t>(rank)));
}

Buffer Comparison::send_buffer(const Plan& plan) const {
  Buffer buffer(plan.send, plan.send_count, plan.send_count, plan.send_offset);
  buffer.fill(0, plan.send_count, plan.numbers, stream(plan, plan.member.rank), 0);
  return buffer;
}

Buffer Comparison::receive_buffer(const Plan& plan) const {
  const int n = plan.receive_count;
  const int ranks = plan.member.ranks;
  const bool reduce_scatter = plan.collective == Collective::reduce_scatter_block;
  int room = n;
  if (plan.collective == Collective::allgather || (reduce_scatter && plan.in_place)) room = n * ranks;
  if (plan.collective == Collective::reduce && !is_root(plan)) room = 0;
  Buffer buffer(plan.receive, room, reduce_scatter ? n : room, plan.receive_offset);
  const std::uint64_t mine = stream(plan, plan.member.rank);
  if (plan.collective == Collective::bcast && is_root(plan)) buffer.fill(0, n, plan.numbers, mine, 0);
  if (!plan.in_place) return buffer;
  if (plan.collective == Collective::allgather)
    buffer.fill(plan.member.rank * n, n, plan.numbers, mine, 0);
  else
    buffer.fill(0, room, plan.numbers, mine, 0);
  return buffer;
}

void Comparison::compute_move(const Plan& plan, Buffer& expected) const {
  const int n = plan.receive_count;
  if (plan.collective == Collective::bcast)
    expected.fill(0, n, plan.numbers, stream(plan, plan.root), 0);
  else
    for (int r = 0; r < plan.member.ranks; ++r) expected.fill(r * n, n, plan.numbers, stream(plan, r), 0);
}

/// Only of a user's operators.
void Comparison::compute_reduction(const Plan& plan, Buffer& expected) const {
  if (plan.collective == Collective::reduce && !is_root(plan)) return;
  const int last = plan.member.ranks - 1;
  int n = plan.receive_count;
  const bool block_wise = plan.collective == Collective::reduce_scatter_block;
  const std::int64_t first = block_wise ? std::int64_t{n} * plan.member.rank : 0;
  MPI_Datatype type = plan.receive->type();
  expected.fill(0, n, plan.numbers, stream(plan, last), first);
  Buffer operand(plan.receive, n, n, 0);
  for (int rank = last - 1; rank >= 0; --rank) {
    operand.fill(0, n, plan.numbers, stream(plan, rank), first);
    plan.op->function(operand.address(), expected.address(), &n, &type);
  }
}

/// Where the result is known, the native one is none the less compared: it must be clear who is wrong.
void Comparison::compare_native(const Plan& plan, Buffer& expected) {
  Buffer computed = receive_buffer(plan);
  if (plan.op)
    compute_reduction(plan, computed);
  else
    compute_move(plan, computed);
  if (!plan.native_trusted) {
    if (plan.member.rank == 0) ++computed_;
  } else if (const auto wrong = expected.difference(computed)) {
    ++native_wrong_;
    if (native_wrong_ == 1) std::fprintf(stderr, "native result: %s: %s\n", plan.text().c_str(), wrong->c_str());
  }
  expected = computed;
}

std::optional<std::string> Comparison::run_stretto(const Plan& plan, Buffer& input, Buffer& output) {
  const void* in = plan.in_place ? MPI_IN_PLACE : input.address();
  const int code = (plan.large ? call_large : call)(stretto_, plan, in, output.address());
  std::string algorithm = last_algorithm_();
  if (algorithm == "native") algorithm = std::string(facts(plan.collective).name) + "/native";
  // One of its ranks counts a call.
  if (plan.member.rank == 0) ++served_[algorithm];
  if (options_.plant && !planted_ && 2 * plan.number >= options_.calls) planted_ = output.damage();
  if (code != MPI_SUCCESS) return "Stretto returned error " + std::to_string(code);
  return std::nullopt;
}

std::optional<std::string> Comparison::run(const Plan& plan) {
  if (plan.collective == Collective::barrier) {
    static const Basic byte{"MPI_BYTE", MPI_BYTE, Group::byte, 1, 1, {}};
    Buffer nothing(plain_model(byte), 0, 0, 0);
    native_.Barrier(plan.member.comm);
    return run_stretto(plan, nothing, nothing);
  }
  Buffer input = plan.send ? send_buffer(plan) : receive_buffer(plan);
  const Buffer input_before = input;
  Buffer output = receive_buffer(plan);
  Buffer expected = output;
  if (plan.op) set_operand(*plan.receive);
  const auto call_native = [&] {
    if (plan.native_trusted) call(native_, plan, plan.in_place ? MPI_IN_PLACE : input.address(), expected.address());
  };
  const bool native_first = plan.number % 2 == 0;
  if (native_first) call_native();
  auto wrong = run_stretto(plan, input, output);
  if (!native_first) call_native();
  if (!plan.op || !plan.op->predefined) compare_native(plan, expected);
  if (!wrong) wrong = output.difference(expected);
  if (!wrong && plan.send)
    if ((wrong = input.change(input_before))) *wrong = "input buffer: " + *wrong;
  if (wrong) *wrong += "; served by " + std::string(last_algorithm_());
  return wrong;
}

}  // namespace stretto::differential
