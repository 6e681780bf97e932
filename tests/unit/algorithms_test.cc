// SPDX-License-Identifier: BSD-3-Clause
//
// The list of algorithms, their files and their records; and the proof of all of them.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "stretto/check.hpp"
#include "stretto/variants.hpp"
#include "support/test.hpp"

namespace stretto {
namespace {

namespace fs = std::filesystem;

const fs::path folder = fs::path(STRETTO_SOURCE_DIR) / "src" / "algorithms";

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// "allreduce/ring" for every file of an algorithm.
std::set<std::string> ids_of_files() {
  std::set<std::string> ids;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path path = fs::relative(entry.path(), folder);
    if (path.extension() == ".cc" && path.has_parent_path()) ids.insert((path.parent_path() / path.stem()).string());
  }
  return ids;
}

TEST(files_lines_and_records_agree) {
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(folder / "algorithms.def")) {
    if (line.starts_with("//")) continue;
    const std::size_t comma = line.find(", ");
    CHECK(line.starts_with("ALGORITHM(") && line.ends_with(")") && comma != std::string::npos);
    if (comma == std::string::npos) continue;
    lines.push_back(line.substr(10, comma - 10) + '/' + line.substr(comma + 2, line.size() - comma - 3));
  }
  std::vector<std::string> records;
  for (const Algorithm* a : all_algorithms()) records.emplace_back(a->id);
  const std::set<std::string> files = ids_of_files();
  CHECK(!files.empty());
  CHECK(std::is_sorted(lines.begin(), lines.end()));
  CHECK(lines == records);
  CHECK(lines == std::vector<std::string>(files.begin(), files.end()));
}

TEST(records_are_complete) {
  for (const Algorithm* a : all_algorithms()) {
    CHECK_EQ(find_algorithm(a->id), a);
    CHECK_EQ(a->id, std::string(facts(a->collective).name) + '/' + std::string(a->name()));
    CHECK(!a->summary.empty() && !a->source.empty() && !a->volume.empty());
    CHECK(!variants(*a, 1).empty() || a->needs.ranks == RanksNeeded::even);
    for (const Function f : all_functions) {
      const bool serves = facts(f).collective == a->collective && (facts(f).irregular || !a->needs.irregular);
      CHECK_EQ(unsuitable(*a, f, {8, 0}, true, {}).empty(), serves);
      if (serves) CHECK_EQ(unsuitable(*a, f, {8, 0}, false, {}).empty(), !a->needs.commutative);
    }
    CHECK_EQ(a->parameter.name.empty(), a->parameter.default_value == nullptr);
  }
  CHECK(find_algorithm("allreduce/rong") == nullptr);
  CHECK(find_algorithm("ring") == nullptr);
  CHECK(find_algorithm("") == nullptr);
}

/// The part of the head comment that follows `word`, or "missing".
std::string head_line(const std::vector<std::string>& lines, const std::string& word) {
  for (const std::string& line : lines) {
    if (!line.starts_with("//")) break;
    if (!line.starts_with("//   " + word + "  ")) continue;
    const std::size_t text = line.find_first_not_of(' ', 5 + word.size());
    if (text != std::string::npos) return line.substr(text);
  }
  return "missing";
}

TEST(heads_say_what_the_records_say) {
  for (const Algorithm* a : all_algorithms()) {
    const std::string id(a->id);
    const auto lines = lines_of(folder / (id + ".cc"));
    CHECK(lines.size() > 10);
    if (lines.size() <= 10) continue;
    CHECK_EQ(lines[0], "// SPDX-License-Identifier: BSD-3-Clause");
    CHECK_EQ(lines[2].substr(0, id.size() + 5), "// " + id + ": ");
    for (const std::string word : {"rounds", "volume", "combined", "scratch", "needs", "source"})
      CHECK_EQ(id + ": " + word + (head_line(lines, word) == "missing" ? " is missing" : ""), id + ": " + word);
    const bool says_commutative = head_line(lines, "needs").find("commutative operator") != std::string::npos;
    CHECK_EQ(id + (says_commutative ? ": commutative" : ""), id + (a->needs.commutative ? ": commutative" : ""));
    const bool says_no_scratch = head_line(lines, "scratch").starts_with("none");
    bool has_scratch = false;
    for (const Rank ranks : {7, 8})
      for (const Variant& v : variants(*a, ranks, 3))
        for (Rank r = 0; r < ranks; ++r)
          has_scratch = has_scratch || !build_schedule(*a, v.shape, r, v.params).scratch.empty();
    const bool sizes_unknown = a->collective == Collective::gather || a->collective == Collective::scatter ||
                               a->collective == Collective::alltoall;
    if (sizes_unknown && !a->padded && !a->needs.counts)
      CHECK_EQ(id + (a->forwards ? ": forwards" : ""), id + (has_scratch ? ": forwards" : ""));
    CHECK_EQ(id + (says_no_scratch ? ": none" : ": scratch"), id + (has_scratch ? ": scratch" : ": none"));
  }
}

std::set<Rank> roots_to_prove(const Algorithm& a, Rank ranks) {
  std::set<Rank> roots{0};
  if (!facts(a.collective).rooted) return roots;
  if (ranks > 12) return {0, 1, ranks / 3, ranks - 1};
  for (Rank r = 1; r < ranks; ++r) roots.insert(r);
  return roots;
}

TEST(all_are_proved) {
  // Each thread takes the next number of ranks, the large ones first.
  std::atomic<Rank> next{70};
  std::atomic<int> proved{0};
  const auto prove = [&] {
    for (Rank ranks; (ranks = next--) >= 1;)
      for (const Algorithm* a : all_algorithms())
        for (const Rank root : roots_to_prove(*a, ranks))
          for (const Variant& v : variants(*a, ranks, root)) {
            const Checked checked = check(*a, v.shape, v.params);
            if (checked.refused)
              test::fail(__FILE__, __LINE__,
                         std::string(a->id) + ' ' + to_text(v, *a) + " on " + std::to_string(ranks) + " ranks, root " +
                             std::to_string(root) + ": " + checked.refused->message);
            ++proved;
          }
  };
  std::thread other(prove);
  prove();
  other.join();
  CHECK(proved.load() >= 70 * static_cast<int>(all_algorithms().size()) / 2);
}

}  // namespace
}  // namespace stretto

TEST_MAIN()
