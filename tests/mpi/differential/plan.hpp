// SPDX-License-Identifier: BSD-3-Clause
//
// One random call: what every rank of a communicator passes to MPI.
#pragma once

#include <string>
#include <vector>

#include "communicators.hpp"
#include "kinds.hpp"
#include "operators.hpp"
#include "parts.hpp"

namespace stretto::differential {

struct Options {
  std::int64_t calls = 1000;
  std::uint64_t seed = 1;
  Bytes most_bytes = Bytes{1} << 20;  ///< of the vector, about
  std::vector<Function> functions;
  std::vector<Kind> kinds;
  bool plant = false;     ///< damage one of Stretto's results: the test must find it
  bool distrust = false;  ///< make no native calls on derived types: Intel MPI 2021.18 damages memory there
  bool threads = false;   ///< ask for MPI_THREAD_MULTIPLE
  bool verbose = false;   ///< name every call before it is made
};

/// One side's arguments on this rank. In a reduction the receive side has those of both.
struct Side {
  bool significant = false;
  bool type_for_each_part = false;
  std::vector<ModelPointer> models;           ///< one, or one for each part
  std::vector<int> counts;                    ///< elements of each part
  std::vector<std::ptrdiff_t> displacements;  ///< of each part in elements, or in bytes if each has its type
  int each = 0;                               ///< where it has no parts: what the call says of each nevertheless

  /// In bytes.
  std::ptrdiff_t place(std::size_t part) const {
    return type_for_each_part ? displacements[part] : displacements[part] * models[0]->extent();
  }
  const ModelPointer& model(std::size_t part) const { return models[type_for_each_part ? part : 0]; }
  std::string text() const;
};

struct Plan {
  std::int64_t number = 0;
  Kind kind = Kind::blocking;
  int starts = 1;  ///< calls, or starts of its request; of a persistent one maybe none
  const Form* form = nullptr;
  Member member;
  int root = 0;
  bool in_place = false;       ///< on this rank
  bool large = false;          ///< the MPI_Count form, if there is one
  bool native_trusted = true;  ///< else the expected result is computed here
  const Operator* op = nullptr;
  Numbers numbers = Numbers::any;
  Side send;
  Side receive;
  int send_offset = 0;
  int receive_offset = 0;

  bool is_root() const { return member.rank == root; }
  bool takes_part(Who who) const { return who == Who::all || (who == Who::root && is_root()); }
  /// Of a reduction, in elements.
  int own_count() const;
  int count_before() const;  ///< of the ranks before this one
  int whole_count() const;
  /// How many parts a side has that has some.
  int parts(bool sends) const;
  /// From whom to whom a part goes. In a neighbourhood `to` is which of the sender's parts it is, and `from` no_rank
  /// where no neighbour is.
  struct Way {
    int from;
    int to;
  };
  Way way(bool sends, int part) const;
  std::string text() const;
};

class Planner {
 public:
  Planner(const Options& options, const std::vector<Basic>& basics, const Operators& operators)
      : options_(options),
        basics_(basics),
        operators_(operators) {}

  /// The draws from `random` are the same on all ranks of the communicator.
  Plan plan(std::int64_t number, const Form& form, const Member& member, Random& random) const;

 private:
  /// Native libraries damage memory if the first byte of a type is not at its address (MPICH 5.0.2, Open MPI 5.0.11),
  /// or if elements interleave (MPICH).
  bool native_can(const Model& model) const;
  bool native_can(const Form& form, const Side& side) const;
  void plan_move(Plan& plan, Random& random) const;
  void plan_reduction(Plan& plan, Random& random) const;
  int count_of(const Plan& plan, const Signature& signature, Random& random) const;
  Signature signature_of(Random& random) const;
  Signature signature_of(const Operator& op, Random& random) const;
  ModelPointer operand_of(const Plan& plan, Signature signature, int elements, Random& random) const;

  const Options& options_;
  const std::vector<Basic>& basics_;
  const Operators& operators_;
};

}  // namespace stretto::differential
