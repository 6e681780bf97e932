// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives of long messages, some of them in place, with every value checked. As a library (-DLIBRARY): counts what
// the kernel is asked to copy between processes, and with REFUSE_KERNEL_COPY=1 refuses it, with SLOW_KERNEL_COPY=1
// takes a millisecond for it. An argument is the number of turns.
#ifdef LIBRARY
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int asked, measured;

ssize_t process_vm_readv(pid_t pid, const struct iovec* mine, unsigned long n, const struct iovec* theirs,
                         unsigned long m, unsigned long flags) {
  if (mine->iov_len < 16384) return syscall(SYS_process_vm_readv, pid, mine, n, theirs, m, flags);  // an MPI tries it
  enum { copies_of_setup = 10 };
  if (mine->iov_len == 32768 && __atomic_fetch_add(&measured, 1, __ATOMIC_RELAXED) < copies_of_setup)
    return syscall(SYS_process_vm_readv, pid, mine, n, theirs, m, flags);
  __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
  if (getenv("REFUSE_KERNEL_COPY")) {
    errno = EPERM;
    return -1;
  }
  if (getenv("SLOW_KERNEL_COPY")) usleep(1000);
  return syscall(SYS_process_vm_readv, pid, mine, n, theirs, m, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec* mine, unsigned long n, const struct iovec* theirs,
                          unsigned long m, unsigned long flags) {
  if (getenv("REFUSE_KERNEL_COPY") || getenv("REFUSE_HELP")) {
    errno = EPERM;
    return -1;
  }
  return syscall(SYS_process_vm_writev, pid, mine, n, theirs, m, flags);
}

__attribute__((destructor)) static void say(void) {
  if (asked > 0) fprintf(stderr, "asked to copy: %d\n", asked);
}
#else
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 40000 };  // of each part

static int rank, ranks, wrong;

static double value(int from, int to, int i, int turn) { return from * 7919 + to * 104729 + i % 1009 + turn; }

static void check(const char* what, double found, double wanted) {
  if (found == wanted) return;
  if (wrong++ < 3) fprintf(stderr, "rank %d: %s: %g is not %g\n", rank, what, found, wanted);
}

static void exchange(double* in, double* out, int n, int turn) {
  for (int to = 0; to < ranks; ++to)
    for (int i = 0; i < n; ++i) in[to * n + i] = value(rank, to, i, turn);
  if (turn % 2 == 0) {
    MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
  } else {
    for (int i = 0; i < ranks * n; ++i) out[i] = in[i];
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
  }
  for (int from = 0; from < ranks; ++from)
    for (int i = 0; i < n; ++i) check("alltoall", out[from * n + i], value(from, rank, i, turn));
}

static void gather_all(double* in, double* out, int n, int turn) {
  double* mine = turn % 2 == 0 ? in : out + rank * n;
  for (int i = 0; i < n; ++i) mine[i] = value(rank, 0, i, turn);
  const void* send = turn % 2 == 0 ? in : MPI_IN_PLACE;
  if (turn % 4 < 2) {
    MPI_Allgather(send, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
  } else {
    MPI_Request request;
    MPI_Iallgather(send, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (int from = 0; from < ranks; ++from)
    for (int i = 0; i < n; ++i) check("allgather", out[from * n + i], value(from, 0, i, turn));
}

static void from_a_root(double* in, double* out, int n, int turn) {
  const int root = turn % ranks;
  for (int i = 0; i < ranks * n; ++i) in[i] = value(root, i / n, i % n, turn);
  MPI_Scatter(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) check("scatter", out[i], value(root, rank, i, turn));
  for (int i = 0; i < n; ++i) in[i] = rank == root ? value(root, 0, i, turn) : -1;
  MPI_Bcast(in, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) check("bcast", in[i], value(root, 0, i, turn));
}

static void sum(double* in, double* out, int n, int turn) {
  for (int i = 0; i < n; ++i) in[i] = rank + i % 1009 + turn;
  MPI_Request request;
  MPI_Iallreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  double first = rank, all = 0;
  MPI_Allreduce(&first, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; ++i) check("allreduce", out[i], ranks * (ranks - 1) / 2 + ranks * (i % 1009 + turn));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double* in = malloc(sizeof(double) * most * (size_t)ranks);
  double* out = malloc(sizeof(double) * most * (size_t)ranks);
  const int turns = argc > 1 ? atoi(argv[1]) : 12;
  for (int turn = 0; turn < turns; ++turn) {
    const int n = turn % 3 == 2 ? most : 4000 + 1000 * (turn % 12);
    exchange(in, out, n, turn);
    gather_all(in, out, n, turn);
    from_a_root(in, out, n, turn);
    sum(in, out, n, turn);
  }
  free(in);
  free(out);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && wrong == 0) printf("all right\n");
  MPI_Finalize();
  return wrong > 0;
}
#endif
