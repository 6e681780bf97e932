/* SPDX-License-Identifier: BSD-3-Clause */

/* The partial result of rank r's part starts behind r in the ring, walks once around, and ends at r. */
static int reduce_parts(const void* vector, void** partial, void** arrived, const int counts[], const MPI_Aint first[],
                        MPI_Datatype type, MPI_Op op, MPI_Comm comm, const struct ring* ring) {
  for (int t = 1; t < RANKS; ++t) {
    const int out = rank_at(ring, -t), in = rank_at(ring, -t - 1);
    const void* leaving = t == 1 ? at(vector, first[out], type) : *partial;
    CHECKED(MPI_Sendrecv(leaving, counts[out], type, ring->next, TAG, *arrived, counts[in], type, ring->prev, TAG,
                         comm, MPI_STATUS_IGNORE));
    CHECKED(MPI_Reduce_local(at(vector, first[in], type), *arrived, counts[in], type, op));
    void* free_now = *partial;
    *partial = *arrived;
    *arrived = free_now;
  }
  return MPI_SUCCESS;
}

/* As MPI_Reduce_scatter. */
int tree_reduce_scatter(const void* input, void* output, const int counts[], MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm) {
  struct ring ring;
  CHECKED(find_ring(comm, &ring));
  CHECKED(check_operator(op));
  MPI_Aint first[RANKS];
  int most = 0;
  for (int r = 0; r < RANKS; ++r) {
    first[r] = r == 0 ? 0 : first[r - 1] + counts[r - 1];
    if (counts[r] > most) most = counts[r];
  }
  const void* vector = input == MPI_IN_PLACE ? output : input;
  const int me = rank_at(&ring, 0);
  if (RANKS == 1) return vector == output ? MPI_SUCCESS : copy(vector, output, counts[0], type);
  if (most == 0) return MPI_SUCCESS;
  void* partial = new_room(most, type);
  void* arrived = partial == NULL ? NULL : new_room(most, type);
  int code = arrived == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
  if (code == MPI_SUCCESS) code = reduce_parts(vector, &partial, &arrived, counts, first, type, op, comm, &ring);
  if (code == MPI_SUCCESS) code = copy(partial, output, counts[me], type);
  if (partial != NULL) free_room(partial, type);
  if (arrived != NULL) free_room(arrived, type);
  return code;
}
