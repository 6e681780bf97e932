// SPDX-License-Identifier: BSD-3-Clause
//
// Files of schedules that variables name (STRETTO_ALLREDUCE=file:ring.stretto). Like rules they are read by one rank
// and travel to the others as text, so that all have the same; each process parses and proves what it has.
#pragma once

#include <string>
#include <string_view>

#include "stretto/rules.hpp"

namespace stretto::mpi {

/// What the files hold, in one text; empty if no variable names one. What is wrong with a file is said if told to, and
/// the file left out.
std::string read_algorithm_files(bool speak);

/// The overrides by these algorithms, which are never freed. `texts` is what read_algorithm_files() gave on one rank.
void add_algorithm_files(std::string_view texts, Rules& rules);

/// The variable's wish for the function, with the algorithm of its file among `rules`. Null: there is none, or the file
/// cannot be used.
const Override* variable_for(Function function, const Rules& rules);

/// One line on standard error, once, if the checker has refused the schedules that the variable asks for here.
void say_if_refused(const Override* wanted, const Shape& shape);

}  // namespace stretto::mpi
