// SPDX-License-Identifier: BSD-3-Clause
//
// The schedules of all algorithms on a few ranks, in their text form, as files: a change of a schedule shows in a
// review. `golden_test --update` writes them anew.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "stretto/check.hpp"
#include "stretto/variants.hpp"
#include "support/test.hpp"

namespace stretto::golden_test {
namespace {

namespace fs = std::filesystem;

const fs::path folder = STRETTO_GOLDEN_DIR;

struct Golden {
  const Algorithm* algorithm;
  Shape shape;
  Params params;

  fs::path path() const {
    std::string id(algorithm->id);
    id[id.find('/')] = '-';
    const std::string root = facts(algorithm->collective).rooted ? "-root" + std::to_string(shape.root) : "";
    return folder / (id + "-" + std::to_string(shape.ranks) + root + ".schedule");
  }
  std::string text() const {
    std::string text;
    for (Rank r = 0; r < shape.ranks; ++r) text += to_text(build_schedule(*algorithm, shape, r, params));
    return text;
  }
};

std::vector<Golden> all_golden() {
  std::vector<Golden> list;
  for (const Algorithm* a : all_algorithms())
    for (const Rank ranks : {4, 5}) {
      for (const Rank root : {0, 3}) {
        const auto tried = variants(*a, ranks, root);
        if (!tried.empty() && (root == 0 || facts(a->collective).rooted))
          list.push_back({a, tried[0].shape, tried[0].params});
      }
    }
  return list;
}

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// "line 3: send 1 input[0] against send 2 input[0]"
std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream left(a), right(b);
  for (int line = 1;; ++line) {
    std::string x = "(end)", y = "(end)";
    const bool more_left = static_cast<bool>(std::getline(left, x));
    const bool more_right = static_cast<bool>(std::getline(right, y));
    if (x != y || more_left != more_right) return "line " + std::to_string(line) + ": " + x + " against " + y;
    if (!more_left) return "none";
  }
}

TEST(schedules_are_as_stored) {
  for (const Golden& g : all_golden()) {
    const std::string stored = read(g.path());
    if (stored != g.text())
      test::fail(g.path().c_str(), 0,
                 "stored and built differ, " + first_difference(stored, g.text()) +
                     "; if the change is meant, run unit_tests --update");
  }
}

TEST(no_file_is_left_over) {
  std::set<fs::path> expected;
  for (const Golden& g : all_golden()) expected.insert(g.path());
  for (const auto& entry : fs::directory_iterator(folder)) CHECK_EQ(expected.count(entry.path()), 1);
}

TEST(stored_schedules_are_proved) {
  for (const Golden& g : all_golden()) {
    const auto schedules = parse_schedules(read(g.path()), g.path().string());
    CHECK_EQ(schedules.size(), g.shape.ranks);
    const Checked checked = check_against_record(schedules, *g.algorithm, g.shape, g.params);
    CHECK_EQ(checked.refused ? checked.refused->message : "", "");
  }
}

}  // namespace

void update() {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".schedule") fs::remove(entry.path());
  for (const Golden& g : all_golden()) std::ofstream(g.path()) << g.text();
}

}  // namespace stretto::golden_test
