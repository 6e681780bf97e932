/* SPDX-License-Identifier: BSD-3-Clause */

/* Partial results walk around a ring: not in rank order. */
static int check_operator(MPI_Op op) {
  int commutative;
  CHECKED(MPI_Op_commutative(op, &commutative));
  return commutative ? MPI_SUCCESS : MPI_ERR_OP;
}

/* Room for `count` elements; NULL if there is no memory. free_room() takes what this returns. */
static void* new_room(MPI_Aint count, MPI_Datatype type) {
  MPI_Aint lower, extent, true_lower, true_extent;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  const MPI_Aint bytes = true_extent + (count > 1 ? (count - 1) * extent : 0);
  char* room = malloc(bytes > 0 ? (size_t)bytes : 1);
  return room == NULL ? NULL : room - true_lower;
}

static void free_room(void* room, MPI_Datatype type) {
  MPI_Aint true_lower, true_extent;
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  free((char*)room + true_lower);
}

static int copy(const void* from, void* to, int count, MPI_Datatype type) {
  return MPI_Sendrecv(from, count, type, 0, TAG, to, count, type, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}
