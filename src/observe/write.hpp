// SPDX-License-Identifier: BSD-3-Clause
//
// The files of STRETTO_PROFILE and STRETTO_TRACE, written by rank 0.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "observe/assembly.hpp"
#include "support/file_limit.hpp"

namespace stretto::mpi::observe {

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
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  void write(const std::string& text);

 private:
  void complain(const std::string& why);

  const char* variable_;
  std::string path_;
  std::FILE* file_ = nullptr;
  NoSignalAtFileLimit no_signal_;
};

/// What the program is called: "app", or "python script.py".
std::string program_name();

}  // namespace stretto::mpi::observe
