// SPDX-License-Identifier: BSD-3-Clause
//
// What differs between the MPI families beyond their mpi.h. One file implements it for each.
#pragma once

#include <string>
#include <vector>

#include "mpi/mpi_header.hpp"
#include "reduce/kernels.hpp"
#include "stretto/function.hpp"
#include "stretto/types.hpp"

namespace stretto::mpi::flavour {

/// What need not be asked of the MPI that runs.
struct Traits {
  /// Does this MPI report buffers that are null though there are elements? Else it reads or writes there.
  bool reports_null;
  /// May threads make communicators while others do? Open MPI 5.0.11 then hangs now and then.
  bool threads_may_make_communicators;
  /// Do errors that MPI_Testany finds go to the communicator of the request? MPICH reports them to MPI_COMM_WORLD.
  bool testany_keeps_errors;
  /// May a function that it calls in progress communicate by it under MPI_THREAD_MULTIPLE? MPICH holds a lock of its
  /// progress meanwhile.
  bool calls_nest_beside_threads;
};
extern const Traits traits;

/// Empty if the loaded library `handle` (null: unknown) at `path` has this build's ABI, else which one it has.
std::string other_abi(void* handle, const std::string& path);

/// Size of a predefined type; 0 if this MPI does not have it. Never raises an MPI error.
int size_of_predefined(MPI_Datatype type);

struct ShortFloat {
  MPI_Datatype handle;
  reduce::Type type;
};

/// This MPI family's floating-point types of 16 bits, which the standard does not have; the MPI that runs may lack
/// some.
std::vector<ShortFloat> short_floats();

/// A predefined operator, of the standard or of this MPI alone. False if it cannot be told.
bool is_predefined(MPI_Op op);

/// What this MPI reports where so many elements are sent from where they are received; MPI_SUCCESS: nothing.
int alias_error(Function function, Count elements);

/// Does the MPI let go of the core whenever it waits, since somebody told it or it saw that ranks share cores?
bool yields_when_idle();

/// The info key of MPI_Comm_spawn whose value is variables for the new processes, a line each; null: they get those of
/// the launcher's anyway.
const char* key_of_environment();

/// Does the job go on when a process fails (mpiexec --with-ft of Open MPI)?
bool survives_faults();

/// What is known here, without asking anybody: MPI_SUCCESS, or the error of a call on a communicator that was revoked
/// or has a failed rank. Only if survives_faults().
int fault_of(MPI_Comm comm);
bool is_revoked(MPI_Comm comm);

/// Can this MPI be asked to call a function of ours whenever it waits or polls?
bool calls_in_progress();
/// From now on it calls `poll`, at least until that says that there is nothing to do. Only if calls_in_progress().
void call_in_progress(bool (*poll)());
void end_calls_in_progress();

/// The error class of a call that a failed process takes part in.
int process_failed();

}  // namespace stretto::mpi::flavour
