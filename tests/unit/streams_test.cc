// SPDX-License-Identifier: BSD-3-Clause
//
// When a rank that only sends asks for the line of its next slot: while it hears nothing of the peer.
#include "support/test.hpp"
#include "transport/shm/connection.hpp"

namespace stretto::transport::shm::streams_test {
namespace {

TEST(a_rank_streams_while_it_hears_nothing) {
  alignas(cache_line) std::byte lines[bytes_of_channels({})]{};
  std::byte memory[64]{};
  const Channel channel = channel_at(reinterpret_cast<Slot*>(lines), 0, {});
  Outbox from_peer;
  from_peer.open(channel, 0);
  Connection peer;
  peer.in[0].open(channel, memory, 0, 0);
  const auto messages = [&](int n) {  // of the next n, how many follow several others
    int in_stream = 0;
    for (; n > 0; --n) in_stream += peer.streams() ? 1 : 0;
    return in_stream;
  };
  CHECK_EQ(messages(3), 0);
  CHECK_EQ(messages(100), 100);
  for (int turn = 0; turn < 10; ++turn) {  // an answer to each second message
    from_peer.next().bytes = 0;
    from_peer.next().carried = Carried::inlined;
    from_peer.post(0);
    peer.in[0].release(0, peer.in[0].next(0));
    CHECK_EQ(messages(2), 0);
  }
}

}  // namespace
}  // namespace stretto::transport::shm::streams_test
