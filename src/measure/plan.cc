// SPDX-License-Identifier: BSD-3-Clause
#include "measure/plan.hpp"

#include <climits>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>

#include "stretto/error.hpp"
#include "stretto/rules.hpp"

namespace stretto::measure {
namespace {

constexpr Bytes largest = Bytes{8} << 30;  // of which MPI can count the doubles in int
constexpr Mode all_modes[] = {Mode::back_to_back, Mode::synchronised};

template <typename One, std::size_t n>
std::optional<One> named(const One (&all)[n], std::string_view word) {
  for (const One one : all)
    if (word == name_of(one)) return one;
  return std::nullopt;
}

}  // namespace

Bytes size_of(std::string_view word) {
  const auto bytes = parse_size(word);
  if (!bytes) throw Error("'" + std::string(word) + "' is no size");
  return *bytes;
}

Mode mode_of(std::string_view word) {
  if (const auto mode = named(all_modes, word)) return *mode;
  throw Error("'" + std::string(word) + "' is no mode: write back-to-back or synchronised");
}

Form form_of(std::string_view word) {
  if (const auto form = named(all_forms, word)) return *form;
  throw Error("'" + std::string(word) + "' is no form of a call: write blocking, nonblocking or persistent");
}

PointSpec spec_of(std::string_view word) {
  std::string_view rest = word;
  const std::string_view name = take_until(rest, ':');
  if (name == word) throw Error("'" + std::string(word) + "' has no size: write allreduce:8,bcast:1K");
  PointSpec spec{benchmark_named(name), size_of(take_until(rest, ':'))};
  for_each_word(rest, ':', [&](std::string_view one) {
    if (const auto mode = named(all_modes, one))
      spec.mode = *mode;
    else if (const auto form = named(all_forms, one))
      spec.form = *form;
    else
      throw Error("'" + std::string(one) + "' is neither a mode nor a form of a call");
  });
  return spec;
}

std::vector<PointSpec> group_of(std::string_view word) {
  std::vector<PointSpec> group;
  for_each_word(word, '/', [&](std::string_view one) { group.push_back(spec_of(one)); });
  if (group.size() < 2) throw Error("'" + std::string(word) + "' is no pair: write allreduce:8/allreduce:16");
  return group;
}

Point checked_point(const PointSpec& spec, int ranks) {
  if (spec.bytes > largest) throw Error("sizes end at 8G");
  Point point = point_of(spec.benchmark, spec.bytes, ranks);
  point.mode = spec.mode;
  point.form = spec.form;
  if ((facts(spec.benchmark.function).irregular || !spec.benchmark.components.empty()) &&
      2 * point.bytes * ranks > INT_MAX)
    throw Error(name_of(spec.benchmark) +
                " counts all parts together by int: sizes end at 1G over the number of ranks");
  return point;
}

std::vector<Point> rounded(const std::vector<PointSpec>& group, int ranks) {
  const auto of_size = [ranks](PointSpec spec, Bytes bytes) {
    spec.bytes = bytes;
    return checked_point(spec, ranks);
  };
  std::vector<Point> points{checked_point(group[0], ranks)};
  const Bytes asked = group[0].bytes;
  const bool sized = points[0].bytes > 0 && asked > 0;
  const double scale = sized ? static_cast<double>(points[0].bytes) / static_cast<double>(asked) : 1;
  for (std::size_t i = 1; i < group.size(); ++i) {
    points.push_back(of_size(group[i], std::llround(static_cast<double>(group[i].bytes) * scale)));
    if (sized && asked == group[i].bytes) points[0] = of_size(group[0], points[i].bytes);
  }
  for (std::size_t i = 0; i < group.size(); ++i) points[i].asked = group[i].bytes;
  return points;
}

std::vector<PlannedPoint> read_plan(const std::string& path, int rank) {
  std::string text;
  if (rank == 0) {
    std::ifstream file(path);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  auto length = static_cast<int>(text.size());
  mpi::native().Bcast(&length, 1, MPI_INT, 0, mpi::constants().world);
  text.resize(static_cast<std::size_t>(length));
  mpi::native().Bcast(text.data(), length, MPI_CHAR, 0, mpi::constants().world);
  std::vector<PlannedPoint> plan;
  for_each_word(text, '\n', [&](std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return;
    const PointSpec spec = spec_of(words[0]);
    // A persistent request keeps the algorithm with which it was made, whatever candidate comes next.
    if (spec.form != Form::blocking) throw Error("candidates are compared in blocking calls alone");
    plan.push_back({spec, std::vector<std::string>(words.begin() + 1, words.end())});
  });
  if (plan.empty()) throw Error("there is no plan in " + path);
  return plan;
}

}  // namespace stretto::measure
