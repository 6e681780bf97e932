// SPDX-License-Identifier: BSD-3-Clause
//
// The calls that are learned about together, and what may serve them.
#pragma once

#include <string>
#include <vector>

#include "stretto/rules.hpp"

namespace stretto::learn {

/// Is anything learned about calls of this function? Not in neighbourhoods, whose graphs no rule can describe.
bool learns(Function function);

/// The sizes of the class of a call: from one power of two to the next; all sizes where ranks do not know them.
Between class_of(Function function, Bytes bytes);

/// "allreduce ranks=4 nodes=1 cores=own operator=commutative bytes>=4K bytes<8K": the conditions of a rule for the
/// class of `call`, always written alike.
std::string conditions(const Call& call, const Between& bytes);

struct Candidate {
  const Algorithm* algorithm = nullptr;  ///< null: the native library
  Params params;
  bool operator==(const Candidate&) const = default;
};

/// What may serve `call` best: the native function first, then what the rules choose, for this size and for others,
/// what can use the lists that the rules give these ranks, and what the model of a machine predicts to be fast. No more
/// than `most`, none twice. The same on all ranks.
std::vector<Candidate> candidates(const Rules& rules, const Call& call, std::size_t most = 12);

/// As candidates have them: one segment as long as the vector is none, and then depth is the default.
Params normalized(Params params, Bytes bytes);

/// Can it serve the call?
bool serves(const Candidate& candidate, const Call& call);

}  // namespace stretto::learn
