// SPDX-License-Identifier: BSD-3-Clause
#include "basics.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string_view>

#include "mpi/flavour/flavour.hpp"
#include "mpi/native.hpp"
#include "random.hpp"

namespace stretto::differential {
namespace {

constexpr int significant_bytes(int size) { return size == 16 ? 10 : size; }  // long double of x86

std::int64_t value_of(const Basic& basic, const Part& part, Numbers numbers, std::uint64_t hash) {
  const auto bits = static_cast<std::int64_t>(hash >> 1);
  if (basic.group == Group::logical) return bits % 2;
  if (basic.group == Group::pair) return part.index ? bits / 8 % 50 : bits % 5 - 2;
#ifdef STRETTO_OPENMPI
  if (basic.group == Group::other_integer && numbers != Numbers::flags && numbers != Numbers::field)
    return bits >> 1;  // Open MPI 5.0.11 compares MPI_OFFSET as an unsigned integer
#endif
  switch (numbers) {
    case Numbers::flags: return bits % 3;
    case Numbers::field: return bits % field_prime;
    case Numbers::letters: return bits % 6 == 0 ? 1 + bits / 6 % 26 : 0;
    case Numbers::products:
      // Products of these complex numbers are never real or imaginary unless all are: zeros have one sign.
      if (basic.group == Group::complex) return part.offset == 0 ? 3 + bits % 3 : bits % 2;
      if (part.floating) return bits % 3 == 0 ? -1 : bits % 3;
      break;
    case Numbers::any:
    case Numbers::sums: break;
  }
  return part.floating ? bits % 17 - 8 : static_cast<std::int64_t>(hash);
}

/// Of a number that needs no rounding.
std::uint16_t short_float(float number, bool bfloat) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  if (bfloat || number == 0) return static_cast<std::uint16_t>(bits >> 16);
  constexpr std::uint32_t bias = (127u - 15u) << 23;
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | ((bits & 0x7fffffff) - bias) >> 13);
}

void write_number(const Part& part, std::int64_t value, char* to) {
  if (!part.floating) {
    std::memcpy(to, &value, static_cast<std::size_t>(part.size));  // little endian
  } else if (part.size == 2) {
    const std::uint16_t number = short_float(static_cast<float>(value), part.bfloat);
    std::memcpy(to, &number, sizeof number);
  } else if (part.size == sizeof(float)) {
    const auto number = static_cast<float>(value);
    std::memcpy(to, &number, sizeof number);
  } else if (part.size == sizeof(double)) {
    const auto number = static_cast<double>(value);
    std::memcpy(to, &number, sizeof number);
  } else {
    const auto number = static_cast<long double>(value);
    std::memcpy(to, &number, static_cast<std::size_t>(part.significant));
  }
}

