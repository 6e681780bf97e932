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

Kind kind_of(std::string_view word) {
  const auto kind = kind_named(word);
  if (!kind) throw Error("unknown function '" + std::string(word) + "'");
  return *kind;
}

Bytes size_of(std::string_view word) {
  const auto bytes = parse_size(word);
  if (!bytes) throw Error("'" + std::string(word) + "' is no size");
  return *bytes;
}

Wish wish_of(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == word.npos) throw Error("'" + std::string(word) + "' has no size: write allreduce:8,bcast:1K");
  return {kind_of(word.substr(0, colon)), size_of(word.substr(colon + 1))};
}

std::pair<Wish, Wish> pair_of(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash == word.npos) throw Error("'" + std::string(word) + "' is no pair: write allreduce:8/allreduce:16");
  return {wish_of(word.substr(0, slash)), wish_of(word.substr(slash + 1))};
}

Cell checked_cell(const Wish& wish, int ranks) {
  if (wish.bytes > largest) throw Error("sizes end at 8G");
  const Cell cell = cell_of(wish.kind, wish.bytes, ranks);
  if ((facts(wish.kind.function).irregular || !wish.kind.steps.empty()) && 2 * cell.bytes * ranks > INT_MAX)
    throw Error(name_of(wish.kind) + " counts all parts together by int: sizes end at 1G over the number of ranks");
  return cell;
}

Pair rounded(const Wish& left, const Wish& right, int ranks) {
  Pair pair{checked_cell(left, ranks), {}};
  const bool sized = pair.left.bytes > 0 && left.bytes > 0;
  const double scale = sized ? static_cast<double>(pair.left.bytes) / static_cast<double>(left.bytes) : 1;
  pair.right = checked_cell({right.kind, std::llround(static_cast<double>(right.bytes) * scale)}, ranks);
  if (sized && left.bytes == right.bytes) pair.left = checked_cell({left.kind, pair.right.bytes}, ranks);
  pair.left.asked = left.bytes;
  pair.right.asked = right.bytes;
  return pair;
}

std::vector<PlannedCell> read_plan(const std::string& path, int rank) {
  std::string text;
  if (rank == 0) {
    std::ifstream file(path);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  auto length = static_cast<int>(text.size());
  intercept::native().Bcast(&length, 1, MPI_INT, 0, intercept::constants().world);
  text.resize(static_cast<std::size_t>(length));
  intercept::native().Bcast(text.data(), length, MPI_CHAR, 0, intercept::constants().world);
  std::vector<PlannedCell> plan;
  for_each_word(text, '\n', [&](std::string_view line) {
    bool first = true;
    for_each_word(line, ' ', [&](std::string_view word) {
      if (first) {
        plan.push_back({wish_of(word), {}});
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
