// SPDX-License-Identifier: BSD-3-Clause
//
// stretto-probe-FLAVOUR: moves messages between ranks, several at once, and says how long that took. Started by
// `stretto topology discover` under an MPI's launcher. Rank 0 reads an order a line from stdin and answers with a JSON
// object a line; the first one says where the ranks are.
//
//   move REPEATS ENOUGH FROM:TO:BYTES …   {"moved":[[seconds, [of each message]], …]}, one for each time; the last one
//                                         is the first that took ENOUGH seconds or less, where one did
//   ping TIMES FROM:TO                    {"ping":seconds}, one way
//   eager TRIES FROM:TO:BYTES             {"eager":true} if a message leaves before its receiver asks for it
//   end                                   as the end of stdin, which Open MPI's launcher may keep to itself
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "mpi/native.hpp"
#include "stretto/error.hpp"
#include "support/files.hpp"
#include "support/json.hpp"
#include "support/text.hpp"

namespace stretto::measure {
namespace {

using mpi::constants;
using mpi::native;
using std::chrono::microseconds;

constexpr microseconds soon{20};              // of who takes part: cores are for the messages
constexpr microseconds later{500};            // of who waits for the next order
constexpr microseconds eager_within{20'000};  // a message leaves whose receiver need not answer

enum class Kind { move, ping, eager };
constexpr std::array<std::string_view, 3> kinds{"move", "ping", "eager"};

struct Flow {
  int from, to;
  long long bytes;
};

struct Order {
  Kind kind = Kind::move;
  int repeats = 1;
  double enough = 0;
  std::vector<Flow> flows;
};

/// Without taking a core from ranks that have work: those of a cluster for tests share a few.
void wait_for(std::span<MPI_Request> requests, microseconds pause) {
  for (int done = 0;;) {
    native().Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done) return;
    std::this_thread::sleep_for(pause);
  }
}

void broadcast(void* what, int bytes, microseconds pause = soon) {
  MPI_Request request;
  native().Ibcast(what, bytes, MPI_BYTE, 0, constants().world, &request);
  wait_for({&request, 1}, pause);
}

void meet() {
  MPI_Request request;
  native().Ibarrier(constants().world, &request);
  wait_for({&request, 1}, soon);
}

/// Of all ranks, on rank 0.
void largest(const double* mine, double* of_all, int n) {
  MPI_Request request;
  native().Ireduce(mine, of_all, n, MPI_DOUBLE, MPI_MAX, 0, constants().world, &request);
  wait_for({&request, 1}, soon);
}

/// Of every rank, on rank 0.
std::vector<std::string> gathered(const std::string& mine, int rank, int ranks) {
  int length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(ranks)), begins(lengths);
  native().Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, constants().world);
  std::exclusive_scan(lengths.begin(), lengths.end(), begins.begin(), 0);
  std::string all(static_cast<std::size_t>(begins.back() + lengths.back()), ' ');
  native().Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR, 0,
                   constants().world);
  std::vector<std::string> found;
  for (std::size_t i = 0; rank == 0 && i < lengths.size(); ++i)
    found.push_back(all.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(lengths[i])));
  return found;
}

/// Lists of cores ("0-3") that share what the function looks up for each core; a JSON list.
template <typename OfCore>
std::string shared_by(OfCore of_core) {
  std::set<std::pair<int, std::string>> lists;  // by their first core
  std::error_code error;
  for (const auto& one : std::filesystem::directory_iterator("/sys/devices/system/cpu", error)) {
    const std::string name = one.path().filename().string();
    if (!name.starts_with("cpu") || !std::isdigit(static_cast<unsigned char>(name[3]))) continue;
    const std::string list = of_core(one.path());
    if (!list.empty()) lists.insert({std::atoi(list.c_str()), list});
  }
  std::string text = "[";
  for (const auto& [core, list] : lists) text += (text.size() > 1 ? "," : "") + json::quoted(list);
  return text + "]";
}

/// What the kernel says of this rank's machine.
std::string place() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const std::string sockets = shared_by([](const std::filesystem::path& cpu) {
    const std::string list = first_line(cpu / "topology/package_cpus_list");
    return list.empty() ? first_line(cpu / "topology/core_siblings_list") : list;
  });
  const std::string caches = shared_by([](const std::filesystem::path& cpu) {
    for (const char* last : {"cache/index4", "cache/index3", "cache/index2"})
      if (const std::string list = first_line(cpu / last / "shared_cpu_list"); !list.empty()) return list;
    return std::string();
  });
  return "{\"host\":" + json::quoted(host) +
         ",\"boot\":" + json::quoted(first_line("/proc/sys/kernel/random/boot_id")) + ",\"sockets\":" + sockets +
         ",\"caches\":" + caches + "}";
}

