// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/algorithm_file.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "check/refuse.hpp"
#include "stretto/error.hpp"
#include "support/text.hpp"

namespace stretto {
namespace {

const char* const hint = "`stretto check --file` says what a file of schedules holds; docs/schedules.md has its form";

AlgorithmFile::Case case_of(const Shape& shape, const Algorithm& algorithm) {
  return {shape.ranks, facts(algorithm.collective).rooted ? shape.root : 0};
}

// The functions of the record find their file in the parameters, where resolved() has put it.

const std::vector<Schedule>& schedules_of(const Shape& shape, const Params& params) {
  return params.file->schedules(case_of(shape, params.file->algorithm()));
}

const Measured& measured(const Shape& shape, const Params& params) {
  return params.file->proof(case_of(shape, params.file->algorithm())).measured;
}

constexpr Algorithm blank{
    .id = {},
    .summary = {},
    .source = "given as schedules",
    .volume = {},
    .collective = Collective::barrier,
    .needs = {},
    .blocks = [](const Shape& shape, const Params& params) { return schedules_of(shape, params)[0].blocks; },
    .rounds = [](const Shape& shape, const Params& params) { return measured(shape, params).rounds; },
    .sent = [](const Shape& shape, const Params& params) { return measured(shape, params).sent; },
    .combined = [](const Shape& shape, const Params& params) { return measured(shape, params).combined; },
    .build = nullptr,
    .parts = [](const Shape& shape, const Params& params) { return schedules_of(shape, params)[0].parts; },
    .misfit = [](const Shape& shape, const Params& params) { return params.file->misfit(shape); },
    .stored = [](const Shape& shape, Rank rank, const Params& params) -> const Schedule& {
      return schedules_of(shape, params)[static_cast<std::size_t>(rank)];
    },
};

}  // namespace

AlgorithmFile::AlgorithmFile(std::string id, bool commutative, std::vector<Schedule> schedules)
    : id_(std::move(id)),
      summary_("given as schedules"),
      record_(blank) {
  for (Schedule& s : schedules)
    if (s.algorithm.empty()) s.algorithm = id_;
  std::vector<std::vector<int>> lines(schedules.size());
  fill_record(commutative);
  take(std::move(schedules), std::move(lines));
}

AlgorithmFile::AlgorithmFile(std::string_view text, const std::string& path)
    : path_(path),
      summary_("the schedules of " + path),
      record_(blank) {
  if (const std::size_t first = text.find_first_not_of(" \t\r\n"); first != text.npos && std::strchr("<{", text[first]))
    throw Error(path + ": a plan in XML or JSON, not schedules",
                "`stretto show --file " + path + " --text` prints its schedules, for a file");
  ScheduleFile read = parse_schedule_file(text, path);
  if (read.schedules.empty()) throw Error(path + ": no schedule in it", "`stretto show --text` prints some");
  const std::string named = read.schedules[0].algorithm;
  for (std::size_t i = 0; i < read.schedules.size(); ++i)
    if (read.schedules[i].algorithm != named)
      throw Error(path + ':' + std::to_string(read.lines[i][0]) + ": a schedule of " + read.schedules[i].algorithm +
                      " among those of " + named,
                  "write a file for each algorithm");
  const std::string collective = named.substr(0, named.find('/'));
  if (!collective_named(collective))
    throw Error(path + ':' + std::to_string(read.lines[0][0]) + ": '" + named + "' does not begin with a collective",
                "name the schedules as in allgather/ring");
  id_ = collective + '/' + std::string(file_prefix) + path;
  fill_record(read.commutative);
  take(std::move(read.schedules), std::move(read.lines));
}

void AlgorithmFile::fill_record(bool commutative) {
  const auto collective = collective_named(std::string_view(id_).substr(0, id_.find('/')));
  if (!collective) throw Error("'" + id_ + "' does not begin with a collective", "name it as in allgather/ring");
  if (facts(*collective).neighbourhood)
    throw Error((path_.empty() ? id_ : path_) +
                    ": a neighbourhood's schedules go by its graph, of which a file says "
                    "nothing",
                "write an algorithm of another collective");
  record_.id = id_;
  record_.summary = summary_;
  record_.collective = *collective;
  record_.needs.commutative = commutative;
  record_.file = this;
}

// What the checker lets pass, but a call cannot make use of.
void AlgorithmFile::refuse_unusable(const Schedule& s, const std::string& at) const {
  const CollectiveFacts& collective = facts(record_.collective);
  if (s.ranks < 1 || s.rank >= s.ranks || s.root >= s.ranks || s.rank < 0 || s.root < 0)
    throw Error(at + "rank " + std::to_string(s.rank) + " or root " + std::to_string(s.root) + " is not one of " +
                    checking::counted(s.ranks, "rank"),
                hint);
  if (!collective.rooted && s.root != 0)
    throw Error(at + std::string(collective.name) + " has no root " + std::to_string(s.root), "write root=0");
  if (s.parts.first.empty()) return;
  // Ranks of a gather or scatter know the sizes of their own parts only, and tell each other those of whole parts.
  if (!collective.per_rank || collective.rooted)
    throw Error(at + "the parts of " + std::string(collective.name) + " are not cut into blocks", "leave parts out");
  for (std::size_t r = 0; r + 1 < s.parts.first.size(); ++r)
    if (s.parts.first[r] == s.parts.first[r + 1])
      throw Error(at + "rank " + std::to_string(r) + " has no block for its part", "give every rank's part a block");
}

void AlgorithmFile::take(std::vector<Schedule> schedules, std::vector<std::vector<int>> lines) {
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    Schedule& s = schedules[i];
    const std::string at = path_.empty() ? id_ + ": " : path_ + ':' + std::to_string(lines[i][0]) + ": ";
    refuse_unusable(s, at);
    Set& set = sets_[{s.ranks, s.root}];
    if (!s.scratch.empty() && facts(record_.collective).per_rank) record_.forwards = true;
    if (set.schedules.size() != static_cast<std::size_t>(s.rank))
      throw Error(at + "rank " + std::to_string(s.rank) + " of " + std::to_string(s.ranks) + " where rank " +
                      std::to_string(set.schedules.size()) + " is awaited",
                  "the schedules of all ranks stand in their order, each once");
    set.schedules.push_back(std::move(s));
    set.lines.push_back(std::move(lines[i]));
  }
  for (const auto& [which, set] : sets_)
    if (set.schedules.size() != static_cast<std::size_t>(which.ranks))
      throw Error((path_.empty() ? id_ : path_) + ": holds " +
                      checking::counted(std::ssize(set.schedules), "schedule") + " for " +
                      checking::counted(which.ranks, "rank") + ", not one for each",
                  "`stretto show --text` without --rank prints all");
}

