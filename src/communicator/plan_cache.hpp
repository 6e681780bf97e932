// SPDX-License-Identifier: BSD-3-Clause
//
// The plans of a communicator's last calls: the same call begins to send within a few dozen nanoseconds, wherever its
// buffers are.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "communicator/size_hint.hpp"
#include "execute/plan.hpp"
#include "mpi/arguments.hpp"
#include "mpi/handle_table.hpp"
#include "mpi/operators.hpp"
#include "observe/calls.hpp"
#include "observe/statistics.hpp"

namespace stretto::mpi {

class Communicator;
struct Decision;

/// Among which calls one is counted, where ranks learn.
enum class CountedAs : std::uint8_t { blocking, nonblocking, persistent, none };
/// Of calls that are learned about: how many more of each form are served alike; null: any.
using Quiet = std::array<std::uint32_t*, 2>;

/// What a call said of its parts. All of it is compared: a program may change its arrays in place.
class KeptParts {
 public:
  void keep(const PartsArguments& parts, Rank ranks);
  void clear() { counts_.clear(); }
  /// Also true where this rank need not give them.
  bool same(const PartsArguments* given) const { return counts_.empty() || compare(*given); }

 private:
  bool compare(const PartsArguments& given) const;

  std::vector<Count> counts_, displacements_;  ///< no displacements: the parts lie one behind the other
  std::vector<MPI_Datatype> types_;            ///< empty: all parts have the signature's
};

/// Calls in one segment, of one communicator: used by one thread at a time.
class PlanCache {
 public:
  ~PlanCache() { clear(); }

  struct Cached {
    Signature signature;
    Bytes alias = no_alias;  ///< as in Arguments; beside the signature, for it is looked at next
    std::shared_ptr<const Schedule> schedule = nullptr;
    execute::Work work;
    execute::Plan plan = {};
    const Algorithm* algorithm = nullptr;  ///< null: the native library does it, and there is no plan
    std::optional<Bytes> input = {},
                         output = {};  ///< where the plan's buffers begin, from the program's; none: it has none
    Counter* served = nullptr;
    std::uint64_t calls = 0;  ///< not yet in `served`
    unsigned others = 0;      ///< calls that differed in their parts alone, while this one did not come again
    observe::Sampled sampled = {};
    std::array<KeptParts, 2> parts = {};  ///< of Arguments::parts
    SizeHint* size_hint = nullptr;        ///< as in Arguments
    Bytes bytes = 0;
    Quiet quiet = {};                              ///< as in Decision: the last of them is looked at
    bool own_types = false, own_operator = false;  ///< as in Arguments
    std::uint64_t freed_types = 0;                 ///< when it was kept
    bool commutative = true;
    bool has_parts = false;
    bool is_plain = false;  ///< but for buffers and parts there is nothing to look at, to count or to observe

    /// Have types been freed since? Its own may be others now.
    bool outdated() const { return own_types && freed_types != mpi::freed_types(); }
    bool same_parts(const Arguments& arguments) const {
      return parts[0].same(arguments.parts[0]) && parts[1].same(arguments.parts[1]);
    }
    /// Of one that is not plain: does it still go for such a call? If so, its size hint has noted the size.
    bool serves(CountedAs form);
    /// Another call that it serves.
    void count_down(CountedAs form) {
      if (std::uint32_t* const left = quiet[static_cast<std::size_t>(form)]) [[unlikely]]
        --*left;
    }
  };

  /// Null: the call is not kept, or must be looked at again. Else its work's buffers are those of `arguments`. Whoever
  /// shares it keeps it unchanged.
  const std::shared_ptr<Cached>* find(const Arguments& arguments, CountedAs form);
  /// Forgets all of them: the communicator may choose otherwise from now on.
  void clear();
  /// Those that were chosen by `hint`.
  void forget(const SizeHint* hint);
  /// Where such a call is to be kept; null: it is not. `parts` is how many those of `arguments` are: too many are not.
  std::shared_ptr<Cached>* place_for(const Arguments& arguments, std::array<Rank, 2> parts);
  /// What is kept of it there.
  std::shared_ptr<Cached> keep(std::shared_ptr<Cached>& place, const Arguments& arguments, std::array<Rank, 2> parts,
                               const Decision& decision, std::shared_ptr<const Schedule> schedule,
                               const execute::Work& work, const observe::Sampled& sampled);
  /// Calls like this one, which have no parts, are all left to the native library, for which `passed` counts.
  void keep_native(const Arguments& arguments, const Decision& decision, Counter& passed);

 private:
  static constexpr std::size_t size = 64;
  static constexpr int bits_of_size = std::countr_zero(size);
  static std::size_t slot(const Signature& s) {
    // Shifted, so that a type and an operator, or a count and a root, that differ alike do not make up for each other.
    const std::uint64_t handles = bits_of(s.types[0]) ^ bits_of(s.op) << 3;
    const auto numbers =
        static_cast<std::uint64_t>(s.counts[0] + s.counts[1]) + (static_cast<std::uint64_t>(s.root) << 20);
    const std::uint64_t mixed = (numbers + handles) * 0x9e3779b97f4a7c15u >> (64 - bits_of_size);
    return (static_cast<std::size_t>(s.function) + static_cast<std::size_t>(mixed)) % size;
  }
  /// The one of this signature; null if there is none. It is in one of two places: two calls that take turns, a barrier
  /// and another one say, need not drive each other out.
  const std::shared_ptr<Cached>* of(const Signature& signature) const {
    const std::size_t at = slot(signature);
    const auto* c = &cached_[at];
    if (*c && (*c)->signature == signature) return c;
    c = &cached_[at ^ 1];
    return *c && (*c)->signature == signature ? c : nullptr;
  }
  /// Null: those that are there stay.
  std::shared_ptr<Cached>* place_of(const Signature& signature);
  static void drop(std::shared_ptr<Cached>& cached);
  static void count(Cached& cached);

  std::array<std::shared_ptr<Cached>, size> cached_;
  std::array<std::uint8_t, size / 2> crowded_{};  // of two places: calls that have found others in both
};

inline const std::shared_ptr<PlanCache::Cached>* PlanCache::find(const Arguments& arguments, CountedAs form) {
  const std::shared_ptr<Cached>* const found = of(arguments.signature);
  if (!found || arguments.output == MPI_IN_PLACE) return nullptr;
  Cached& c = **found;
  if (arguments.is_at(c.alias) || (c.input && !arguments.input) || (c.output && !arguments.output)) [[unlikely]]
    return nullptr;
  if ((c.has_parts && !c.same_parts(arguments)) || (!c.is_plain && !c.serves(form))) return nullptr;
  c.work.input.at = c.input ? static_cast<char*>(const_cast<void*>(arguments.input)) + *c.input : nullptr;
  c.work.output.at = c.output ? static_cast<char*>(arguments.output) + *c.output : nullptr;
  return found;
}

}  // namespace stretto::mpi
