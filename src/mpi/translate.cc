// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/translate.hpp"

#include <numeric>

#include "mpi/native.hpp"

namespace stretto::mpi {

std::vector<int> translate(MPI_Comm from, MPI_Comm to) {
  MPI_Group groups[2];
  native().Comm_group(from, &groups[0]);
  native().Comm_group(to, &groups[1]);
  int n = 0;
  native().Comm_size(from, &n);
  std::vector<int> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> translated(ranks.size());
  native().Group_translate_ranks(groups[0], n, ranks.data(), groups[1], translated.data());
  for (MPI_Group& group : groups) native().Group_free(&group);
  return translated;
}

}  // namespace stretto::mpi
