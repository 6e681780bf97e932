// SPDX-License-Identifier: BSD-3-Clause
//
// The operators: MPI's own, and some of a user's.
#pragma once

#include <string>
#include <vector>

#include "model.hpp"

namespace stretto::differential {

struct Operator {
  std::string name;
  MPI_Op handle;
  bool predefined;
  bool commutative;
  Numbers numbers;          ///< values for which the result does not depend on brackets
  int length = 0;           ///< numbers in one element; 0: any
  bool arithmetic = false;  ///< of a user's: computes, with 4- and 8-byte integers
  MPI_User_function* function = nullptr;

  /// inout = in ∘ inout
  void combine(void* in, void* inout, int n, MPI_Datatype type) const;
};

class Operators {
 public:
  Operators();
  ~Operators();
  Operators(const Operators&) = delete;
  Operators& operator=(const Operators&) = delete;

  /// Those that MPI defines on a predefined type; may be empty.
  const std::vector<Operator>& of(Group group) const;
  const std::vector<Operator>& users() const { return users_; }

 private:
  std::vector<Operator> integer_, other_integer_, floating_, sum_only_, complex_, logical_, byte_, pair_, none_, users_;
};

/// What the user's operators work on until the next call: they find here what the type means that they are given, which
/// is the handle that a call under way was given.
void set_operands(std::vector<const Model*> models);

}  // namespace stretto::differential
