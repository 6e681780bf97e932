// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/check.hpp"

#include "check/machine.hpp"
#include "check/refuse.hpp"

namespace stretto {
namespace checking {
namespace {

std::string holds(const Expressions& expressions, Expression e) {
  if (e == no_expression) return "nothing";
  if (expressions.is_contribution(e)) return "the contribution of rank " + std::to_string(expressions.first_rank(e));
  return "a reduction over " + ranks(expressions.shared_contributors(e, e));
}

void check_barrier(const Machine& machine, Rank ranks_in_all) {
  for (Rank r = 0; r < ranks_in_all; ++r) {
    std::vector<Rank> missing;
    for (Rank other = 0; other < ranks_in_all; ++other)
      if (!machine.has_heard(r, other)) missing.push_back(other);
    if (!missing.empty())
      refuse(Refusal::wrong_result, "rank " + std::to_string(r) + " has not heard from " + ranks(missing));
  }
}

void check_slot(const Machine& machine, const Content& wanted, Rank rank, Block block) {
  const Expressions& expressions = machine.expressions();
  const Expression e = machine.output(rank, block);
  const auto wrong = [&](const std::string& what) {
    refuse(Refusal::wrong_result, "rank " + std::to_string(rank) + " ends with " + holds(expressions, e) +
                                      " in output[" + std::to_string(block) + "]" + what);
  };
  if (wanted.kind == Content::Kind::contribution) {
    if (e == no_expression || !expressions.is_contribution(e) || expressions.first_rank(e) != wanted.from)
      wrong(", not the contribution of rank " + std::to_string(wanted.from));
  } else {
    if (e == no_expression) wrong(", not the reduction");
    if (expressions.is_of(e, wanted.from, wanted.to)) return;
    const std::vector<Rank> missing = expressions.missing_contributors(e, wanted.from, wanted.to);
    if (!missing.empty()) wrong(", without " + ranks(missing));
    wrong(", not the reduction of ranks " + std::to_string(wanted.from) + " to " + std::to_string(wanted.to));
  }
}

void check_postcondition(const Machine& machine, const Schedule& first, const Question& question) {
  if (question.collective == Collective::barrier) return check_barrier(machine, question.shape.ranks);
  const bool prefixes = facts(question.collective).prefix;
  for (Block b = 0; b < first.blocks; ++b) {
    Rank reference = no_rank;  // the first rank that holds the reduction of this block by all ranks
    for (Rank r = 0; r < question.shape.ranks; ++r) {
      const Content wanted = content_after(question.collective, question.shape, first.parts, r, b);
      if (wanted.kind == Content::Kind::nothing) continue;
      check_slot(machine, wanted, r, b);
      if (wanted.kind != Content::Kind::reduction || prefixes) continue;
      if (reference == no_rank) reference = r;
      const Expression here = machine.output(r, b), there = machine.output(reference, b);
      if (here != there)
        refuse(Refusal::different_expression, "output[" + std::to_string(b) + "] is " +
                                                  machine.expressions().text(there) + " on rank " +
                                                  std::to_string(reference) + " and " +
                                                  machine.expressions().text(here) + " on rank " + std::to_string(r));
    }
  }
}

void check_cost(const Measured& measured, Block blocks, const Algorithm& algorithm, const Shape& shape,
                const Params& params) {
  const auto compare = [&](std::int64_t number, std::int64_t recorded, const std::string& what, bool at_most) {
    if (at_most ? number > recorded : number != recorded)
      refuse(Refusal::wrong_cost, std::string(algorithm.id) + " on " + counted(shape.ranks, "rank") + ": " + what +
                                      ": " + std::to_string(number) + " counted, " + (at_most ? "at most " : "") +
                                      std::to_string(recorded) + " in the record");
  };
  const bool at_most = algorithm.at_most && algorithm.at_most(shape, params);
  compare(blocks, algorithm.blocks(shape, params), "blocks", false);
  compare(measured.rounds, algorithm.rounds(shape, params), "rounds", at_most);
  compare(measured.sent, algorithm.sent(shape, params), "blocks sent", at_most);
  compare(measured.combined, algorithm.combined(shape, params), "blocks combined", at_most);
}

}  // namespace
}  // namespace checking

std::string_view name_of(Refusal refusal) {
  constexpr std::string_view names[] = {
      "malformed",     "unmatched message",    "misordered message",  "deadlock",
      "never written", "overlapping send",     "overlapping receive", "double counting",
      "wrong order",   "different expression", "wrong result",        "wrong cost"};
  static_assert(std::size(names) == static_cast<std::size_t>(Refusal::wrong_cost) + 1);
  return names[static_cast<std::size_t>(refusal)];
}

Checked check(std::span<const Schedule> schedules, const Question& asked) {
  Question question = asked;
  if (facts(asked.collective).neighbourhood) question.shape.graph = graph_of(asked.shape);  // once
  Checked checked;
  try {
    checking::check_form(schedules, question);
    checking::Machine machine(schedules, question);
    machine.run();
    checked.measured = machine.measured;
    checking::check_postcondition(machine, schedules[0], question);
  } catch (const Refused& refused) {
    checked.refused = refused;
  }
  return checked;
}

Checked check_in_place_too(std::span<const Schedule> schedules, Question question) {
  Checked checked = check(schedules, question);
  if (checked.refused || !may_alias(question.collective)) return checked;
  question.in_place = true;
  checked.refused = check(schedules, question).refused;
  if (checked.refused) checked.refused->message += " (in place)";
  return checked;
}

Checked check_against_record(std::span<const Schedule> schedules, const Algorithm& algorithm, const Shape& shape,
                             const Params& params) {
  Checked checked = check_in_place_too(
      schedules, {.collective = algorithm.collective, .shape = shape, .commutative = algorithm.needs.commutative});
  if (checked.refused) return checked;
  try {
    checking::check_cost(checked.measured, schedules[0].blocks, algorithm, shape, resolved(algorithm, shape, params));
  } catch (const Refused& refused) {
    checked.refused = refused;
  }
  return checked;
}

Checked check(const Algorithm& algorithm, const Shape& shape, const Params& params) {
  std::vector<Schedule> schedules;
  schedules.reserve(static_cast<std::size_t>(shape.ranks));
  for (Rank r = 0; r < shape.ranks; ++r) schedules.push_back(build_schedule(algorithm, shape, r, params));
  return check_against_record(schedules, algorithm, shape, params);
}

}  // namespace stretto
