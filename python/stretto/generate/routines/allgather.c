/* SPDX-License-Identifier: BSD-3-Clause */

/* As MPI_Allgather; all ranks have the same count and type. */
int tree_allgather(const void* input, int count, MPI_Datatype type, void* output, int output_count,
                   MPI_Datatype output_type, MPI_Comm comm) {
  struct ring ring;
  CHECKED(find_ring(comm, &ring));
  const int me = rank_at(&ring, 0);
  if (input != MPI_IN_PLACE)
    CHECKED(MPI_Sendrecv(input, count, type, 0, TAG, at(output, (MPI_Aint)me * output_count, output_type),
                         output_count, output_type, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  for (int t = 0; t < RANKS - 1; ++t) {
    const int out = rank_at(&ring, -t), in = rank_at(&ring, -t - 1);
    CHECKED(MPI_Sendrecv(at(output, (MPI_Aint)out * output_count, output_type), output_count, output_type, ring.next,
                         TAG, at(output, (MPI_Aint)in * output_count, output_type), output_count, output_type,
                         ring.prev, TAG, comm, MPI_STATUS_IGNORE));
  }
  return MPI_SUCCESS;
}