struct Named {
  const char* name;
  MPI_Datatype handle;
};
#define NAMED(handle) \
  Named { #handle, handle }

class Collector {
 public:
  std::vector<Basic> types;

  void add(Group group, const std::vector<Named>& list) {
    for (const Named& n : list) {
      const int size = mpi::flavour::size_of_predefined(n.handle);
      const bool floating = group == Group::floating || group == Group::complex;
      const int numbers = group == Group::complex ? 2 : 1;
      const int each = size / numbers;
      const bool known =
          floating ? each == 4 || each == 8 || each == 16 : each == 1 || each == 2 || each == 4 || each == 8;
      if (!known) continue;
      Basic basic{n.name, n.handle, group, size, each, {}};
#ifdef STRETTO_OPENMPI
      // Open MPI 5.0.11 packs two complex numbers wrongly if the gap between them is smaller than one.
      basic.alignment = size;
#endif
      for (int i = 0; i < numbers; ++i)
        basic.parts.push_back({i * each, each, floating ? significant_bytes(each) : each, floating});
      types.push_back(basic);
    }
  }

  template <typename Value, typename Index>
  void add_pair(const Named& n, bool floating) {
    struct Pair {
      Value value;
      Index index;
    };
    const auto value = static_cast<int>(sizeof(Value));
    const auto index = static_cast<int>(sizeof(Index));
    const bool floating_index = static_cast<Index>(0.5) != 0;
    types.push_back({n.name,
                     n.handle,
                     Group::pair,
                     static_cast<int>(sizeof(Pair)),
                     static_cast<int>(alignof(Pair)),
                     {{0, value, floating ? significant_bytes(value) : value, floating},
                      {static_cast<int>(offsetof(Pair, index)), index, index, floating_index, true}}});
  }
};

void add_fortran(Collector& all) {
  all.add(Group::other_integer,
          {NAMED(MPI_INTEGER), NAMED(MPI_INTEGER1), NAMED(MPI_INTEGER2), NAMED(MPI_INTEGER4), NAMED(MPI_INTEGER8)});
  // A quadruple-precision REAL has another format than a long double of the same size: left out by its name.
  all.add(Group::floating, {NAMED(MPI_REAL), NAMED(MPI_DOUBLE_PRECISION), NAMED(MPI_REAL4), NAMED(MPI_REAL8)});
  all.add(Group::complex, {NAMED(MPI_COMPLEX), NAMED(MPI_DOUBLE_COMPLEX), NAMED(MPI_COMPLEX8), NAMED(MPI_COMPLEX16)});
  all.add(Group::logical, {NAMED(MPI_LOGICAL)});
  all.add(Group::character, {NAMED(MPI_CHARACTER)});
  if (mpi::flavour::size_of_predefined(MPI_2INTEGER) == 8) all.add_pair<int, int>(NAMED(MPI_2INTEGER), false);
  if (mpi::flavour::size_of_predefined(MPI_2REAL) == 8) all.add_pair<float, float>(NAMED(MPI_2REAL), true);
  if (mpi::flavour::size_of_predefined(MPI_2DOUBLE_PRECISION) == 16)
    all.add_pair<double, double>(NAMED(MPI_2DOUBLE_PRECISION), true);
}

/// Those that the MPI at hand has: to others it gives no name, or that of a type with the same number.
void add_short_floats(Collector& all) {
  constexpr std::string_view names[] = {"MPIX_C_FLOAT16", "MPI_REAL2", "MPIX_BFLOAT16", "MPIX_C_BF16",
                                        "MPI_SHORT_FLOAT"};
  for (const auto& [handle, type] : mpi::flavour::short_floats()) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    if (mpi::native().Type_get_name(handle, name, &length) != MPI_SUCCESS) continue;
    if (std::ranges::find(names, name) == std::end(names)) continue;
    const bool bfloat = type == reduce::Type::bf16;
    // MPICH 5.0.2 ends the program where it is to find the product or an extreme of these.
    const Group group = std::string_view(name) == "MPIX_BFLOAT16" ? Group::sum_only : Group::floating;
    all.types.push_back({name, handle, group, 2, 2, {{0, 2, 2, true, false, bfloat}}});
  }
}

}  // namespace

void write_value(const Basic& basic, Numbers numbers, std::uint64_t hash, char* element) {
  for (const Part& part : basic.parts) {
    write_number(part, value_of(basic, part, numbers, hash), element + part.offset);
    hash = mix(hash + 1);
  }
}

std::vector<Basic> predefined_types() {
  Collector all;
  all.add(Group::c_integer,
          {NAMED(MPI_SIGNED_CHAR), NAMED(MPI_UNSIGNED_CHAR), NAMED(MPI_SHORT), NAMED(MPI_UNSIGNED_SHORT),
           NAMED(MPI_INT), NAMED(MPI_UNSIGNED), NAMED(MPI_LONG), NAMED(MPI_UNSIGNED_LONG), NAMED(MPI_LONG_LONG),
           NAMED(MPI_UNSIGNED_LONG_LONG), NAMED(MPI_INT8_T), NAMED(MPI_INT16_T), NAMED(MPI_INT32_T), NAMED(MPI_INT64_T),
           NAMED(MPI_UINT8_T), NAMED(MPI_UINT16_T), NAMED(MPI_UINT32_T), NAMED(MPI_UINT64_T)});
  all.add(Group::other_integer, {NAMED(MPI_AINT), NAMED(MPI_COUNT), NAMED(MPI_OFFSET)});
  all.add(Group::floating, {NAMED(MPI_FLOAT), NAMED(MPI_DOUBLE), NAMED(MPI_LONG_DOUBLE)});
  all.add(Group::complex, {NAMED(MPI_C_FLOAT_COMPLEX), NAMED(MPI_C_DOUBLE_COMPLEX), NAMED(MPI_C_LONG_DOUBLE_COMPLEX)});
  all.add(Group::logical, {NAMED(MPI_C_BOOL)});
  all.add(Group::byte, {NAMED(MPI_BYTE)});
  all.add(Group::character, {NAMED(MPI_CHAR), NAMED(MPI_WCHAR)});
  all.add_pair<float, int>(NAMED(MPI_FLOAT_INT), true);
  all.add_pair<double, int>(NAMED(MPI_DOUBLE_INT), true);
  all.add_pair<long double, int>(NAMED(MPI_LONG_DOUBLE_INT), true);
  all.add_pair<short, int>(NAMED(MPI_SHORT_INT), false);
  all.add_pair<int, int>(NAMED(MPI_2INT), false);
  all.add_pair<long, int>(NAMED(MPI_LONG_INT), false);
  add_fortran(all);
  add_short_floats(all);
  return all.types;
}

}  // namespace stretto::differential
