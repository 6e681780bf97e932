// SPDX-License-Identifier: BSD-3-Clause
//
// The text form of a schedule:
//
//   stretto-schedules 1
//   commutative
//   schedule allreduce/ring ranks=4 rank=0 root=0 blocks=4 scratch=0,1
//   schedule allgather/pipelined_ring ranks=3 rank=0 root=0 blocks=4 parts=0,1,1,4
//   round
//     send 1 output[0:2] output[3]
//     receive 3 output[2]
//     receive 3 output[2] = message . input[2]
//     copy output[0:4] = input[0:4]
//     reduce output[2] = scratch[0] . input[2]
#include <limits>
#include <optional>

#include "stretto/error.hpp"
#include "stretto/schedule.hpp"
#include "support/text.hpp"

namespace stretto {
namespace {

constexpr std::string_view heading = "stretto-schedules";
constexpr std::string_view version = "1";
constexpr std::string_view unnamed = "-";                       // a schedule whose algorithm has no name
constexpr std::int64_t largest_number = std::int64_t{1} << 48;  // so that no sum of two of them overflows
constexpr Block most_scratch_slots = Block{1} << 24;            // so that a slip of the pen does not ask for all memory

std::string text_of(std::span<const Range> ranges) {
  std::string text;
  for (const Range& r : ranges) {
    if (!text.empty()) text += ' ';
    text += std::string(name_of(r.buffer)) + '[' + std::to_string(r.first);
    if (r.count != 1) text += ':' + std::to_string(r.first + r.count);
    text += ']';
  }
  return text.empty() ? "nothing" : text;
}

std::string text_of(const Schedule& s, const Action& a) {
  const std::string target = text_of(s.at(a.target));
  const auto operation = [&](const std::string& other) {
    const std::string operand = text_of(s.at(a.operand));
    return a.side == Side::left ? other + " . " + operand : operand + " . " + other;
  };
  switch (a.kind) {
    case ActionKind::receive: return "receive " + std::to_string(a.peer) + ' ' + target;
    case ActionKind::receive_reduce:
      return "receive " + std::to_string(a.peer) + ' ' + target + " = " + operation("message");
    case ActionKind::copy: return "copy " + target + " = " + text_of(s.at(a.source));
    case ActionKind::reduce:
      // The left operand is written first, so `source` is left when it is read back.
      return "reduce " + target + " = " + operation(text_of(s.at(a.source)));
  }
  return "?";
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : file_(file) {
    for_each_line(text, [this](std::string_view line, int number) {
      line_ = number;
      words_ = words_of(line);
      at_ = 0;
      if (!words_.empty()) statement(next());
    });
  }

  ScheduleFile take() {
    for (Schedule& s : read_.schedules) order_after_sends(s);
    return std::move(read_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(std::string(file_) + ':' + std::to_string(line_) + ": " + what,
                "see the text form in docs/schedules.md, or print a valid one with `stretto show --text`");
  }

  std::string_view next() {
    if (at_ == words_.size()) refuse("the line ends too early");
    return words_[at_++];
  }

  std::int64_t number(std::string_view word) const {
    const auto value = parsed<std::int64_t>(word);
    if (!value || *value < 0) refuse("expected a number, found '" + std::string(word) + "'");
    if (*value > largest_number) refuse("'" + std::string(word) + "' is too large");
    return *value;
  }

  Rank rank(std::int64_t value) const {
    if (value > std::numeric_limits<Rank>::max()) refuse("'" + std::to_string(value) + "' is too large for a rank");
    return static_cast<Rank>(value);
  }

  std::int64_t field(std::string_view name) {
    const std::string_view word = next();
    if (!word.starts_with(name) || word.size() <= name.size() || word[name.size()] != '=')
      refuse("expected " + std::string(name) + "=…, found '" + std::string(word) + "'");
    return number(word.substr(name.size() + 1));
  }

  Schedule& current() {
    if (read_.schedules.empty()) refuse("a schedule begins with 'schedule ID ranks=… rank=… root=… blocks=…'");
    return read_.schedules.back();
  }

  Round& round() {
    if (current().rounds.empty()) refuse("expected 'round' first");
    return current().rounds.back();
  }

  void header() {
    Schedule s;
    if (const std::string_view name = next(); name != unnamed) s.algorithm = name;
    s.ranks = rank(field("ranks"));
    s.rank = rank(field("rank"));
    s.root = rank(field("root"));
    s.blocks = field("blocks");
    if (at_ < words_.size() && words_[at_].starts_with("parts=")) parts(s, next());
    if (at_ < words_.size()) scratch(s, next());
    read_.schedules.push_back(std::move(s));
    read_.lines.push_back({line_});
  }

  void file_header(std::string_view word) {
    if (started_) refuse("'" + std::string(word) + "' stands behind other lines");
    if (const std::string_view asked = next(); asked != version)
      refuse("unknown version '" + std::string(asked) + "': this Stretto reads version " + std::string(version));
  }

  // parts=0,1,1,4 : the first block of each rank's part, and the end
  void parts(Schedule& s, std::string_view word) {
    word.remove_prefix(6);
    while (!word.empty()) {
      const Block first = number(take_until(word, ','));
      if (first < (s.parts.first.empty() ? 0 : s.parts.first.back())) refuse("the parts are not in order");
      s.parts.first.push_back(first);
    }
    if (s.parts.first.size() != static_cast<std::size_t>(s.ranks) + 1 || s.parts.first.front() != 0 ||
        s.parts.first.back() != s.blocks)
      refuse("expected the first block of each rank's part, from 0 on, and the number of blocks");
  }

  // scratch=0,1,4:7 : the blocks that the slots hold
  void scratch(Schedule& s, std::string_view word) {
    if (!word.starts_with("scratch=")) refuse("expected scratch=…, found '" + std::string(word) + "'");
    word.remove_prefix(8);
    while (!word.empty()) {
      const std::string_view item = take_until(word, ',');
      const std::size_t colon = item.find(':');
      const Block first = number(item.substr(0, colon));
      const Block end = colon == std::string_view::npos ? first + 1 : number(item.substr(colon + 1));
      if (end < first) refuse("a range ends before it begins: '" + std::string(item) + "'");
      if (end - first > most_scratch_slots - static_cast<Block>(s.scratch.size()))
        refuse("more than " + std::to_string(most_scratch_slots) + " scratch slots");
      s.scratch.add(first, end - first);
    }
  }

  std::optional<Range> range(std::string_view word) const {
    for (Buffer buffer : {Buffer::input, Buffer::output, Buffer::scratch}) {
      const std::string_view name = name_of(buffer);
      if (!word.starts_with(name)) continue;
      if (word.size() < name.size() + 3 || word[name.size()] != '[' || word.back() != ']') break;
      const std::string_view inside = word.substr(name.size() + 1, word.size() - name.size() - 2);
      const std::size_t colon = inside.find(':');
      const Block first = number(inside.substr(0, colon));
      if (colon == std::string_view::npos) return Range{buffer, first, 1};
      return Range{buffer, first, number(inside.substr(colon + 1)) - first};
    }
    return std::nullopt;
  }

  Slice ranges() {
    Schedule& s = current();
    Slice slice{static_cast<std::uint32_t>(s.ranges.size()), 0};
    if (at_ < words_.size() && words_[at_] == "nothing") {
      ++at_;
      return slice;
    }
    const std::size_t first = at_;
    while (at_ < words_.size()) {
      const auto r = range(words_[at_]);
      if (!r) break;
      if (r->count < 0) refuse("a range ends before it begins: '" + std::string(words_[at_]) + "'");
      ++at_;
      if (r->count == 0) continue;  // as if it were not there: what has no ranges is empty
      s.ranges.push_back(*r);
      ++slice.count;
    }
    if (at_ == first) refuse("expected blocks such as output[0:4]");
    return slice;
  }

  bool accept(std::string_view word) {
    if (at_ < words_.size() && words_[at_] == word) return ++at_, true;
    return false;
  }

  void expect(std::string_view word) {
    if (!accept(word)) refuse("expected '" + std::string(word) + "'");
  }

  void add(const Action& a) {
    current().actions.push_back(a);
    ++round().actions.count;
  }

  void receive() {
    Action a{.kind = ActionKind::receive, .peer = rank(number(next())), .target = ranges()};
    if (accept("=")) {
      a.kind = ActionKind::receive_reduce;
      a.side = accept("message") ? Side::left : Side::right;
      if (a.side == Side::left) expect(".");
      a.operand = ranges();
      if (a.side == Side::right) {
        expect(".");
        expect("message");
      }
    }
    add(a);
  }

  void statement(std::string_view verb) {
    if (verb == heading) {
      file_header(verb);
    } else if (verb == "commutative") {
      if (!read_.schedules.empty()) refuse("'commutative' stands before the first schedule");
      read_.commutative = true;
    } else if (verb == "schedule") {
      header();
    } else if (verb == "round") {
      Schedule& s = current();
      s.rounds.push_back(
          {{static_cast<std::uint32_t>(s.sends.size()), 0}, {static_cast<std::uint32_t>(s.actions.size()), 0}});
      read_.lines.back().push_back(line_);
    } else if (verb == "send") {
      round();
      const Rank peer = rank(number(next()));
      current().sends.push_back({peer, ranges()});
      ++round().sends.count;
    } else if (verb == "receive") {
      round();
      receive();
    } else if (verb == "copy" || verb == "reduce") {
      round();
      Action a{.kind = verb == "copy" ? ActionKind::copy : ActionKind::reduce, .target = ranges()};
      expect("=");
      a.source = ranges();
      if (a.kind == ActionKind::reduce) {
        expect(".");
        a.operand = ranges();
      }
      add(a);
    } else {
      refuse("unknown word '" + std::string(verb) + "': expected schedule, round, send, receive, copy or reduce");
    }
    if (at_ != words_.size()) refuse("unexpected '" + std::string(words_[at_]) + "'");
    started_ = true;
  }

  std::string_view file_;
  int line_ = 0;
  bool started_ = false;  // a line has been read
  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
  ScheduleFile read_;
};

std::string scratch_text(const Scratch& scratch) {
  std::string text;
  for (const Scratch::Run& run : scratch.runs()) {
    text += (text.empty() ? " scratch=" : ",") + std::to_string(run.first);
    if (run.count > 1) text += ':' + std::to_string(run.first + run.count);
  }
  return text;
}

std::string parts_text(const Parts& parts) {
  std::string text;
  for (const Block first : parts.first) text += (text.empty() ? " parts=" : ",") + std::to_string(first);
  return text;
}

}  // namespace

std::string to_text(const Schedule& s) {
  std::string text = "schedule " + (s.algorithm.empty() ? std::string(unnamed) : s.algorithm) +
                     " ranks=" + std::to_string(s.ranks) + " rank=" + std::to_string(s.rank) +
                     " root=" + std::to_string(s.root) + " blocks=" + std::to_string(s.blocks) + parts_text(s.parts) +
                     scratch_text(s.scratch) + '\n';
  for (const Round& r : s.rounds) {
    text += "round\n";
    for (const Send& send : s.sends_of(r))
      text += "  send " + std::to_string(send.peer) + ' ' + text_of(s.at(send.blocks)) + '\n';
    for (const Action& a : s.actions_of(r)) text += "  " + text_of(s, a) + '\n';
  }
  return text;
}

std::string to_text(std::span<const Schedule> schedules, bool commutative) {
  std::string text = std::string(heading) + ' ' + std::string(version) + '\n';
  if (commutative) text += "commutative\n";
  for (const Schedule& s : schedules) text += to_text(s);
  return text;
}

ScheduleFile parse_schedule_file(std::string_view text, std::string_view file) { return Parser(text, file).take(); }

std::vector<Schedule> parse_schedules(std::string_view text, std::string_view file) {
  return parse_schedule_file(text, file).schedules;
}

}  // namespace stretto
