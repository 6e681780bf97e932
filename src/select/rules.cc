// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/rules.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

#include "select/conditions.hpp"
#include "stretto/error.hpp"
#include "support/text.hpp"

namespace stretto {
namespace {

constexpr std::string_view heading = "stretto-rules";
constexpr std::string_view first_version = "1";
constexpr std::string_view version = "2";         // knows the machine line
constexpr std::string_view joined_file = "file";  // begins a file among several
constexpr Bytes largest_size = Bytes{1} << 62;    // so that sums with small numbers do not overflow

std::string quoted(std::string_view word) { return '\'' + std::string(word) + '\''; }

std::string names_of(Function function) {
  std::string names;
  for (const Algorithm* a : all_algorithms())
    if (a->collective == facts(function).collective && (!a->needs.irregular || facts(function).irregular))
      names += std::string(a->name()) + ", ";
  return names + "native";
}

/// "native" or an algorithm's name without its collective. False if there is no such thing.
bool find_by_name(Function function, std::string_view name, const Algorithm** found) {
  *found = nullptr;
  if (name == "native") return true;
  std::string id(facts(facts(function).collective).name);
  *found = find_algorithm(id.append(1, '/').append(name));
  return *found && (!(*found)->needs.irregular || facts(function).irregular);
}

/// "4:2:1"
bool set_list(std::vector<Rank>& list, std::string_view text) {
  list.clear();
  for (;;) {
    const std::size_t colon = text.find(':');
    const auto number = parsed<Rank>(text.substr(0, colon));
    if (!number || *number < 0) return false;
    list.push_back(*number);
    if (colon == std::string_view::npos) return true;
    text = text.substr(colon + 1);
  }
}

/// "segment=64K", "depth=4", "copy=measured", or a parameter of the algorithm. False if it is none of these.
bool set_parameter(const Algorithm* algorithm, Params& params, std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = word.substr(0, equals), text = word.substr(equals + 1);
  if (algorithm && !algorithm->list.empty() && name == algorithm->list) return set_list(params.list, text);
  if (name == "copy") {
    for (const Copy copy : {Copy::staged, Copy::kernel, Copy::measured}) {
      params.copy = copy;
      if (text == name_of(copy)) return true;
    }
    return false;
  }
  const auto value = parse_size(text);
  if (!value) return false;
  if (name == "segment") {
    params.segment = *value;
  } else if (name == "depth" && *value >= 1 && *value <= 64) {
    params.depth = static_cast<int>(*value);
  } else if (algorithm && !algorithm->parameter.name.empty() && name == algorithm->parameter.name &&
             *value >= algorithm->parameter.least && *value <= algorithm->parameter.most) {
    params.value = *value;
  } else {
    return false;
  }
  return true;
}

std::string parameters_of(const Algorithm* algorithm) {
  std::string text = "the parameters are segment=SIZE, depth=1…64, copy=staged|kernel|measured";
  if (algorithm && !algorithm->parameter.name.empty())
    text += ", " + std::string(algorithm->parameter.name) + "=" + std::to_string(algorithm->parameter.least) + "…" +
            std::to_string(algorithm->parameter.most);
  if (algorithm && !algorithm->list.empty()) text += ", " + std::string(algorithm->list) + "=A:B:C";
  return text;
}

/// Why the algorithm can serve no call that fulfils the rule's conditions; empty if it can serve some, or if there are
/// too many numbers of ranks to try them.
std::string never_serves(const Rule& rule) {
  constexpr std::int64_t most_tried = 1 << 14;
  const Params& params = rule.params;
  if (!rule.algorithm) return {};
  const bool by_default = params.value == 0 && params.list.empty();  // which fits any ranks that the algorithm serves
  if (by_default && rule.algorithm->needs.ranks == RanksNeeded::any) return {};
  std::int64_t product = 2;  // no list fits more ranks than twice the product or the number of its items
  for (const Rank item : params.list) product = std::min(product * std::max<Rank>(item, 2), most_tried);
  const std::int64_t least = std::max<std::int64_t>(rule.ranks.low, 1);
  const std::int64_t most = std::min(rule.ranks.high, least + std::max(product, 2 * params.value) + 64);
  if (most > std::min<std::int64_t>(least + most_tried, std::numeric_limits<Rank>::max())) return {};
  const auto admitted = [&](std::int64_t p) {
    if (!rule.ranks.holds(p) || p < 1 || p > std::numeric_limits<Rank>::max()) return false;
    return !rule.demands(std::has_single_bit(static_cast<std::uint64_t>(p)) ? "ranks!=2^k" : "ranks=2^k");
  };
  const auto refusal = [&](std::int64_t p) {
    return unsuitable(*rule.algorithm, {static_cast<Rank>(p), 0, {}}, params);
  };
  const std::int64_t unit = std::max<std::int64_t>(params.value, 1);
  // The likely ones first: a thousand rules should not try hundreds each. The next power of two may be beyond `most`.
  for (const std::int64_t p : {least, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(least))),
                               (least + unit - 1) / unit * unit, std::ssize(params.list), product / 2})
    if (admitted(p) && refusal(p).empty()) return {};
  std::string why;
  for (std::int64_t p = least; p <= most; ++p) {
    if (!admitted(p)) continue;
    const std::string refused = refusal(p);
    if (refused.empty()) return {};
    if (why.empty()) why = refused;
  }
  return why;
}

