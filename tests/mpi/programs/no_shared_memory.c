// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks without the means to share memory. Arguments: which of them (first, last or all), and what they lack:
// descriptors (all that they may have are open), files (none may be as large as is asked for), or nothing.
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void limit(int what, rlim_t most) {
  struct rlimit now;
  getrlimit(what, &now);
  now.rlim_cur = most;
  if (setrlimit(what, &now) != 0) perror("setrlimit");
}

// Past Stretto, whose MPI_Init would take the means while they are there. The MPI itself needs them there.
static void init_natively(void) {
  void* mpi = dlopen("libmpi.so.12", RTLD_LAZY | RTLD_NOLOAD);
  if (!mpi) mpi = dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);
  int (*init)(int*, char***);
  *(void**)&init = dlsym(mpi, "PMPI_Init");
  init(NULL, NULL);
}

int main(int argc, char** argv) {
  int rank, ranks, right = 1;
  (void)argc;
  init_natively();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int concerned = !strcmp(argv[1], "all") || rank == (strcmp(argv[1], "first") ? ranks - 1 : 0);
  if (concerned && !strcmp(argv[2], "descriptors")) {
    const int next = open("/dev/null", O_RDONLY);
    close(next);
    limit(RLIMIT_NOFILE, (rlim_t)next);
  }
  if (concerned && !strcmp(argv[2], "files")) limit(RLIMIT_FSIZE, 1 << 20);
  for (int i = 0; i < 20; ++i) {
    MPI_Comm comm;
    int sum = 0, sizes[64] = {0};
    if (i % 2)
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else
      MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Allgather(&i, 1, MPI_INT, sizes, 1, MPI_INT, comm);
    for (int r = 0; r < ranks; ++r) right = right && sizes[r] == i;
    right = right && sum == ranks * (ranks - 1) / 2;
    MPI_Comm_free(&comm);
  }
  int everybody = 0;
  MPI_Allreduce(&right, &everybody, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (rank == 0) printf(everybody ? "all right\n" : "wrong\n");
  MPI_Finalize();
  return everybody ? 0 : 3;
}
