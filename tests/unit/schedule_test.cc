// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string>

#include "stretto/builder.hpp"
#include "stretto/error.hpp"
#include "support/test.hpp"

namespace stretto::schedule_test {
namespace {

// Every kind of action, ranges that wrap, messages of no blocks, scratch in two pieces.
Schedule everything() {
  Builder b(1, 4, 4);
  const Block slots = b.new_scratch(2, 2);
  b.new_scratch(0, 1);
  b.send(2, wrapped(Buffer::input, 3, 2, 4));
  b.send(0, {});
  b.receive(0, output(1, 2));
  b.receive(3, {});
  b.round();
  b.receive_reduce(2, output(0), Side::left, input(0));
  b.receive_reduce(2, output(1), Side::right);
  b.copy(input(2, 2), scratch(slots, 2));
  b.reduce(scratch(slots), output(2), Side::left, input(2));
  b.reduce(scratch(slots + 1), output(3), Side::right, input(3));
  Schedule s = b.finish();
  s.algorithm = "allreduce/everything";
  s.root = 2;
  return s;
}

std::string error_of(std::string_view text) {
  try {
    (void)parse_schedules(text, "some.schedule");
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(text_form) {
  CHECK_EQ(to_text(everything()),
           "schedule allreduce/everything ranks=4 rank=1 root=2 blocks=4 scratch=2:4,0\n"
           "round\n"
           "  send 2 input[3] input[0]\n"
           "  send 0 nothing\n"
           "  receive 0 output[1:3]\n"
           "  receive 3 nothing\n"
           "round\n"
           "  receive 2 output[0] = message . input[0]\n"
           "  receive 2 output[1] = output[1] . message\n"
           "  copy scratch[0:2] = input[2:4]\n"
           "  reduce output[2] = scratch[0] . input[2]\n"
           "  reduce output[3] = input[3] . scratch[1]\n");
}

TEST(text_is_read_back) {
  const std::string text = to_text(everything());
  const std::vector<Schedule> read = parse_schedules("# a comment\n" + text + "\n" + text, "f");
  CHECK_EQ(read.size(), 2);
  for (const Schedule& s : read) {
    CHECK_EQ(to_text(s), text);
    CHECK_EQ(s.ranks, 4);
    CHECK_EQ(s.rank, 1);
    CHECK_EQ(s.root, 2);
    CHECK_EQ(s.blocks, 4);
    CHECK(s.scratch.blocks() == (std::vector<Block>{2, 3, 0}));
    CHECK_EQ(s.rounds.size(), 2);
    CHECK_EQ(s.sends.size(), 2);
    CHECK_EQ(s.actions.size(), 7);
  }
}

TEST(a_range_of_no_blocks_is_nothing) {
  const std::string head = "schedule barrier/x ranks=2 rank=0 root=0 blocks=0\nround\n";
  const auto read = parse_schedules(head + "  send 1 output[0:0]\n  receive 1 output[0:0] input[3:3]\n", "f");
  CHECK_EQ(to_text(read[0]), head + "  send 1 nothing\n  receive 1 nothing\n");
}

/// "1 3": the actions of the only round, from 1, that wait until its sends have left.
TEST(scratch_is_kept_as_runs) {
  Scratch s;
  CHECK(s.empty());
  CHECK_EQ(s.add(4, 3), 0);
  CHECK_EQ(s.add(7, 2), 3);  // continues the run
  CHECK_EQ(s.add(9, 0), 5);
  CHECK_EQ(s.add(0, 2), 5);
  CHECK_EQ(s.runs().size(), 2);
  CHECK_EQ(s.size(), 7);
  const std::vector<Block> all{4, 5, 6, 7, 8, 0, 1};
  CHECK(s.blocks() == all);
  for (std::size_t slot = 0; slot < all.size(); ++slot) CHECK_EQ(s[slot], all[slot]);
}

std::string after_sends(const Schedule& s) {
  std::string numbers;
  for (std::size_t i = 0; i < s.actions.size(); ++i)
    if (s.actions[i].after_sends != AfterSends::no) numbers += (numbers.empty() ? "" : " ") + std::to_string(i + 1);
  return numbers;
}

TEST(what_writes_what_the_round_sends_waits) {
  Builder b(0, 4, 4);
  const Block slot = b.new_scratch(3, 1);
  b.send(1, input(0));
  b.send(2, output(1));
  b.send(3, scratch(slot));
  b.copy(input(3), output(3));
  b.receive_reduce(1, output(0, 4), Side::left, input(0, 4));
  b.receive_reduce(2, output(2, 2), Side::left, input(2, 2));
  b.copy(input(3), scratch(slot));
  b.receive(3, output(1));  // lands when it likes
  b.reduce(input(1), output(1), Side::right, output(1));
  Schedule s = b.finish();
  CHECK_EQ(after_sends(s), "2 4 6");
  s.algorithm = "allreduce/some";
  CHECK_EQ(after_sends(parse_schedules(to_text(s), "f").at(0)), "2 4 6");
}

TEST(a_copy_waits_for_what_its_round_sends_from_the_other_buffer_only_in_place) {
  Builder b(0, 3, 3);
  b.send(1, input(0));
  b.send(2, output(1));
  b.copy(input(0), output(0));
  b.round();
  b.send(1, input(0));
  b.copy(input(0), output(0));
  b.receive_reduce(1, output(0), Side::left, input(0));
  b.round();
  b.send(1, output(0));
  b.copy(input(0), output(0));
  const Schedule s = b.finish();
  CHECK_EQ(after_sends(s), "1 2 3 4");
  std::string only_in_place;
  for (const Action& a : s.actions) only_in_place += a.after_sends == AfterSends::in_place ? 'y' : 'n';
  CHECK_EQ(only_in_place, "nynn");  // in the first round something is sent from the output as well
}

TEST(parts_are_written_and_read_back) {
  Schedule s = everything();
  s.parts = {{0, 1, 1, 3, 4}};
  const std::string text = to_text(s);
  CHECK_EQ(text.substr(0, text.find('\n')),
           "schedule allreduce/everything ranks=4 rank=1 root=2 blocks=4 parts=0,1,1,3,4 scratch=2:4,0");
  const Schedule read = parse_schedules(text, "f").at(0);
  CHECK(read.parts == s.parts);
  CHECK(read.scratch == s.scratch);
  CHECK_EQ(to_text(read), text);
  CHECK(parse_schedules(to_text(everything()), "f").at(0).parts.first.empty());
  // Parts without scratch, and ranks without blocks.
  const std::string empty = "schedule x ranks=2 rank=0 root=0 blocks=0 parts=0,0,0\n";
  CHECK_EQ(to_text(parse_schedules(empty, "f").at(0)), empty);
}

TEST(wrong_parts_are_refused) {
  const auto error = [](const std::string& parts) {
    const std::string text = error_of("schedule x ranks=3 rank=0 root=0 blocks=4 " + parts + '\n');
    CHECK(text.starts_with("some.schedule:1: "));
    return text.substr(text.find(": ") + 2);
  };
  const std::string needed = "expected the first block of each rank's part, from 0 on, and the number of blocks";
  for (const std::string wrong : {"0,1,4", "0,1,2,3,4", "1,2,3,4", "0,1,2,3", "0,1,2,5", "", "0", "4"})
    CHECK_EQ(wrong + ": " + error("parts=" + wrong), wrong + ": " + needed);
  CHECK_EQ(error("parts=0,3,2,4"), "the parts are not in order");
  CHECK_EQ(error("parts=0,1,x,4"), "expected a number, found 'x'");
  CHECK_EQ(error("parts=0,,2,4"), "expected a number, found ''");
  CHECK_EQ(error("parts=0,1,-2,4"), "expected a number, found '-2'");
  CHECK_EQ(error("parts=0,1:2,4"), "expected a number, found '1:2'");
  CHECK_EQ(error("parts=0,1,2,281474976710657"), "'281474976710657' is too large");
  CHECK_EQ(error("scratch=0 parts=0,1,2,4"), "unexpected 'parts=0,1,2,4'");
  CHECK_EQ(error("part=0,1,2,4"), "expected scratch=…, found 'part=0,1,2,4'");
}

TEST(text_errors_name_file_and_line) {
  const std::string head = "schedule x ranks=2 rank=0 root=0 blocks=2\n";
  CHECK(parse_schedules("", "f").empty());
  CHECK_EQ(error_of("round\n"), "some.schedule:1: a schedule begins with 'schedule ID ranks=… rank=… root=… blocks=…'");
  CHECK_EQ(error_of(head + "  send 1 output[0]\n"), "some.schedule:2: expected 'round' first");
  CHECK_EQ(error_of(head + "\nround\n  sned 1 output[0]\n"),
           "some.schedule:4: unknown word 'sned': expected schedule, round, send, receive, copy or reduce");
  CHECK_EQ(error_of(head + "round\n  send one output[0]\n"), "some.schedule:3: expected a number, found 'one'");
  CHECK_EQ(error_of(head + "round\n  send 1\n"), "some.schedule:3: expected blocks such as output[0:4]");
  CHECK_EQ(error_of(head + "round\n  send\n"), "some.schedule:3: the line ends too early");
  CHECK_EQ(error_of(head + "round\n  send 1 output[2:1]\n"),
           "some.schedule:3: a range ends before it begins: 'output[2:1]'");
  CHECK_EQ(error_of(head + "round\n  copy output[0] input[0]\n"), "some.schedule:3: expected '='");
  CHECK_EQ(error_of(head + "round\n  reduce output[0] = input[0] input[1]\n"), "some.schedule:3: expected '.'");
  CHECK_EQ(error_of(head + "round\n  receive 1 output[0] = message . input[0] .\n"), "some.schedule:3: unexpected '.'");
  CHECK_EQ(error_of("schedule x ranks=2 root=0 rank=0 blocks=2\n"), "some.schedule:1: expected rank=…, found 'root=0'");
  CHECK_EQ(error_of("schedule x ranks=2 rank=0 root=0 blocks=two\n"),
           "some.schedule:1: expected a number, found 'two'");
}

TEST(text_numbers_are_bounded) {
  const std::string head = "schedule x ranks=2 rank=0 root=0 blocks=2";
  CHECK_EQ(error_of(head + "\nround\n  send 4294967296 output[0]\n"),
           "some.schedule:3: '4294967296' is too large for a rank");
  CHECK_EQ(error_of(head + "\nround\n  receive 2147483648 output[0]\n"),
           "some.schedule:3: '2147483648' is too large for a rank");
  CHECK_EQ(parse_schedules(head + "\nround\n  send 2147483647 output[0]\n", "f").at(0).sends.at(0).peer, 2147483647);
  for (const std::string wrong :
       {"ranks=4294967298 rank=0 root=0", "ranks=2 rank=4294967296 root=0", "ranks=2 rank=0 root=4294967296"})
    CHECK(error_of("schedule x " + wrong + " blocks=2\n").find(" is too large for a rank") != std::string::npos);
  CHECK_EQ(error_of("schedule x ranks=2 rank=0 root=0 blocks=99999999999999999999\n"),
           "some.schedule:1: expected a number, found '99999999999999999999'");
  for (const std::string slots : {"0:4294967296", "0:281474976710656", "0:16777217", "5,0:16777216"})
    CHECK_EQ(error_of(head + " scratch=" + slots + "\n"), "some.schedule:1: more than 16777216 scratch slots");
  CHECK_EQ(parse_schedules(head + " scratch=1,0:9\n", "f").at(0).scratch.size(), 10);
  CHECK_EQ(error_of(head + " scratch=7:3\n"), "some.schedule:1: a range ends before it begins: '7:3'");
  CHECK_EQ(error_of(head + " scratch=9223372036854775807\n"), "some.schedule:1: '9223372036854775807' is too large");
  CHECK_EQ(error_of(head + "\nround\n  send 1 output[0:281474976710657]\n"),
           "some.schedule:3: '281474976710657' is too large");
}

TEST(wrapped_ranges) {
  CHECK(wrapped(Buffer::output, 1, 2, 4) == output(1, 2));
  CHECK(wrapped(Buffer::output, 3, 2, 4) == (Ranges{{Buffer::output, 3, 1}, {Buffer::output, 0, 1}}));
  CHECK(wrapped(Buffer::input, -1, 1, 4) == input(3));
  CHECK(wrapped(Buffer::input, -6, 4, 4) == (Ranges{{Buffer::input, 2, 2}, {Buffer::input, 0, 2}}));
  CHECK(wrapped(Buffer::scratch, 9, 1, 4) == scratch(1));
  CHECK(wrapped(Buffer::output, 0, 4, 4) == output(0, 4));
  CHECK(wrapped(Buffer::output, 2, 0, 4).empty());
  CHECK_EQ(blocks_in(wrapped(Buffer::output, 3, 4, 4)), 4);
}

TEST(builder_merges_neighbours) {
  Builder b(0, 2, 8);
  b.send(1, {{Buffer::output, 0, 2}, {Buffer::output, 2, 3}, {Buffer::output, 5, 0}, {Buffer::output, 6, 1}});
  b.send(1, {{Buffer::input, 0, 1}, {Buffer::output, 1, 1}});
  b.send(1, {{Buffer::output, 1, 1}, {Buffer::output, 0, 1}});
  b.send(1, output(2));  // a neighbour of what another message ends with
  const Schedule s = b.finish();
  const auto sent = [&](std::size_t i) {
    const auto ranges = s.at(s.sends[i].blocks);
    return Ranges(ranges.begin(), ranges.end());
  };
  CHECK(sent(0) == (Ranges{{Buffer::output, 0, 5}, {Buffer::output, 6, 1}}));
  CHECK(sent(1) == (Ranges{{Buffer::input, 0, 1}, {Buffer::output, 1, 1}}));
  CHECK(sent(2) == (Ranges{{Buffer::output, 1, 1}, {Buffer::output, 0, 1}}));
  CHECK(sent(3) == output(2));
}

TEST(builder_drops_what_does_nothing) {
  Builder b(0, 2, 4);
  b.round();
  b.copy({}, {});
  b.copy(output(1), output(1));
  b.reduce({}, {}, Side::left, {});
  b.round();
  b.round();
  b.send(1, {});
  b.round();
  const Schedule s = b.finish();
  CHECK_EQ(s.rounds.size(), 1);
  CHECK_EQ(s.actions.size(), 0);
  CHECK_EQ(s.sends.size(), 1);
}

TEST(builder_groups) {
  // Ranks 4 and 1 of the group (1, 3, 4, 6) are its ranks 2 and 0; a group inside of it is counted in its ranks.
  constexpr std::array<Rank, 4> members{1, 3, 4, 6};
  constexpr std::array<Rank, 2> inner{2, 0};
  Builder b(4, 8, 1);
  Rank rank = no_rank, inner_rank = no_rank;
  b.in_group(members, [&](Builder& g) {
    rank = g.rank();
    CHECK_EQ(g.ranks(), 4);
    g.send(3, output(0));
    g.in_group(inner, [&](Builder& h) {
      inner_rank = h.rank();
      CHECK_EQ(h.ranks(), 2);
      h.send(1, output(0));
    });
    g.receive(0, output(0));
  });
  b.send(7, output(0));
  CHECK_EQ(rank, 2);
  CHECK_EQ(inner_rank, 0);
  CHECK_EQ(b.rank(), 4);
  CHECK_EQ(b.ranks(), 8);
  const Schedule s = b.finish();
  CHECK_EQ(s.sends.size(), 3);
  CHECK_EQ(s.sends[0].peer, 6);
  CHECK_EQ(s.sends[1].peer, 1);
  CHECK_EQ(s.sends[2].peer, 7);
  CHECK_EQ(s.actions[0].peer, 1);

  Builder outsider(0, 8, 1);
  bool ran = false;
  outsider.in_group(members, [&](Builder&) { ran = true; });
  CHECK(!ran);
  CHECK_EQ(outsider.rank(), 0);
  CHECK_EQ(outsider.ranks(), 8);
}

TEST(builder_blocks) {
  Builder b(0, 2, 8);
  Block slot = -1;
  b.in_blocks(4, [&](Builder& half) {
    slot = half.new_scratch(0, 2);
    half.send(1, input(0, 2));
    half.receive(1, scratch(slot, 2));
    half.in_blocks(2, [&](Builder& quarter) { quarter.copy(input(1), output(1)); });
    half.copy(scratch(slot), output(0));
  });
  b.copy(input(0), output(0));
  Schedule s = b.finish();
  s.algorithm = "x/y";
  CHECK_EQ(to_text(s),
           "schedule x/y ranks=2 rank=0 root=0 blocks=8 scratch=4:6\n"
           "round\n"
           "  send 1 input[4:6]\n"
           "  receive 1 scratch[0:2]\n"
           "  copy output[7] = input[7]\n"
           "  copy output[4] = scratch[0]\n"
           "  copy output[0] = input[0]\n");
}

}  // namespace
}  // namespace stretto::schedule_test
