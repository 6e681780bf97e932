// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/types.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <climits>

#include "mpi/flavour/flavour.hpp"
#include "mpi/handle_table.hpp"
#include "mpi/native.hpp"
#include "support/memory.hpp"

namespace stretto::mpi {
namespace {

using reduce::Type;

struct KnownType {
  TypeFacts facts;
  bool padded = false;  // MPI counts fewer bytes than lie in memory
};
using TypeTable = HandleTable<MPI_Datatype, KnownType, 256>;

Type by_size(int size, const std::array<Type, 4>& of_1_2_4_8) {
  const auto bytes = static_cast<unsigned>(size);
  if (!std::has_single_bit(bytes) || bytes > 8) return Type::none;
  return of_1_2_4_8[static_cast<std::size_t>(std::countr_zero(bytes))];
}
Type signed_integer(int size) { return by_size(size, {Type::i8, Type::i16, Type::i32, Type::i64}); }
Type unsigned_integer(int size) { return by_size(size, {Type::u8, Type::u16, Type::u32, Type::u64}); }
Type logical(int size) { return by_size(size, {Type::logical8, Type::logical16, Type::logical32, Type::logical64}); }
Type floating(int size) { return size == 4 ? Type::f32 : size == 8 ? Type::f64 : Type::none; }
Type complex(int size) { return size == 8 ? Type::c32 : size == 16 ? Type::c64 : Type::none; }
Type character(int) { return Type::none; }  // moved, never combined
Type byte(int) { return Type::byte; }
Type c_bool(int size) { return size == 1 ? Type::bool8 : Type::none; }
// A quadruple-precision Fortran REAL is as large as a long double: the two are told apart by their handles.
Type long_double(int size) { return size == sizeof(long double) ? Type::f80 : Type::none; }
Type long_double_complex(int size) { return size == 2 * sizeof(long double) ? Type::c80 : Type::none; }

void insert(TypeTable& table, MPI_Datatype handle, Type type, Bytes size, bool padded) {
  auto& entry = table.insert(handle, {{true, type, {.size = size, .extent = size, .span = size}}, padded});
  entry.value.facts.element.type = &entry.handle;
}

/// The predefined types that are one number, by what they are in C or Fortran; the size decides the rest.
void add_numbers(TypeTable& table) {
  const auto add = [&](MPI_Datatype handle, Type (*kind)(int)) {
    const int size = flavour::size_of_predefined(handle);
    if (size > 0) insert(table, handle, kind(size), size, false);
  };
  for (MPI_Datatype t : {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T, MPI_INT16_T,
                         MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_COUNT, MPI_OFFSET, MPI_INTEGER})
    add(t, signed_integer);
  for (MPI_Datatype t : {MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8}) add(t, signed_integer);
  for (MPI_Datatype t : {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
                         MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T})
    add(t, unsigned_integer);
  for (MPI_Datatype t : {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8}) add(t, floating);
  for (const flavour::ShortFloat& t : flavour::short_floats()) insert(table, t.handle, t.type, 2, false);
  add(MPI_LONG_DOUBLE, long_double);
  for (MPI_Datatype t : {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX,
                         MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16})
    add(t, complex);
  add(MPI_C_LONG_DOUBLE_COMPLEX, long_double_complex);
  add(MPI_CXX_LONG_DOUBLE_COMPLEX, long_double_complex);
  add(MPI_C_BOOL, c_bool);
  add(MPI_CXX_BOOL, c_bool);
  add(MPI_LOGICAL, logical);
  add(MPI_BYTE, byte);
  for (MPI_Datatype t : {MPI_CHAR, MPI_WCHAR, MPI_CHARACTER, MPI_PACKED}) add(t, character);
}

void add_pairs(TypeTable& table) {
  const auto pair = [&](MPI_Datatype handle, Type type) { insert(table, handle, type, reduce::size_of(type), true); };
  pair(MPI_FLOAT_INT, Type::f32_i32);
  pair(MPI_DOUBLE_INT, Type::f64_i32);
  pair(MPI_LONG_DOUBLE_INT, Type::f80_i32);
  pair(MPI_SHORT_INT, Type::i16_i32);
  pair(MPI_2INT, Type::i32_i32);
  pair(MPI_LONG_INT, sizeof(long) == 8 ? Type::i64_i32 : Type::i32_i32);
  if (flavour::size_of_predefined(MPI_2INTEGER) == 8) pair(MPI_2INTEGER, Type::i32_i32);
  if (flavour::size_of_predefined(MPI_2REAL) == 8) pair(MPI_2REAL, Type::f32_f32);
  if (flavour::size_of_predefined(MPI_2DOUBLE_PRECISION) == 16) pair(MPI_2DOUBLE_PRECISION, Type::f64_f64);
}

/// Filled in place, because the facts point into it.
struct FilledTable : TypeTable {
  FilledTable() {
    add_numbers(*this);
    add_pairs(*this);
  }
};

const TypeTable& type_table() {
  static const FilledTable filled;
  return filled;
}

[[gnu::tls_model("initial-exec")]] thread_local Packing packing{};

/// Calls under way are moved on in others' waits too, which pack nothing themselves.
MPI_Comm packing_comm() { return packing.begun ? packing.comm : constants().self; }

/// Has it failed before in this call? The error handler hears of that once. What is packed for others goes on.
bool has_failed(const execute::Element& element) {
  return packing.error != MPI_SUCCESS && packing.failed == element.type;
}

#ifdef STRETTO_LARGE_COUNTS
bool large_pack() { return native().Pack_c && native().Unpack_c; }
#else
bool large_pack() { return false; }
#endif

/// Elements to packed bytes, or back. In parts: MPI counts those bytes in int, unless it has the large-count forms.
template <bool packs>
void convert(const execute::Element& element, const void* source, Count n, void* target) {
  const Count most = std::max<Count>((Count{1} << 30) / std::max<Bytes>(element.size, 1), 1);
  for (Count first = 0; first < n && !has_failed(element); first += most) {
    const Count count = std::min(most, n - first);
    const char* from = static_cast<const char*>(source) + first * (packs ? element.extent : element.size);
    char* to = static_cast<char*>(target) + first * (packs ? element.size : element.extent);
    const Bytes bytes = count * element.size;
    const MPI_Datatype type = *static_cast<const MPI_Datatype*>(element.type);
#ifdef STRETTO_LARGE_COUNTS
    if (MPI_Count at = 0; large_pack()) {
      note_error(packs ? native().Pack_c(from, count, type, to, bytes, &at, packing_comm())
                       : native().Unpack_c(from, bytes, &at, to, count, type, packing_comm()),
                 element);
      continue;
    }
#endif
    const int elements = static_cast<int>(count), room = static_cast<int>(bytes);
    int at = 0;
    note_error(packs ? native().Pack(from, elements, type, to, room, &at, packing_comm())
                     : native().Unpack(from, room, &at, to, elements, type, packing_comm()),
               element);
  }
}

/// How a derived type was made, whichever kind of counts it was made with.
struct Envelope {
  MPI_Count integers = 0, addresses = 0, large_counts = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;

