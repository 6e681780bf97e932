// SPDX-License-Identifier: BSD-3-Clause
#include "race/plan.hpp"

#include <climits>
#include <fstream>
#include <iterator>

#include "stretto/error.hpp"
#include "stretto/rules.hpp"

namespace stretto::race {
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
  if (*bytes > largest) throw Error("sizes end at 8G");
  return *bytes;
}

std::pair<Kind, Bytes> kind_and_size(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == word.npos) throw Error("a cell is a function and a size: allreduce:8");
  return {kind_of(word.substr(0, colon)), size_of(word.substr(colon + 1))};
}

Cell checked_cell(const Kind& kind, Bytes wish, int ranks) {
  const Cell cell = cell_of(kind, wish, ranks);
  if (facts(kind.function).irregular && 2 * cell.bytes * ranks > INT_MAX)
    throw Error(name_of(kind) + " places its parts by int: sizes end at 1G over the number of ranks");
  return cell;
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
        const auto [kind, bytes] = kind_and_size(word);
        plan.push_back({kind, bytes, {}});
      } else {
        plan.back().candidates.emplace_back(word);
      }
      first = false;
    });
  });
  if (plan.empty()) throw Error("there is no plan in " + path);
  return plan;
}

}  // namespace stretto::race
