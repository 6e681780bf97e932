/* SPDX-License-Identifier: BSD-3-Clause */

/* The vector is cut into a block for each place; block b is these elements. */
static MPI_Aint first_of(int block, int count) {
  const int rest = count % RANKS;
  return (MPI_Aint)block * (count / RANKS) + (block < rest ? block : rest);
}

static int count_of(int block, int count) { return count / RANKS + (block < count % RANKS ? 1 : 0); }

static int block_at(const struct ring* ring, int shift) { return ((ring->place + shift) % RANKS + RANKS) % RANKS; }

/* The partial result of block b starts at the place behind b and walks once around, to place b. */
static int reduce_blocks(void* vector, void* arrived, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                         const struct ring* ring) {
  for (int t = 1; t < RANKS; ++t) {
    const int out = block_at(ring, -t), in = block_at(ring, -t - 1);
    CHECKED(MPI_Sendrecv(at(vector, first_of(out, count), type), count_of(out, count), type, ring->next, TAG, arrived,
                         count_of(in, count), type, ring->prev, TAG, comm, MPI_STATUS_IGNORE));
    CHECKED(MPI_Reduce_local(arrived, at(vector, first_of(in, count), type), count_of(in, count), type, op));
  }
  return MPI_SUCCESS;
}

/* Every complete block walks once around. */
static int spread_blocks(void* vector, int count, MPI_Datatype type, MPI_Comm comm, const struct ring* ring) {
  for (int t = 0; t < RANKS - 1; ++t) {
    const int out = block_at(ring, -t), in = block_at(ring, -t - 1);
    CHECKED(MPI_Sendrecv(at(vector, first_of(out, count), type), count_of(out, count), type, ring->next, TAG,
                         at(vector, first_of(in, count), type), count_of(in, count), type, ring->prev, TAG, comm,
                         MPI_STATUS_IGNORE));
  }
  return MPI_SUCCESS;
}

/* As MPI_Allreduce. */
int tree_allreduce(const void* input, void* output, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  struct ring ring;
  CHECKED(find_ring(comm, &ring));
  CHECKED(check_operator(op));
  if (count == 0) return MPI_SUCCESS;
  if (input != MPI_IN_PLACE) CHECKED(copy(input, output, count, type));
  void* arrived = new_room(count_of(0, count), type);
  if (arrived == NULL) return MPI_ERR_NO_MEM;
  int code = reduce_blocks(output, arrived, count, type, op, comm, &ring);
  if (code == MPI_SUCCESS) code = spread_blocks(output, count, type, comm, &ring);
  free_room(arrived, type);
  return code;
}
