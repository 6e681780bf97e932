// SPDX-License-Identifier: BSD-3-Clause
//
// The five neighbourhood collectives, blocking, nonblocking and persistent, of several sizes, types and places, with
// small and large counts, on grids, graphs and distributed graphs of many shapes. What is called is the same on all
// ranks, drawn from the seed; how requests are completed is each rank's own choice. Arguments: seed; perhaps native,
// for a run without Stretto; names of forms, functions and communicators, or what these begin with, to run only those.
#include <signal.h>
#include <unistd.h>

#include "neighbourhood_calls.c"

#include "every_wait.c"

enum { in_batch = 10, batches = 2, turns = 4, sizes = 5 };

static int wishes;
static char** wish;
static char under_way[200] = "MPI_Init";

static void hangs(int signal) {
  (void)signal;
  const ssize_t written = write(2, "hangs in ", 9) + write(2, under_way, strlen(under_way)) + write(2, "\n", 1);
  _exit(written > 0 ? 4 : 5);
}

static int begins_with(const char* name, const char* wanted) { return !strncmp(name, wanted, strlen(wanted)); }

// Of those wishes that name one of a kind, one must name this. A function's name may begin another's.
static int is_wanted(const char* name, const char* const* all, int n, int whole) {
  int any = 0, this = 0;
  for (int i = 0; i < wishes; ++i)
    for (int k = 0; k < n; ++k) {
      const int fits = whole ? !strcmp(all[k], wish[i]) : begins_with(all[k], wish[i]);
      any |= fits;
      this |= fits && !strcmp(all[k], name);
    }
  return this || !any;
}

static void draw_job(struct job* j, const struct topology* t, enum form form, int function) {
  static const int items[sizes] = {0, 1, 7, 160, 1500};
  *j = (struct job){.function = function, .form = form, .topology = t};
  j->items = items[draw(&common, sizes)];
  j->large = has_large && draw(&common, 4) == 0;
  j->shape = draw(&common, 100);
  j->seed = draw(&common, 1 << 20);
  j->base = draw(&common, base_types);
  j->kinds[sent] = draw(&common, 2) ? plain : draw(&common, kinds);
  j->kinds[received] = draw(&common, 2) ? plain : draw(&common, kinds);
}

static int is_run(const struct job* j) { return is_sound(j) && is_wanted(names[j->function], names, functions, 1); }

static void run_blocking(const struct topology* t) {
  for (int i = 0; i < functions * sizes; ++i) {
    struct job j;
    MPI_Request none;
    draw_job(&j, t, blocking, i % functions);
    if (!is_run(&j)) continue;
    make(&j);
    begin(&j, &none);
    check(&j);
    drop(&j);
  }
}

// Each function as often as every other, in a random order.
static int draw_jobs(struct job* jobs, const struct topology* t, enum form form) {
  int n = 0;
  for (int i = 0, first = (int)draw(&common, functions); i < in_batch; ++i) {
    draw_job(&jobs[n], t, form, (first + i * (1 + i / functions)) % functions);
    n += is_run(&jobs[n]);
  }
  for (int i = 0; i < n; ++i) make(&jobs[i]);
  return n;
}

static void run_nonblocking(const struct topology* t) {
  for (int batch = 0; batch < batches; ++batch) {
    struct job jobs[in_batch];
    MPI_Request requests[in_batch];
    const int n = draw_jobs(jobs, t, nonblocking);
    for (int i = 0; i < n; ++i) begin(&jobs[i], &requests[i]);
    if (n) complete(n, requests, draw(&own, ways), &own);
    for (int i = 0; i < n; ++i) {
      if (requests[i] != MPI_REQUEST_NULL) wrong("request of a completed call", &jobs[i]);
      check(&jobs[i]);
      drop(&jobs[i]);
    }
  }
}

#ifdef PERSISTENT
// One by one, at once, or in an order of each rank's own: calls are matched by the order in which they were made.
static void start(int n, MPI_Request* requests, int turn) {
  int started[in_batch] = {0};
#ifdef I_MPI_VERSION
  if (native) turn %= 2;  // of Intel MPI 2021.18's own the order of the starts matters
#endif
  if (turn % 3 == 1) MPI_Startall(n, requests);
  for (int i = 0; i < n && turn % 3 == 0; ++i) MPI_Start(&requests[i]);
  for (int i = 0; i < n && turn % 3 == 2;) {
    const int at = (int)draw(&own, n);
    if (started[at]) continue;
    MPI_Start(&requests[at]);
    started[at] = 1;
    ++i;
  }
}

static void run_persistent(const struct topology* t) {
  struct job jobs[in_batch];
  MPI_Request requests[in_batch], kept[in_batch];
  const int n = draw_jobs(jobs, t, persistent);
  for (int i = 0; i < n; ++i) begin(&jobs[i], &requests[i]);
  memcpy(kept, requests, sizeof kept);
  for (int turn = 0; turn < turns && n; ++turn) {
    for (int i = 0; i < n; ++i) {
      jobs[i].seed += 7919;
      fill(&jobs[i]);
    }
    start(n, requests, turn);
    complete(n, requests, draw(&own, ways), &own);
    for (int i = 0; i < n; ++i) {
      if (requests[i] != kept[i]) wrong("request that should stay", &jobs[i]);
      check(&jobs[i]);
    }
  }
  for (int i = 0; i < n; ++i) {
    MPI_Request_free(&requests[i]);
    if (requests[i] != MPI_REQUEST_NULL) wrong("freed request", &jobs[i]);
    drop(&jobs[i]);
  }
}
#else
static void run_persistent(const struct topology* t) { (void)t; }
#endif

static void run(int number, unsigned seed) {
  static void (*const runs[])(const struct topology*) = {run_blocking, run_nonblocking, run_persistent};
  struct topology t;
  common = seed * 1000 + number;
  make_topology(&t, number);
  for (int form = 0; form < forms && t.comm != MPI_COMM_NULL; ++form) {
    if (!is_wanted(form_names[form], form_names, forms, 1)) continue;
    common = seed * 1000 + number;
    snprintf(under_way, sizeof under_way, "%s, %s", t.name, form_names[form]);
    alarm(60);
    runs[form](&t);
  }
  if (t.comm != MPI_COMM_NULL) MPI_Comm_free(&t.comm);
}

int main(int argc, char** argv) {
  enum { n = sizeof topologies / sizeof topologies[0] };
  const char* all[n];
  const unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  native = argc > 2 && !strcmp(argv[2], "native");
  wishes = argc > 2 ? argc - 2 : 0;
  wish = argv + 2;
  signal(SIGALRM, hangs);
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  if (world_ranks > most_ranks) wrong("number of ranks", NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &bases[0]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &bases[1]);
  own = seed * 31 + world_rank;
  for (int i = 0; i < n; ++i) all[i] = topologies[i].name;
  for (int i = 0; i < n; ++i)
    if (is_wanted(all[i], all, n, 0)) run(i, seed);
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&bases[i]);
  // In MPICH 5.0.2's MPI_Finalize ranks may leave others waiting for what they sent.
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (world_rank == 0) puts("all right");
  return 0;
}
