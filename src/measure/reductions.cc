// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

#include "measure/results.hpp"
#include "reduce/kernels.hpp"

namespace stretto::measure {
namespace {

using reduce::Op;
using reduce::Type;

constexpr Bytes piece = 64 << 10;   // of a message, as it is combined while it is in the cache
constexpr Bytes message = 2 << 20;  // the largest that a model is fitted to
constexpr int turns = 9;

/// What a rank does with a long message: pieces that have just come, combined with its own vector into another one.
class Stream {
 public:
  double seconds(Op op, Type type) {
    using Clock = std::chrono::steady_clock;
    const reduce::Kernel kernel = reduce::kernel(op, type);
    const Count n = piece / reduce::size_of(type);
    const auto start = Clock::now();
    for (Bytes at = 0; at < message; at += piece) kernel(arrived_.data(), own_.data() + at, result_.data() + at, n);
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

 private:
  // Zeros are valid numbers of every type, and no operator makes slow ones of them.
  std::vector<char> arrived_ = std::vector<char>(piece), own_ = std::vector<char>(message),
                    result_ = std::vector<char>(message);
};

/// The median, over turns of one after the other: what slows both down for a while does not matter.
double ratio(Stream& stream, Op op, Type type) {
  std::vector<double> ratios;
  stream.seconds(op, type);
  for (int i = 0; i < turns; ++i) {
    const double usual = stream.seconds(Op::sum, Type::f64);
    ratios.push_back(stream.seconds(op, type) / usual);
  }
  return quantile(std::move(ratios), 0.5);
}

}  // namespace

void print_reductions() {
  Stream stream;
  std::printf("{\"reductions\":[");
  const char* before = "";
  for (int op = 0; op < reduce::op_count; ++op)
    for (int type = 0; type < reduce::type_count; ++type) {
      const auto o = static_cast<Op>(op);
      const auto t = static_cast<Type>(type);
      if (!reduce::kernel(o, t)) continue;
      std::printf("%s[\"%s\",\"%s\",%.4f]", std::exchange(before, ","), reduce::name_of(o).data(),
                  reduce::name_of(t).data(), ratio(stream, o, t));
    }
  std::puts("]}");
  std::fflush(stdout);
}

}  // namespace stretto::measure
