// SPDX-License-Identifier: BSD-3-Clause
//
// How much memory this process shares after its first collective, as the system counts it, and how many of the mappings
// of such memory would stand in a core file. Argument, if any: locked (all memory is locked beforehand).
#include <dirent.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static long shared_kib(void) {
  long kib = -1;
  struct dirent* entry;
  DIR* folder = opendir("/proc/self/fd");
  while ((entry = readdir(folder))) {
    char path[PATH_MAX], target[64] = "";
    struct stat found;
    snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
    if (readlink(path, target, sizeof target - 1) < 0 || strncmp(target, "/memfd:stretto", 14) != 0) continue;
    if (stat(path, &found) == 0) kib = (kib < 0 ? 0 : kib) + (long)found.st_blocks / 2;
  }
  closedir(folder);
  return kib;
}

static void look_at_mappings(int* mappings, int* dumped) {
  char line[1024];
  int ours = 0;
  FILE* file = fopen("/proc/self/smaps", "r");
  while (fgets(line, sizeof line, file)) {
    unsigned long first, end;
    if (sscanf(line, "%lx-%lx ", &first, &end) == 2) ours = strstr(line, "memfd:stretto") != NULL;
    if (!ours || strncmp(line, "VmFlags:", 8) != 0) continue;
    ++*mappings;
    *dumped += strstr(line, " dd") == NULL;
  }
  fclose(file);
}

int main(int argc, char** argv) {
  double mine = 1, sum = 0;
  int rank, mappings = 0, dumped = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    if (rank == 0) printf("skipped: mlockall is not permitted here\n");
    MPI_Finalize();
    return 0;
  }
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  look_at_mappings(&mappings, &dumped);
  printf("shared: %ld KiB, %d mappings, %d dumped\n", shared_kib(), mappings, dumped);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
