// SPDX-License-Identifier: BSD-3-Clause
//
// The standard ABI of MPI 5 (libmpi_abi.so.1): MPICH, Intel MPI, and whoever else brings that library. Only what the
// standard says holds here, for the library may be any MPI's.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

#include "mpi/flavour/flavour.hpp"
#include "mpi/native.hpp"
#include "mpi/queries.hpp"

namespace stretto::mpi::flavour {

constinit const Traits traits{.reports_null = true,
                              .threads_may_make_communicators = true,
                              .testany_keeps_errors = false,
                              .calls_nest_beside_threads = true};

std::string other_abi(void* handle, const std::string& path) {
  if (path.find("libmpi_abi.so") == std::string::npos)
    return handle && dlsym(handle, "ompi_mpi_comm_world") ? "which has the Open MPI ABI" : "which has the MPICH ABI";
  if (handle && !dlsym(handle, "PMPI_Abi_get_version")) return "which has a draft of the MPI 5 standard ABI";
  return {};
}

namespace {

/// Predefined handles are small numbers.
std::uintptr_t number_of(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

struct Sized {
  MPI_Datatype type;
  int size;
};

std::vector<Sized> sizes_in_c() {
  const auto is = [](MPI_Datatype type, std::size_t size) { return Sized{type, static_cast<int>(size)}; };
  return {is(MPI_AINT, sizeof(MPI_Aint)),
          is(MPI_COUNT, sizeof(MPI_Count)),
          is(MPI_OFFSET, sizeof(MPI_Offset)),
          is(MPI_PACKED, 1),
          is(MPI_SHORT, sizeof(short)),
          is(MPI_INT, sizeof(int)),
          is(MPI_LONG, sizeof(long)),
          is(MPI_LONG_LONG, sizeof(long long)),
          is(MPI_UNSIGNED_SHORT, sizeof(short)),
          is(MPI_UNSIGNED, sizeof(int)),
          is(MPI_UNSIGNED_LONG, sizeof(long)),
          is(MPI_UNSIGNED_LONG_LONG, sizeof(long long)),
          is(MPI_FLOAT, sizeof(float)),
          is(MPI_DOUBLE, sizeof(double)),
          is(MPI_LONG_DOUBLE, sizeof(long double)),
          is(MPI_C_FLOAT_COMPLEX, 2 * sizeof(float)),
          is(MPI_C_DOUBLE_COMPLEX, 2 * sizeof(double)),
          is(MPI_C_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double)),
          is(MPI_CXX_FLOAT_COMPLEX, 2 * sizeof(float)),
          is(MPI_CXX_DOUBLE_COMPLEX, 2 * sizeof(double)),
          is(MPI_CXX_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double)),
          is(MPI_C_BOOL, sizeof(bool)),
          is(MPI_CXX_BOOL, sizeof(bool)),
          is(MPI_WCHAR, sizeof(wchar_t))};
}

bool has(MPI_Info fortran, const char* key) { return info_value(fortran, key) == "true"; }

/// Fortran's own sizes, which are the compiler's.
void add_defaults(std::vector<Sized>& sizes, MPI_Info fortran) {
  const auto size = [&](const char* key) { return std::atoi(info_value(fortran, key).c_str()); };
  const int logical = size("mpi_logical_size"), integer = size("mpi_integer_size");
  const int real = size("mpi_real_size"), double_precision = size("mpi_double_precision_size");
  const bool known = integer > 0;
  const bool has_double_complex = has(fortran, "mpi_double_complex_supported");
  sizes.insert(sizes.end(), {{MPI_LOGICAL, logical},
                             {MPI_INTEGER, integer},
                             {MPI_REAL, real},
                             {MPI_COMPLEX, 2 * real},
                             {MPI_DOUBLE_PRECISION, double_precision},
                             {MPI_DOUBLE_COMPLEX, has_double_complex ? 2 * double_precision : 0},
                             {MPI_CHARACTER, known ? 1 : 0},
                             {MPI_2INTEGER, 2 * integer},
                             {MPI_2REAL, 2 * real},
                             {MPI_2DOUBLE_PRECISION, 2 * double_precision}});
}

/// The ABI's numbers of types whose size does not depend on the platform have its logarithm in three of their bits.
int size_in_number(MPI_Datatype type) { return 1 << (number_of(type) >> 3 & 7); }

/// Fortran's types whose names say their size, where the compiler has them.
void add_optional(std::vector<Sized>& sizes, MPI_Info fortran) {
  const struct {
    MPI_Datatype type;
    const char* key;
  } known[] = {{MPI_INTEGER1, "mpi_integer1_supported"},   {MPI_INTEGER2, "mpi_integer2_supported"},
               {MPI_INTEGER4, "mpi_integer4_supported"},   {MPI_INTEGER8, "mpi_integer8_supported"},
               {MPI_REAL2, "mpi_real2_supported"},         {MPI_REAL4, "mpi_real4_supported"},
               {MPI_REAL8, "mpi_real8_supported"},         {MPI_COMPLEX8, "mpi_complex8_supported"},
               {MPI_COMPLEX16, "mpi_complex16_supported"}, {MPI_LOGICAL1, "mpi_logical1_supported"},
               {MPI_LOGICAL2, "mpi_logical2_supported"},   {MPI_LOGICAL4, "mpi_logical4_supported"},
               {MPI_LOGICAL8, "mpi_logical8_supported"}};
  for (const auto& one : known)
    if (has(fortran, one.key)) sizes.push_back({one.type, size_in_number(one.type)});
}

std::vector<Sized> sizes_by_compiler() {
  std::vector<Sized> all = sizes_in_c();
  MPI_Info fortran = MPI_INFO_NULL;  // what the MPI says of Fortran's types, of which C alone cannot know
  const auto get = extension<int(MPI_Info*)>("PMPI_Abi_get_fortran_info");
  if (!get || get(&fortran) != MPI_SUCCESS || fortran == MPI_INFO_NULL) return all;
  add_defaults(all, fortran);
  add_optional(all, fortran);
  native().Info_free(&fortran);
  return all;
}

}  // namespace

int size_of_predefined(MPI_Datatype type) {
  constexpr std::uintptr_t first_of_fixed_size = 0x240, last = 0x27f;
  if (number_of(type) >= first_of_fixed_size && number_of(type) <= last) return size_in_number(type);
  static const std::vector<Sized> sizes = sizes_by_compiler();
  for (const Sized& one : sizes)
    if (one.type == type) return one.size;
  return 0;
}

// The standard's only one.
std::vector<ShortFloat> short_floats() {
  if (size_of_predefined(MPI_REAL2) != 2) return {};
  return {{MPI_REAL2, reduce::Type::f16}};
}

bool is_predefined(MPI_Op op) {
  constexpr std::uintptr_t first_that_is_made = 0x1000;
  return number_of(op) < first_that_is_made;
}

// Those who bring this library today are of the MPICH family.
int alias_error(Function, Count elements) { return elements > 0 ? MPI_ERR_BUFFER : MPI_SUCCESS; }

const char* key_of_environment() { return nullptr; }

bool yields_when_idle() { return false; }

// The standard has nothing to ask for failed processes, nor to be called by the MPI that waits.
bool survives_faults() { return false; }
int fault_of(MPI_Comm) { return MPI_SUCCESS; }
bool is_revoked(MPI_Comm) { return false; }
bool calls_in_progress() { return false; }
void call_in_progress(bool (*)()) {}
void end_calls_in_progress() {}
int process_failed() { return MPI_ERR_PROC_ABORTED; }

}  // namespace stretto::mpi::flavour
