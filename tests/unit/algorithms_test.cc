// SPDX-License-Identifier: BSD-3-Clause
//
// The list of algorithms, their files and their records; and the proof of all of them.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <thread>

#include "stretto/check.hpp"
#include "stretto/variants.hpp"
#include "support/test.hpp"

namespace stretto::algorithms_test {
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

/// The peers to which each rank sends, "none" if it does not.
std::string peers(const Algorithm& a, const Shape& shape, const Params& params) {
  std::string text;
  for (Rank r = 0; r < shape.ranks; ++r) {
    std::set<Rank> to;
    for (const Send& send : build_schedule(a, shape, r, params).sends) to.insert(send.peer);
    text += text.empty() ? "" : ", ";
    if (to.empty()) text += "none";
    for (const Rank peer : to) text += std::to_string(r) + ">" + std::to_string(peer);
  }
  return text;
}

TEST(a_given_order_of_the_pipelined_ring_is_followed) {
  const Algorithm& ring = *find_algorithm("allgather/pipelined_ring");
  const Shape shape{4, 0, {5, 5, 0, 0}};
  CHECK_EQ(peers(ring, shape, {.list = {0, 1, 2, 3}}), "0>1, 1>2, 2>3, 3>0");
  CHECK_EQ(peers(ring, shape, {}), "0>2, 1>3, 2>1, 3>0");
}

TEST(chains_keep_ranks_of_the_same_cores_together) {
  const Algorithm& chain = *find_algorithm("reduce/logical_chain");
  Shape shape{.ranks = 4, .root = 1, .nodes = {0, 0, 0, 0}};
  CHECK_EQ(peers(chain, shape, {}), "0>3, none, 2>1, 3>2");
  shape.cores = {0, 1, 0, 1};
  CHECK_EQ(peers(chain, shape, {}), "0>3, none, 2>0, 3>1");  // the order is 0 2 1 3
}

TEST(a_pipelined_ring_keeps_nodes_together) {
  const Algorithm& ring = *find_algorithm("allgather/pipelined_ring");
  // Nodes 0 1, 2 3 and 4 5; ranks 0 and 5 have data: last in their nodes. The ring goes 1 0 4 5 2 3.
  CHECK_EQ(peers(ring, {6, 0, {5, 0, 0, 0, 0, 5}, {0, 0, 1, 1, 2, 2}}, {}), "0>4, 1>0, 2>3, 3>1, 4>5, 5>2");
  CHECK_EQ(peers(ring, {4, 0, {5, 5, 0, 0}, {7, 7, 7, 7}}, {}), "0>2, 1>3, 2>1, 3>0");  // one node: as if none
}

TEST(a_pipelined_ring_with_data_on_one_rank_is_a_chain) {
  const Algorithm& ring = *find_algorithm("allgather/pipelined_ring");
  const Shape two{2, 0, {1'000'000, 0}};
  CHECK_EQ(ring.rounds(two, resolved(ring, two, {})), 1);
  const Shape four{4, 0, {1'000'000, 0, 0, 0}};
  CHECK_EQ(resolved(ring, four, {}).value, 100'000);  // sqrt(m · 20 000 / (p - 2))
  CHECK_EQ(ring.rounds(four, resolved(ring, four, {})), 12);
}

TEST(radices_are_free) {
  const Algorithm& multiplying = *find_algorithm("allreduce/recursive_multiplying");
  const auto why_not = [&](Rank ranks, const std::vector<Rank>& list) {
    return unsuitable(multiplying, {ranks, 0}, {.list = list});
  };
  for (const std::vector<Rank>& list : {std::vector<Rank>{4, 6, 4}, {96}, {2, 48}, {7, 7}, {50}})
    CHECK_EQ(why_not(96, list), "");
  CHECK_EQ(multiplying.rounds({96, 0}, {.value = 4, .list = {4, 6, 4}}), 3);
  CHECK_EQ(peers(multiplying, {6, 0}, {.list = {2, 3}}),
           "0>10>20>4, 1>01>31>5, 2>02>32>4, 3>13>23>5, 4>04>24>5, 5>15>35>4");
  CHECK_EQ(why_not(96, {4, 1}), "radix 1 in the list: each is at least 2");
  CHECK_EQ(why_not(96, {4, 5, 5}), "the radices make more than 96 ranks");
  CHECK_EQ(why_not(96, {5, 9}), "the radices make 45 of 96 ranks: at most half can be left over");
}

std::string messages_of(const char* id, const std::vector<Rank>& nodes, Rank ranks, Rank root = 0) {
  return peers(*find_algorithm(id), {ranks, root, {}, nodes}, {});
}

TEST(leaders_talk_for_their_nodes) {
  // The root leads its node, the lowest rank any other.
  CHECK_EQ(messages_of("bcast/leaders", {7, 0, 7, 0, 7, 0}, 6, 2), "none, 1>31>5, 2>02>12>4, none, none, none");
  CHECK_EQ(messages_of("bcast/leaders", {0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 0, 0, 1, 1, 1, 1}, 8),
           "0>10>20>4, none, 2>3, none, 4>54>6, none, 6>7, none");
  CHECK_EQ(messages_of("scan/leaders", {3, 3, 3, 9, 9}, 5), "0>10>2, 1>2, 2>4, 3>4, 4>3");
}

TEST(lanes_meet_between_nodes_and_all_ranks_on_them) {
  CHECK_EQ(messages_of("allreduce/lanes", {0, 1, 0, 1}, 4), "0>10>2, 1>01>3, 2>02>3, 3>13>2");
  // The third rank of the first node has no lane.
  CHECK_EQ(messages_of("allreduce/lanes", {0, 0, 0, 1, 1}, 5), "0>10>20>3, 1>01>21>4, 2>02>1, 3>03>4, 4>14>3");
  const Algorithm& lanes = *find_algorithm("allreduce/lanes");
  const Shape two_levels{8, 0, {}, {0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 0, 0, 1, 1, 1, 1}};
  CHECK_EQ(lanes.blocks(two_levels, resolved(lanes, two_levels, {})), 8);
  CHECK_EQ(lanes.blocks(two_levels, resolved(lanes, two_levels, {.value = 1, .list = {}})), 4);
  CHECK_EQ(resolved(lanes, two_levels, {.value = 7, .list = {}}).value,
           7);  // no more are used than the smallest node has
  CHECK_EQ(lanes.blocks(two_levels, resolved(lanes, two_levels, {.value = 7, .list = {}})), 8);
}

TEST(nodes_that_do_not_fit_are_refused) {
  const auto why_not = [](const char* id, const std::vector<Rank>& nodes, const std::vector<Rank>& list = {}) {
    return unsuitable(*find_algorithm(id), {4, 0, {}, nodes}, {.list = list});
  };
  CHECK_EQ(why_not("allreduce/lanes", {}), "");
  CHECK_EQ(why_not("allreduce/lanes", {5, 1, 5, 1, 0, 0, 0, 0}), "");
  CHECK_EQ(why_not("allreduce/lanes", {0, 0, 1}),
           "3 nodes for 4 ranks: the list has one for each rank, or as many again for each further level");
  CHECK_EQ(why_not("allreduce/lanes", {0, 0, 1}, {0, 0, 1, 1}), "");
  CHECK_EQ(why_not("bcast/leaders", {0, 0, 1, 1, 0, 1, 2, 2}),
           "ranks 0 and 1 are in group 0 of level 0 of the nodes, but in groups 0 and 1 of the next: these join whole "
           "ones");
  CHECK_EQ(why_not("bcast/leaders", {0, 1, 0, 1}), "");
  CHECK_EQ(why_not("scan/leaders", {0, 1, 0, 1}),
           "a prefix goes by rank order, but between ranks of the node or group of rank 2 there is rank 1 of another: "
           "each must have consecutive ranks");
}

TEST(records_are_bounds_for_uneven_nodes_only) {
  int exact = 0, bounds = 0;
  for (const Algorithm* a : all_algorithms())
    for (const Variant& v : variants(*a, 24)) {
      if (a->list != "nodes" || facts(a->collective).neighbourhood) continue;
      if (a->id == "alltoall/contention_free") continue;  // ranks are idle in some of its rounds
      const Params params = resolved(*a, v.shape, v.params);
      ++(a->at_most(v.shape, params) ? bounds : exact);
      std::vector<Rank> sizes(24);
      for (Rank r = 0; r < 24; ++r) ++sizes[static_cast<std::size_t>(params.list[static_cast<std::size_t>(r)])];
      std::erase(sizes, 0);
      if (params.list.size() == 24)
        CHECK_EQ(a->at_most(v.shape, params), std::ranges::min(sizes) != std::ranges::max(sizes));
    }
  CHECK(exact > 20);
  CHECK(bounds > 20);
}

// Sanitizers look at the code, which does not change with the number of ranks.
#ifdef __SANITIZE_ADDRESS__
constexpr Rank all_up_to = 33;
const std::vector<Rank> more_ranks;
#else
constexpr Rank all_up_to = 70;
const std::vector<Rank> more_ranks = {96, 100, 127, 128, 129, 255, 256, 257};
#endif
// Where one case in so many is tried: powers of two and their neighbours, and numbers with many factors and none.
constexpr Rank few_up_to = 33;
const std::vector<Rank> some_more_ranks = {36, 47, 48, 60, 63, 64, 65, 70, 96, 127, 128, 129};

std::set<Rank> roots_to_prove(const Algorithm& a, Rank ranks) {
  std::set<Rank> roots{0};
  if (!facts(a.collective).rooted) return roots;
  if (ranks > all_up_to) return {ranks / 3};
  if (ranks > 12) return {0, 1, ranks / 3, ranks - 1};
  for (Rank r = 1; r < ranks; ++r) roots.insert(r);
  return roots;
}

std::size_t prove(const Algorithm& a, Rank ranks, Rank root) {
  std::vector<Variant> all = variants(a, ranks, root);
  const Rank all_variants_up_to = test::one_in() > 1 ? 24 : 129;
  if (ranks > all_variants_up_to && !all.empty()) all.resize(1);  // the default
  for (const Variant& v : all) {
    const Checked checked = check(a, v.shape, v.params);
    if (checked.refused)
      test::fail(__FILE__, __LINE__,
                 std::string(a.id) + ' ' + to_text(v, a) + " on " + std::to_string(ranks) + " ranks, root " +
                     std::to_string(root) + ": " + checked.refused->message);
  }
  return all.size();
}

TEST(all_are_proved) {
  const bool all = test::one_in() == 1;
  std::vector<Rank> numbers(all ? all_up_to : few_up_to);
  std::iota(numbers.begin(), numbers.end(), 1);
  const auto& more = all ? more_ranks : some_more_ranks;
  numbers.insert(numbers.end(), more.begin(), more.end());
  // Each thread takes the next number of ranks, the large ones first.
  std::atomic<std::size_t> left{numbers.size()};
  std::atomic<std::size_t> proved{0};
  const auto work = [&] {
    for (std::size_t i; (i = left--) >= 1 && i <= numbers.size();)
      for (const Algorithm* a : all_algorithms())
        for (const Rank root : roots_to_prove(*a, numbers[i - 1])) proved += prove(*a, numbers[i - 1], root);
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(proved.load() >= numbers.size() * all_algorithms().size() / 2);
}

}  // namespace
}  // namespace stretto::algorithms_test
