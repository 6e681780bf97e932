// SPDX-License-Identifier: BSD-3-Clause
//
// MPI datatypes as operations see them.
#pragma once

#include <cstdint>
#include <vector>

#include "execute/element.hpp"
#include "mpi/mpi_header.hpp"
#include "reduce/kernels.hpp"

namespace stretto::mpi {

struct TypeFacts {
  bool usable = false;                     ///< false: leave the call to the native library
  reduce::Type type = reduce::Type::none;  ///< none: no predefined operator is known for it
  execute::Element element;                ///< `element.type` points to the handle given
};

/// What is to be done with the elements. Pair types are combined as C structs, padding and all; when they are moved,
/// only what MPI counts travels, because the other side may describe the same values by a type of its own.
enum class Use : std::uint8_t { move, combine };

/// A predefined type costs one look-up; a derived one costs several MPI calls, and its facts stand in `storage`, good
/// as long as that and `type` live.
const TypeFacts& facts_of(const MPI_Datatype& type, Use use, TypeFacts& storage);

/// Of a type of the program's own: freed_types() grows when it is freed, whoever does so; until then its handle means
/// the same. False: nobody would know.
bool watch_type(MPI_Datatype type);
std::uint64_t freed_types();

struct Packing {
  bool begun = false;
  MPI_Comm comm{};
  int error = MPI_SUCCESS;
  const void* failed = nullptr;  ///< the handle of the type whose error it is
};

/// While it lasts, this thread packs elements for `comm`, whose error handler hears of an error (a type that was not
/// committed, say).
class PackingFor {
 public:
  explicit PackingFor(MPI_Comm comm);
  ~PackingFor();
  PackingFor& operator=(PackingFor&&) = delete;

 private:
  Packing outer_;
};
/// The error since the innermost one began, or MPI_SUCCESS.
int packing_error();
/// One of a function of the MPI that works on elements.
void note_error(int error, const execute::Element& element);

/// Of any type; those with holes by way of `packed`.
void copy_elements(const execute::Element& element, const void* from, void* to, Count n, std::vector<char>& packed);

}  // namespace stretto::mpi
