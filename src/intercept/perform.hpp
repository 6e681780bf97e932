// SPDX-License-Identifier: BSD-3-Clause
//
// Carries out a call that Stretto serves: from a decision and buffers to MPI's return code.
#pragma once

#include "execute/engine.hpp"
#include "intercept/communicator.hpp"

namespace stretto::intercept {

/// What the collectives give the engine besides the decision.
struct Buffers {
  const void* input = nullptr;
  void* output = nullptr;
  Block input_origin = 0;
  Block output_origin = 0;
  execute::Element element;
  execute::Combiner combiner;
  Count count = 0;  ///< elements of the vector, or of each rank's block
};

int perform(Communicator& c, const Decision& decision, Collective collective, const Buffers& buffers);

/// Memory for packed data and the like, of this thread, valid until the next call.
execute::Arena& staging();

}  // namespace stretto::intercept
