// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels for x86-64 with AVX-512 (F, BW, DQ and VL) and F16C; empty elsewhere. Built with flags of its own.

#if defined(__x86_64__)

#if !(defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
      defined(__F16C__))
#error "kernels_avx512.cc must be compiled with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mf16c"
#endif

#include "reduce/kernels_impl.hpp"

namespace stretto::reduce {

constinit const Table avx512_table = table;

}  // namespace stretto::reduce

#endif