struct Number {
  std::string_view name;
  Between Rule::* of;
};
constexpr Number numbers[] = {{"bytes", &Rule::bytes},
                              {"part", &Rule::part},
                              {"ranks", &Rule::ranks},
                              {"per-node", &Rule::per_node},
                              {"to-node", &Rule::to_node}};

class RulesParser {
 public:
  RulesParser(std::string_view text, std::string_view file) {
    rules_.file = file;
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    rules_.rules.reserve(static_cast<std::size_t>(std::ranges::count(text, '\n')));
    std::vector<std::string_view> words;
    for_each_line(text, [&](std::string_view line, int number) {
      line_ = number;
      split(line, words);
      if (words.empty()) return;
      if (!headed_)
        header(words);
      else if (words[0] == joined_file && words.size() > 1)
        begin_file(line.substr(static_cast<std::size_t>(words[1].data() - line.data())));
      else if (rules_.otherwise)
        refuse("a rule behind 'otherwise'", "write that line last, or take it out");
      else if (words[0] == "otherwise" && words.size() == 1)
        rules_.otherwise = true;
      else if (words[0] == "machine")
        machine(words);
      else
        rule(words);
    });
    if (!headed_) refuse("the file is empty", hint_header());
  }

  Rules take() { return std::move(rules_); }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
    throw Error(rules_.place(line_) + ": " + what, hint);
  }

  /// Of joined files the next one.
  void begin_file(std::string_view name) {
    rules_.parts.push_back({line_, std::string(name)});
    rules_.otherwise = headed_ = false;
    rules_.machine.clear();
    rules_.machine_line = 0;
    first_rule_ = rules_.rules.size();
  }

  static std::string hint_header() { return "a rules file begins with the line 'stretto-rules 2'"; }

  void header(const std::vector<std::string_view>& words) {
    if (words[0] != heading || words.size() != 2) refuse("this is not a rules file", hint_header());
    if (words[1] != version && words[1] != first_version)
      refuse("unknown version " + quoted(words[1]), "this Stretto reads versions 1 and 2");
    headed_ = true;
    first_version_ = words[1] == first_version;
  }

  void machine(const std::vector<std::string_view>& words) {
    if (first_version_) refuse("version 1 has no machine line", "begin the file with 'stretto-rules 2'");
    if (rules_.machine_line > 0 || rules_.rules.size() > first_rule_ || words.size() == 1)
      refuse("the machine line is out of place",
             "one line 'machine ' and the machine's name stands before the first rule, or none");
    rules_.machine = joined(std::span(words).subspan(1));
    rules_.machine_line = line_;
    (rules_.parts.empty() ? rules_.says_machine : rules_.parts.back().says_machine) = true;
  }

  void rule(const std::vector<std::string_view>& words) {
    Rule rule;
    rule.line = line_;
    const auto function = function_named(words[0]);
    if (!function) {
      std::string names;
      for (Function f : all_functions) names += (names.empty() ? "" : ", ") + std::string(facts(f).name);
      refuse("unknown function " + quoted(words[0]), "the functions are " + names);
    }
    rule.function = *function;
    std::size_t at = 1;
    while (at < words.size() && words[at] != "->") condition(rule, words[at++]);
    if (at + 1 >= words.size()) refuse("no algorithm", "a rule ends with '-> algorithm' and its parameters");
    if (!find_by_name(rule.function, words[at + 1], &rule.algorithm))
      refuse("unknown algorithm " + quoted(words[at + 1]) + " for " + std::string(words[0]),
             words[at + 1].starts_with(file_prefix) ? "a variable can name a file, a rule cannot"
                                                    : "choose from " + names_of(rule.function));
    for (at += 2; at < words.size(); ++at)
      if (!set_parameter(rule.algorithm, rule.params, words[at]))
        refuse("wrong parameter " + quoted(words[at]), parameters_of(rule.algorithm));
    if (const std::string why = never_serves(rule); !why.empty())
      refuse(
          quoted(written(rule.algorithm, rule.params)) + " can serve no number of ranks that the rule admits: " + why,
          "`stretto list` and docs/rules.md say what algorithms need and what lists must be like");
    rules_.rules.push_back(std::move(rule));
  }

  void condition(Rule& rule, std::string_view word) {
    if (const auto known = std::ranges::find(conditions, word, &Condition::text); known != conditions.end()) {
      for (const Condition& other : conditions)
        if (other.kind == known->kind && other.text != word && rule.demands(other.text))
          refuse(quoted(word) + " stands beside another condition of its kind", "write one rule for each");
      rule.conditions |= bit_of(word);
      return;
    }
    const CollectiveFacts& collective = facts(facts(rule.function).collective);
    const std::string name(facts(rule.function).name);
    const auto number = std::ranges::find_if(numbers, [&](const Number& n) { return word.starts_with(n.name); });
    if (number == std::end(numbers)) refuse_condition(word);
    if (number->of == &Rule::to_node && !collective.neighbourhood)
      refuse("a " + name + " has no neighbours", "write bytes, ranks or per-node");
    if (number->of == &Rule::part && (!collective.per_rank || collective.neighbourhood))
      refuse("the vector of a " + name + " has no parts", "write bytes");
    comparison(rule.*number->of, word, word.substr(number->name.size()));
  }

  [[noreturn]] void refuse_condition(std::string_view word) const {
    std::string known;
    for (const Condition& each : conditions) known += ", " + std::string(each.text);
    refuse("unknown condition " + quoted(word),
           "conditions are bytes, part, ranks, per-node and to-node with <, <=, =, >= or > and a number" + known);
  }

  void comparison(Between& between, std::string_view word, std::string_view rest) {
    std::size_t digits = 0;
    while (digits < rest.size() && (rest[digits] < '0' || rest[digits] > '9')) ++digits;
    const std::string_view sign = rest.substr(0, digits);
    const auto value = parse_size(rest.substr(digits));
    if (!value) refuse_condition(word);
    const bool above = sign == ">" || sign == ">=", below = sign == "<" || sign == "<=";
    if (!above && !below && sign != "=") refuse_condition(word);
    if (!above) between.high = std::min(between.high, sign == "<" ? *value - 1 : *value);
    if (!below) between.low = std::max(between.low, sign == ">" ? *value + 1 : *value);
    if (between.low > between.high) refuse("no call can fulfil " + quoted(word), "check the bounds of this rule");
  }

  Rules rules_;
  std::size_t first_rule_ = 0;  // of this file
  int line_ = 1;
  bool headed_ = false;
  bool first_version_ = false;
};

}  // namespace

