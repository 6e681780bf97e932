// SPDX-License-Identifier: BSD-3-Clause
//
// The arguments of each function, and what must come out: a further function is one entry here and one line in
// calls.cc.
#pragma once

#include "stretto/function.hpp"

namespace stretto::differential {

enum class Who : std::uint8_t { nobody, root, all };

struct SideForm {
  Who who = Who::nobody;            ///< has this buffer
  bool part_for_each_rank = false;  ///< or neighbour; else it is one part
};

/// Whose contributions a rank's result combines.
enum class Over : std::uint8_t { nothing, all, up_to_me, before_me };

struct Form {
  Function function;
  SideForm send;
  SideForm receive;
  Who in_place = Who::nobody;
  Over over = Over::nothing;
  bool type_for_each_part = false;

  bool reduces() const { return over != Over::nothing; }
  bool rooted() const { return stretto::facts(stretto::facts(function).collective).rooted; }
  bool irregular() const { return stretto::facts(function).irregular; }
  /// The call gives the places of the parts.
  bool displaced() const { return irregular() && !reduces(); }
  /// Each rank has a part for each: in other moves a rank sends the same to all, or only the root sends.
  bool pairwise() const { return send.part_for_each_rank && receive.part_for_each_rank; }
  bool neighbourhood() const { return stretto::facts(stretto::facts(function).collective).neighbourhood; }
  bool has_parts() const { return send.part_for_each_rank || receive.part_for_each_rank; }
  /// Where MPI_IN_PLACE stands for the receive buffer: the root's own part stays where it is.
  bool keeps_own_part() const { return send.who == Who::root; }
};

const Form& form_of(Function function);

}  // namespace stretto::differential
