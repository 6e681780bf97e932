// SPDX-License-Identifier: BSD-3-Clause
//
// The files of STRETTO_PROFILE and STRETTO_TRACE, written by rank 0 at the end of the program.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "support/files.hpp"

namespace stretto::mpi::observe {

class Assembly;

/// After MPI_Init: has another job spawned this one? Later it may have left its parents.
void note_parents();

/// In MPI_Finalize, after free_communicators(). Collective over those ranks of the world that are to write files.
/// `agreed`: do all its ranks want the same files, if that is known?
void write_files(std::optional<bool> agreed);

void write_profile(Assembly& all, const std::string& path);
void write_trace(Assembly& all, const std::string& path);

/// A file that is written in pieces. What goes wrong is said once, in one line; it neither blocks nor ends the program.
class Output {
 public:
  Output(const char* variable, const std::string& path);
  ~Output();
  Output& operator=(Output&&) = delete;
  void write(const std::string& text);

 private:
  void complain(const std::string& why);

  const char* variable_;
  std::string path_;
  std::FILE* file_ = nullptr;
  NoSignalAtFileLimit no_signal_;
};

/// The elements of a list, one a line. What stands in the file before them ends with its bracket.
class Lines {
 public:
  Lines(Output& file, const std::string& before) : file_(file) { file_.write(before); }
  ~Lines() { file_.write("\n]"); }
  Lines& operator=(Lines&&) = delete;
  void add(const std::string& text) {
    file_.write(std::exchange(first_, false) ? "\n" : ",\n");
    file_.write(text);
  }

 private:
  Output& file_;
  bool first_ = true;
};

/// What the program is called: "app", or "python script.py".
std::string program_name();

}  // namespace stretto::mpi::observe
