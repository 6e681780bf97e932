/* SPDX-License-Identifier: BSD-3-Clause */

/* So many elements are passed on at once. */
static int segment_of(MPI_Datatype type) {
  enum { BYTES = 64 * 1024 };
  int size;
  MPI_Type_size(type, &size);
  return size > 0 && size < BYTES ? BYTES / size : 1;
}

static int least(MPI_Aint a, MPI_Aint b) { return (int)(a < b ? a : b); }
