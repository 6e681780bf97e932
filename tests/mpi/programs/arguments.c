// SPDX-License-Identifier: BSD-3-Clause
//
// Not a program: programs of several cases include it. Their arguments are cases, tried one after the other, and ways
// to run them.
#include <string.h>

static int is_given(int argc, char** argv, const char* word) {
  for (int i = 1; i < argc; ++i)
    if (!strcmp(argv[i], word)) return 1;
  return 0;
}