long long number(const std::string& word, long long least, long long most) {
  const auto value = parsed<long long>(word);
  if (!value || *value < least || *value > most)
    throw Error("'" + word + "' is no number from " + std::to_string(least) + " to " + std::to_string(most));
  return *value;
}

Order order_of(const std::string& line, int ranks) {
  std::istringstream words(line);
  Order order;
  std::string word;
  words >> word;
  const auto kind = std::ranges::find(kinds, word);
  if (kind == kinds.end()) throw Error("'" + line + "' is no order: write move, ping or eager");
  order.kind = static_cast<Kind>(kind - kinds.begin());
  words >> word;
  order.repeats = static_cast<int>(number(word, 1, 1'000'000));
  if (order.kind == Kind::move && !(words >> order.enough))
    throw Error("'" + line + "' does not say how many seconds are enough");
  while (words >> word) {
    std::vector<std::string> parts;
    std::istringstream split(word);
    for (std::string part; std::getline(split, part, ':');) parts.push_back(part);
    const bool sized = order.kind != Kind::ping;
    if (parts.size() != (sized ? 3 : 2)) throw Error("'" + word + "' is no message: write 0:1:1000");
    order.flows.push_back({static_cast<int>(number(parts[0], 0, ranks - 1)),
                           static_cast<int>(number(parts[1], 0, ranks - 1)), sized ? number(parts[2], 1, INT_MAX) : 8});
    if (order.flows.back().from == order.flows.back().to) throw Error("'" + word + "' goes nowhere");
  }
  if (order.flows.empty()) throw Error("'" + line + "' moves nothing");
  return order;
}

struct Probe {
  int rank, ranks;
  std::vector<std::vector<char>> buffers = {};
  std::vector<double> arrived = {};

  /// Until rank 0 has read all orders.
  void obey() {
    for (;;) {
      Order order;
      int flows = 0;
      if (std::string line; rank == 0 && std::getline(std::cin, line) && line != "end") {
        order = order_of(line, ranks);
        flows = static_cast<int>(order.flows.size());
      }
      broadcast(&flows, sizeof flows, later);
      if (flows == 0) return;
      int head[2] = {static_cast<int>(order.kind), order.repeats};
      broadcast(head, sizeof head);
      order.kind = static_cast<Kind>(head[0]);
      order.repeats = head[1];
      order.flows.resize(static_cast<std::size_t>(flows));
      broadcast(order.flows.data(), flows * static_cast<int>(sizeof(Flow)));
      switch (order.kind) {
        case Kind::move: move(order); break;
        case Kind::ping: ping(order); break;
        case Kind::eager: eager(order); break;
      }
      if (rank == 0) std::fflush(stdout);
    }
  }

  void move(const Order& order) {
    if (rank == 0) std::printf("{\"moved\":[");
    for (int i = 0, last = 0; !last; ++i) {
      const double seconds = moved(order.flows);
      last = i + 1 == order.repeats || seconds <= order.enough;
      broadcast(&last, sizeof last);
      if (rank != 0) continue;
      std::printf("%s[%.7f,[", i == 0 ? "" : ",", seconds);
      for (std::size_t f = 0; f < order.flows.size(); ++f) std::printf("%s%.7f", f == 0 ? "" : ",", arrived[f]);
      std::printf("]]");
    }
    if (rank == 0) std::printf("]}\n");
  }

