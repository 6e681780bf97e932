// SPDX-License-Identifier: BSD-3-Clause
//
// The predefined types that the MPI at hand has, what their bytes mean, and values for them.
#pragma once

#include <string>
#include <vector>

#include "mpi/mpi_header.hpp"

namespace stretto::differential {

/// The groups of types for which MPI 4.1, section 6.9.2, defines the operators.
enum class Group { c_integer, other_integer, floating, sum_only, complex, logical, byte, pair, character };

/// One number of an element. Bytes that belong to no part are padding.
struct Part {
  int offset;
  int size;         // with the padding of a long double
  int significant;  // bytes that carry the value
  bool floating;
  bool index = false;   // of a pair
  bool bfloat = false;  // the upper half of a float
};

struct Basic {
  std::string name;
  MPI_Datatype handle;
  Group group;
  int size;  // in memory
  int alignment;
  std::vector<Part> parts;
};

/// Which values keep a reduction exact, whatever the order.
enum class Numbers { any, sums, products, flags, field, letters };

inline constexpr int field_prime = 10007;  // the user's operators compute modulo this

/// Writes the value that `hash` stands for into a basic element.
void write_value(const Basic& basic, Numbers numbers, std::uint64_t hash, char* element);

std::vector<Basic> predefined_types();

}  // namespace stretto::differential
