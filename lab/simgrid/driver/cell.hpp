// SPDX-License-Identifier: BSD-3-Clause
//
// A function at one size, on one simulated rank: its buffers, its calls by SMPI and by Stretto, and what must result.
#pragma once

#include <string>
#include <vector>

#include "execute/progress.hpp"
#include "stretto/rules.hpp"

namespace stretto::lab {

struct Cell {
  Function function;
  Bytes asked;  ///< of the vector; of each rank's part where parts are moved, as in `stretto bench`
};

class Player {
 public:
  Player(const Cell& cell, Rank rank, const Shape& shape);
  ~Player();
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  void refresh();  ///< inputs, and outputs that are no result
  void native() const;
  /// False if it failed. `progress` and `transport` belong to the rank.
  bool perform(const AlgorithmSpec& spec, execute::Progress& progress, transport::Transport& transport);
  bool checked() const { return !folded_; }  ///< false: too large, all ranks have the same memory
  bool correct() const;

 private:
  struct Side {
    Rank first = 0, last = -1;  // the parts that exist
    double* at = nullptr;
    bool exists() const { return first <= last; }
  };
  Side side(Buffer which, Rank rank) const;
  Bytes needed(Rank ranks) const;
  std::size_t doubles(const Side& s) const { return static_cast<std::size_t>((s.last - s.first + 1) * each_); }
  double* allocate(const Side& s);
  template <typename Each>
  void for_each(const Side& side, Each each) const;
  Count label(Buffer which, Rank part) const;
  void send_to_neighbours() const;
  execute::Work work(const Schedule& schedule, const Params& params) const;

  Function function_;
  Collective collective_;
  Shape shape_;
  Rank rank_, parts_;
  Count each_;  // doubles of a part; of the vector, if it is one part
  bool folded_;
  Side input_, output_;
};

}  // namespace stretto::lab
