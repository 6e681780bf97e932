// SPDX-License-Identifier: BSD-3-Clause
//
// Spawns a copy of itself again and again, makes a collective with it, and lets it go. Says what of this process is
// left after the second and the last of them, and whether the children were preloaded with Stretto. Arguments: how
// often; then multiple, if all ranks are to spawn two by MPI_Comm_spawn_multiple.
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void spawn(char* program, int multiple, MPI_Comm* inter) {
  char* programs[2] = {program, program};
  const int one_each[2] = {1, 1};
  const MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
  if (multiple)
    MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, one_each, infos, 0, MPI_COMM_WORLD, inter,
                            MPI_ERRCODES_IGNORE);
  else
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, inter, MPI_ERRCODES_IGNORE);
}

static void what_is_left(const char* when) {
  char line[512];
  int mappings = 0, descriptors = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) mappings += strstr(line, "memfd:stretto") != NULL;
  fclose(maps);
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder)) ++descriptors;
  closedir(folder);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);  // of two, each has descriptors of its own
  if (rank == 0) printf("%s: %d mappings, %d descriptors\n", when, mappings, descriptors);
}

/// With the other world, over a copy of what the MPI made. Returns whether the children have Stretto.
static int meet(MPI_Comm* inter, int child) {
  int mine[2] = {1, 0}, sums[2] = {0, 0}, ranks = 0;
  MPI_Comm copy, all;
  const char* preloaded = getenv("LD_PRELOAD");
  if (child) mine[1] = preloaded && strstr(preloaded, "libstretto");
  MPI_Comm_dup(*inter, &copy);
  MPI_Intercomm_merge(copy, child, &all);
  MPI_Comm_free(&copy);
  MPI_Comm_size(all, &ranks);
  for (int i = 0; i < 4; ++i) {
    MPI_Allreduce(mine, sums, 2, MPI_INT, MPI_SUM, all);
    if (sums[0] != ranks) {
      printf("wrong\n");
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  }
  MPI_Comm_free(&all);  // Open MPI hangs in disconnecting it
  MPI_Comm_disconnect(inter);
  return sums[1];
}

int main(int argc, char** argv) {
  MPI_Comm inter;
  int children = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&inter);
  if (inter != MPI_COMM_NULL) {
    meet(&inter, 1);
    MPI_Finalize();
    return 0;
  }
  const int times = atoi(argv[1]);
  for (int i = 0; i < times; ++i) {
    spawn(argv[0], argc > 2, &inter);
    children += meet(&inter, 0);
    if (i == 1) what_is_left("early");
  }
  what_is_left("late");
  printf("children with Stretto: %d\nall right\n", children);
  MPI_Finalize();
  return 0;
}
