// SPDX-License-Identifier: BSD-3-Clause
//
// Requests where something may run out, or has gone already. Arguments: cases (those in main()).
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arguments.c"

enum { comms = 4, copies = 16, bytes = 32 << 10, most_inits = 40000, behind = 4000, many = 2000, large = 1 << 20 };

static int rank, ranks;
static MPI_Request kept, lost = MPI_REQUEST_NULL;

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

// More calls at once than have tags of their own, of which each of these takes four: begun at other times on each rank,
// and some that block behind them.
static void tags(void) {
  enum { n = 4 };
  MPI_Request* requests = malloc(sizeof *requests * many);
  int(*in)[n] = malloc(sizeof *in * many), (*out)[n] = malloc(sizeof *out * many);
  const int counts[n] = {1, 1, 1, 1}, at[n] = {0, 1, 2, 3};
  check(ranks <= n, "the number of ranks");
  for (int i = 0; i < many; ++i) {
    for (int k = 0; k < n; ++k) in[i][k] = 100 * i + 10 * rank + k;
    MPI_Ialltoallv(in[i], counts, at, MPI_INT, out[i], counts, at, MPI_INT, MPI_COMM_WORLD, &requests[i]);
    if (i % 97 == 13 * rank) usleep(200);
    if (i % 500 == 499) {
      const int mine = i;
      int sum = 0;
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      check(sum == ranks * i, "a sum behind many");
    }
  }
  for (int i = many - 1; i >= 0; --i) {
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int k = 0; k < ranks; ++k) check(out[i][k] == 100 * i + 10 * k + rank, "one of many alltoallvs");
  }
  free(requests);
  free(in);
  free(out);
}

// A peer sends what this rank has to let in while it tests a collective, by each of the ways to test.
static void looks(void) {
  char* data = calloc(large, 1);
  for (int way = 0; way < 4; ++way) {
    MPI_Request message, barrier;
    int done = 0, index, count;
    if (rank == 0) MPI_Irecv(data, large, MPI_CHAR, 1, way, MPI_COMM_WORLD, &message);
    if (rank == 1) MPI_Send(data, large, MPI_CHAR, 0, way, MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    while (!done) {
      if (way == 0) MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
      if (way == 1) MPI_Testany(1, &barrier, &index, &done, MPI_STATUS_IGNORE);
      if (way == 2) MPI_Testsome(1, &barrier, &done, &count, MPI_STATUSES_IGNORE);
      if (way == 3) MPI_Request_get_status(barrier, &done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    if (rank == 0) MPI_Wait(&message, MPI_STATUS_IGNORE);
  }
  free(data);
}

// A type that was not committed is an error of the calls that use it, and of no others.
static void uncommitted(void) {
  enum { n = 5, most = 64 };
  MPI_Datatype types[2];
  MPI_Request requests[2];
  int data[2 * n], all[2][n * most] = {{0}};
  for (int i = 0; i < 2 * n; ++i) data[i] = 10 * rank + i;
  for (int i = 0; i < 2; ++i) MPI_Type_vector(n, 1, 2, MPI_INT, &types[i]);
  MPI_Type_commit(&types[1]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int codes[2];
  for (int i = 0; i < 2; ++i) {
    codes[i] = MPI_Iallgather(data, 1, types[i], all[i], n, MPI_INT, MPI_COMM_WORLD, &requests[i]);
    if (codes[i] != MPI_SUCCESS) requests[i] = MPI_REQUEST_NULL;
  }
  for (int i = 1; i >= 0; --i)
    if (codes[i] == MPI_SUCCESS) codes[i] = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  check(codes[0] != MPI_SUCCESS, "the error of a type that was not committed");
  check(codes[1] == MPI_SUCCESS, "the call of another type");
  for (int i = 0; i < n * ranks; ++i) check(all[1][i] == 10 * (i / n) + 2 * (i % n), "what another type gathers");
  for (int i = 0; i < 2; ++i) MPI_Type_free(&types[i]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

// Of a call that others never began, in MPI_Finalize.
static void refused_for_ever(void) {
  int flag, index;
  check(MPI_Wait(&lost, MPI_STATUS_IGNORE) != MPI_SUCCESS, "a wait for a lost call");
  check(MPI_Waitall(1, &lost, MPI_STATUSES_IGNORE) != MPI_SUCCESS, "a wait for all");
  check(MPI_Testall(1, &lost, &flag, MPI_STATUSES_IGNORE) != MPI_SUCCESS, "a test of all");
  check(MPI_Waitany(1, &lost, &index, MPI_STATUS_IGNORE) != MPI_SUCCESS, "a wait for any");
  check(MPI_Request_get_status(lost, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS, "the status of a lost call");
}

static int ending(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  int got = -1;
  const int sent = 7;
  MPI_Request receive, none = MPI_REQUEST_NULL;
  if (lost != MPI_REQUEST_NULL) refused_for_ever();
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
  if (is_given(argc, argv, "tags")) tags();
  if (is_given(argc, argv, "looks")) looks();
  if (is_given(argc, argv, "uncommitted")) uncommitted();
  // MPI_Finalize calls functions of the program first.
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ending, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &kept);
  MPI_Start(&kept);
  MPI_Wait(&kept, MPI_STATUS_IGNORE);
  check(out == ranks, "a persistent sum");
  if (is_given(argc, argv, "lost")) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0) MPI_Ibarrier(MPI_COMM_WORLD, &lost);
  }
  MPI_Finalize();
  return 0;
}
