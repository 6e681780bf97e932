/* SPDX-License-Identifier: BSD-3-Clause */

/* Every part walks around the ring in segments. A segment is passed on as soon as it is here, so that long parts do not
   keep short ones waiting. The parts of the ranks before me arrive one after the other, the next one's own the last. */
static int walk(void* vector, const int counts[], const int first[], MPI_Datatype type, MPI_Comm comm,
                const struct ring* ring, MPI_Request* requests) {
  const int segment = segment_of(type);
  int sent = 0;
  for (int shift = 0; shift < RANKS; ++shift) {
    const int part = rank_at(ring, -shift);
    for (int done = 0; done < counts[part]; done += segment) {
      const int count = least(segment, counts[part] - done);
      void* elements = at(vector, (MPI_Aint)first[part] + done, type);
      if (shift > 0) CHECKED(MPI_Recv(elements, count, type, ring->prev, TAG, comm, MPI_STATUS_IGNORE));
      if (shift < RANKS - 1) CHECKED(MPI_Isend(elements, count, type, ring->next, TAG, comm, &requests[sent++]));
    }
  }
  return MPI_Waitall(sent, requests, MPI_STATUSES_IGNORE);
}

/* As MPI_Allgatherv; count and type of the input are those of the rank's part of the output. */
int tree_allgatherv(const void* input, int count, MPI_Datatype type, void* output, const int counts[],
                    const int first[], MPI_Datatype output_type, MPI_Comm comm) {
  struct ring ring;
  CHECKED(find_ring(comm, &ring));
  const int me = rank_at(&ring, 0);
  if (input != MPI_IN_PLACE)
    CHECKED(MPI_Sendrecv(input, count, type, 0, TAG, at(output, first[me], output_type), counts[me], output_type, 0,
                         TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  size_t segments = 1;
  for (int r = 0; r < RANKS; ++r) segments += (size_t)(counts[r] / segment_of(output_type)) + 1;
  MPI_Request* requests = malloc(sizeof(MPI_Request) * segments);
  if (requests == NULL) return MPI_ERR_NO_MEM;
  const int code = walk(output, counts, first, output_type, comm, &ring, requests);
  free(requests);
  return code;
}
