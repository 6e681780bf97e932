// SPDX-License-Identifier: BSD-3-Clause
//
// Times collectives on a simulated network: smpirun -no-privatize … stretto-smpi PLAN [NODES] [GRAPH]. A line of the
// plan is a cell and its candidates, "allreduce:64K native ring,segment=16K": SMPI's own choice, and algorithms of
// Stretto. A JSON object is written for each. NODES, "0:0:1:1", says to algorithms that go by nodes where each rank is;
// GRAPH, "random=20", who are neighbours. All ranks are in this one process and take turns, so that they can share
// variables.
#include <smpi/mpi.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <fstream>
#include <simgrid/s4u/Barrier.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <sstream>

#include "cell.hpp"
#include "stretto/error.hpp"
#include "transport.hpp"

namespace stretto::lab {
namespace {

struct Candidate {
  std::string words;
  AlgorithmSpec spec;  // no algorithm: SMPI
};

struct Planned {
  Cell cell;
  std::vector<Candidate> candidates;
};

Planned planned(const std::string& line, Shape shape) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  const std::size_t colon = word.find(':');
  const auto function = function_named(word.substr(0, colon));
  if (!function || facts(*function).irregular || facts(*function).collective == Collective::exscan)
    throw Error("'" + word + "' is no cell of this driver", "functions whose parts are alike, as in allreduce:64K");
  const auto bytes = colon == word.npos ? std::nullopt : parse_size(word.substr(colon + 1));
  if (!bytes) throw Error("'" + word + "' has no size", "write allreduce:64K");
  const CollectiveFacts& of = facts(facts(*function).collective);
  if (*bytes * (of.neighbourhood ? graph_of(shape)->slots() : of.per_rank ? shape.ranks : 1) > INT_MAX)
    throw Error("'" + word + "' is too large", "a vector has at most 2 GiB, all parts together");
  Planned p{{*function, *bytes}, {}};
  while (words >> word) {
    p.candidates.push_back({word, parse_algorithm_spec(*function, word)});
    const AlgorithmSpec& spec = p.candidates.back().spec;
    if (!spec.algorithm) continue;
    shape.counts.clear();
    if (spec.algorithm->needs.counts) shape.counts.assign(static_cast<std::size_t>(shape.ranks), *bytes);
    const std::string why = unsuitable(*spec.algorithm, *function, shape, true, spec.params);
    if (!why.empty()) throw Error(word + " cannot serve this cell: " + why, "stretto list says what each needs");
  }
  return p;
}

std::vector<Planned> read_plan(const char* path, const Shape& shape) {
  std::ifstream file(path);
  std::vector<Planned> plan;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) plan.push_back(planned(line, shape));
  if (plan.empty()) throw Error("there is no plan in " + std::string(path), "a line is: allreduce:64K native ring");
  return plan;
}

std::vector<Rank> read_nodes(const char* text, Rank ranks) {
  std::vector<Rank> nodes;
  std::istringstream numbers(text);
  for (std::string one; std::getline(numbers, one, ':');) nodes.push_back(std::stoi(one));
  if (nodes.size() != static_cast<std::size_t>(ranks))
    throw Error("there are not as many nodes as ranks", "the node of each rank: 0:0:1:1");
  return nodes;
}

/// What the ranks have in common.
struct Board {
  Shape shape;
  std::vector<Planned> plan;
  simgrid::s4u::BarrierPtr barrier;
  double last = 0;  // second in which the last rank was ready
  bool correct = true;
};

Board& board(int argc, char** argv, Rank ranks) {
  static Board one = [&] {
    if (argc < 2 || argc > 4) throw Error("there is no plan", "smpirun … stretto-smpi PLAN [NODES] [GRAPH]");
    Shape shape{ranks, 0, {}, {}};
    for (int i = 2; i < argc; ++i)
      if (std::string_view(argv[i]).find('=') == std::string_view::npos)
        shape.nodes = read_nodes(argv[i], ranks);
      else
        shape.graph = parse_graph(argv[i], ranks);
    return Board{shape, read_plan(argv[1], shape), simgrid::s4u::Barrier::create(static_cast<unsigned>(ranks))};
  }();
  return one;
}

void report(const Planned& p, const Candidate& c, Rank ranks, double seconds, bool checked, bool correct) {
  std::printf("{\"cell\": \"%s\", \"ranks\": %d, \"asked\": %lld, \"words\": \"%s\", \"algorithm\": \"%s\", ",
              facts(p.cell.function).name.data(), ranks, static_cast<long long>(p.cell.asked), c.words.c_str(),
              c.spec.algorithm ? c.spec.algorithm->id.data() : "native");
  std::printf("\"us\": %.6f, \"correct\": %s, \"checked\": %s}\n", seconds * 1e6, correct ? "true" : "false",
              checked ? "true" : "false");
  std::fflush(stdout);
}

/// The barrier takes no simulated time: all begin in one moment.
void run(Board& b, Rank rank, Rank ranks) {
  using simgrid::s4u::Engine;
  SmpiTransport transport;
  for (const Planned& p : b.plan) {
    execute::Progress progress;
    Player player(p.cell, rank, b.shape);
    for (const Candidate& c : p.candidates) {
      if (!c.spec.algorithm) player.native();  // SMPI's first call looks which ranks share a host
      player.refresh();
      if (rank == 0) {
        b.last = 0;
        b.correct = true;
      }
      b.barrier->wait();
      const double begin = Engine::get_clock();
      bool ok = true;
      if (c.spec.algorithm)
        ok = player.perform(c.spec, progress, transport);
      else
        player.native();
      b.last = std::max(b.last, Engine::get_clock());
      b.correct &= ok && (!player.checked() || player.correct());
      b.barrier->wait();
      if (rank == 0) report(p, c, ranks, b.last - begin, player.checked(), b.correct);
    }
  }
}

}  // namespace
}  // namespace stretto::lab

extern "C" [[gnu::visibility("default")]] int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    stretto::lab::run(stretto::lab::board(argc, argv, ranks), rank, ranks);
  } catch (const stretto::Error& e) {
    std::fprintf(stderr, "error: %s\nhint: %s\n", e.what(), e.hint().c_str());
    std::fflush(nullptr);
    _exit(2);  // SimGrid would report that a rank ended early
  }
  MPI_Finalize();
  return 0;
}
