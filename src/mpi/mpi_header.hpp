// SPDX-License-Identifier: BSD-3-Clause
//
// <mpi.h>, of whichever flavour this build is for. Include this and never <mpi.h> itself.
#pragma once

// Without MPI's own C++ interface, which older versions still have: it would want a library to be linked to.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#ifdef STRETTO_ABI
#define MPI_ABI 1  // the mpi.h of MPICH and Intel MPI has both ABIs
#endif
#include <mpi.h>

// Has the family functions with large counts? A single MPI of it may still lack some.
#if defined(STRETTO_MPICH) || defined(STRETTO_ABI)
#define STRETTO_LARGE_COUNTS 1
#endif

namespace stretto::mpi {

/// What the MPI, or a library that it brings along, calls so; null: it has no such thing. After the first native().
void* address_of_global(const char* name);

}  // namespace stretto::mpi

#ifdef STRETTO_OPENMPI
// Open MPI's handles are addresses of its globals. The library must load into programs that have no libmpi in their
// global scope (Python) or at all (launchers), so the addresses are looked up when the MPI has been found.
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) (static_cast<type>(::stretto::mpi::address_of_global(#global)))
#endif
