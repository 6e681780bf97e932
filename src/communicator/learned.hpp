// SPDX-License-Identifier: BSD-3-Clause
//
// What this process learned, of all its communicators: until MPI_Finalize, when it goes into the file.
#pragma once

#include <optional>
#include <string>

#include "learn/file.hpp"

namespace stretto::mpi {

/// Of the MPI that the program runs on.
std::string title_of_mpi();

/// The file that STRETTO_LEARN asks for; empty: nothing is learned, or the environment names no folder for it.
std::string learned_path();

/// Rank 0 of a communicator says what its ranks found out; `settled`: they have compared all.
void keep_learned(const learn::Learned& learned, bool settled);
/// What another communicator of this process found out about such calls.
std::optional<learn::Candidate> learned_before(const std::string& conditions);

/// Before MPI_Finalize: into the file, if there is anything. Says so if that fails.
void write_learned();

}  // namespace stretto::mpi
