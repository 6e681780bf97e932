// SPDX-License-Identifier: BSD-3-Clause
//
// The connection of two processes of a node, as one of them sees it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "support/memory.hpp"
#include "transport/shm/copy_selector.hpp"
#include "transport/shm/format.hpp"
#include "transport/shm/heap.hpp"
#include "transport/shm/loan.hpp"
#include "transport/shm/segment.hpp"
#include "transport/shm/unexpected.hpp"
#include "transport/shm/wait_policy.hpp"

namespace stretto::transport::shm {

/// My end of the channel to a peer.
class Outbox {
 public:
  void open(const Channel& channel, std::uint64_t start) {
    channel_ = channel;
    sent_ = staged_ = start;
    credits_.store(start, std::memory_order_relaxed);
  }
  /// For another receiver.
  void open_again() {
    lends_ = helps_ = true;
    channel_.receipts->refused.store(0, std::memory_order_relaxed);
    channel_.receipts->taking.staged.clear();
    channel_.receipts->taking.lent.clear();
  }
  /// Whose memory the kernel may copy to, and its heap, if it can be mapped.
  void set_receiver(std::int64_t process, PeerHeap* heap = nullptr) {
    receiver_ = process;
    heap_ = heap;
  }
  const Channel& channel() const { return channel_; }
  std::uint64_t sent() const { return sent_; }

  bool full() const { return sent_ >= channel_.count && !released(sent_ - channel_.count + 1); }
  /// Has the peer released fragment `number`? The peer's cache line is read only if the copy of its credits does not
  /// tell: each read of it is a transfer between cores.
  bool released(std::uint64_t number) const {
    if (credits_.load(std::memory_order_acquire) >= number) return true;
    const std::uint64_t now = channel_.receipts->credits.load(std::memory_order_acquire);
    credits_.store(now, std::memory_order_release);
    return now >= number;
  }

  /// May messages be lent to the receiver, as far as known?
  bool lends() const { return lends_; }
  /// Null: the receiver does not tell.
  const ReadingCosts* reading() const { return channel_.reading; }
  const TakingCosts& taking() const { return channel_.receipts->taking; }
  /// Was fragment `number`, which has been released, lent in vain?
  bool refused(std::uint64_t number) {
    const std::uint64_t first = channel_.receipts->refused.load(std::memory_order_acquire);
    if (first != 0) lends_ = false;
    return first != 0 && first <= number;
  }

  /// Is something to be copied of fragment `number`, which is lent and has not been released? When it has been its slot
  /// may hold another one.
  bool asked_for_help(std::uint64_t number) { return helps_ && transport::shm::asked_for_help(loan(number)); }
  /// It is lent no longer, though it may not have been released yet: its sender gives up.
  void take_back(std::uint64_t number) {
    if (!released(number)) give_up(loan(number));
  }
  /// Copies of it what the receiver leaves.
  void help(std::uint64_t number) { helps_ = transport::shm::help(loan(number), receiver_, heap_); }

  /// What was posted last stands in the staging ring.
  void note_staged() { staged_ = sent_; }
  /// Has the receiver read all that was staged for it, and all else but what it may not have told of yet? Then several
  /// slots are free.
  bool has_caught_up() const { return released(std::max(staged_, sent_ - std::min(sent_, credit_batch - 1))); }

  /// The next slot, to be filled and then posted for the operation of `key`. Not if full().
  Slot& next() { return channel_.slot(sent_); }
  /// A message of so few bytes travels in its slot, or in the slot's room.
  Bytes most_inline() const { return std::max(inline_payload, static_cast<Bytes>(channel_.room_bytes)); }
  /// Where one does in the next slot.
  std::byte* place(Bytes bytes) { return bytes <= inline_payload ? next().payload : channel_.room(sent_); }
  /// Gets the lines of the next room, if a message of so many bytes travels there.
  void prefetch_room(Bytes bytes) {
    if (bytes > inline_payload && bytes <= most_inline()) prefetch_to_write(place(bytes), bytes);
  }
  void prefetch_slot() { prefetch_to_write(reinterpret_cast<const std::byte*>(&next()), sizeof(Slot)); }
  /// Publishes the slot: the release makes its content visible before its key.
  void post(std::uint64_t key) {
    Slot& slot = next();
    slot.key.store(key | (++sent_ & number_bits), std::memory_order_release);
  }

