// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of the program that the ranks of its node read and write in place: where it comes from.
#pragma once

#include "mpi/native.hpp"
#include "transport/shm/heap.hpp"

namespace stretto::mpi {

/// What of this process's heap its peers have been told of: nothing at first.
const transport::shm::HeapRange& shown_heap();

/// Tells the peers of it, in this process's segment, as soon as there are both.
void show_heap();

/// MPI_Alloc_mem of `size` bytes. False: the native library is to do it: for less than a long message, for info keys,
/// which only that understands, and where nothing is shared.
bool allocate_in_heap(MPI_Aint size, MPI_Info info, void* base);
/// MPI_Free_mem. False: it is not of the heap.
bool release_to_heap(void* base);

/// For STRETTO_LOG=summary: a line, if any message was read or written in place.
void print_heap_summary();

}  // namespace stretto::mpi
