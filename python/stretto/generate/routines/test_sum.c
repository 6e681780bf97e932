/* SPDX-License-Identifier: BSD-3-Clause */

static long sum_of(int i) { return (long)RANKS * (RANKS + 1) / 2 * (i % 1009 + 1); }