 private:
  Loan& loan(std::uint64_t number) { return channel_.slot(number - 1).loan; }

  Channel channel_;
  std::uint64_t sent_ = 0;
  std::uint64_t staged_ = 0;  // the last fragment in the staging ring
  std::int64_t receiver_ = 0;
  PeerHeap* heap_ = nullptr;
  bool lends_ = true;
  bool helps_ = true;
  mutable std::atomic<std::uint64_t> credits_{0};  // as far as known; staging rings of several threads may ask
};

/// A fragment of a message that has come; none if `content` is null.
struct Fragment {
  const std::byte* content = nullptr;  ///< of a lent one in the sender's process
  Bytes bytes = 0;
  Carried carried = Carried::staged;
  bool last = false;                       ///< of its message
  bool unexpected = false;                 ///< it stands in the unexpected-message buffer
  StoreMode timed = StoreMode::not_timed;  ///< in the ring: its sender wants to know what reading it takes
  bool typical = true;                     ///< in the ring: writing it took as long as with others

  explicit operator bool() const { return content; }
  /// Does it stand in the staging ring, where its sender has just written it?
  bool in_ring() const { return carried == Carried::staged && !unexpected; }
};

/// What has become of a lent message.
enum class Copied { all, in_part, refused };

/// My end of the channel from a peer.
class Inbox {
 public:
  void open(const Channel& channel, const std::byte* segment, std::uint64_t start, std::int64_t process,
            PeerHeap* heap = nullptr) {
    channel_ = channel;
    segment_ = segment;
    process_ = process;
    heap_ = heap;
    released_ = credited_ = start;
  }

  /// So many fragments have been taken.
  std::uint64_t taken() const { return released_; }
  /// The next fragment for the operation of `key`, if it has come.
  Fragment next(std::uint64_t key) {
    if (unexpected_) [[unlikely]]
      if (const Fragment fragment = find_unexpected(key)) return fragment;
    const Slot& slot = channel_.slot(released_);
    if (slot.key.load(std::memory_order_acquire) != (key | ((released_ + 1) & number_bits))) {
      waited_ = true;
      return {};
    }
    // The sender is ahead: the next slot arrives while this one is worked on.
    if (!waited_) __builtin_prefetch(&channel_.slot(released_ + 1));
    if (slot.carried == Carried::lent) [[unlikely]]
      return {slot.loan.address, slot.loan.bytes, Carried::lent, true};
    return {content(slot), slot.bytes, slot.carried, slot.last, false, slot.timed, slot.typical};
  }
  /// The fragment that next(key) gave is not needed any more. Inlined ones are credited in batches: with a credit for
  /// each, the cache line of the credits would travel between the cores once for each. True: credits were given.
  bool release(std::uint64_t key, const Fragment& fragment) {
    waited_ = false;
    if (fragment.unexpected) [[unlikely]] {
      drop_unexpected(key);
      return false;
    }
    return release(fragment.carried == Carried::inlined);
  }
  /// Where a lent fragment lies, if it can be read in place; else null.
  const std::byte* in_place(const Fragment& lent) const {
    if (!heap_ || channel_.receipts->refused.load(std::memory_order_relaxed) != 0) return nullptr;
    return heap_->find(lent.content, lent.bytes);
  }
  /// Tells the sender what copies out of a message have taken.
  void took(Carried carried, Bytes message, float seconds_per_byte) {
    TakingCosts& taking = channel_.receipts->taking;
    (carried == Carried::lent ? taking.lent : taking.staged).note(message, seconds_per_byte);
  }
  /// Reads a fragment in the ring by `read()`; the sender hears what that took if it asks.
  template <typename Read>
  void read(const Fragment& fragment, Read read) {
    if (fragment.timed == StoreMode::not_timed) return read();
    const float seconds = seconds_of(read);
    channel_.reading->note(fragment.timed, fragment.bytes, seconds / static_cast<float>(fragment.bytes));
  }
  /// Copies a part of a lent fragment. False: that is not permitted, and the sender is to be told by refuse().
  bool copy(const Fragment& lent, Bytes first, Bytes bytes, std::byte* to, bool non_temporal = false) const {
    if (const std::byte* here = in_place(lent)) {
      copy_bytes(to, here + first, bytes, non_temporal);
      return true;
    }
    return channel_.receipts->refused.load(std::memory_order_relaxed) == 0 &&
           kernel_read(process_, to, lent.content + first, bytes) == bytes;
  }
  /// Where a lent fragment is to go: `in_heap` says that the sender may have that mapped.
  struct Target {
    std::byte* at;
    bool in_heap;
    bool non_temporal = false;
  };
  /// Asks the sender to copy as well, from now on. False: it may not.
  bool ask_for_help(const Target& to) {
    Loan& loan = channel_.slot(released_).loan;
    const Help needed = to.in_heap ? Help::into_heaps : Help::anywhere;
    if (loan.helps < needed || channel_.receipts->refused.load(std::memory_order_relaxed) != 0) return false;
    transport::shm::ask_for_help(loan, to.at);
    return true;
  }
  /// Copies all of it, together with the sender after ask_for_help(). `mine`: how much of it by this end so far.
  Copied copy_together(const Fragment& lent, const Target& to, Bytes& mine) {
    Loan& loan = channel_.slot(released_).loan;
    const auto copy_all = [&] {
      mine = lent.bytes;
      return copy(lent, 0, lent.bytes, to.at, to.non_temporal) ? Copied::all : Copied::refused;
    };
    if (!is_shared(loan)) return copy_all();
    for (LoanPiece piece = take_piece(loan); piece.bytes > 0; piece = take_piece(loan)) {
      if (!copy(lent, piece.first, piece.bytes, to.at + piece.first, to.non_temporal)) return Copied::refused;
      mine += piece.bytes;
    }
    const Bytes written = std::atomic_ref(loan.written).load(std::memory_order_acquire);
    if (written == not_written) return copy_all();
    return mine + written == lent.bytes ? Copied::all : Copied::in_part;
  }
  /// Has the sender of a lent fragment given up, so that what has been copied may be anything?
  bool was_withdrawn() { return transport::shm::was_withdrawn(channel_.slot(released_).loan); }
  /// The buffer that the sender was asked to copy to goes away.
  void withdraw(Bytes mine, std::chrono::steady_clock::time_point end) {
    transport::shm::withdraw(channel_.slot(released_).loan, mine, process_, end);
  }
  /// Gives a lent fragment back: the sender is to send the message in another way.
  void refuse() {
    if (channel_.receipts->refused.load(std::memory_order_relaxed) == 0)
      channel_.receipts->refused.store(released_ + 1, std::memory_order_relaxed);  // the credits are stored behind it
    release(false);
  }