  explicit Envelope(MPI_Datatype type) {
#ifdef STRETTO_LARGE_COUNTS
    if (native().Type_get_envelope_c && native().Type_get_contents_c) {
      native().Type_get_envelope_c(type, &integers, &addresses, &large_counts, &types, &combiner);
      return;
    }
#endif
    int n[3] = {};
    if (native().Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner) != MPI_SUCCESS) return;
    integers = n[0];
    addresses = n[1];
    types = n[2];
  }

  /// The type that `type` is a row of, or the null type. To be freed if it is not predefined.
  MPI_Datatype inner(MPI_Datatype type) const {
    MPI_Datatype found = constants().type_null;
    if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) return found;
    if (integers + large_counts > 1 || addresses > 0 || types != 1) return found;
    int integer = 0;
    MPI_Aint address = 0;
#ifdef STRETTO_LARGE_COUNTS
    if (MPI_Count large = 0; native().Type_get_contents_c) {
      native().Type_get_contents_c(type, integers, addresses, large_counts, types, &integer, &address, &large, &found);
      return found;
    }
#endif
    native().Type_get_contents(type, static_cast<int>(integers), 0, 1, &integer, &address, &found);
    return found;
  }
};

/// Types that must not be freed. Fortran's parameterised types are predefined, but know how they were asked for.
bool is_predefined(MPI_Datatype type) {
  switch (Envelope(type).combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER: return true;
    default: return false;
  }
}

