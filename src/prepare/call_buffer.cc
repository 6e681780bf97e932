// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/call_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "mpi/native.hpp"
#include "support/memory.hpp"

namespace stretto::mpi {
namespace {

/// To packed bytes or back: `by` is the type's own way where it has holes.
void convert(const execute::Element& element, decltype(execute::Element::pack) by, const void* from, Count n,
             void* to) {
  if (n == 0) return;
  if (element.dense)
    copy_bytes(to, from, n * element.size);
  else
    by(element, from, n, to);
}

}  // namespace

std::span<Count> numbers(execute::Arena& memory, Count n) {
  return {reinterpret_cast<Count*>(memory.take(n * Bytes{sizeof(Count)})), static_cast<std::size_t>(n)};
}

CallBuffer::CallBuffer(const Arguments& arguments, int side, Rank parts, execute::Arena& memory)
    : memory_(memory),
      parts_(parts),
      buffer_(static_cast<char*>(side == 0 ? const_cast<void*>(arguments.input) : arguments.output)),
      base_(buffer_),
      type_(&arguments.signature.types[static_cast<std::size_t>(side)]) {
  const PartsArguments* each = arguments.parts[static_cast<std::size_t>(side)];
  if (parts_ == 0) return;  // without neighbours arrays and types may be anything
  if (buffer_ == MPI_IN_PLACE)
    unusable_ = Passed::arguments;
  else
    each ? describe_each(*each) : describe(arguments.signature.counts[static_cast<std::size_t>(side)]);
}

void CallBuffer::look_up(const MPI_Datatype& type, TypeFacts& storage, const TypeFacts*& facts) {
  facts = &storage;
  if (type == constants().type_null) {
    unusable_ = Passed::arguments;
    return;
  }
  facts = &facts_of(type, Use::move, storage);
  if (!facts->usable) unusable_ = Passed::datatype;
  predefined_ = predefined_ && facts != &storage;
}

void CallBuffer::describe(Count count) {
  look_up(*type_, storage_, facts_);
  if (count < 0) unusable_ = Passed::arguments;
  dense_ = facts_->element.dense;
  each_ = count * facts_->element.size;
  step_ = count * facts_->element.extent;
}

void CallBuffer::describe_each(const PartsArguments& arguments) {
  own_types_ = arguments.types;
  sizes_ = numbers(memory_, parts_);
  begins_ = places_ = numbers(memory_, parts_);
  if (own_types_) {
    storages_.resize(sizes_.size());
    facts_of_each_.resize(sizes_.size());
  } else {
    look_up(*type_, storage_, facts_);
  }
  if (!arguments.counts.given() || !arguments.displacements.given()) unusable_ = Passed::arguments;
  for (Rank r = 0; r < parts_ && !unusable_; ++r) {
    const auto i = static_cast<std::size_t>(r);
    const Count count = arguments.counts[r];
    if (own_types_) {
      facts_of_each_[i] = &storages_[i];
      // A part of its own type may have none, if it is empty: MPICH allows it.
      if (count != 0) look_up(own_types_[r], storages_[i], facts_of_each_[i]);
    }
    if (count < 0) unusable_ = Passed::arguments;
    sizes_[i] = count * facts(r).element.size;
    begins_[i] = arguments.displacements[r] * (own_types_ ? 1 : facts(r).element.extent);
    dense_ = dense_ && (facts(r).element.dense || count == 0);
  }
}

/// Of the program's own types, until `each` says false.
template <typename Each>
bool CallBuffer::each_own_type(Each each) const {
  if (predefined_) return true;
  if (!own_types_) return each(*type_);
  for (std::size_t r = 0; r < facts_of_each_.size(); ++r)
    if (facts_of_each_[r] == &storages_[r] && storages_[r].usable && !each(own_types_[r])) return false;
  return true;
}

void CallBuffer::hold_types(HeldHandles& held) const {
  each_own_type([&](MPI_Datatype type) {
    held.hold_type(type);
    return true;
  });
}

bool CallBuffer::watch_types() const { return each_own_type(watch_type); }

std::span<const Count> CallBuffer::all_bytes() {
  if (!alike()) return sizes_;
  const std::span<Count> all = numbers(memory_, parts_);
  std::ranges::fill(all, each_);
  return all;
}

Bytes CallBuffer::sum() const {
  return alike() ? each_ * parts_ : std::accumulate(sizes_.begin(), sizes_.end(), Bytes{0});
}

Bytes CallBuffer::largest() const { return alike() ? each_ : *std::ranges::max_element(sizes_); }

bool CallBuffer::is_null() const {
  if (buffer_) return false;
  for (Rank r = 0; r < parts_; ++r)
    if (bytes(r) > 0 && !left_out(r) && (alike() || displacement(r) == 0) && facts(r).element.lower == 0) return true;
  return false;
}

void CallBuffer::copy(Bytes stride) {
  base_ = reinterpret_cast<char*>(memory_.take(stride >= 0 ? stride * parts_ : sum()));
  stride_ = stride;
  copied_ = true;
  if (alike() || stride >= 0) return;
  places_ = numbers(memory_, parts_);
  std::exclusive_scan(sizes_.begin(), sizes_.end(), places_.begin(), Bytes{0});
}

Count CallBuffer::elements_in_copy(Rank r) const {
  const Bytes size = facts(r).element.size;
  return size > 0 ? (stride_ >= 0 ? std::min(bytes(r), stride_) : bytes(r)) / size : 0;
}

void CallBuffer::pack(Rank r) {
  if (!copied_) return;
  const execute::Element& element = facts(r).element;
  auto* to = static_cast<std::byte*>(at(r));
  const Count n = elements_in_copy(r);
  convert(element, element.pack, program_part(r), n, to);
  const Bytes packed = n * element.size;
  if (stride_ > packed) std::memset(to + packed, 0, static_cast<std::size_t>(stride_ - packed));
}

void CallBuffer::pack() {
  if (copied_)
    for (Rank r = 0; r < parts_; ++r)
      if (!left_out(r)) pack(r);
}

void CallBuffer::unpack() const {
  for (Rank r = 0; copied_ && r < parts_; ++r)
    if (!left_out(r)) convert(facts(r).element, facts(r).element.unpack, at(r), elements_in_copy(r), program_part(r));
}

execute::Region CallBuffer::region(Count segment, const Parts& cut) const {
  using execute::Layout;
  if (alike() || stride_ >= 0) return {base_, Layout::per_rank(stride_ >= 0 ? stride_ : each_, segment).cut_into(cut)};
  return {base_, Layout::irregular(sizes_, places_, segment).cut_into(cut)};
}

}  // namespace stretto::mpi