  /// Is the fragment in front for another operation than that of `key`? Then it is copied into the unexpected-message
  /// buffer, so that those behind it can be seen.
  bool buffer_unexpected(std::uint64_t key) {
    Slot& slot = channel_.slot(released_);
    const std::uint64_t found = slot.key.load(std::memory_order_acquire);
    const std::uint64_t number = (released_ + 1) & number_bits;
    if ((found & number_bits) != number || found == (key | number)) return false;
    // Its operation copies it together with the sender, who may be about to write.
    if (slot.carried == Carried::lent && is_shared(slot.loan)) return false;
    if (!unexpected_) unexpected_ = std::make_unique<UnexpectedFragments>();
    if (slot.carried == Carried::lent) {
      buffer_lent({slot.loan.address, slot.loan.bytes, Carried::lent, true}, found & ~number_bits);
      return true;
    }
    const std::byte* from = content(slot);
    unexpected_->add(found & ~number_bits, slot.last, {from, from + slot.bytes});
    release(false);
    return true;
  }
  void forget(std::uint32_t communicator) {
    if (!unexpected_) return;
    unexpected_->forget(communicator);
    if (unexpected_->empty()) unexpected_.reset();
  }

  /// Gives the credits that are left. If none are, the channel is not touched: the sender may use it for another peer
  /// already, or be gone.
  void close() {
    if (released_ != credited_) channel_.receipts->credits.store(released_, std::memory_order_release);
    credited_ = released_;
    channel_ = {};
    unexpected_.reset();
  }

 private:
  /// Of the slot in front.
  const std::byte* content(const Slot& slot) const {
    if (slot.carried != Carried::inlined) return segment_ + slot.at;
    return slot.bytes <= inline_payload ? slot.payload : channel_.room(released_);
  }
  bool release(bool inlined) {
    const bool whole_batch = ++released_ % credit_batch == 0;
    if (inlined && !whole_batch) return false;
    credited_ = released_;
    channel_.receipts->credits.store(released_, std::memory_order_release);
    return true;
  }