/// Is it some predefined elements in a row? Other types may be dense too, but list their bytes in another order.
bool is_row(MPI_Datatype type) {
  MPI_Datatype inner = Envelope(type).inner(type);
  if (inner == constants().type_null) return false;
  if (const KnownType* known = type_table().find(inner)) return !known->padded;
  const bool row = is_row(inner);
  if (!is_predefined(inner)) native().Type_free(&inner);
  return row;
}

std::atomic<std::uint64_t> freed{0};

int copy_nothing(MPI_Datatype, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}

int note_freed(MPI_Datatype, int, void*, void*) {
  freed.fetch_add(1, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

/// Types that have it tell when they go.
int freed_keyval() {
  static const int keyval = [] {
    int made = MPI_KEYVAL_INVALID;
    native().Type_create_keyval(copy_nothing, note_freed, &made, nullptr);
    return made;
  }();
  return keyval;
}

}  // namespace

bool watch_type(MPI_Datatype type) {
  void* value = nullptr;
  int there = 0;
  if (freed_keyval() == MPI_KEYVAL_INVALID) return false;
  if (native().Type_get_attr(type, freed_keyval(), &value, &there) == MPI_SUCCESS && there) return true;
  return native().Type_set_attr(type, freed_keyval(), nullptr) == MPI_SUCCESS;
}

std::uint64_t freed_types() { return freed.load(std::memory_order_relaxed); }

PackingFor::PackingFor(MPI_Comm comm) : outer_(packing) { packing = {true, comm, MPI_SUCCESS}; }

PackingFor::~PackingFor() { packing = outer_; }

int packing_error() { return packing.error; }

void note_error(int error, const execute::Element& element) {
  if (error == MPI_SUCCESS) return;
  packing.error = error;
  packing.failed = element.type;
}

void copy_elements(const execute::Element& element, const void* from, void* to, Count n, std::vector<char>& packed) {
  if (element.dense) {
    copy_bytes(to, from, n * element.size);
    return;
  }
  packed.resize(static_cast<std::size_t>(n * element.size));
  element.pack(element, from, n, packed.data());
  element.unpack(element, packed.data(), n, to);
}

const TypeFacts& facts_of(const MPI_Datatype& type, Use use, TypeFacts& storage) {
  const KnownType* known = type_table().find(type);
  if (known && (use == Use::combine || !known->padded)) return known->facts;
  TypeFacts& facts = storage = {};
  MPI_Count size = 0;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower = 0;
  MPI_Aint span = 0;
  const Native& mpi = native();
  if (mpi.Type_size_x(type, &size) != MPI_SUCCESS || mpi.Type_get_extent(type, &lower, &extent) != MPI_SUCCESS ||
      mpi.Type_get_true_extent(type, &true_lower, &span) != MPI_SUCCESS)
    return facts;
  const bool dense = size > 0 && size == extent && true_lower == 0 && size == span && is_row(type);
  // Elements that run backwards, or of no bytes, are served when they are moved: the other ranks may describe the same
  // values by a type that is served. Only huge ones with holes cannot be, on an MPI that packs no more than 2 GiB.
  facts.usable = (dense || size < INT_MAX || large_pack()) && (use == Use::move || (size > 0 && extent > 0));
  facts.element = {.size = size,
                   .extent = extent,
                   .lower = true_lower,
                   .span = span,
                   .dense = dense,
                   .type = &type,
                   .pack = convert<true>,
                   .unpack = convert<false>};
  return facts;
}

}  // namespace stretto::mpi
