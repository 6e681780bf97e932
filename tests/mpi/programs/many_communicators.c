// SPDX-License-Identifier: BSD-3-Clause
//
// Communicators made and freed in a row, then as many kept at once as the MPI allows: what grows meanwhile is printed.
// Arguments: single or multiple (threads), how many in a row, how many at once.
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank, ranks;

typedef struct {
  long descriptors, resident, shared;  // the latter two in KiB
} Usage;

static Usage usage(void) {
  Usage now = {0, 0, 0};
  char path[300], target[300], line[200];
  DIR* open = opendir("/proc/self/fd");
  for (struct dirent* entry; (entry = readdir(open));) {
    if (entry->d_name[0] == '.') continue;
    ++now.descriptors;
    snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
    const ssize_t n = readlink(path, target, sizeof target - 1);
    struct stat file;
    if (n < 0) continue;
    target[n] = 0;
    if (strncmp(target, "/memfd:stretto", 14) == 0 && stat(path, &file) == 0) now.shared += file.st_blocks / 2;
  }
  closedir(open);
  FILE* status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status)) sscanf(line, "VmRSS: %ld", &now.resident);
  fclose(status);
  return now;
}

static void check(MPI_Comm comm) {
  int size, one = 1, sum = 0;
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (sum == size) return;
  fprintf(stderr, "rank %d: wrong: %d of %d\n", rank, sum, size);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void in_a_row(int n) {
  for (int i = 0; i < n; ++i) {
    MPI_Comm comm;
    if (i % 2)
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else
      MPI_Comm_split(MPI_COMM_WORLD, ranks > 2 && rank == i % ranks, -rank, &comm);
    check(comm);
    MPI_Comm_free(&comm);
  }
}

// Returns how many there were.
static int at_once(int most) {
  MPI_Comm* kept = malloc(sizeof(MPI_Comm) * (size_t)most);
  int n = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int all = 1; n < most && all; n += all) {
    const int made = MPI_Comm_dup(MPI_COMM_WORLD, &kept[n]) == MPI_SUCCESS;
    MPI_Allreduce(&made, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (all) check(kept[n]);
  }
  const int stride = n % 7 ? 7 : 1;
  for (int i = 0; i < n; ++i) check(kept[(i + n / 2) % n]);
  for (int i = 0; i < n; ++i) MPI_Comm_free(&kept[(long)i * stride % n]);
  free(kept);
  return n;
}

int main(int argc, char** argv) {
  int given;
  MPI_Init_thread(&argc, &argv, strcmp(argv[1], "multiple") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!strcmp(argv[1], "multiple") && given != MPI_THREAD_MULTIPLE) return 4;
  check(MPI_COMM_WORLD);
  in_a_row(200);
  const Usage before = usage();
  in_a_row(atoi(argv[2]));
  const Usage after = usage();
  const int kept = at_once(atoi(argv[3]));
  const Usage first = usage();
  at_once(kept / 4);
  const Usage second = usage();
  check(MPI_COMM_WORLD);
  if (rank == 0)
    printf(
        "in a row: %ld descriptors %ld KiB resident %ld KiB shared\nat once: %d kept\n"
        "again: %ld descriptors %ld KiB resident %ld KiB shared\nin all: %ld KiB shared\nall right\n",
        after.descriptors - before.descriptors, after.resident - before.resident, after.shared - before.shared, kept,
        second.descriptors - first.descriptors, second.resident - first.resident, second.shared - first.shared,
        second.shared);
  MPI_Finalize();
  return 0;
}
