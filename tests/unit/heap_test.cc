// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of the program that peers map: blocks, what a child of fork() has of them, and messages read in place.
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "support/test.hpp"
#include "transport/shm/connection.hpp"
#include "transport/shm/heap.hpp"

namespace stretto::transport::shm::heap_test {
namespace {

constexpr Bytes page = 4096;
const Bytes system_page = sysconf(_SC_PAGESIZE);
#if defined(__SANITIZE_THREAD__)
constexpr bool no_grandchildren = true;  // a child of its child ends in the sanitizer's own fork()
#else
constexpr bool no_grandchildren = false;
#endif

bool forgotten(Bytes, Bytes) { return true; }

void check_blocks(Bytes page, Bytes base) {
  BlockMap map(page, 4096 * page, page, base);
  std::map<Bytes, Bytes> blocks;
  std::minstd_rand random(1);
  const auto some = [&](Bytes n) { return static_cast<Bytes>(random() % static_cast<unsigned>(n)); };
  for (int turn = 0; turn < 10000; ++turn) {
    if (blocks.empty() || some(5) < 2) {
      const Bytes bytes = 1 + some(100 * page), alignment = page << some(4);
      const auto taken = map.take(bytes, alignment);
      if (!taken) continue;
      CHECK_EQ((base + taken->at) % alignment, 0);
      blocks[taken->at] = map.rounded(bytes);
    } else {
      const auto one = std::next(blocks.begin(), some(static_cast<Bytes>(blocks.size())));
      CHECK_EQ(map.size(one->first), one->second);
      const Bytes wanted = 1 + some(100 * page);
      if (some(2) == 0 && map.resize(one->first, wanted)) {
        one->second = map.rounded(wanted);
      } else {
        CHECK_EQ(map.give(one->first), one->second);
        blocks.erase(one);
      }
    }
    if (some(50) == 0) map.strip(some(200 * page), [&](Bytes, Bytes) { return some(3) > 0; });
    Bytes end = page;
    for (const auto& [at, bytes] : blocks) {
      CHECK(at >= end && at % page == 0 && bytes % page == 0);
      end = at + bytes;
    }
    CHECK(end <= 4096 * page);
  }
  for (const auto& [at, bytes] : blocks) map.give(at);
  map.strip(0, forgotten);
  const auto all = map.take(4095 * page);
  CHECK(all && all->at == page && all->zeros);
}

TEST(blocks_do_not_overlap) {
  check_blocks(page, 0);
  check_blocks(page, Bytes{0x7f0000003} * page);
  check_blocks(16 * page, 3 * 16 * page);
}

TEST(what_the_system_does_not_take_back_stays_as_it_is) {
  BlockMap map(page, 1024 * page, page);
  const Bytes dirty = map.take(8 * page)->at, between = map.take(page)->at, other = map.take(4 * page)->at;
  map.give(dirty);
  map.give(other);
  int asked = 0;
  map.strip(0, [&](Bytes at, Bytes) { return ++asked, at != dirty; });
  CHECK_EQ(asked, 1);
  CHECK_EQ(map.kept(), 12 * page);
  const auto again = map.take(8 * page);
  CHECK(again->at == dirty && !again->zeros && between == dirty + 8 * page);
  map.strip(0, forgotten);
  CHECK_EQ(map.kept(), 0);
}

TEST(what_was_freed_is_handed_out_first) {
  BlockMap map(page, 1024 * page, page);
  const auto first = map.take(8 * page), second = map.take(8 * page);
  CHECK(first->zeros && second->zeros);
  CHECK_EQ(map.give(first->at), 8 * page);
  CHECK_EQ(map.give(first->at), 0);
  const auto again = map.take(4 * page);
  CHECK(again->at == first->at && !again->zeros);
  CHECK_EQ(map.kept(), 4 * page);
  CHECK(!map.resize(again->at, 9 * page));  // the second one is behind it
  CHECK(map.resize(again->at, 8 * page));
  CHECK_EQ(map.kept(), 0);
}

std::unique_ptr<Heap> heap_of(Bytes most) {
  std::string why;
  auto heap = Heap::create(most, why);
  if (!heap) throw std::runtime_error(why);
  return heap;
}

TEST(a_heap_gives_memory_and_takes_it_back) {
  const auto heap = heap_of(Bytes{256} << 20);
  constexpr Bytes bytes = (Bytes{80} << 20) + 5;
  auto* memory = static_cast<char*>(heap->allocate(bytes).at);
  CHECK(memory && heap->owns(memory) && heap->owns(memory + bytes - 1));
  CHECK(heap->range().contains(memory, bytes) && !heap->range().contains(memory, Bytes{256} << 20));
  CHECK_EQ(heap->size(memory), (bytes / system_page + 1) * system_page);
  std::fill_n(memory, bytes, 'x');
  heap->release(memory);  // more than is kept
  const Heap::Block again = heap->allocate(bytes);
  CHECK(again.at == memory && again.zeros);
  CHECK(std::all_of(memory, memory + bytes, [](char c) { return c == 0; }));
  std::fill_n(memory, bytes, 'y');
  CHECK(heap->resize(memory, 1000) && heap->size(memory) == system_page);  // what is left of it is more than is kept
  CHECK(heap->resize(memory, bytes));
  CHECK(std::all_of(memory + system_page, memory + bytes, [](char c) { return c == 0; }));
  CHECK(!heap->allocate(Bytes{200} << 20).at && !heap->allocate(Bytes{1} << 60).at);
  const int outside = 0;
  CHECK(!heap->owns(&outside) && !heap->range().contains(&outside, 4));
}

TEST(blocks_are_aligned_as_addresses) {
  const auto heap = heap_of(Bytes{512} << 20);
  for (const int shift : {12, 16, 21, 26}) {  // 64 MiB: where the system maps the heap is seldom aligned to that
    const Bytes alignment = Bytes{1} << shift;
    const void* const block = heap->allocate(1 << 20, alignment).at;
    CHECK(block != nullptr);
    CHECK_EQ(reinterpret_cast<std::intptr_t>(block) % alignment, 0);
  }
  CHECK(!heap->allocate(1 << 20, Bytes{1} << 62).at);
}

TEST(locked_memory_is_given_back_as_well) {
  const auto heap = heap_of(Bytes{256} << 20);
  HeapNotice notice;
  HeapRange shown;
  heap->show_in(notice, shown);
  constexpr Bytes bytes = Bytes{80} << 20;  // more than is kept
  auto* memory = static_cast<char*>(heap->allocate(bytes).at);
  std::fill_n(memory, bytes, 'x');
  if (mlock(memory, 1) != 0) return;  // not permitted here
  heap->release(memory);
  struct stat file{};
  CHECK_EQ(fstat(static_cast<int>(notice.handle.file), &file), 0);
  CHECK(file.st_blocks * 512 < bytes / 2);
  const Heap::Block again = heap->allocate(bytes);
  CHECK(again.at == memory && again.zeros);
  CHECK(std::all_of(memory, memory + bytes, [](char c) { return c == 0; }));
}

/// Exit code of a child that does this.
template <typename Child>
int in_child(Child child) {
  const pid_t process = fork();
  if (process == 0) _exit(child());
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

/// Another library, with a block and handlers of forks that use the heap.
struct {
  Heap* heap = nullptr;
  char* block = nullptr;
  void prepare() const {
    if (void* other = heap ? heap->allocate(1 << 20).at : nullptr) heap->release(other);
  }
  void in_child() const {
    if (block) *block = 'h';
  }
} library;

/// The only one here that survives forks, and so the last of all.
TEST(a_child_has_a_copy_of_its_own) {
  Heap::watch_forks();
  pthread_atfork([] { library.prepare(); }, nullptr, [] { library.in_child(); });
  auto* const heap = heap_of(Bytes{64} << 20).release();  // as a process's: for ever
  heap->survive_forks();
  library = {heap, static_cast<char*>(heap->allocate(1 << 20).at)};
  constexpr Bytes bytes = 3 << 20;
  auto* first = static_cast<char*>(heap->allocate(bytes).at);
  auto* second = static_cast<char*>(heap->allocate(bytes).at);
  auto* freed = static_cast<char*>(heap->allocate(bytes).at);
  heap->release(freed);
  std::fill_n(first, bytes, 'p');
  second[bytes / 2] = 'q';  // the rest is not touched
  const auto child = [&] {
    if (heap->range().is_open() || !heap->owns(first) || heap->allocate(bytes).at) return 1;
    if (std::any_of(first, first + bytes, [](char c) { return c != 'p'; })) return 2;
    if (second[bytes / 2] != 'q' || second[0] != 0) return 3;
    if (*library.block != 'h') return 7;
    std::fill_n(first, bytes, 'c');
    heap->release(first);
    if (!heap->resize(second, 10) || heap->resize(second, 2 * bytes)) return 4;
    if (no_grandchildren) return 5;
    return in_child([&] { return second[0] == 0 ? 5 : 6; });
  };
  for (int turn = 0; turn < 3; ++turn) {
    CHECK_EQ(in_child(child), 5);
    CHECK(std::all_of(first, first + bytes, [](char c) { return c == 'p'; }));
    CHECK(heap->range().is_open());
    CHECK_EQ(*library.block, 0);
  }
  std::atomic<bool> end{false};
  std::thread other([&] {  // who allocates while others fork
    while (!end)
      if (void* block = heap->allocate(1 << 20).at) heap->release(block);
  });
  for (int turn = 0; turn < 10; ++turn) CHECK_EQ(in_child([&] { return first[turn] == 'p' ? 0 : 1; }), 0);
  end = true;
  other.join();
}

TEST(a_peer_maps_a_heap_when_it_needs_it) {
  const auto heap = heap_of(Bytes{64} << 20);
  HeapNotice notice;
  HeapRange shown;
  PeerHeap peer(notice);
  auto* memory = static_cast<std::byte*>(heap->allocate(1 << 20).at);
  CHECK(!peer.find(memory, 1 << 20) && !shown.contains(memory, 1));
  heap->show_in(notice, shown);
  CHECK(shown.contains(memory, 1 << 20));
  std::byte* const here = peer.find(memory, 1 << 20);
  CHECK(here && here != memory);
  memory[77] = std::byte{7};
  CHECK(here[77] == std::byte{7});
  here[78] = std::byte{8};
  CHECK(memory[78] == std::byte{8});
  CHECK(peer.find(memory + 5, 10) == here + 5);
  CHECK(!peer.find(memory, Bytes{64} << 20));
  auto* later = static_cast<std::byte*>(heap->allocate(8 << 20).at);  // the file has grown
  std::byte* const there = peer.find(later, 8 << 20);
  later[4 << 20] = std::byte{9};
  CHECK(there[4 << 20] == std::byte{9});
}

TEST(a_heap_that_is_not_what_it_seems_is_not_mapped) {
  const auto heap = heap_of(Bytes{1} << 20);
  HeapNotice notice;
  HeapRange shown;
  heap->show_in(notice, shown);
  notice.handle.token[0] ^= 1;
  PeerHeap peer(notice);
  const auto* memory = static_cast<std::byte*>(heap->allocate(page).at);
  CHECK(!peer.find(memory, 10) && !peer.find(memory, 10));
}

/// A message in a heap at both ends of a connection; `target` lies there as well, or not.
struct InPlace {
  static constexpr Bytes bytes = (Bytes{1} << 20) + 4321;
  std::unique_ptr<Heap> heap = heap_of(Bytes{16} << 20);
  HeapNotice notice;
  HeapRange shown;
  std::byte* begin = heap->show_in(notice, shown);
  PeerHeap peer{notice, begin};
  alignas(cache_line) std::byte lines[bytes_of_channels({})]{};
  Channel channel = channel_at(reinterpret_cast<Slot*>(lines), 0, {});
  std::byte nothing[64]{};
  Outbox out;
  Inbox in;
  std::byte* message = static_cast<std::byte*>(heap->allocate(bytes).at);
  std::byte* target = static_cast<std::byte*>(heap->allocate(bytes).at);
  Bytes mine = 0;

  explicit InPlace(Help help) {
    for (Bytes i = 0; i < bytes; ++i) message[i] = static_cast<std::byte>(i % 251);
    out.open(channel, 0);
    out.set_receiver(0, &peer);  // nobody whom the kernel would copy for
    in.open(channel, nothing, 0, 0, &peer);
    out.next().lend(message, bytes, help);
    out.post(0);
  }
  Copied copy(std::byte* to) {
    const Inbox::Target target{to, shown.contains(to, bytes), false};
    in.ask_for_help(target);
    return in.copy_together(in.next(0), target, mine);
  }
  bool right(const std::byte* to) const { return std::equal(message, message + bytes, to); }
};

TEST(a_message_is_read_where_it_lies) {
  InPlace one(Help::into_heaps);
  CHECK(one.in.in_place(one.in.next(0)) == one.message);
  std::vector<std::byte> here(InPlace::bytes);
  CHECK(one.copy(here.data()) == Copied::all && one.right(here.data()));
  CHECK(!one.out.asked_for_help(1));  // it could not write there
}

TEST(both_ends_copy_from_heap_to_heap) {
  for (int turn = 0; turn < 50; ++turn) {
    InPlace one(Help::into_heaps);
    std::atomic<bool> end{false};
    std::thread sender([&] {
      while (!end)
        if (one.out.asked_for_help(1)) one.out.help(1);
    });
    Copied copied = Copied::in_part;
    while (copied == Copied::in_part) copied = one.copy(one.target);
    end = true;
    sender.join();
    CHECK(copied == Copied::all && one.right(one.target));
  }
}

TEST(a_sender_that_cannot_map_the_target_leaves_it) {
  InPlace one(Help::into_heaps);
  one.out.set_receiver(0, nullptr);
  ask_for_help(one.channel.slots[0].loan, one.target);
  one.out.help(1);
  CHECK(one.copy(one.target) == Copied::all && one.right(one.target));
}

TEST(what_has_been_refused_once_is_not_read_in_place) {
  InPlace one(Help::into_heaps);
  const Fragment lent = one.in.next(0);
  one.in.refuse();
  CHECK(one.out.released(1) && one.out.refused(1) && !one.out.lends());
  CHECK(!one.in.in_place(lent));
}

}  // namespace
}  // namespace stretto::transport::shm::heap_test
