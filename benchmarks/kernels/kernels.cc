// SPDX-License-Identifier: BSD-3-Clause
//
// stretto-kernels [OPERATOR [TYPE [VARIANT]]]: how fast the reduction kernels are, alone on one core; the best of
// several passes. Columns: ns for a call with 1, 4 and 8 elements; GB/s of result while all three vectors lie in the
// cache (32 KiB each); GB/s of result as in a reduction of 16 MiB by pieces of 64 KiB: the left operand is a piece in
// the cache, the right one and the target are in memory; with ordinary stores and with non-temporal stores. Then the
// same for copies of a piece in the cache. Numbers of memory mean something only if nothing else runs: start one for
// each core to see what they leave each other.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "reduce/kernels.hpp"
#include "support/memory.hpp"

namespace {

using namespace stretto;
using namespace stretto::reduce;

constexpr Bytes piece = 64 << 10;
constexpr Bytes in_cache = 32 << 10;
constexpr Bytes in_memory = 16 << 20;

/// Seconds of the fastest of some passes.
template <typename Pass>
double best(int passes, Pass pass) {
  using Clock = std::chrono::steady_clock;
  double least = 1e9;
  for (int i = 0; i < passes; ++i) {
    const auto start = Clock::now();
    pass();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return least;
}

/// Zeros, all of them in memory of their own.
std::vector<char> vector_of(Bytes bytes) { return std::vector<char>(static_cast<std::size_t>(bytes)); }

class Bench {
 public:
  void measure(const Variant& variant, Op op, Type type) {
    const Kernel cached = (*variant.table)(op, type);
    if (cached == nullptr) return;
    const Bytes size = size_of(type);
    std::printf("%-7s %-10s %-9s", name_of(op).data(), name_of(type).data(), variant.name.data());
    for (const Count n : {1, 4, 8}) std::printf(" %6.1f", nanoseconds(cached, n));
    const double seconds = best(50, [&] { cached(left_.data(), right_.data(), target_.data(), in_cache / size); });
    std::printf(" %8.1f", in_cache / seconds / 1e9);
    for (const Stores stores : {Stores::cached, Stores::non_temporal}) {
      const Kernel kernel = (*variant.table)(op, type, stores);
      if (stores == Stores::non_temporal && kernel == cached)
        std::printf(" %10s", "-");
      else
        std::printf(" %10.1f",
                    through_memory([&](const char* l, const char* r, char* t) { kernel(l, r, t, piece / size); }));
    }
    std::printf("\n");
  }

  void measure_copies() {
    const auto cached = [](const char* l, const char*, char* t) { std::memcpy(t, l, piece); };
    const auto non_temporal = [](const char* l, const char*, char* t) { copy_non_temporal(t, l, piece); };
    std::printf("%-58s %10.1f %10.1f\n", "copy", through_memory(cached), through_memory(non_temporal));
  }

 private:
  double nanoseconds(Kernel kernel, Count n) {
    constexpr int calls = 2000;
    return 1e9 / calls * best(20, [&] {
             for (int i = 0; i < calls; ++i) kernel(left_.data(), right_.data(), target_.data(), n);
           });
  }

  template <typename Work>
  double through_memory(Work work) {
    return in_memory / 1e9 / best(8, [&] {
             for (Bytes at = 0; at < in_memory; at += piece)
               work(left_.data(), right_.data() + at, target_.data() + at);
           });
  }

  std::vector<char> left_ = vector_of(piece), right_ = vector_of(in_memory), target_ = vector_of(in_memory);
};

}  // namespace

int main(int argc, char** argv) {
  const auto wanted = [&](int at, std::string_view name) { return argc <= at || name == argv[at]; };
  Bench bench;
  bool any = false;
  std::printf("%-28s %6s %6s %6s %8s %10s %10s\n", "", "n=1 ns", "n=4 ns", "n=8 ns", "cache", "memory", "past cache");
  for (int op = 0; op < op_count; ++op)
    for (int type = 0; type < type_count; ++type)
      for (const Variant& variant : variants()) {
        const auto o = static_cast<Op>(op);
        const auto t = static_cast<Type>(type);
        if (!variant.supported || !wanted(1, name_of(o)) || !wanted(2, name_of(t)) || !wanted(3, variant.name))
          continue;
        any = any || (*variant.table)(o, t) != nullptr;
        bench.measure(variant, o, t);
      }
  if (!any) {
    std::fprintf(stderr,
                 "stretto-kernels: no such kernel\nhint: stretto-kernels [OPERATOR [TYPE [VARIANT]]], "
                 "for example: stretto-kernels sum f64 avx2\n");
    return 2;
  }
  bench.measure_copies();
  return 0;
}
