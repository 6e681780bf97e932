// SPDX-License-Identifier: BSD-3-Clause
//
// Candidates, and the file that keeps what was learned.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <clocale>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "learn/file.hpp"
#include "stretto/error.hpp"
#include "stretto/sources.hpp"
#include "support/json.hpp"
#include "support/test.hpp"

namespace stretto::learn::learn_file_test {
namespace {

namespace fs = std::filesystem;

const std::string machine = "a machine, 2 cores, MPICH 5.0.2";

Call call_of(Function function, Bytes bytes, Rank ranks = 4, Rank per_node = 4) {
  Call call{.function = function, .shape = {ranks, 0}};
  call.bytes = bytes;
  call.per_node = per_node;
  for (Rank r = 0; r < ranks; ++r) call.shape.nodes.push_back(r / per_node * per_node);
  return call;
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("stretto-learn-test-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string contents(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Learned learned(const Call& call, const std::string& words) {
  const AlgorithmSpec spec = parse_algorithm_spec(call.function, words);
  return {.conditions = conditions(call, class_of(call.function, call.bytes)),
          .choice = {spec.algorithm, spec.params},
          .seconds = 12e-6,
          .native_seconds = 20e-6,
          .pairs = 30};
}

std::string refusal(const std::string& before) {
  try {
    merged(before, "f.rules", machine, {});
  } catch (const Error& e) {
    CHECK(!e.hint().empty());
    return e.what();
  }
  return "";
}

TEST(candidates_serve_the_call_and_differ) {
  for (const Function f : all_functions) {
    if (!learns(f)) continue;
    for (const Bytes bytes : {Bytes{0}, Bytes{8}, Bytes{100'000}, Bytes{16} << 20})
      for (const Rank ranks : {2, 3, 8, 24})
        for (const Rank per_node : {ranks, 1, 2}) {
          const Call call = call_of(f, bytes, ranks, per_node);
          const std::vector<Candidate> found = candidates(shipped_rules(), call);
          CHECK(found.size() >= 2 && found.size() <= 12);
          CHECK(!found[0].algorithm);
          for (std::size_t i = 0; i < found.size(); ++i) {
            CHECK(serves(found[i], call));
            for (std::size_t j = 0; j < i; ++j) CHECK(!(found[i] == found[j]));
          }
        }
  }
}

TEST(the_choice_of_the_rules_comes_first) {
  const Call call = call_of(Function::allreduce, 64 << 10, 16, 4);
  const Choice choice = choose(shipped_rules(), call);
  const std::vector<Candidate> found = candidates(shipped_rules(), call);
  CHECK(found[1].algorithm == choice.algorithm);
}

TEST(conditions_are_those_of_a_rule_that_holds_for_the_class_alone) {
  Call call = call_of(Function::allreduce, 5000, 8, 4);
  const std::string text = conditions(call, class_of(call.function, call.bytes));
  CHECK_EQ(text, "allreduce ranks=8 per-node=4 nodes=even cores=own operator=predefined bytes>=4K bytes<8K");
  const Rules rules = parse_rules("stretto-rules 2\n" + text + " -> ring\n", "f");
  CHECK(choose(rules, call).algorithm == find_algorithm("allreduce/ring"));
  call.bytes = 8191;
  CHECK(choose(rules, call).line == 2);
  for (const Bytes other : {4095, 8192}) {
    call.bytes = other;
    CHECK(choose(rules, call).line == 0);
  }
  for (const Function f : all_functions)
    for (const Bytes bytes : {Bytes{0}, Bytes{1}, Bytes{3} << 30})
      for (const Rank per_node : {6, 4, 1}) {
        if (!learns(f)) continue;
        const Call one = call_of(f, bytes, 6, per_node);
        const std::string rule = conditions(one, class_of(f, bytes)) + " -> native\n";
        CHECK_EQ(choose(parse_rules("stretto-rules 2\n" + rule, "f"), one).line, 2);
      }
}

TEST(a_file_is_merged_class_by_class) {
  const Call small = call_of(Function::bcast, 100), large = call_of(Function::bcast, 1 << 20);
  const std::string first = merged("", "f.rules", machine, {learned(small, "linear"), learned(large, "native")});
  const std::string second = merged(first, "f.rules", machine, {learned(large, "binomial,segment=64K")});
  const Rules rules = parse_rules(second, "f.rules");
  CHECK_EQ(rules.machine, machine);
  CHECK(rules.otherwise);
  CHECK_EQ(rules.rules.size(), std::size_t{2});
  CHECK(choose(rules, small).algorithm == find_algorithm("bcast/linear"));
  CHECK(choose(rules, large).algorithm == find_algorithm("bcast/binomial"));
  CHECK_EQ(choose(rules, large).params.segment, Bytes{64} << 10);
  CHECK(second.find("12.00 us, native 20.00 us, 30 pairs") != std::string::npos);
  CHECK_EQ(merged(second, "f.rules", machine, {}), second);
}

TEST(other_files_are_named_and_left) {
  CHECK_EQ(refusal("nonsense\n"), "f.rules:1: this is not a rules file");
  CHECK_EQ(refusal("stretto-rules 2\nmachine a PDP-11\notherwise\n"),
           "f.rules:2: it is for 'a PDP-11', and this is '" + machine + "'");
  CHECK_EQ(refusal("stretto-rules 2\nmachine " + machine + "\nbcast -> linear\n"),
           "f.rules:1: these rules were not learned: they lack the line 'otherwise'");
  CHECK_EQ(refusal("stretto-rules 2\nmachine " + machine + "\nbcast -> lineal\notherwise\n"),
           "f.rules:3: unknown algorithm 'lineal' for bcast");
}

TEST(jobs_that_write_at_once_lose_nothing) {
  constexpr int jobs = 6, classes = 8;
  const Folder folder;
  const std::string path = folder.file("new/folder/l.rules");
  std::vector<pid_t> children;
  for (int job = 0; job < jobs; ++job) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < classes; ++i)
        merge_into(path, machine, {learned(call_of(Function::bcast, Bytes{1} << i, 2 + job, 2 + job), "linear")});
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
  }
  CHECK_EQ(parse_rules(contents(path), path).rules.size(), std::size_t{jobs * classes});
}

TEST(numbers_are_written_alike_in_all_locales) {
  for (const char* name : {"C", "de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8", "fr_FR"}) {
    if (!std::setlocale(LC_NUMERIC, name)) continue;  // not installed here
    CHECK_EQ(json::number(1234.5), "1234.5");
    CHECK_EQ(json::number(1.25e-7), "1.25e-07");
    CHECK_EQ(json::number(2.0 / 3), "0.666666667");
    CHECK_EQ(json::number(3), "3");
    const std::string text = merged("", "f.rules", machine, {learned(call_of(Function::bcast, 8), "linear")});
    CHECK(text.find("# 12.00 us, native 20.00 us, 30 pairs") != std::string::npos);
  }
  std::setlocale(LC_NUMERIC, "C");
}

TEST(a_file_stays_short_enough_to_be_read) {
  const Folder folder;
  const std::string path = folder.file("l.rules");
  std::vector<Learned> all;
  Learned one = learned(call_of(Function::bcast, 8), "linear");
  for (int ranks = 2; ranks < 14000; ++ranks) {
    one.conditions = "bcast ranks=" + std::to_string(ranks) + " per-node=2 bytes>=4K bytes<8K";
    one.pairs = static_cast<std::size_t>(ranks == 7000 ? 1 : 20 + ranks % 100);
    all.push_back(one);
  }
  merge_into(path, machine, all);
  const std::string first = text_of_rules(path);
  CHECK(first.size() > 1'000'000);
  const auto knows = [](const std::string& text, int ranks) {
    return text.find("\nbcast ranks=" + std::to_string(ranks) + ' ') != std::string::npos;
  };
  CHECK(!knows(first, 7000));
  CHECK(knows(first, 99) && knows(first, 13999));
  one.conditions = "bcast ranks=7000 per-node=2 bytes>=4K bytes<8K";
  one.pairs = 50;
  merge_into(path, machine, {one});
  const std::string second = text_of_rules(path);
  CHECK(knows(second, 7000) && second.ends_with("\notherwise\n"));
}

TEST(a_file_that_cannot_be_written_is_named) {
  const Folder folder;
  std::ofstream(folder.file("file")) << "x";
  const std::string path = folder.file("file/l.rules");
  std::string said;
  try {
    merge_into(path, machine, {learned(call_of(Function::bcast, 8), "linear")});
  } catch (const Error& e) {
    said = e.what();
  }
  CHECK(said.starts_with("what was learned is not kept: cannot write " + folder.file("file")));
}

TEST(a_full_disk_leaves_the_file_as_it_was) {
  std::string said;
  try {
    merge_into("/dev/full/l.rules", machine, {learned(call_of(Function::bcast, 8), "linear")});
  } catch (const Error& e) {
    said = e.what();
  }
  CHECK(said.find("/dev/full") != std::string::npos);
}

TEST(the_limit_on_the_size_of_files_does_not_end_the_program) {
  const Folder folder;
  const std::string path = folder.file("l.rules");
  const auto handler = std::signal(SIGXFSZ, SIG_DFL);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit less{10, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &less);
  std::string said;
  try {
    merge_into(path, machine, {learned(call_of(Function::bcast, 8), "linear")});
  } catch (const Error& e) {
    said = e.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK_EQ(said, "what was learned is not kept: cannot write " + path + ": File too large");
  CHECK(!fs::exists(path));
  CHECK(std::signal(SIGXFSZ, handler) == SIG_DFL);
}

TEST(files_are_joined_and_go_on_with_the_shipped_rules) {
  const Folder folder;
  const ConfigFolders folders{folder.file("user"), folder.file("site")};
  const std::string title = "MPICH 5.0.2", here = this_machine(title);
  const auto mpi = [&] { return title; };
  const Call small = call_of(Function::bcast, 100), large = call_of(Function::bcast, 1 << 20);
  const std::string user = learned_rules_path(folders.user, here), site = learned_rules_path(folders.site, here);
  merge_into(user, here, {learned(small, "binomial")});
  merge_into(site, here, {learned(small, "linear"), learned(large, "chain")});
  FoundRules found = find_rules({}, mpi, folders);
  CHECK_EQ(found.file, user);
  CHECK(found.refused.empty());
  const Rules rules = complete_rules(found.text, found.file);
  CHECK(choose(rules, small).algorithm == find_algorithm("bcast/binomial"));
  CHECK(choose(rules, small).reason.starts_with(user + ":"));
  CHECK(choose(rules, large).algorithm == find_algorithm("bcast/chain"));
  CHECK(choose(rules, large).reason.starts_with(site + ":"));
  const Call other = call_of(Function::barrier, 0);
  CHECK(rules.measured(choose(rules, small).line) && rules.measured(choose(rules, large).line));
  CHECK(!rules.measured(choose(rules, other).line));
  CHECK(!parse_rules("stretto-rules 2\nbcast -> linear\n", "f").measured(2));
  CHECK_EQ(choose(rules, other).reason, choose(shipped_rules(), other).reason);
  CHECK(choose(rules, other).algorithm == choose(shipped_rules(), other).algorithm);

  // What is tuned stands behind what the user learned, before what the site knows; it has the last word.
  fs::create_directories(folder.file("user/tuned"));
  std::ofstream(tuned_rules_path(folders.user, here)) << "stretto-rules 2\nmachine " << here << "\nbcast -> linear\n";
  found = find_rules({}, mpi, folders);
  const Rules tuned = complete_rules(found.text, found.file);
  CHECK(choose(tuned, small).algorithm == find_algorithm("bcast/binomial"));
  CHECK(choose(tuned, large).algorithm == find_algorithm("bcast/linear"));
  CHECK_EQ(choose(tuned, other).line, 0);

  // Another MPI of this machine has files of its own; who names a file gets that one.
  CHECK_EQ(find_rules({}, [] { return std::string("Open MPI 5.0.11"); }, folders).file, shipped_name);
  CHECK_EQ(find_rules({.named = site}, mpi, folders).file, site);
  CHECK_EQ(find_rules({.named = std::string(shipped_word)}, mpi, folders).file, shipped_name);
  CHECK_EQ(find_rules({.named = std::string(shipped_word), .learning = user}, mpi, folders).file, user);

  // A line too many: the file is named, and ignored.
  std::ofstream(user, std::ios::app) << "bcast -> linear\n";
  found = find_rules({}, mpi, folders);
  CHECK_EQ(found.refused.size(), std::size_t{1});
  CHECK(std::string(found.refused.at(0).what()).find(": a rule behind 'otherwise'") != std::string::npos);
  CHECK_EQ(found.file, tuned_rules_path(folders.user, here));
}

TEST(machines_as_names_of_files) {
  CHECK_EQ(file_name_of("AMD EPYC 9B14, 2 cores, MPICH 5.0.2"), "amd-epyc-9b14-2-cores-mpich-5.0.2");
  CHECK_EQ(file_name_of("Intel(R) Xeon(R) @ 2/x"), "intel-r-xeon-r-2-x");
  CHECK_EQ(learned_rules_path("", "x"), "");
}

}  // namespace
}  // namespace stretto::learn::learn_file_test
