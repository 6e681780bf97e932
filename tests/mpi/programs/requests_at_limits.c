// SPDX-License-Identifier: BSD-3-Clause
//
// Requests where something may run out, or has gone already. Arguments: cases (those in main()).
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "arguments.c"

enum { comms = 4, copies = 16, bytes = 32 << 10, most_inits = 40000, behind = 4000 };

static int rank, ranks;
static MPI_Request kept;

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void start_copies(MPI_Comm* comm, char (*data)[copies][bytes], MPI_Request (*requests)[copies]) {
  for (int c = 0; c < comms; ++c)
    for (int i = 0; i < copies; ++i) {
      if (rank == 0) data[c][i][i] = (char)(c + i + 1);
      MPI_Ibcast(data[c][i], bytes, MPI_CHAR, 0, comm[c], &requests[c][i]);
    }
}

// Rank 0 sends more than its memory for messages holds, and then one on another communicator, which all others want
// first.
static void ring(void) {
  MPI_Comm comm[comms], other;
  MPI_Request requests[comms][copies], first;
  char(*data)[copies][bytes] = calloc(comms, sizeof *data);
  char word[1024] = {0};
  for (int c = 0; c < comms; ++c) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[c]);
    MPI_Barrier(comm[c]);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Barrier(other);
  if (rank == 0) start_copies(comm, data, requests);
  if (rank == 0) word[1] = 42;
  MPI_Ibcast(word, sizeof word, MPI_CHAR, 0, other, &first);
  MPI_Wait(&first, MPI_STATUS_IGNORE);
  check(word[1] == 42, "the first copy");
  if (rank != 0) start_copies(comm, data, requests);
  for (int c = 0; c < comms; ++c) {
    MPI_Waitall(copies, requests[c], MPI_STATUSES_IGNORE);
    for (int i = 0; i < copies; ++i) check(data[c][i][i] == (char)(c + i + 1), "a copy");
    MPI_Comm_free(&comm[c]);
  }
  MPI_Comm_free(&other);
  free(data);
}

// More than there are tags, one after the other. The first allreduce may be left to the MPI.
static void inits(void) {
  for (int i = 0; i < most_inits; ++i) {
    int mine = rank, sum = -1;
    MPI_Request request;
    MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (i % 1000 == 0) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      check(sum == ranks * (ranks - 1) / 2, "a persistent sum");
    }
    MPI_Request_free(&request);
  }
}

// Many calls wait for one whose sizes are not known yet.
static void queue(void) {
  MPI_Request* requests = malloc(sizeof *requests * (behind + 1));
  int(*values)[2] = malloc(sizeof *values * behind);
  int* all = malloc(sizeof(int) * 3 * ranks);
  int* counts = malloc(sizeof(int) * 2 * ranks);
  const int mine[3] = {rank, rank, rank};
  for (int r = 0; r < ranks; ++r) counts[r] = 3, counts[ranks + r] = 3 * r;
  MPI_Igatherv(mine, 3, MPI_INT, all, counts, counts + ranks, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
  for (int i = 0; i < behind; ++i) {
    values[i][0] = rank + i;
    MPI_Iallreduce(&values[i][0], &values[i][1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i + 1]);
  }
  MPI_Waitall(behind + 1, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < behind; ++i) check(values[i][1] == ranks * (ranks - 1) / 2 + ranks * i, "a sum of many");
  for (int i = 0; i < 3 * ranks && rank == 0; ++i) check(all[i] == i / 3, "what was gathered");
  free(requests);
  free(values);
  free(all);
  free(counts);
}

static int ending(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  int got = -1;
  const int sent = 7;
  MPI_Request receive, none = MPI_REQUEST_NULL;
  MPI_Wait(&kept, MPI_STATUS_IGNORE);  // inactive: nothing
  MPI_Wait(&none, MPI_STATUS_IGNORE);
  MPI_Recv_init(&got, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &receive);
  MPI_Start(&receive);
  MPI_Send(&sent, 1, MPI_INT, 0, 7, MPI_COMM_SELF);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Request_free(&receive);
  MPI_Request_free(&kept);
  check(got == sent && kept == MPI_REQUEST_NULL, "requests at the end");
  if (rank == 0) puts("all right");
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  static int in = 1, out;
  int key;
  MPI_Init_thread(&argc, &argv, is_given(argc, argv, "threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &key);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_given(argc, argv, "ring")) ring();
  if (is_given(argc, argv, "inits")) inits();
  if (is_given(argc, argv, "queue")) queue();
  // MPI_Finalize calls functions of the program first.
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ending, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &kept);
  MPI_Start(&kept);
  MPI_Wait(&kept, MPI_STATUS_IGNORE);
  check(out == ranks, "a persistent sum");
  MPI_Finalize();
  return 0;
}
