// SPDX-License-Identifier: BSD-3-Clause
//
// A message of the native library, the requests of which stand beside those of collectives.
#pragma once

#include <vector>

#include "completion.hpp"

namespace stretto::differential {

class Message {
 public:
  /// Sends to one rank and receives from one: all ranks concerned make the like.
  Message(MPI_Comm comm, int to, int from, int bytes, int tag);
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  void add_to(std::vector<Pending>& pending);

 private:
  static std::vector<char> contents(int from, int bytes, int tag);
  void check() const;

  Envelope envelope_;
  std::vector<char> sent_;
  std::vector<char> received_;
  MPI_Request send_;
  MPI_Request receive_;
};

}  // namespace stretto::differential
