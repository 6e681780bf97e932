/* SPDX-License-Identifier: BSD-3-Clause */

/* Segments come from behind me, take up my part, and go on towards the root. */
static int walk(void* mine, void* arrived, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                const struct ring* ring) {
  const int last = ring->next == root, at_root = rank_at(ring, 0) == root;
  const int segment = segment_of(type);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  for (MPI_Aint done = 0, number = 0; done < count; done += segment, ++number) {
    void* elements = at(mine, done, type);
    const int now = least(segment, count - done);
    if (!last) {
      CHECKED(MPI_Recv(arrived, now, type, ring->next, TAG, comm, MPI_STATUS_IGNORE));
      CHECKED(MPI_Reduce_local(arrived, elements, now, type, op));
    }
    if (at_root) continue;
    CHECKED(MPI_Wait(&requests[number % 2], MPI_STATUS_IGNORE));
    CHECKED(MPI_Isend(elements, now, type, ring->prev, TAG, comm, &requests[number % 2]));
  }
  return MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* As MPI_Reduce. The ring is cut open before the root, and walked backwards. */
int tree_reduce(const void* input, void* output, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  struct ring ring;
  CHECKED(find_ring(comm, &ring));
  CHECKED(check_operator(op));
  if (root < 0 || root >= RANKS) return MPI_ERR_ROOT;
  if (count == 0) return MPI_SUCCESS;
  const int at_root = rank_at(&ring, 0) == root;
  void* mine = at_root ? output : new_room(count, type);
  void* arrived = mine == NULL ? NULL : new_room(least(segment_of(type), count), type);
  int code = arrived == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
  if (code == MPI_SUCCESS && input != MPI_IN_PLACE) code = copy(input, mine, count, type);
  if (code == MPI_SUCCESS && RANKS > 1) code = walk(mine, arrived, count, type, op, root, comm, &ring);
  if (arrived != NULL) free_room(arrived, type);
  if (!at_root && mine != NULL) free_room(mine, type);
  return code;
}
