// SPDX-License-Identifier: BSD-3-Clause
//
// MPI is initialized for one thread, or with the argument "multiple" for many; a session wants many. Threads use
// communicators of the session, and duplicates and parts of them, while the main thread uses MPI_COMM_WORLD.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 3, rounds = 40, most = 5000 };

static MPI_Comm lines[threads];

static void check(int correct, const char* what, int line) {
  if (correct) return;
  fprintf(stderr, "line %d: wrong: %s\n", line, what);
  abort();
}

static void use(MPI_Comm comm, int line, int n) {
  static _Thread_local double in[most], out[most];
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < n; ++i) in[i] = rank + line + i;
  MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm);
  for (int i = 0; i < n; ++i) check(out[i] == ranks * (ranks - 1) / 2 + (double)ranks * (line + i), "allreduce", line);
  for (int i = 0; i < n; ++i) out[i] = rank == n % ranks ? in[i] : -1;
  MPI_Bcast(out, n, MPI_DOUBLE, n % ranks, comm);
  for (int i = 0; i < n; ++i) check(out[i] == n % ranks + line + i, "bcast", line);
}

static void* work(void* argument) {
  const int line = *(int*)argument;
  int rank;
  MPI_Comm_rank(lines[line], &rank);
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comm;
    if (round % 2)
      MPI_Comm_dup(lines[line], &comm);
    else
      MPI_Comm_split(lines[line], rank % 2, -rank, &comm);
    for (int n = 1; n < most; n *= 7) use(comm, line, n);
    MPI_Comm_free(&comm);
    for (int i = 0; i < 20; ++i) use(lines[line], line, 1 + i);
  }
  return NULL;
}

static int wanted_level(MPI_Session* session) {
  char given[MPI_MAX_INFO_VAL] = "";
  int there = 0, size = sizeof given;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
  const int code = MPI_Session_init(info, MPI_ERRORS_RETURN, session);
  MPI_Info_free(&info);
  if (code != MPI_SUCCESS) return 0;
  MPI_Session_get_info(*session, &info);
  MPI_Info_get_string(info, "thread_level", &size, given, &there);
  MPI_Info_free(&info);
  return there && !strcmp(given, "MPI_THREAD_MULTIPLE");
}

int main(int argc, char** argv) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group;
  int rank, provided, numbers[threads];
  pthread_t all[threads];
  const int many = argc > 1 && !strcmp(argv[1], "multiple");
  if (many)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else
    MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!wanted_level(&session) || (many && provided < MPI_THREAD_MULTIPLE)) {
    if (rank == 0) printf("skipped: a session gives no MPI_THREAD_MULTIPLE after MPI_Init\n");
    if (session != MPI_SESSION_NULL) MPI_Session_finalize(&session);
    MPI_Finalize();
    return 0;
  }
  // After MPI_Init its first collective is one of a single thread, as far as MPI_COMM_WORLD knows.
  use(MPI_COMM_WORLD, threads, 3);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  for (int t = 0; t < threads; ++t) {
    char name[32];
    snprintf(name, sizeof name, "line %d", t);
    MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &lines[t]);
  }
  MPI_Group_free(&group);
  for (int t = 0; t < threads; ++t) {
    numbers[t] = t;
    pthread_create(&all[t], NULL, work, &numbers[t]);
  }
  for (int i = 0; i < 400; ++i) use(MPI_COMM_WORLD, threads, 1 + i);
  for (int t = 0; t < threads; ++t) pthread_join(all[t], NULL);
  for (int t = 0; t < threads; ++t) MPI_Comm_free(&lines[t]);
  MPI_Session_finalize(&session);
  if (rank == 0) printf("all right\n");
  MPI_Finalize();
  return 0;
}
