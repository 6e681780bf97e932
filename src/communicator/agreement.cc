// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/agreement.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "communicator/algorithm_files.hpp"
#include "communicator/learned.hpp"
#include "communicator/own_process.hpp"
#include "mpi/flavour/flavour.hpp"
#include "mpi/queries.hpp"
#include "mpi/threads.hpp"
#include "select/shipped.hpp"
#include "settings/settings.hpp"
#include "stretto/sources.hpp"
#include "support/launcher.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();  // loses against any other number

/// Rules as they travel from rank to rank.
struct Known {
  std::string file;
  std::string text;   ///< empty: the shipped one
  std::string files;  ///< of schedules that variables name: they belong to what all must have alike
  const Rules* rules = nullptr;
  std::int64_t digest = 0;  ///< of both texts: positive
};

std::int64_t positive(std::uint64_t digest) { return static_cast<std::int64_t>(digest >> 2 | 1); }

Known shipped() { return {std::string(shipped_name), {}, {}, &shipped_rules(), positive(shipped_digest)}; }

std::mutex agreements_mutex;  // guards what follows; never destroyed, like all that a program may use at its very end
const Known* current = nullptr;
std::map<std::int64_t, Known>& all_known() {
  static auto& by_digest = *new std::map<std::int64_t, Known>{{positive(shipped_digest), shipped()}};
  return by_digest;
}

/// The texts are those of rules and schedules. Throws where they are not valid.
const Known& keep(const std::string& file, const std::string& text, const std::string& files) {
  const std::int64_t digest = positive(digest_of_rules(files.empty() ? text : text + '\0' + files));
  if (const auto found = all_known().find(digest); found != all_known().end()) return found->second;
  // A copy of the shipped rules has their name whatever its file's: ranks that have it go by that of their own.
  const std::string name = digest_of_rules(text) == shipped_digest ? std::string(shipped_name) : file;
  auto rules = std::make_unique<Rules>(complete_rules(text, name));
  add_algorithm_files(files, *rules);
  return all_known()[digest] = {name, text, files, rules.release(), digest};
}

/// Reads them at the first call; says what it found if told to.
const Known& mine(bool speak) {
  const std::lock_guard lock(agreements_mutex);
  if (current) return *current;
  const FoundRules found = find_rules({settings().rules, learned_path()}, title_of_mpi);
  for (const Error& e : found.refused)
    if (speak) say(e.what(), e.hint());
  const std::string files = read_algorithm_files(speak);
  if (!found.text.empty()) {
    try {
      current = &keep(found.file, found.text, files);
    } catch (const Error& e) {  // each file was valid: what is wrong with all of them must not end the program
      if (speak) say(std::string(e.what()) + "; the " + std::string(shipped_name) + " decide", e.hint());
    }
  }
  if (!current)
    current = files.empty() ? &all_known().at(positive(shipped_digest))
                            : &keep(std::string(shipped_name), std::string(shipped_rules_text), files);
  if (speak && settings().log_select)
    say("select: by the " + (current->file == shipped_name ? current->file : "rules of " + current->file));
  return *current;
}

/// Null: this process has never seen them.
const Known* known(std::int64_t digest) {
  const std::lock_guard lock(agreements_mutex);
  const auto found = all_known().find(digest);
  return found == all_known().end() ? nullptr : &found->second;
}

/// The text of rank 0's, on all ranks. Null if it did not come; others may have it.
const Known* of_rank_0(Bootstrap& bootstrap) {
  std::array<std::string, 3> texts;  // the rules' file, what it says, and files of schedules
  if (bootstrap.rank() == 0) {
    const Known& own = mine(true);
    texts = {own.file, own.text.empty() ? std::string(shipped_rules_text) : own.text, own.files};
  }
  std::array<std::int64_t, 3> sizes{};
  std::ranges::transform(texts, sizes.begin(), [](const std::string& text) { return std::ssize(text); });
  bootstrap.broadcast(sizes.data(), sizeof sizes);
  if (!bootstrap.agreed()) return nullptr;  // who does not know how much comes cannot take part
  for (std::size_t i = 0; i < texts.size(); ++i) {
    texts[i].resize(static_cast<std::size_t>(sizes[i]));
    bootstrap.broadcast(texts[i].data(), texts[i].size());
  }
  if (!bootstrap.ok()) return nullptr;
  const std::lock_guard lock(agreements_mutex);
  try {
    return &keep(texts[0], texts[1], texts[2]);
  } catch (const Error&) {  // rank 0 could read them: what came is something else
    bootstrap.fail();
    return nullptr;
  }
}

