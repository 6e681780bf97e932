// SPDX-License-Identifier: BSD-3-Clause
//
// Where rules come from, and what is refused on the way.
#include "stretto/sources.hpp"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/nearest.hpp"
#include "support/test.hpp"

namespace stretto::sources_test {
namespace {

namespace fs = std::filesystem;

/// A folder for configurations, named by the environment while this is there.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("stretto-sources-test-" + std::to_string(getpid()))) {
    fs::create_directories(path_ / "stretto");
    setenv("XDG_CONFIG_HOME", path_.c_str(), 1);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

std::string mpi() { return "MPICH 5.0.2"; }
const std::string head = "stretto-rules 2\n";
const std::string rule = "allreduce -> ring\n";
std::string here() { return "machine " + this_machine(mpi()) + '\n'; }

TEST(titles_of_mpis) {
  CHECK_EQ(mpi_title("MPICH Version:      5.0.2\nMPICH Release date: unreleased\n"), "MPICH 5.0.2");
  CHECK_EQ(mpi_title("Intel(R) MPI Library 2021.18 for Linux* OS\n"), "Intel MPI 2021.18");
  CHECK_EQ(mpi_title("Open MPI v5.0.11, package: Open MPI builder, ident: 5.0.11"), "Open MPI 5.0.11");
  CHECK_EQ(mpi_title("MVAPICH  Version :\t4.0 #1\nand more"), "MVAPICH Version : 4.0 1");
  CHECK_EQ(mpi_title(""), "");
  CHECK_EQ(mpi_title("MPICH Version:"), "MPICH ");
}

TEST(machine_lines_name_this_machine) {
  const std::string machine = this_machine(mpi());
  CHECK(machine.ends_with(", MPICH 5.0.2"));
  CHECK(machine.find(" core") != std::string::npos);
  CHECK_EQ(parse_rules(head + here(), "f").machine, machine);
}

TEST(tuned_rules_are_where_configurations_are) {
  setenv("HOME", "/home/me", 1);
  setenv("XDG_CONFIG_HOME", "/etc/mine", 1);
  CHECK_EQ(config_folders().user, "/etc/mine/stretto");
  for (const char* none : {"", "relative/path"}) {
    setenv("XDG_CONFIG_HOME", none, 1);
    CHECK_EQ(config_folders().user, "/home/me/.config/stretto");
  }
  unsetenv("XDG_CONFIG_HOME");
  CHECK_EQ(config_folders().user, "/home/me/.config/stretto");
  CHECK_EQ(tuned_rules_path("/home/me/.config/stretto", "A, 2 cores, MPICH 5"),
           "/home/me/.config/stretto/tuned/a-2-cores-mpich-5.rules");
  unsetenv("HOME");
  CHECK_EQ(config_folders().user, "");
  CHECK_EQ(tuned_rules_path("", "A"), "");
  CHECK_EQ(find_rules({}, mpi).file, shipped_name);
}

TEST(the_strongest_source_decides) {
  const Folder folder;
  CHECK_EQ(find_rules({}, mpi).file, shipped_name);
  CHECK(find_rules({}, mpi).refused.empty());
  const std::string tuned = folder.write("stretto/tuned.rules", head + here() + rule);
  const std::string named = folder.write("my.rules", "stretto-rules 1\n" + rule);
  CHECK_EQ(find_rules({}, mpi).file, tuned);
  CHECK_EQ(find_rules({}, mpi).text, head + here() + rule);
  CHECK_EQ(find_rules({named}, mpi).file, named);
  CHECK_EQ(find_rules({named}, mpi).text, "stretto-rules 1\n" + rule);
  CHECK_EQ(find_rules({std::string(shipped_word)}, mpi).file, shipped_name);
  for (const std::string& source : {std::string(), named, std::string(shipped_word)})
    CHECK(find_rules({source}, mpi).refused.empty());
  FoundRules found = find_rules({}, mpi);
  CHECK(!complete_rules(found.text, found.file).rules.empty());
  found = find_rules({std::string(shipped_word)}, mpi);
  CHECK(complete_rules(found.text, found.file).compiled == shipped_rules().compiled);
}

TEST(what_cannot_be_used_is_refused_and_the_next_source_decides) {
  const Folder folder;
  const std::string named = folder.write("my.rules", head + "machine a PDP-11\n" + rule);
  FoundRules found = find_rules({named}, mpi);
  CHECK_EQ(found.file, shipped_name);
  CHECK_EQ(found.refused.size(), 1);
  CHECK_EQ(std::string(found.refused.at(0).what()),
           named + ":2: it is for 'a PDP-11', and this is '" + this_machine(mpi()) + "'; the shipped rules decide");
  CHECK(!found.refused.at(0).hint().empty());

  const std::string tuned = folder.write("stretto/tuned.rules", "stretto-rules 1\n" + rule);
  found = find_rules({named}, mpi);
  CHECK_EQ(found.file, shipped_name);
  CHECK_EQ(found.refused.size(), 2);
  CHECK_EQ(std::string(found.refused.at(1).what()),
           tuned + ":1: it does not say for which machine it was tuned; the shipped rules decide");

  folder.write("stretto/tuned.rules", head + here() + rule);
  found = find_rules({"/nowhere/my.rules"}, mpi);
  CHECK_EQ(found.file, tuned);
  CHECK_EQ(std::string(found.refused.at(0).what()),
           "cannot read a rules file /nowhere/my.rules: No such file or directory; the rules of " + tuned + " decide");
  const auto other_mpi = [] { return std::string("MPICH 4.0"); };
  CHECK_EQ(find_rules({}, other_mpi).file, shipped_name);
  CHECK_EQ(find_rules({}, other_mpi).refused.size(), 1);
}

TEST(files_that_are_no_rules) {
  const Folder folder;
  const std::string large = folder.write("large", std::string((1 << 20) + 1, 'x'));
  const FoundRules found = find_rules({large}, mpi);
  CHECK_EQ(std::string(found.refused.at(0).what()),
           large + ":1: this is not a rules file: it has more than 1M; the shipped rules decide");
}

TEST(files_that_are_valid_alone_are_valid_joined) {
  const Folder folder;
  const fs::path before = fs::current_path();
  fs::current_path(fs::temp_directory_path() / ("stretto-sources-test-" + std::to_string(getpid())));
  const std::string learned = folder.write("learned.rules", head + here() + "otherwise\n");
  const std::pair<std::string, std::string> names[] = {{"my.rules", "my.rules"},
                                                       {"two words.rules", "two words.rules"},
                                                       {"two\nlines.rules", "two?lines.rules"},
                                                       {"a#b.rules", "a?b.rules"},
                                                       {"#", "?"},
                                                       {" ", "?"}};
  for (const char* mark : {"", "\xEF\xBB\xBF"})
    for (const auto& [name, shown] : names) {
      folder.write(name, mark + head + rule);
      const FoundRules found = find_rules({.named = name, .learning = learned}, mpi);
      CHECK(found.refused.empty());
      const Rules rules = complete_rules(found.text, found.file);
      CHECK_EQ(rules.rules.size(), 1);
      CHECK_EQ(rules.place(rules.rules.at(0).line), shown + ":2");
    }
  fs::current_path(before);
}

TEST(what_is_no_file_is_refused_at_once) {
  const Folder folder;
  const std::string tuned = config_folders().user + "/tuned.rules";
  const auto refused = [](const std::string& named) {
    const FoundRules found = find_rules({named}, mpi);
    CHECK_EQ(found.file, shipped_name);
    CHECK_EQ(found.refused.size(), 1);
    CHECK_EQ(found.refused.at(0).hint(), "name a file that rank 0 can read");
    return std::string(found.refused.at(0).what());
  };
  CHECK_EQ(refused("/proc"), "/proc is a directory, not a rules file; the shipped rules decide");
  CHECK_EQ(refused("/dev/zero"), "/dev/zero is a device, not a rules file; the shipped rules decide");
  CHECK_EQ(mknod(tuned.c_str(), S_IFSOCK | 0600, 0), 0);
  CHECK_EQ(refused(""), tuned + " is a socket, not a rules file; the shipped rules decide");
  fs::remove(tuned);
  CHECK_EQ(mkfifo(tuned.c_str(), 0600), 0);
  CHECK_EQ(refused(""), tuned + " is a FIFO, not a rules file; the shipped rules decide");
  fs::remove(tuned);
  fs::create_symlink(tuned, tuned);
  CHECK_EQ(refused(tuned),
           "cannot read a rules file " + tuned + ": Too many levels of symbolic links; the shipped rules decide");
}

TEST(files_that_may_not_be_read) {
  const uid_t user = geteuid();
  if (user == 0 && seteuid(65534) != 0) return;  // root may read all
  const Folder folder;
  const std::string tuned = folder.write("stretto/tuned.rules", head + here() + rule);
  fs::permissions(tuned, fs::perms::none);
  const FoundRules found = find_rules({}, mpi);
  CHECK_EQ(found.file, shipped_name);
  CHECK_EQ(std::string(found.refused.at(0).what()),
           "cannot read a rules file " + tuned + ": Permission denied; the shipped rules decide");
  CHECK_EQ(seteuid(user), 0);
}

TEST(words_that_were_meant) {
  const std::string_view words[] = {"ALLREDUCE", "REDUCE", "SHM", "SHM_MEMORY", "SCAN"};
  CHECK_EQ(nearest("ALREDUCE", words), "ALLREDUCE");
  CHECK_EQ(nearest("REDUEC", words), "REDUCE");
  CHECK_EQ(nearest("SHM_MEMROY", words), "SHM_MEMORY");
  CHECK_EQ(nearest("SCANN", words), "SCAN");
  CHECK_EQ(nearest("SHN", words), "SHM");
  CHECK_EQ(nearest("COLOUR", words), "");
  CHECK_EQ(nearest("XY", words), "");
  CHECK_EQ(distance("abc", "abc"), 0);
  CHECK_EQ(distance("", "abc"), 3);
  CHECK_EQ(distance("abcd", "acbd"), 1);
  CHECK_EQ(distance("abcd", "bcd"), 1);
}

}  // namespace
}  // namespace stretto::sources_test
