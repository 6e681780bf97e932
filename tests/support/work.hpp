// SPDX-License-Identifier: BSD-3-Clause
//
// Schedules bound to buffers, for tests of operations.
#pragma once

#include "execute/progress.hpp"
#include "transport/kinds.hpp"

namespace stretto::test {

inline Deadline soon() { return Deadline::in(std::chrono::seconds(60)); }

/// Input, output and scratch have one layout.
inline execute::Work work_on(const Schedule& schedule, const Kind& kind, const execute::Layout& layout, void* input,
                             void* output) {
  return {.schedule = &schedule,
          .element = kind.element(),
          .combiner = kind.combiner(),
          .input = {input, layout},
          .output = {output, layout},
          .sizes = layout};
}

}  // namespace stretto::test
