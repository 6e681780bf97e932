// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/pipelined_ring: parts cut into blocks of at most B bytes walk around a ring, one block in each round.
//
//   rounds    sum of b_i + max (z_i - b_i) if every b_i > 0 exceeds z_i; else more, where ranks wait
//             b_i = ceil(m_i / B) for a part of m_i bytes, z_i = how many ranks without data stand before rank i
//   volume    as many blocks as rounds
//   combined  none
//   scratch   none
//   needs     counts; to be worth it, different ones
//   source    Träff, Ripke, Siebert, Balaji, Thakur and Gropp 2010, sections 2.2 to 2.4
//
// If nobody's part is empty the rounds are the paper's (1), sum of b_i - min b_i. If z parts are, ranks with data stand
// equidistantly among the others, and the rounds are its sum of b_i - 1 + z / (p - z), rounded up (the paper rounds
// down, but then not all gaps are alike). Where nodes are known, each stays together, with its ranks that have data
// last (section 2.3), and whole nodes are spread. A list "order" is followed as it is. The parameter "block" is B. Its
// default minimises (rounds)(α + β B), the paper's (2), but with p - z where (2) has p + z: that is what its sum over
// the p - z parts gives; α/β is taken for 20 000 bytes. With equal parts B is theirs, with data on one rank only that
// of a chain.
//
//   p = 4, parts of 2 1 0 0 blocks, ring 0 2 1 3   0→2 [1], 1→3 [2]   0→2 [0], 2→1 [1], 3→0 [2]   and so on

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algorithms/list.hpp"
#include "algorithms/patterns/pipelined_ring.hpp"
#include "algorithms/patterns/ring.hpp"

namespace stretto::algorithms::allgather_pipelined_ring {
namespace {

using patterns::PipelinedRing;

/// What a message's latency is worth in bytes (α/β): 2 µs at 10 GB/s.
constexpr double latency_in_bytes = 20'000;
constexpr Count most_blocks = 1 << 16;  // beyond that B is larger than asked for

std::int64_t default_block(const Shape& shape) {
  if (shape.counts.empty()) return 1;
  const auto p = static_cast<std::int64_t>(shape.counts.size());
  const std::int64_t empty = std::count(shape.counts.begin(), shape.counts.end(), 0);
  const Count largest = std::max<Count>(1, *std::max_element(shape.counts.begin(), shape.counts.end()));
  const double all = std::accumulate(shape.counts.begin(), shape.counts.end(), 0.0);
  if (empty == p || all == static_cast<double>(largest) * static_cast<double>(p)) return largest;
  const std::int64_t holders = p - empty;
  const std::int64_t gap = (empty + holders - 1) / holders;
  // Rounds besides all/B: half a block too much for each part, but none for a single one.
  const double others = static_cast<double>(holders == 1 ? 0 : holders) / 2 - 1 + static_cast<double>(gap);
  if (others <= 0) return largest;
  return std::clamp(static_cast<Count>(std::ceil(std::sqrt(all * latency_in_bytes / others))), Count{1}, largest);
}

Parts parts(const Shape& shape, const Params& params) {
  const Count all = std::accumulate(shape.counts.begin(), shape.counts.end(), Count{0});
  const Count block = std::max<Count>(params.value, all / most_blocks + 1);
  Parts parts{.first = {0}};
  for (const Count count : shape.counts)
    parts.first.push_back(parts.first.back() + count / block + (count % block > 0 ? 1 : 0));
  return parts;
}

void build(Builder& b, const Shape& shape, const Params& params) {
  patterns::pipelined_ring_allgather(b, shape, parts(shape, params), params.list);
}

std::int64_t rounds(const Shape& shape, const Params& params) {
  return PipelinedRing(parts(shape, params), shape, params.list).rounds();
}

}  // namespace

constinit const Algorithm record{
    .id = "allgather/pipelined_ring",
    .summary = "parts cut into blocks of at most B bytes walk around a ring; for long parts of different sizes",
    .source = "Träff, Ripke, Siebert, Balaji, Thakur and Gropp 2010, sections 2.2 to 2.4",
    .volume = "blocks sent, each of at most B bytes",
    .collective = Collective::allgather,
    .needs = {.irregular = true, .counts = true},
    .parameter = {.name = "block", .least = 1, .most = std::int64_t{1} << 62, .default_value = default_block},
    .list = "order",
    .blocks = [](const Shape& s, const Params& params) -> Block { return parts(s, params).first.back(); },
    .rounds = rounds,
    .sent = rounds,
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .parts = parts,
    .misfit = patterns::order_misfit,
};

}  // namespace stretto::algorithms::allgather_pipelined_ring