std::vector<AlgorithmFile::Case> AlgorithmFile::cases() const {
  std::vector<Case> all;
  for (const auto& one : sets_) all.push_back(one.first);
  return all;
}

std::string AlgorithmFile::no_case(Case wanted) const {
  std::vector<Rank> ranks, roots;
  for (const auto& [held, set] : sets_) {
    if (ranks.empty() || ranks.back() != held.ranks) ranks.push_back(held.ranks);
    if (held.ranks == wanted.ranks) roots.push_back(held.root);
  }
  if (roots.empty())
    return "it holds no schedules for " + checking::counted(wanted.ranks, "rank") + ", but for " + runs_of(ranks);
  return "it holds no schedules for root " + std::to_string(wanted.root) + " of " +
         checking::counted(wanted.ranks, "rank") + ", but for " + runs_of(roots);
}

const AlgorithmFile::Set& AlgorithmFile::set(Case wanted) const {
  const auto found = sets_.find(wanted);
  if (found == sets_.end()) throw Error(id_ + ": " + no_case(wanted), hint);
  return found->second;
}

const std::vector<Schedule>& AlgorithmFile::schedules(Case wanted) const { return set(wanted).schedules; }

/// With the place that the refusal speaks of: "rank 1, round 2: …".
Checked AlgorithmFile::prove(Case wanted, const Set& set) const {
  Checked checked = check_in_place_too(set.schedules, {.collective = record_.collective,
                                                       .shape = {.ranks = wanted.ranks, .root = wanted.root},
                                                       .commutative = record_.needs.commutative});
  if (!checked.refused) return checked;
  std::size_t rank = 0, round = 0;
  std::string& message = checked.refused->message;
  if (std::sscanf(message.c_str(), "rank %zu, round %zu", &rank, &round) < 1) rank = 0;
  rank = std::min(rank, set.schedules.size() - 1);
  if (checked.refused->why == Refusal::wrong_result) {
    round = set.schedules[rank].rounds.size();
    message += ", after round " + std::to_string(round) + ", its last";
  }
  if (path_.empty()) return checked;
  const std::vector<int>& lines = set.lines[rank];
  message = path_ + ':' + std::to_string(lines[std::min(round, lines.size() - 1)]) + ": " +
            std::string(name_of(checked.refused->why)) + ": on " + checking::counted(wanted.ranks, "rank") + ", " +
            message;
  return checked;
}

const Checked& AlgorithmFile::proof(Case wanted) const {
  (void)set(wanted);  // throws if there is none
  Set& one = sets_.find(wanted)->second;
  const std::lock_guard lock(mutex_);
  if (!one.checked) one.checked = prove(wanted, one);
  return *one.checked;
}

std::string AlgorithmFile::misfit(const Shape& shape) const {
  const Case wanted = case_of(shape, record_);
  if (!sets_.contains(wanted)) return no_case(wanted);
  const Checked& checked = proof(wanted);
  return checked.refused ? "refused: " + checked.refused->message : "";
}

std::string AlgorithmFile::news(const Shape& shape) const {
  const auto found = sets_.find(case_of(shape, record_));
  if (found == sets_.end()) return {};
  const Checked& checked = proof(found->first);
  const std::lock_guard lock(mutex_);
  return !checked.refused || std::exchange(found->second.told, true) ? "" : checked.refused->message;
}

std::string AlgorithmFile::text() const {
  std::vector<Schedule> all;
  for (const auto& one : sets_) all.insert(all.end(), one.second.schedules.begin(), one.second.schedules.end());
  return to_text(all, record_.needs.commutative);
}

}  // namespace stretto
