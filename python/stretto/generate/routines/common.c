/* SPDX-License-Identifier: BSD-3-Clause */

enum { TAG = 21363 };  /* of all messages: no others of the communicator may have it while a routine runs */

#define CHECKED(call)                             \
  do {                                            \
    const int failed = (call);                    \
    if (failed != MPI_SUCCESS) return failed;     \
  } while (0)

/* Where I stand in the ring, and who is before and behind me. */
struct ring {
  int place, next, prev;
};

/* The rank that stands `shift` places further on. */
static int rank_at(const struct ring* ring, int shift) {
  return order[((ring->place + shift) % RANKS + RANKS) % RANKS];
}

static int find_ring(MPI_Comm comm, struct ring* ring) {
  int ranks, rank;
  CHECKED(MPI_Comm_size(comm, &ranks));
  CHECKED(MPI_Comm_rank(comm, &rank));
  if (ranks != RANKS) return MPI_ERR_COMM;
  for (ring->place = 0; order[ring->place] != rank;) ++ring->place;
  ring->next = rank_at(ring, 1);
  ring->prev = rank_at(ring, -1);
  return MPI_SUCCESS;
}

/* Element `index` of a buffer. */
static void* at(const void* buffer, MPI_Aint index, MPI_Datatype type) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  return (char*)buffer + index * extent;
}
