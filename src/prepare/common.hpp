// SPDX-License-Identifier: BSD-3-Clause
//
// What the functions of serve.hpp have in common.
#pragma once

#include "mpi/types.hpp"
#include "prepare/perform.hpp"
#include "prepare/serve.hpp"
#include "settings/settings.hpp"

namespace stretto::intercept {

/// Counts a call that goes to the native library.
Served pass(Function function, Passed reason);

/// The state of `comm`, or null after counting why the call is passed on. Ends the use of staging().
Communicator* usable(Function function, MPI_Comm comm);

/// The same, where the call may be observed: size(communicator) is its number of bytes (docs/profile.md).
template <typename Size>
Communicator* usable(Function function, MPI_Comm comm, Size size) {
  if (settings().observes()) [[unlikely]] {
    const auto begin = execute::now();
    Communicator* c = communicator(comm, function);
    const bool known = c && c->unusable != Passed::intercommunicator;  // their counts go by the other side's ranks
    observe::begin_call(function, c ? c->records.get() : nullptr, known ? size(*c) : 0, begin);
  }
  return usable(function, comm);
}

/// What the program describes, in bytes of its types; 0 where the description is wrong.
Bytes bytes_of(const Described& d);
Bytes bytes_of(const DescribedParts& d, Rank rank);
Bytes bytes_of_all(const DescribedParts& d, Rank ranks);

/// Null after counting that the rules say `native`.
const Decision* decide(Communicator& c, const Call& call);

inline bool root_exists(const Communicator& c, int root) { return root >= 0 && root < c.ranks(); }
inline bool valid(const Described& d) { return d.count >= 0 && d.type != constants().type_null; }

/// The end of a served call: errors of the program's types, which the program has heard of, are found on the way.
int finish(int code);

/// Notes that the input may not be at `distance` from the output, if the MPI forbids that for so many elements. True:
/// it is there.
bool is_alias(Origin& origin, Count elements, Bytes distance);
/// Reports such a call.
Served refuse_alias(const Communicator& c, Function function);

/// The end of a call whose sizes did not match on this rank, where the native library would have found out on the way.
/// The others get what they wait for.
int finish_truncated(const Communicator& c, Function function, int code, bool truncated);

/// As many of n elements as fit into `bytes` bytes; fitted() is such a copy, with zeros behind them.
void fit(const TypeFacts& type, const void* from, Count n, std::byte* to, Bytes bytes);
std::byte* fitted(const TypeFacts& type, const void* from, Count n, Bytes bytes);
/// As much of `bytes` bytes as fits into n elements.
void unfit(const TypeFacts& type, const std::byte* from, Bytes bytes, Count n, void* to);

/// Where the engine reads or writes `count` elements of a type: in the program's buffer or, if the type has holes, in a
/// packed copy.
class Packed {
 public:
  Packed(const TypeFacts& type, Count count, bool always = false)
      : type_(type),
        count_(count),
        copies_(always || !type.element.dense) {}

  void* in(void* buffer);
  /// Copies elements first … first+n-1 of `buffer`, if there is a copy.
  void pack(const void* buffer, Count first, Count n);
  void unpack(void* buffer) const;

 private:
  const TypeFacts& type_;
  Count count_;
  bool copies_;
  std::byte* copy_ = nullptr;
};

/// Elements to packed bytes and back, whether the type has holes or not.
void pack_elements(const TypeFacts& type, const void* from, Count n, std::byte* to);
void unpack_elements(const TypeFacts& type, const std::byte* from, Count n, void* to);

/// Moved blocks are bytes.
inline constexpr execute::Element one_byte{};

/// n numbers of staging()
Count* stage_numbers(Count n);

/// The schedule of a decision; algorithms that need the counts of the call get them.
template <typename Counts>
std::shared_ptr<const Schedule> schedule_of(Communicator& c, const Decision& decision, Rank root, Counts counts) {
  if (decision.schedule) return decision.schedule;
  Shape shape{c.ranks(), root, {}};
  shape.counts.reserve(static_cast<std::size_t>(shape.ranks));
  for (Rank r = 0; r < shape.ranks; ++r) shape.counts.push_back(counts(r));
  return c.schedule(*decision.algorithm, shape, decision.params);
}

}  // namespace stretto::intercept
