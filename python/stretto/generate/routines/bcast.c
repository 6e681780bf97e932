/* SPDX-License-Identifier: BSD-3-Clause */

/* As MPI_Bcast; all ranks have the same count and type. The ring is cut open before the root; segments follow each other
   down the chain. */
int tree_bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  struct ring ring;
  CHECKED(find_ring(comm, &ring));
  if (root < 0 || root >= RANKS) return MPI_ERR_ROOT;
  const int first = rank_at(&ring, 0) == root, last = ring.next == root;
  const int segment = segment_of(type);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  for (MPI_Aint done = 0, number = 0; done < count; done += segment, ++number) {
    void* elements = at(buffer, done, type);
    const int now = least(segment, count - done);
    if (!first) CHECKED(MPI_Recv(elements, now, type, ring.prev, TAG, comm, MPI_STATUS_IGNORE));
    if (last) continue;
    CHECKED(MPI_Wait(&requests[number % 2], MPI_STATUS_IGNORE));
    CHECKED(MPI_Isend(elements, now, type, ring.next, TAG, comm, &requests[number % 2]));
  }
  return MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