/// Terms as numbers, of which the least of all ranks tells what they agree on.
using Proposal = std::array<std::int64_t, 12>;

Proposal proposal(const Terms& t) {
  return std::to_array<std::int64_t>({t.variables, -t.variables, t.files, -t.files, t.node, -t.node, t.rules,
                                      !t.threads, t.threads, !t.faults, t.own_thread, !t.gpu});
}

Agreement agreement(const Proposal& least) {
  const auto& [variables, minus_variables, files, minus_files, node, minus_node, digest, no_threads, all_threads,
               no_faults, own_thread, no_gpu] = least;
  Agreement all;
  all.same_variables = variables == -minus_variables;
  all.same_files = files == -minus_files;
  all.digest = digest;
  if (const Known* rules = known(digest)) all.rules = rules->rules;
  all.one_node = node == -minus_node;
  all.threads = !no_threads;
  all.all_threads = all_threads;
  all.faults = !no_faults;
  all.own_thread = own_thread;
  all.gpu = !no_gpu;
  return all;
}

/// Numbers that this process has proposed for one communicator are proposed for no other.
std::atomic<std::uint32_t> next_number{1};

}  // namespace

std::uint32_t propose_number(std::uint32_t wanted) {
  std::uint32_t next = next_number.load();
  while (!next_number.compare_exchange_weak(next, std::max(next, wanted) + 1)) continue;
  return std::max(next, wanted);
}

std::optional<std::uint32_t> agree_on_number(Bootstrap& bootstrap) {
  std::int64_t mine = propose_number();
  for (;;) {
    const std::array<std::int64_t, 4> said{mine, -mine, bootstrap.ok(), !flavour::survives_faults()};
    const auto [smallest, minus_most, all_ok, no_faults] = bootstrap.minimum(said);
    const std::int64_t most = -minus_most;
    // With fault tolerance some ranks may have this and others not; without, an error of the MPI ends more than this.
    if (!no_faults && !bootstrap.agreed()) return std::nullopt;
    if (!all_ok || !bootstrap.ok()) return std::nullopt;
    if (smallest == most) return static_cast<std::uint32_t>(most);
    if (mine < most) mine = propose_number(static_cast<std::uint32_t>(most));
  }
}

Terms Terms::own(Rank rank) {
  Terms terms;
  terms.variables = static_cast<std::int64_t>(settings().fingerprint >> 1);
  terms.rules = rank == 0 ? mine(true).digest : none;
  terms.node = node_id();
  terms.files = static_cast<std::uint8_t>((settings().profile.empty() ? 0 : 1) + (settings().trace.empty() ? 0 : 2));
  terms.threads = threads_at_once();
  terms.faults = flavour::survives_faults();
  terms.own_thread = own_thread_may_call();
  terms.gpu = buffers_may_be_on_gpu();
  return terms;
}

Agreement combined(std::span<const Terms> all) {
  Proposal least = proposal(all.front());
  for (const Terms& one : all.subspan(1))
    std::ranges::transform(proposal(one), least, least.begin(), [](auto a, auto b) { return std::min(a, b); });
  Agreement found = agreement(least);
  for (const Terms& one : all) found.nodes.push_back(one.node);
  return found;
}

// A rank that this did not reach does not know how it goes on: all hear of it first.
Agreement settle(Bootstrap& bootstrap, Agreement all, bool all_came, bool rules_known) {
  if (!bootstrap.ok() || !all_came) return {};
  if (!all.same_variables || all.gpu) return all;
  const Known* rules = known(all.digest);
  if (!rules_known) {
    rules = of_rank_0(bootstrap);
    if (!bootstrap.agreed()) return all;
  }
  all.rules = rules->rules;
  all.usable = true;
  const std::lock_guard lock(agreements_mutex);
  current = rules;  // this process's from now on, unless it agrees on others
  return all;
}

Agreement agree(Bootstrap& bootstrap, const Terms& mine) {
  const Proposal least = bootstrap.minimum(proposal(mine));
  const Agreement found = bootstrap.ok() ? agreement(least) : Agreement{};
  const std::array<std::int64_t, 2> mine_then{bootstrap.ok() ? 1 : 0, found.rules ? 1 : 0};
  const auto [all_came, rules_known] = bootstrap.minimum(mine_then);
  return settle(bootstrap, found, all_came == 1, rules_known == 1);
}

const Rules& own_rules() { return *mine(launched_rank() <= 0).rules; }

}  // namespace stretto::mpi
