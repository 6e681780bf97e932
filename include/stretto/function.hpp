// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI functions that Stretto takes the place of, as its users name them: in rules, variables, logs and reports.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stretto/collective.hpp"
#include "stretto/functions.def"

namespace stretto {

enum class Function : std::uint8_t {
#define STRETTO_NAME(with, function, ...) function,
  STRETTO_FUNCTIONS(STRETTO_NAME, )
#undef STRETTO_NAME
};

inline constexpr Function all_functions[] = {
#define STRETTO_NAME(with, function, ...) Function::function,
    STRETTO_FUNCTIONS(STRETTO_NAME, )
#undef STRETTO_NAME
};

/// What a rank is given of the sizes of all parts.
enum class PartSizes : std::uint8_t {
  none,        ///< there are no parts
  equal,       ///< one size for all
  neighbours,  ///< one size for a rank and its neighbours, hence theirs
  all,         ///< they differ, and every rank is given all of them
  own,         ///< they differ, and a rank knows those that it sends or receives
};

struct FunctionFacts {
  std::string_view name;    ///< "reduce_scatter_block"
  std::string_view in_mpi;  ///< as programs call it: "MPI_Reduce_scatter_block"
  Collective collective;
  PartSizes sizes;
  bool irregular = sizes == PartSizes::all || sizes == PartSizes::own;  ///< the parts of the ranks may differ in size
  /// To all ranks; else a choice goes by a size hint that they agree on.
  bool bytes_known = sizes != PartSizes::own && sizes != PartSizes::neighbours;
};

const FunctionFacts& facts(Function function);
inline std::string mpi_name(Function function) { return std::string(facts(function).in_mpi); }
std::optional<Function> function_named(std::string_view name);

/// How a program calls a function: MPI_X; MPI_IX and MPI_Wait; MPI_Start and MPI_Wait of what MPI_X_init has made.
enum class Form : std::uint8_t { blocking, nonblocking, persistent };

inline constexpr Form all_forms[] = {Form::blocking, Form::nonblocking, Form::persistent};

constexpr std::string_view name_of(Form form) {
  return form == Form::blocking ? "blocking" : form == Form::nonblocking ? "nonblocking" : "persistent";
}

}  // namespace stretto
