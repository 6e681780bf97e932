// SPDX-License-Identifier: BSD-3-Clause
//
// The messages that the set-up of a communicator takes: small native collectives on the program's own communicator, for
// before it ends nobody knows whether there is any other way.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpi/native.hpp"
#include "mpi/threads.hpp"
#include "stretto/types.hpp"
#include "support/function_ref.hpp"

namespace stretto::mpi {

/// The program's error handler put aside: an MPI that runs out of communicators must not end the program, which could
/// have done without this one. Not where other threads may need the handler meanwhile, unless they are known not to.
class ErrorsReturned {
 public:
  explicit ErrorsReturned(MPI_Comm comm, bool aside = !threads_at_once()) : comm_(comm), aside_(aside) {
    if (!aside_) return;
    native().Comm_get_errhandler(comm_, &handler_);
    native().Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~ErrorsReturned() {
    if (!aside_) return;
    native().Comm_set_errhandler(comm_, handler_);
    native().Errhandler_free(&handler_);
  }
  ErrorsReturned& operator=(ErrorsReturned&&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler handler_{};
  bool aside_;
};

/// All ranks make the same calls in the same order, whatever fails on some of them; agreed() then tells all whether
/// something did, but for one that the MPI fails to tell even that. What a call brings may be looked at before, and be
/// relied on only then.
class Bootstrap {
 public:
  /// `cause` says in which call it began. `comm` outlives this. After `patience` a call fails that is still
  /// waiting for other ranks, and may end later in the caller's memory; without any, STRETTO_DEADLINE ends the job.
  Bootstrap(MPI_Comm comm, std::string cause, std::optional<std::chrono::seconds> patience = std::nullopt);
  /// Of some ranks of `whole`, which outlives this. All ranks of `whole` make its calls, each for some ranks of its
  /// own.
  Bootstrap(Bootstrap& whole, std::vector<Rank> members);

  MPI_Comm comm() const { return comm_; }  ///< also of some of its ranks
  const std::string& cause() const { return cause_; }
  Rank rank() const { return rank_; }
  Rank ranks() const { return ranks_; }

  /// `bytes` from each rank to all of them.
  void allgather(const void* mine, void* all, std::size_t bytes);
  /// The smallest that any rank gave, number by number.
  void minimum(std::span<const std::int64_t> mine, std::int64_t* least);
  template <std::size_t n>
  std::array<std::int64_t, n> minimum(const std::array<std::int64_t, n>& mine) {
    std::array<std::int64_t, n> least = mine;
    minimum(mine, least.data());
    return least;
  }
  std::int64_t minimum(std::int64_t mine) { return minimum(std::array{mine})[0]; }
  /// Not of some ranks. From rank 0 to all, in small pieces: whether long messages arrive is not known.
  void broadcast(void* data, std::size_t bytes);

  /// Until others have done, in shared memory, what `done` looks for. Only where no patience ends: some ranks would go
  /// on while others wait.
  void await(FunctionRef<bool()> done);

  /// Called in its waits: lets go on what others may need before they come.
  void meanwhile(void (*call)()) { meanwhile_ = call; }

  /// Has all that this rank did succeeded?
  bool ok() const { return whole_ ? whole_->ok() : ok_; }
  void fail() { whole_ ? whole_->fail() : void(ok_ = false); }
  /// The same on all ranks: has it on each of them?
  bool agreed();

 private:
  /// Ends a call that was begun with this result.
  void wait(int begun, MPI_Request& request);
  [[noreturn]] void expired() const;

  Bootstrap* whole_ = nullptr;
  std::vector<Rank> members_;
  MPI_Comm comm_;
  std::string cause_;
  std::optional<std::chrono::seconds> patience_;
  void (*meanwhile_)() = nullptr;
  Rank rank_ = 0;
  Rank ranks_ = 1;
  bool ok_ = true;
};

}  // namespace stretto::mpi