std::optional<Bytes> parse_size(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  int shift = 0;
  if (unit == "K" || unit == "k")
    shift = 10;
  else if (unit == "M" || unit == "m")
    shift = 20;
  else if (unit == "G" || unit == "g")
    shift = 30;
  else if (!unit.empty())
    return std::nullopt;
  if (value > largest_size >> shift) return std::nullopt;
  return value << shift;
}

bool Rule::demands(std::string_view condition) const { return (conditions & bit_of(condition)) != 0; }

std::string Rules::place(int line) const {
  const auto after = std::ranges::upper_bound(parts, line, {}, &Part::line);
  if (after == parts.begin()) return file + ':' + std::to_string(line);
  const Part& part = *std::prev(after);
  return part.file + ':' + std::to_string(line - part.line);
}

bool Rules::measured(int line) const {
  const auto after = std::ranges::upper_bound(parts, line, {}, &Part::line);
  return after == parts.begin() ? says_machine : std::prev(after)->says_machine;
}

Rules parse_rules(std::string_view text, std::string_view file) { return RulesParser(text, file).take(); }

std::uint64_t digest_of_rules(std::string_view text) {
  std::uint64_t digest = 0xcbf29ce484222325;
  for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return digest == 0 ? 1 : digest;
}

AlgorithmSpec parse_algorithm_spec(Function function, std::string_view value) {
  AlgorithmSpec spec;
  const std::string_view name = value.substr(0, value.find(','));
  if (name.starts_with(file_prefix)) {
    spec.file = name.substr(file_prefix.size());
    if (spec.file.empty()) throw Error("'file:' names no file", "write file:ring.stretto, a path without commas");
  } else if (!find_by_name(function, name, &spec.algorithm))
    throw Error("unknown algorithm " + quoted(name) + " for " + std::string(facts(function).name),
                "choose from " + names_of(function));
  while (value.find(',') != std::string_view::npos) {
    value = value.substr(value.find(',') + 1);
    const std::string_view word = value.substr(0, value.find(','));
    if (!set_parameter(spec.algorithm, spec.params, word))
      throw Error("wrong parameter " + quoted(word) + " of " + quoted(name),
                  parameters_of(spec.algorithm) + ", as in ring,segment=64K,depth=4");
  }
  Rule rule{
      .function = function, .bytes = {}, .part = {}, .ranks = {}, .per_node = {}, .to_node = {}, .params = spec.params};
  rule.algorithm = spec.algorithm;
  if (const std::string why = never_serves(rule); !why.empty())
    throw Error(quoted(written(spec.algorithm, spec.params)) + " can serve no number of ranks: " + why,
                "`stretto list` and docs/rules.md say what algorithms need and what lists must be like");
  return spec;
}

}  // namespace stretto