  /// All messages at once. The clock of rank 0 starts before the first of them and stops after the last, whatever the
  /// scheduler does: what shares a link never seems to be faster than that lets it.
  double moved(const std::vector<Flow>& flows) {
    std::vector<MPI_Request> receives, sends;
    std::vector<std::size_t> mine;
    std::size_t used = 0;
    for (const Flow& flow : flows) {
      if (flow.from != rank && flow.to != rank) continue;
      if (buffers.size() == used) buffers.emplace_back();
      std::vector<char>& buffer = buffers[used++];
      if (buffer.size() < static_cast<std::size_t>(flow.bytes)) buffer.resize(static_cast<std::size_t>(flow.bytes), 1);
    }
    meet();
    const double begun = native().Wtime();
    meet();
    const double own = native().Wtime();
    used = 0;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      const auto& [from, to, bytes] = flows[f];
      const int count = static_cast<int>(bytes);
      if (to == rank) {
        mine.push_back(f);
        receives.emplace_back();
        native().Irecv(buffers[used++].data(), count, MPI_BYTE, from, 1, constants().world, &receives.back());
      } else if (from == rank) {
        sends.emplace_back();
        native().Isend(buffers[used++].data(), count, MPI_BYTE, to, 1, constants().world, &sends.back());
      }
    }
    std::vector<double> times(flows.size(), 0);
    wait_for(receives, soon);
    for (const std::size_t f : mine) times[f] = native().Wtime() - own;
    wait_for(sends, soon);
    arrived.resize(flows.size());
    largest(times.data(), arrived.data(), static_cast<int>(flows.size()));
    return native().Wtime() - begun;
  }

  void ping(const Order& order) {
    const Flow& flow = order.flows.front();
    std::vector<double> times;
    long long word = 0;
    meet();
    for (int i = 0; i < order.repeats; ++i) {
      const double begun = native().Wtime();
      if (rank == flow.from) {
        native().Send(&word, sizeof word, MPI_BYTE, flow.to, 2, constants().world);
        native().Recv(&word, sizeof word, MPI_BYTE, flow.to, 2, constants().world, MPI_STATUS_IGNORE);
      } else if (rank == flow.to) {
        native().Recv(&word, sizeof word, MPI_BYTE, flow.from, 2, constants().world, MPI_STATUS_IGNORE);
        native().Send(&word, sizeof word, MPI_BYTE, flow.from, 2, constants().world);
      }
      times.push_back((native().Wtime() - begun) / 2);
    }
    const double least = rank == flow.from ? *std::ranges::min_element(times) : 0;
    double found = 0;
    largest(&least, &found, 1);
    if (rank == 0) std::printf("{\"ping\":%.9f}\n", found);
  }

  /// The receiver stays out of the MPI for twice as long as the sender looks whether its message has left. A busy
  /// machine can only make an eager message look as if it were none: one try of several is enough.
  void eager(const Order& order) {
    const Flow& flow = order.flows.front();
    const double limit = std::chrono::duration<double>(eager_within).count();
    const bool takes_part = rank == flow.from || rank == flow.to;
    std::vector<char> buffer(takes_part ? static_cast<std::size_t>(flow.bytes) : 0, 1);
    const int count = static_cast<int>(flow.bytes);
    double found = 0;
    for (int i = 0; i < order.repeats && found == 0; ++i) {
      meet();
      const double begun = native().Wtime();  // before any rank leaves the second barrier
      meet();
      MPI_Request request;
      double left = 0;
      if (rank == flow.from) {
        native().Isend(buffer.data(), count, MPI_BYTE, flow.to, 3, constants().world, &request);
        int done = 0;
        while (!done && native().Wtime() - begun < limit) native().Testall(1, &request, &done, MPI_STATUSES_IGNORE);
        left = done && native().Wtime() - begun < limit ? 1 : 0;
        if (!done) wait_for({&request, 1}, soon);
      } else if (rank == flow.to) {
        std::this_thread::sleep_for(2 * eager_within);
        native().Recv(buffer.data(), count, MPI_BYTE, flow.from, 3, constants().world, MPI_STATUS_IGNORE);
      }
      largest(&left, &found, 1);
      broadcast(&found, sizeof found);
    }
    if (rank == 0) std::printf("{\"eager\":%s}\n", found > 0 ? "true" : "false");
  }
};

int run(int argc, char** argv) {
  if (argc != 2) throw Error("usage: stretto-probe-FLAVOUR LIBMPI");
  mpi::use_native(argv[1]);
  int provided = 0, rank = 0, ranks = 1;
  native().Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  native().Comm_rank(constants().world, &rank);
  native().Comm_size(constants().world, &ranks);
  prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds: else each pause takes some fifty microseconds more
  const std::vector<std::string> places = gathered(place(), rank, ranks);
  if (rank == 0) {
    std::printf("{\"ranks\":[%s]}\n", joined(places, ",").c_str());
    std::fflush(stdout);
  }
  try {
    Probe{rank, ranks}.obey();
  } catch (const Error& e) {  // rank 0 alone knows, and the others wait for it
    std::fprintf(stderr, "stretto-probe: %s\n", e.what());
    native().Abort(constants().world, 2);
  }
  native().Finalize();
  return 0;
}

}  // namespace
}  // namespace stretto::measure

int main(int argc, char** argv) {
  try {
    return stretto::measure::run(argc, argv);
  } catch (const stretto::Error& e) {
    std::fprintf(stderr, "stretto-probe: %s\n", e.what());
    return 2;
  }
}
