// SPDX-License-Identifier: BSD-3-Clause
//
// The conformance suite over an MPI: mpiexec -n N conformance-mpi-FLAVOUR --mpi-library PATH
#include <cstdio>

#include "mpi/native.hpp"
#include "transport/many_operations.hpp"
#include "transport/mpi/mpi.hpp"

namespace stretto::test {
namespace {

/// Over a communicator for each group.
std::size_t many_over_mpi(MPI_Comm comm, Rank rank, Rank ranks) {
  const mpi::Native& mpi = mpi::native();
  std::vector<MPI_Comm> comms;
  std::vector<GroupEnd> groups;
  for (const auto& members : groups_of(ranks)) {
    GroupEnd& end = groups.emplace_back();
    const auto me = std::ranges::find(members, rank);
    const bool member = me != members.end();
    MPI_Comm& made = comms.emplace_back(mpi::constants().comm_null);
    mpi.Comm_split(comm, member ? 0 : 1, static_cast<int>(me - members.begin()), &made);
    end.ranks = static_cast<Rank>(members.size());
    if (!member) continue;
    mpi.Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    end.rank = static_cast<Rank>(me - members.begin());
    end.transport = std::make_unique<transport::MpiTransport>(made);
  }
  const std::size_t done = Juggler(rank, std::move(groups), references_up_to(ranks), {.batches = 60}).play();
  for (MPI_Comm& made : comms) mpi.Comm_free(&made);
  return done;
}

int run_all(MPI_Comm comm, Rank rank, Rank ranks) {
  transport::MpiTransport transport(comm);
  const Session session{transport, rank, ranks};
  conformance::run_checks(session);
  const auto done = run_matrix(session, References(ranks), {ranks <= 4 ? 8 : 2, 1, static_cast<std::uint32_t>(ranks)});
  for (const Algorithm* a : all_algorithms()) CHECK_EQ(done.count(a->id), variants(*a, ranks).empty() ? 0 : 1);
  const std::size_t many = many_over_mpi(comm, rank, ranks);
  if (rank == 0)
    std::printf("%s: %zu checks, %zu algorithms and %zu operations, many at once, on %d ranks, %d failures\n",
                STRETTO_FLAVOUR, std::size(conformance::checks), done.size(), many, ranks, failures());
  return failures() > 0 ? 1 : 0;
}

int run_over_mpi(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "--mpi-library") {
    std::fprintf(stderr, "usage: mpiexec -n RANKS %s --mpi-library PATH\n", argv[0]);
    return 2;
  }
  mpi::use_native(argv[2]);
  const mpi::Native& mpi = mpi::native();
  int provided = 0;
  mpi.Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  MPI_Comm comm = mpi::constants().comm_null;
  mpi.Comm_dup(mpi::constants().world, &comm);
  mpi.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int rank = 0;
  int ranks = 1;
  mpi.Comm_rank(comm, &rank);
  mpi.Comm_size(comm, &ranks);
  int code = 1;
  try {
    code = run_all(comm, rank, ranks);
  } catch (const std::exception& e) {  // the others may wait for this rank for ever
    std::fprintf(stderr, "rank %d: %s\n", rank, e.what());
    mpi.Abort(comm, 1);
  }
  mpi.Comm_free(&comm);
  mpi.Finalize();
  return code;
}

}  // namespace
}  // namespace stretto::test

int main(int argc, char** argv) { return stretto::test::run_over_mpi(argc, argv); }