  void buffer_lent(const Fragment& fragment, std::uint64_t key) {
    std::vector<std::byte> data(static_cast<std::size_t>(fragment.bytes));
    const bool copied = copy(fragment, 0, fragment.bytes, data.data());
    const bool withdrawn = was_withdrawn();
    if (!copied && !withdrawn) return refuse();
    if (withdrawn) data.clear();  // of another size than awaited: its operation fails
    unexpected_->add(key, true, std::move(data));
    release(false);
  }

  Fragment find_unexpected(std::uint64_t key) {
    static constexpr std::byte nothing{};
    const UnexpectedFragments::Entry* const found = unexpected_->find(key);
    if (!found) return {};
    const auto bytes = static_cast<Bytes>(found->data.size());
    return {bytes > 0 ? found->data.data() : &nothing, bytes, Carried::staged, found->last, true};
  }
  void drop_unexpected(std::uint64_t key) {
    unexpected_->drop(key);
    if (unexpected_->empty()) unexpected_.reset();
  }

  Channel channel_;
  const std::byte* segment_ = nullptr;
  std::int64_t process_ = 0;
  PeerHeap* heap_ = nullptr;
  std::uint64_t released_ = 0;
  std::uint64_t credited_ = 0;                       // of those released, as told to the sender
  std::unique_ptr<UnexpectedFragments> unexpected_;  // null if there are none
  bool waited_ = false;                              // for this fragment
};

struct Connection {
  Outbox out[channels];
  Inbox in[channels];
  Doorbell* doorbell = nullptr;  ///< the peer's
  Token peer{};                  ///< of its segment
  CopySelector selector;         ///< for messages to the peer
  /// In an exchange the peer decides for both: if one lends and the other stages, whoever stages also copies what it
  /// was lent, and has all the work.
  bool follows = false;
  std::uint64_t heard = 0;         ///< fragments from the peer, when something was last staged for it
  std::uint64_t heard_before = 0;  ///< likewise, when streams() was last asked,
  unsigned in_a_row = 0;           ///< and how often nothing had come since
  std::uint64_t full_in = 0;       ///< the last look (Operation::look_) in which its first channel was full

  /// Is lending a message faster than staging it? What copies take is noted in the first channel for all.
  bool lending_is_faster(Bytes message, bool one_way, bool exchanged, float handicap) {
    if (follows && exchanged)
      if (const auto lent = selector.as_it_came(message)) return *lent;
    return selector.lends(message, one_way, out[0].taking(), handicap);
  }

  /// What was posted last in this channel stands in the staging ring.
  void note_staged(int channel) {
    out[channel].note_staged();
    heard = in[0].taken();
  }
  /// Does the peer wait, as far as known? It has read all that was staged for it, and sent something since: where one
  /// message follows another it may just have read the last piece.
  bool waits() const { return heard != in[0].taken() && std::ranges::all_of(out, &Outbox::has_caught_up); }

  /// Asked with each message: were several sent with nothing heard of the peer between them? Then it hardly waits for
  /// the next one; where a barrier or an exchange comes between two messages, it does.
  bool streams() {
    constexpr unsigned several = 3;
    if (std::exchange(heard_before, in[0].taken()) != in[0].taken()) in_a_row = 0;
    return in_a_row >= several || ++in_a_row > several;
  }

  /// Is this message of an exchange to be staged, and not to be timed?
  bool stages_untimed(Bytes message) { return selector.stages_untimed(message, follows); }

  /// For another peer.
  void open_again() {
    for (Outbox& box : out) box.open_again();
    if (ReadingCosts* reading = out[0].channel().reading) reading->clear();
    selector = {};
    follows = false;
  }
  /// The last use of it at this end.
  void close() {
    for (Inbox& box : in) box.close();
    doorbell = nullptr;
  }
  /// Drops what has come for operations of a communicator that ends.
  void forget(std::uint32_t communicator) {
    for (Inbox& box : in) box.forget(communicator);
  }
  /// Has the peer closed it, or released all that was sent?
  bool drained() const {
    return std::ranges::all_of(out, [](const Outbox& box) { return box.released(box.sent()); });
  }
};

}  // namespace stretto::transport::shm
