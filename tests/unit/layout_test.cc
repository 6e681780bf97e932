// SPDX-License-Identifier: BSD-3-Clause
#include "execute/layout.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "execute/arena.hpp"
#include "support/test.hpp"

namespace stretto::execute::layout_test {
namespace {

/// Pieces that lie one behind the other from `begin` to `end`, with sizes that differ by at most one, larger first.
void check_pieces(const std::vector<Piece>& pieces, Count begin, Count end) {
  Count at = begin;
  for (std::size_t b = 0; b < pieces.size(); ++b) {
    CHECK_EQ(pieces[b].first, at);
    CHECK(pieces[b].count >= 0);
    if (b > 0) CHECK(pieces[b].count <= pieces[b - 1].count && pieces[b].count + 1 >= pieces[0].count);
    at += pieces[b].count;
  }
  CHECK_EQ(at, end);
}

TEST(uniform_pieces) {
  for (Block blocks = 1; blocks <= 20; ++blocks)
    for (Count n = 0; n <= 65; ++n) {
      std::vector<Piece> pieces;
      for (Block b = 0; b < blocks; ++b) pieces.push_back(uniform_piece(n, blocks, b));
      check_pieces(pieces, 0, n);
    }
}

TEST(uniform_pieces_beyond_32_bits) {
  constexpr Count big = Count{1} << 40;
  for (const Count n : {big - 1, big, big + 1, (Count{1} << 62) + 3})
    for (const Block blocks : {1, 2, 3, 17, 1000}) {
      std::vector<Piece> pieces;
      for (Block b = 0; b < blocks; ++b) pieces.push_back(uniform_piece(n, blocks, b));
      check_pieces(pieces, 0, n);
    }
  CHECK_EQ(uniform_piece(big + 1, 3, 2).first, 733007751852);
  CHECK_EQ(uniform_piece(big + 1, 3, 2).count, 366503875925);
  CHECK_EQ(uniform_piece(5, big, big - 1).count, 0);
  CHECK_EQ(uniform_piece(5, big, big - 1).first, 5);
}

TEST(whole_vector_in_segments) {
  for (const Count n : {0, 1, 2, 6, 7, 8, 100})
    for (const Count segment : {0, 1, 3, 7, 99, 100, 101})
      for (const Block blocks : {1, 2, 5, 16}) {
        const Layout layout = Layout::whole(n, blocks, segment);
        const Count size = segment == 0 ? n : segment;
        CHECK_EQ(layout.segments(), n == 0 ? 1 : (n + size - 1) / size);
        CHECK(layout.adjacent());
        for (Count s = 0; s < layout.segments(); ++s) {
          std::vector<Piece> pieces;
          for (Block b = 0; b < blocks; ++b) pieces.push_back(layout.block(b, s));
          check_pieces(pieces, s * size, std::min(n, (s + 1) * size));
        }
      }
}

TEST(whole_vector_beyond_32_bits) {
  constexpr Count n = (Count{1} << 40) + 1;
  const Layout layout = Layout::whole(n, 4, Count{1} << 33);
  CHECK_EQ(layout.segments(), 129);
  CHECK_EQ(layout.block(3, 127).first, (Count{127} << 33) + (Count{3} << 31));
  CHECK_EQ(layout.block(3, 127).count, Count{1} << 31);
  CHECK_EQ(layout.block(0, 128).first, Count{1} << 40);
  CHECK_EQ(layout.block(0, 128).count, 1);
  CHECK_EQ(layout.block(1, 128).count, 0);
}

TEST(blocks_of_ranks) {
  for (const Count each : {0, 1, 5, 12})
    for (const Count segment : {0, 1, 5, 7, 50}) {
      const Block ranks = 3;
      const Layout layout = Layout::per_rank(each, segment);
      const bool cut = segment > 0 && segment < each;
      CHECK_EQ(layout.segments(), cut ? (each + segment - 1) / segment : 1);
      CHECK_EQ(layout.adjacent(), !cut);
      for (Block b = 0; b < ranks; ++b) {
        CHECK_EQ(layout.first(b), b * each);
        Count at = b * each;
        for (Count s = 0; s < layout.segments(); ++s) {
          CHECK_EQ(layout.block(b, s).first, at);
          at += layout.block(b, s).count;
          if (s + 1 < layout.segments()) CHECK_EQ(layout.block(b, s).count, segment);
        }
        CHECK_EQ(at, (b + 1) * each);
      }
    }
  constexpr Count each = Count{1} << 40;
  CHECK_EQ(Layout::per_rank(each, 0).block(999, 0).first, 999 * each);
  CHECK_EQ(Layout::per_rank(each, 0).first(999), 999 * each);
}

TEST(irregular_blocks) {
  const std::vector<Count> counts{4, 0, 7, 1}, displacements{20, 3, 5, 40};
  const Layout whole = Layout::irregular(counts, displacements, 0);
  CHECK_EQ(whole.segments(), 1);
  CHECK(!whole.adjacent());
  for (Block b = 0; b < 4; ++b) {
    CHECK_EQ(whole.block(b, 0).first, displacements[static_cast<std::size_t>(b)]);
    CHECK_EQ(whole.block(b, 0).count, counts[static_cast<std::size_t>(b)]);
    CHECK_EQ(whole.first(b), displacements[static_cast<std::size_t>(b)]);
  }
  // As many segments as the longest block needs; shorter ones run out early.
  const Layout cut = Layout::irregular(counts, displacements, 3);
  CHECK_EQ(cut.segments(), 3);
  const Piece expected[4][3] = {
      {{20, 3}, {23, 1}, {24, 0}}, {{3, 0}, {3, 0}, {3, 0}}, {{5, 3}, {8, 3}, {11, 1}}, {{40, 1}, {41, 0}, {41, 0}}};
  for (Block b = 0; b < 4; ++b)
    for (Count s = 0; s < 3; ++s) {
      CHECK_EQ(cut.block(b, s).first, expected[b][s].first);
      CHECK_EQ(cut.block(b, s).count, expected[b][s].count);
    }
  const std::vector<Count> none{0, 0};
  CHECK_EQ(Layout::irregular(none, none, 5).segments(), 1);
  CHECK_EQ(Layout::irregular({}, {}, 0).segments(), 1);
}

/// How the blocks of part `r` lie: one behind the other from `begin` on, `count` elements in all.
void check_part(const Layout& layout, const Parts& parts, Rank r, Count s, Count begin, Count count) {
  std::vector<Piece> pieces;
  for (Block b = parts.begin(r); b < parts.end(r); ++b) pieces.push_back(layout.block(b, s));
  if (!pieces.empty()) check_pieces(pieces, begin, begin + count);
}

TEST(parts_of_one_size_cut_into_blocks) {
  const Parts parts{{0, 1, 4, 4, 9}};  // one block, three, none and five
  for (const Count each : {0, 1, 4, 12, 13})
    for (const Count segment : {0, 1, 5, 50}) {
      const Layout uncut = Layout::per_rank(each, segment);
      const Layout layout = uncut.cut_into(parts);
      CHECK_EQ(layout.segments(), uncut.segments());
      CHECK_EQ(layout.adjacent(), uncut.adjacent());
      for (Rank r = 0; r < 4; ++r)
        for (Count s = 0; s < layout.segments(); ++s)
          check_part(layout, parts, r, s, uncut.block(r, s).first, uncut.block(r, s).count);
      CHECK_EQ(layout.first(1), each);
      CHECK_EQ(layout.first(4), 3 * each);
    }
  const Layout layout = Layout::per_rank(12, 5).cut_into(parts);
  CHECK_EQ(layout.block(2, 1).first, 12 + 5 + 2);  // the second segment of part 1 is elements 5 … 9, in 2 + 2 + 1
  CHECK_EQ(layout.block(2, 1).count, 2);
  CHECK_EQ(layout.block(3, 2).count, 0);  // of the last two elements there is none left for the third block
}

TEST(irregular_parts_cut_into_blocks) {
  const std::vector<Count> counts{4, 0, 7, 1}, displacements{20, 3, 5, 40};
  const Parts parts{{0, 2, 5, 8, 9}};
  for (const Count segment : {0, 1, 3, 6}) {
    const Layout uncut = Layout::irregular(counts, displacements, segment);
    const Layout layout = uncut.cut_into(parts);
    CHECK_EQ(layout.segments(), uncut.segments());
    CHECK(!layout.adjacent());
    for (Rank r = 0; r < 4; ++r)
      for (Count s = 0; s < layout.segments(); ++s)
        check_part(layout, parts, r, s, uncut.block(r, s).first, uncut.block(r, s).count);
  }
  const Layout layout = Layout::irregular(counts, displacements, 0).cut_into(parts);
  CHECK_EQ(layout.first(0), 20);
  CHECK_EQ(layout.first(1), 22);
  CHECK_EQ(layout.first(7), 10);  // part 2 is 3 + 2 + 2 elements
  CHECK_EQ(layout.block(7, 0).count, 2);
  CHECK_EQ(layout.block(3, 0).count, 0);
}

TEST(parts_of_one_block_each_change_nothing) {
  const std::vector<Count> counts{4, 0, 7}, displacements{20, 3, 5};
  const Parts none, ones{{0, 1, 2, 3}};
  for (const Parts* parts : {&none, &ones})
    for (Block b = 0; b < 3; ++b) {
      const Layout irregular = Layout::irregular(counts, displacements, 3), each = Layout::per_rank(7, 3);
      for (Count s = 0; s < 3; ++s) {
        CHECK_EQ(irregular.cut_into(*parts).block(b, s).first, irregular.block(b, s).first);
        CHECK_EQ(irregular.cut_into(*parts).block(b, s).count, irregular.block(b, s).count);
        CHECK_EQ(each.cut_into(*parts).block(b, s).first, each.block(b, s).first);
        CHECK_EQ(each.cut_into(*parts).block(b, s).count, each.block(b, s).count);
      }
    }
}

TEST(owners_of_blocks) {
  const Parts parts{{0, 1, 4, 4, 9}};
  const Rank owners[] = {0, 1, 1, 1, 3, 3, 3, 3, 3};
  for (Block b = 0; b < 9; ++b) CHECK_EQ(parts.owner(b), owners[b]);
  CHECK_EQ(parts.begin(2), parts.end(2));
  CHECK_EQ(parts.begin(4), 9);
  CHECK_EQ(Parts{}.owner(7), 7);
  CHECK_EQ(Parts{}.begin(7), 7);
  CHECK_EQ(Parts{}.end(7), 8);
}

TEST(arena_pieces) {
  Arena arena;
  std::vector<std::byte*> first;
  for (int again = 0; again < 4; ++again) {
    std::vector<std::pair<std::byte*, Bytes>> pieces;
    for (Bytes bytes : {Bytes{0}, Bytes{1}, Bytes{63}, Bytes{64}, Bytes{65}, Bytes{70000}, Bytes{5}, Bytes{200000}}) {
      std::byte* piece = arena.take(bytes);
      CHECK_EQ(reinterpret_cast<std::uintptr_t>(piece) % Arena::alignment, 0);
      std::memset(piece, static_cast<int>(pieces.size()), static_cast<std::size_t>(bytes));
      pieces.push_back({piece, bytes});
    }
    for (std::size_t p = 0; p < pieces.size(); ++p) {  // nobody wrote into another's piece
      const auto [at, bytes] = pieces[p];
      CHECK(std::all_of(at, at + bytes, [&](std::byte b) { return b == static_cast<std::byte>(p); }));
    }
    std::vector<std::byte*> places;
    for (const auto& piece : pieces) places.push_back(piece.first);
    if (again == 0) first = places;
    CHECK(places == first);  // the same memory is given out again
    if (again % 2 == 0)
      arena.reset();
    else
      arena.trim();
  }
}

TEST(arena_gives_back_what_is_beyond_a_bound) {
  Arena arena;
  const auto resident = [] {
    long pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    CHECK_EQ(std::fscanf(file, "%*d %ld", &pages), 1);
    std::fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
  };
  constexpr Bytes much = 4 * Arena::kept;
  std::memset(arena.take(much), 1, static_cast<std::size_t>(much));
  const long used = resident();
  arena.reset();
  CHECK(resident() > used - much / 2);
  arena.trim();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep freed memory themselves
  CHECK(resident() < used - much / 2);
#endif
  std::memset(arena.take(much), 1, static_cast<std::size_t>(much));
}

TEST(arena_pieces_of_nothing_differ) {
  Arena arena;
  CHECK(arena.take(0) != arena.take(0));
}

}  // namespace
}  // namespace stretto::execute::layout_test
