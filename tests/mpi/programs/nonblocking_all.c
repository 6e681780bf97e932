// SPDX-License-Identifier: BSD-3-Clause
//
// All 17 nonblocking collectives, up to 16 in flight on three communicators, of several sizes, types and roots, in
// place and with large counts, completed in every way. What is called is the same on all ranks, drawn from the seed; in
// which order communicators are served and how requests are completed is each rank's own choice. Arguments: seed and
// rounds. Prints how often rank 0 called what.
#include <unistd.h>

#include "every_collective.c"
#include "every_wait.c"

static unsigned common, own;  // states from which numbers are drawn

static void draw_job(struct job* j, MPI_Comm comm) {
  static int deck[functions], left;  // every function as often as every other
  static const int bytes[] = {8, 20 << 10, 8, 20 << 10, 1 << 20};
  if (left == 0)
    for (; left < functions; ++left) deck[left] = left;
  const unsigned drawn = draw(&common, left);
  j->function = deck[drawn];
  deck[drawn] = deck[--left];
  j->comm = comm;
  j->kind = draw(&common, kinds);
  j->in_place = draw(&common, 3) == 0;
  j->large = has_large && draw(&common, 4) == 0;
  j->shape = draw(&common, 3);
  j->seed = draw(&common, 1 << 20);
  int ranks;
  MPI_Comm_size(comm, &ranks);
  j->root = draw(&common, 100) % ranks;
  const int elements = bytes[draw(&common, 5)] / (int)size_of(j->kind);
  j->n = is_parted(j->function) ? (elements + ranks - 1) / ranks : elements;
  if (draw(&common, 10) == 0) j->n = 0;
}

// Calls on one communicator have one order, those on different ones have none.
static void begin_all(int n, struct job* jobs, const int* on, MPI_Request* requests) {
  int next[comms] = {0};
  for (int begun = 0; begun < n;) {
    const int c = (int)draw(&own, comms);
    int* i = &next[c];
    while (*i < n && on[*i] != c) ++*i;
    if (*i == n) continue;
    begin(&jobs[*i], &requests[*i]);
    ++*i, ++begun;
  }
}

static void run_round(MPI_Comm* comm) {
  struct job jobs[in_flight];
  MPI_Request requests[in_flight];
  int on[in_flight];
  const int n = 1 + (int)draw(&common, in_flight);
  for (int i = 0; i < n; ++i) {
    on[i] = (int)draw(&common, comms);
    draw_job(&jobs[i], comm[on[i]]);
    make(&jobs[i]);
  }
  begin_all(n, jobs, on, requests);
  complete(n, requests, draw(&own, ways), &own);
  for (int i = 0; i < n; ++i) {
    if (requests[i] != MPI_REQUEST_NULL) wrong("request of a completed call", &jobs[i]);
    check(&jobs[i]);
    drop(&jobs[i]);
  }
}

int main(int argc, char** argv) {
  MPI_Comm comm[comms];
  alarm(90);  // rather than to hang
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm[1]);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &comm[2]);
  // Nonblocking calls need not be served on a communicator that no blocking one was called on.
  for (int c = 0; c < comms; ++c, ++calls[barrier]) MPI_Barrier(comm[c]);
  common = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  own = common * 31 + world_rank;
  const int rounds = argc > 2 ? atoi(argv[2]) : 20;
  native = argc > 3 && !strcmp(argv[3], "native");
  converts = argc > 3 && !strcmp(argv[3], "converts");
  for (int i = 0; i < rounds; ++i) run_round(comm);
  for (int c = 0; c < comms; ++c) MPI_Comm_free(&comm[c]);
  print_counts();
  MPI_Finalize();
  if (world_rank == 0) puts("all right");
  return 0;
}
