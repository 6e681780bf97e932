// SPDX-License-Identifier: BSD-3-Clause
//
// One random call: what every rank of a communicator passes to MPI.
#pragma once

#include <string>
#include <vector>

#include "communicators.hpp"
#include "operators.hpp"
#include "stretto/collective.hpp"

namespace stretto::differential {

struct Options {
  std::string mpi;
  std::string stretto;
  std::int64_t calls = 1000;
  std::uint64_t seed = 1;
  Bytes most_bytes = Bytes{1} << 20;  ///< of the vector, about
  std::vector<Collective> collectives;
  bool plant = false;     ///< damage one of Stretto's results: the test must find it
  bool distrust = false;  ///< make no native calls on derived types: Intel MPI 2021.18 damages memory there
  bool verbose = false;   ///< name every call before it is made
};

struct Plan {
  std::int64_t number = 0;
  Collective collective = Collective::barrier;
  Member member;
  int root = 0;
  bool in_place = false;
  bool large = false;          ///< the MPI_Count form, if there is one
  bool native_trusted = true;  ///< else the expected result is computed here
  const Operator* op = nullptr;
  Numbers numbers = Numbers::any;
  ModelPointer send;  ///< null if nothing is sent from a buffer of its own
  int send_count = 0;
  ModelPointer receive;
  int receive_count = 0;
  int send_offset = 0;
  int receive_offset = 0;

  bool reduces() const { return op != nullptr; }
  std::string text() const;
};

class Planner {
 public:
  Planner(const Options& options, const std::vector<Basic>& basics, const Operators& operators)
      : options_(options),
        basics_(basics),
        operators_(operators) {}

  /// The draws from `random` are the same on all ranks of the communicator.
  Plan plan(std::int64_t number, const Member& member, Random& random) const;

 private:
  /// Native libraries damage memory if the first byte of a type is not at its address (MPICH 5.0.2, Open MPI 5.0.11),
  /// or if elements interleave (MPICH).
  bool native_can(const Model& model) const;
  void plan_move(Plan& plan, Random& random) const;
  void plan_reduction(Plan& plan, Random& random) const;
  int count_of(const Plan& plan, const Signature& signature, Random& random) const;
  Signature signature_of(const Operator& op, Random& random) const;

  const Options& options_;
  const std::vector<Basic>& basics_;
  const Operators& operators_;
};

}  // namespace stretto::differential
