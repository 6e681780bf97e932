// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <numeric>

#include "mpi/queries.hpp"
#include "observe/assembly.hpp"
#include "observe/calls.hpp"
#include "observe/learning.hpp"
#include "observe/records.hpp"
#include "observe/write.hpp"
#include "settings/settings.hpp"
#include "support/files.hpp"
#include "support/json.hpp"
#include "support/text.hpp"

namespace stretto::mpi::observe {
using json::number;
using json::quoted;

namespace {

/// Since this process began.
double wall_seconds() {
  const std::string text = read_file("/proc/self/stat");
  const auto fields = words_of(std::string_view(text).substr(text.rfind(')') + 1));  // the name may have blanks
  constexpr std::size_t start_field = 22 - 3;  // counted from 1; behind the name stands the third
  if (fields.size() <= start_field) return 0;
  const double start = std::strtod(fields[start_field].data(), nullptr);
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const double since_boot = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  return std::max(since_boot - start / static_cast<double>(sysconf(_SC_CLK_TCK)), 0.0);
}

struct MergedKey {
  std::pair<std::string, std::string> communicator;  // name, ranks
  std::uint8_t function = 0, size_class = 0;
  std::string algorithm;  // empty: native
  Passed why{};
  Form form{};

  auto operator<=>(const MergedKey&) const = default;
};

struct OfRank {
  std::string node;
  double wall = 0, before = 0, collectives = 0, waiting = 0;
  std::uint64_t calls = 0;
};

/// What rank 0 makes of the packets.
struct Profile {
  std::map<std::pair<std::string, std::string>, std::uint64_t> communicators;  // how many of each
  std::map<MergedKey, std::vector<Record>> records;                            // of each rank that has it
  std::vector<OfRank> by_rank;
  LearnedClasses learned;
};

constexpr double seconds(Nanoseconds ns) { return 1e-9 * static_cast<double>(ns); }

/// Of the `wall` seconds since this process began, those until its first collective call; negative: there was none.
double seconds_before(double wall) {
  return first_use() > 0 ? std::max(wall - seconds(execute::now() - first_use()), 0.0) : -1;
}

Packet packed(const Ledger& ledger, int rank) {
  Packet p;
  const double wall = wall_seconds();
  p.put(node_name(rank), wall, seconds_before(wall), ledger.size());
  for (const auto& [name, group] : ledger) {
    p.put(name.first, name.second, group.communicators, group.table.size());
    for (const auto& [key, record] : group.table)
      p.put(key.function, key.size_class, key.algorithm ? key.algorithm->id : std::string_view(), key.why, key.form,
            record);
  }
  put_learned(p);
  return p;
}

void add(Profile& all, Packet p) {
  OfRank& mine = all.by_rank.emplace_back();
  p.get(mine.node, mine.wall, mine.before);
  for (auto groups = p.get<std::size_t>(); groups > 0; --groups) {
    MergedKey key;
    p.get(key.communicator.first, key.communicator.second);
    std::uint64_t& made = all.communicators[key.communicator];
    made = std::max(made, p.get<std::uint64_t>());
    for (auto records = p.get<std::size_t>(); records > 0; --records) {
      Record r;
      p.get(key.function, key.size_class, key.algorithm, key.why, key.form, r);
      all.records[key].push_back(r);
      mine.collectives += seconds(r.time);
      mine.waiting += seconds(r.waiting);
      mine.calls += r.calls;
    }
  }
  get_learned(p, all.learned);
}

/// Over the ranks.
std::string spread(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  const double median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  return "{\"min\":" + number(values.front()) + ",\"median\":" + number(median) + ",\"max\":" + number(values.back()) +
         '}';
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// null where it is not known.
std::string of_ranks(const std::string& name, const std::vector<double>& values, bool known) {
  return ",\"" + name + "\":" + (known ? spread(values) : "null") + ",\"" + name +
         "_of_ranks\":" + (known ? number(sum(values)) : "null");
}

std::string text_of(const MergedKey& key, const std::vector<Record>& records, std::ptrdiff_t communicator) {
  const bool native = key.algorithm.empty();
  const auto least = key.size_class == 0 ? 0 : std::uint64_t{1} << (key.size_class - 1);
  std::string text = "{\"communicator\":" + std::to_string(communicator) +
                     ",\"function\":" + quoted(facts(static_cast<Function>(key.function)).name) +
                     ",\"form\":" + quoted(name_of(key.form)) + ",\"bytes_from\":" + std::to_string(least) +
                     ",\"algorithm\":" + quoted(native ? "native" : key.algorithm);
  if (native) text += ",\"reason\":" + quoted(name_of(key.why));
  const auto numbers = [&](auto which, double unit) {
    std::vector<double> all;
    for (const Record& record : records) all.push_back(unit * static_cast<double>(record.*which));
    return all;
  };
  const std::vector<double> calls = numbers(&Record::calls, 1), time = numbers(&Record::time, 1e-9);
  text += ",\"ranks\":" + std::to_string(records.size()) + ",\"calls\":" + spread(calls) +
          ",\"bytes\":" + spread(numbers(&Record::bytes, 1)) + ",\"seconds\":" + spread(time) +
          ",\"seconds_of_ranks\":" + number(sum(time));
  const bool blocking = key.form == Form::blocking;
  text += of_ranks("waiting", numbers(&Record::waiting, 1e-9), blocking && !native) +
          of_ranks("posting", numbers(&Record::posting, 1e-9), !blocking) +
          of_ranks("completing", numbers(&Record::completing, 1e-9), !blocking) +
          of_ranks("under_way", numbers(&Record::under_way, 1e-9), !blocking) +
          of_ranks("overlapped", numbers(&Record::overlapped, 1e-9), !blocking);
  return text + ",\"timed\":" + number(sum(numbers(&Record::timed, 1)) / std::max(sum(calls), 1.0)) + '}';
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::tm utc{};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  return text;
}

std::string mpi_version() {
  const std::string text = library_version();
  return joined(words_of(std::string_view(text).substr(0, text.find('\n'))));
}

/// Of many in a row; the least of some tries, for an interrupted one tells nothing.
template <typename Call>
double nanoseconds_of(Call call) {
  constexpr int tries = 5, calls = 1000;
  double least = 0;
  for (int t = 0; t < tries; ++t) {
    const Nanoseconds begin = execute::now();
    for (int i = 0; i < calls; ++i) call();
    const double one = static_cast<double>(execute::now() - begin) / calls;
    least = t == 0 ? one : std::min(least, one);
  }
  return least;
}

/// What it takes to time one call, here and now; of a served one with a single wait for another rank. Not where events
/// are kept: it would fill the timeline.
std::string timing_cost() {
  Records scratch(constants().self);
  const double native_ns = nanoseconds_of([&] {
    begin_call(Function::allreduce, &scratch, sizeof(double), execute::now());
    end_call();
  });
  scratch.drop();
  Record record;
  Sampled sampled(record, scratch.world_ranks(), Function::allreduce, 0, *all_algorithms().front(), true);
  std::uint64_t calls = 0;
  const double served_ns = nanoseconds_of([&] {
    sampled.begin(++calls);
    observer().idle();
    observer().active(0, true);
    sampled.end(calls);
  });
  return "{\"native\":" + number(native_ns) + ",\"served\":" + number(served_ns) + '}';
}

void write(Output& file, const Profile& p) {
  std::vector<double> walls;
  for (const OfRank& r : p.by_rank) walls.push_back(r.wall);
  file.write("{\"format\":\"stretto profile\",\"version\":1,\"stretto\":\"" + std::string(stretto_version()) +
             "\",\n\"program\":" + quoted(program_name()) + ",\"date\":" + quoted(date()) +
             ",\"mpi\":" + quoted(mpi_version()) + ",\n\"ranks\":" + std::to_string(p.by_rank.size()) +
             ",\"wall_seconds\":" + spread(walls));
  if (settings().trace.empty()) file.write(",\"timing_ns\":" + timing_cost());
  std::map<std::string, std::size_t> nodes;
  {
    Lines lines(file, ",\n\"nodes\":[");
    for (const OfRank& r : p.by_rank)
      if (nodes.try_emplace(r.node, nodes.size()).second) lines.add(quoted(r.node));
  }
  {
    Lines lines(file, ",\n\"by_rank\":[");
    for (const OfRank& r : p.by_rank)
      lines.add("{\"node\":" + std::to_string(nodes[r.node]) + ",\"wall_seconds\":" + number(r.wall) +
                ",\"before_first_call\":" + (r.before < 0 ? "null" : number(r.before)) +
                ",\"calls\":" + std::to_string(r.calls) + ",\"seconds\":" + number(r.collectives) +
                ",\"waiting\":" + number(r.waiting) + '}');
  }
  {
    Lines lines(file, ",\n\"communicators\":[");
    for (const auto& [name, made] : p.communicators)
      lines.add("{\"name\":" + quoted(name.first) + ",\"world_ranks\":" + quoted(name.second) +
                ",\"how_many\":" + std::to_string(made) + '}');
  }
  {
    Lines lines(file, ",\n\"records\":[");
    for (const auto& [key, records] : p.records)
      lines.add(text_of(key, records, std::distance(p.communicators.begin(), p.communicators.find(key.communicator))));
  }
  if (!p.learned.empty()) {
    Lines lines(file, ",\n\"learned\":[");
    for (const auto& [conditions, learned] : p.learned) lines.add(text_of(conditions, learned));
  }
  file.write("}\n");
}

}  // namespace

void write_profile(Assembly& all, const std::string& path) {
  Profile profile;
  all.collect(packed(ledger(), all.rank()), [&](int, Packet packet) { add(profile, std::move(packet)); });
  if (all.rank() != 0) return;
  Output file("STRETTO_PROFILE", path);
  write(file, profile);
}

}  // namespace stretto::mpi::observe
