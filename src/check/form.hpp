// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "stretto/check.hpp"

namespace stretto::checking {

/// Refuses as malformed what is wrong without running anything: peers, slots and buffers that do not exist, writes to
/// the input, operands that do not fit their target. Everything that runs schedules afterwards relies on it.
void check_form(std::span<const Schedule> schedules, const Question& question);

}  // namespace stretto::checking
