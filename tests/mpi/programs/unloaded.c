// SPDX-License-Identifier: BSD-3-Clause
//
// With -DLIBRARY a shared library that starts MPI when it is loaded and ends it when it is unloaded: before a preloaded
// library is initialised and after it is finalised. Without, a program that needs it.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef LIBRARY
static void check(const char* when) {
  int one = 1, sum = 0, ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum == ranks) return;
  fprintf(stderr, "wrong %s\n", when);
  abort();
}

__attribute__((constructor)) static void begin(void) {
  MPI_Init(NULL, NULL);
  check("before main");
}

__attribute__((destructor)) static void end(void) {
  check("after main");
  MPI_Finalize();
}

void check_in_main(void) { check("in main"); }
#else
void check_in_main(void);

int main(void) {
  check_in_main();
  puts("all right");
  return 0;
}
#endif
