// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels for x86-64 with AVX2 and F16C; empty elsewhere. Built with flags of its own.

#if defined(__x86_64__)

#if !(defined(__AVX2__) && defined(__F16C__))
#error "kernels_avx2.cc must be compiled with -mavx2 -mf16c"
#endif

#include "reduce/kernels_impl.hpp"

namespace stretto::reduce {

constinit const Table avx2_table = table;

}  // namespace stretto::reduce

#endif
