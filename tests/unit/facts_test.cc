// SPDX-License-Identifier: BSD-3-Clause
//
// What collectives.def and functions.def say is what the collectives mean.
#include <string>

#include "stretto/function.hpp"
#include "support/test.hpp"

namespace stretto::facts_test {
namespace {

constexpr Rank ranks = 3;

/// Holds something(rank, slot) for any?
template <typename Something>
bool anywhere(Something something) {
  for (Rank rank = 0; rank < ranks; ++rank)
    for (Block slot = 0; slot < ranks; ++slot)
      if (something(rank, slot)) return true;
  return false;
}

bool same(const Content& a, const Content& b) { return a.kind == b.kind && a.from == b.from && a.to == b.to; }

TEST(collectives_are_what_their_line_says) {
  const Shape shape{.ranks = ranks, .root = 0};
  const Shape other_root{.ranks = ranks, .root = 1};
  const Shape alone{.ranks = ranks, .graph = std::make_shared<const Graph>(std::vector<Neighbours>(3))};
  const Parts parts;
  for (const Collective c : all_collectives) {
    const CollectiveFacts& f = facts(c);
    CHECK_EQ(std::string(facts(*collective_named(f.name)).name), std::string(f.name));
    CHECK_EQ(f.reduces, anywhere([&](Rank rank, Block slot) {
               return content_after(c, shape, parts, rank, slot).kind == Content::Kind::reduction;
             }));
    CHECK_EQ(f.rooted, anywhere([&](Rank rank, Block slot) {
               return !same(content_before(c, shape, parts, rank, Buffer::input, slot),
                            content_before(c, other_root, parts, rank, Buffer::input, slot)) ||
                      !same(content_after(c, shape, parts, rank, slot),
                            content_after(c, other_root, parts, rank, slot));
             }));
    if (!f.neighbourhood) CHECK_EQ(f.pairwise, block_of(c, shape, 1, Buffer::input, 2) != 2);
    CHECK_EQ(f.neighbourhood,
             slot_exists(c, alone, parts, 1, Buffer::output, 0) != slot_exists(c, shape, parts, 1, Buffer::output, 0));
    CHECK_EQ(f.prefix, f.reduces && !same(content_after(c, shape, parts, 1, 0), content_after(c, shape, parts, 2, 0)));
  }
}

TEST(functions_are_what_their_line_says) {
  for (const Function f : all_functions) CHECK(function_named(facts(f).name) == f);
  CHECK_EQ(mpi_name(Function::reduce_scatter_block), std::string("MPI_Reduce_scatter_block"));
  CHECK(!facts(Function::barrier).irregular && facts(Function::barrier).bytes_known);
  CHECK(!facts(Function::gather).irregular && facts(Function::gather).bytes_known);
  CHECK(facts(Function::allgatherv).irregular && facts(Function::allgatherv).bytes_known);
  CHECK(facts(Function::gatherv).irregular && !facts(Function::gatherv).bytes_known);
  CHECK(facts(Function::alltoallw).collective == Collective::alltoall);
}

}  // namespace
}  // namespace stretto::facts_test
