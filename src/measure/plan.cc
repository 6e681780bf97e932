// SPDX-License-Identifier: BSD-3-Clause
#include "measure/plan.hpp"

#include <climits>
#include <cmath>
#include <fstream>
#include <iterator>

#include "stretto/error.hpp"
#include "stretto/rules.hpp"

namespace stretto::measure {
namespace {

constexpr Bytes largest = Bytes{8} << 30;  // of which MPI can count the doubles in int

}  // namespace

Bytes size_of(std::string_view word) {
  const auto bytes = parse_size(word);
  if (!bytes) throw Error("'" + std::string(word) + "' is no size");
  return *bytes;
}

Mode mode_of(std::string_view word) {
  for (const Mode mode : {Mode::back_to_back, Mode::synchronised})
    if (word == name_of(mode)) return mode;
  throw Error("'" + std::string(word) + "' is no mode: write back-to-back or synchronised");
}

PointSpec spec_of(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == word.npos) throw Error("'" + std::string(word) + "' has no size: write allreduce:8,bcast:1K");
  const std::string_view rest = word.substr(colon + 1);
  const std::size_t second = rest.find(':');
  const Mode mode = second == rest.npos ? Mode::back_to_back : mode_of(rest.substr(second + 1));
  return {benchmark_named(word.substr(0, colon)), size_of(rest.substr(0, second)), mode};
}

std::pair<PointSpec, PointSpec> pair_of(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash == word.npos) throw Error("'" + std::string(word) + "' is no pair: write allreduce:8/allreduce:16");
  return {spec_of(word.substr(0, slash)), spec_of(word.substr(slash + 1))};
}

Point checked_point(const PointSpec& spec, int ranks) {
  if (spec.bytes > largest) throw Error("sizes end at 8G");
  Point point = point_of(spec.benchmark, spec.bytes, ranks);
  point.mode = spec.mode;
  if ((facts(spec.benchmark.function).irregular || !spec.benchmark.components.empty()) &&
      2 * point.bytes * ranks > INT_MAX)
    throw Error(name_of(spec.benchmark) +
                " counts all parts together by int: sizes end at 1G over the number of ranks");
  return point;
}

Pair rounded(const PointSpec& left, const PointSpec& right, int ranks) {
  Pair pair{checked_point(left, ranks), {}};
  const bool sized = pair.left.bytes > 0 && left.bytes > 0;
  const double scale = sized ? static_cast<double>(pair.left.bytes) / static_cast<double>(left.bytes) : 1;
  pair.right = checked_point({right.benchmark, std::llround(static_cast<double>(right.bytes) * scale)}, ranks);
  if (sized && left.bytes == right.bytes) pair.left = checked_point({left.benchmark, pair.right.bytes}, ranks);
  pair.left.asked = left.bytes;
  pair.right.asked = right.bytes;
  return pair;
}

std::vector<PlannedPoint> read_plan(const std::string& path, int rank) {
  std::string text;
  if (rank == 0) {
    std::ifstream file(path);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  auto length = static_cast<int>(text.size());
  intercept::native().Bcast(&length, 1, MPI_INT, 0, intercept::constants().world);
  text.resize(static_cast<std::size_t>(length));
  intercept::native().Bcast(text.data(), length, MPI_CHAR, 0, intercept::constants().world);
  std::vector<PlannedPoint> plan;
  for_each_word(text, '\n', [&](std::string_view line) {
    bool first = true;
    for_each_word(line, ' ', [&](std::string_view word) {
      if (first) {
        plan.push_back({spec_of(word), {}});
      } else {
        plan.back().candidates.emplace_back(word);
      }
      first = false;
    });
  });
  if (plan.empty()) throw Error("there is no plan in " + path);
  return plan;
}

}  // namespace stretto::measure
