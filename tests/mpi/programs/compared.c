// SPDX-License-Identifier: BSD-3-Clause
//
// compared WAY [CALLS]: a program that `stretto compare` measures, and what may become of it. Some ways depend on
// whether Stretto serves its calls.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { floats = 256 };

static int served(void) {
  const char* disabled = getenv("STRETTO_DISABLE");
  return getenv("LD_PRELOAD") != NULL && (!disabled || strcmp(disabled, "1") != 0);
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "sums";
  const int calls = argc > 2 ? atoi(argv[2]) : 1000;
  static float in[floats], out[floats];
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(way, "silent") != 0) {
    for (int i = 0; i < calls; ++i) MPI_Allreduce(in, out, floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < calls / 10; ++i) MPI_Bcast(in, floats, MPI_FLOAT, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%d sums\n", calls);
  if (rank == 0 && strcmp(way, "differs") == 0) printf("%s\n", served() ? "one word" : "another word");
  if (rank == 0 && strcmp(way, "rounds") == 0) printf("energy %.17g\n", served() ? 0.1 + 0.2 : 0.3);
  if (rank == 0 && strcmp(way, "varies") == 0) printf("process %d\n", (int)getpid());
  if (rank == 0 && strcmp(way, "reads") == 0) {
    char word[64] = "";
    if (scanf("%63s", word) != 1) strcpy(word, "nothing");
    printf("read %s\n", word);
  }
  fflush(stdout);
  if (strcmp(way, "hangs") == 0 && served()) sleep(600);
  if (strcmp(way, "fails") == 0 && served()) fprintf(stderr, "it is served\n");
  MPI_Finalize();
  return strcmp(way, "fails") == 0 ? (served() ? 7 : 0) : strcmp(way, "fails-always") == 0 ? 3 : 0;
}
