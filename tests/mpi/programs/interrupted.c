// SPDX-License-Identifier: BSD-3-Clause
//
// To be preloaded: memory is provided as on a system where a signal, of a profiler's timer say, comes at every first
// attempt. Says at the end how often one came.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>

typedef int Fallocate(int, int, off_t, off_t);

static atomic_int attempts;

int fallocate(int file, int mode, off_t offset, off_t bytes) {
  if (atomic_fetch_add(&attempts, 1) % 2 == 0) {
    errno = EINTR;
    return -1;
  }
  return ((Fallocate*)dlsym(RTLD_NEXT, "fallocate"))(file, mode, offset, bytes);
}

int fallocate64(int file, int mode, off64_t offset, off64_t bytes) { return fallocate(file, mode, offset, bytes); }

__attribute__((destructor)) static void say(void) {
  if (attempts > 0) fprintf(stderr, "interrupted %d times\n", attempts / 2);
}
