// SPDX-License-Identifier: BSD-3-Clause
//
// What is compared once a choice has been made: algorithms that have been compared, with slightly different numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "learn/candidates.hpp"
#include "learn/comparison.hpp"

namespace stretto::learn {

/// Candidates of a class, with refinements.
inline constexpr std::size_t most_refined = 32;

/// What differs from `choice` a little: segments, where there are none; segments four times as long or as short, four
/// times as many of them in flight or as few; twice or four times the algorithm's own parameter, a half or a quarter of
/// it, each also without segments. The native function has none. The same on all ranks.
std::vector<Candidate> refinements(const Candidate& choice, const Call& call);

/// What is to be compared next, once all of `compared` have been: refinements of the choice that are new; if there are
/// none, those of the fastest call of another algorithm that is not much slower. None of `left_out`; no more than make
/// most_refined.
std::vector<Candidate> next_refinements(std::span<const Candidate> compared, const Comparison& comparison,
                                        const Call& call, std::span<const Candidate> left_out = {});

/// How a rank names a candidate to others that have the same list: one of the list, or one that differs from it in the
/// numbers that refinements() change. 0: it is neither, or a number is too large. Below 2^60.
std::int64_t code_of(const Candidate& candidate, std::span<const Candidate> list);
/// Nothing of 0.
std::optional<Candidate> decoded(std::int64_t code, std::span<const Candidate> list);

}  // namespace stretto::learn
