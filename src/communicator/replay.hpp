// SPDX-License-Identifier: BSD-3-Clause
//
// Calls that were served before: what was found out then is kept, so that the same call begins to send within a few
// dozen nanoseconds, wherever its buffers are.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "communicator/recent_sizes.hpp"
#include "execute/plan.hpp"
#include "mpi/mpi_header.hpp"
#include "observe/calls.hpp"
#include "observe/statistics.hpp"

namespace stretto::intercept {

class Communicator;
struct Decision;
struct DescribedParts;

/// The arguments of a call but for its buffers and what it says of each part. Types and operators are MPI's own: a
/// program's may be freed, and their handles come back for others. What a rank need not give may be anything.
struct Signature {
  Function function;
  bool in_place = false;
  Rank root = 0;
  std::array<Count, 2> counts{};
  std::array<MPI_Datatype, 2> types{};
  MPI_Op op{};

  /// Spelt out: arrays would be compared by a function of the C library.
  bool operator==(const Signature& s) const {
    return function == s.function && counts[0] == s.counts[0] && counts[1] == s.counts[1] && types[0] == s.types[0] &&
           types[1] == s.types[1] && op == s.op && root == s.root && in_place == s.in_place;
  }
};

inline constexpr Bytes no_alias = std::numeric_limits<Bytes>::min();  ///< no distance of two buffers

/// The beginning of a buffer, as the program gave it.
struct Origin {
  Signature signature;
  const void* input = nullptr;
  void* output = nullptr;
  /// Of the functions whose parts differ, not in place: looked at only by a rank that must give them.
  std::array<const DescribedParts*, 2> parts{};
  RecentSizes* recent = nullptr;  ///< that the choice went by, and what they are told of this call
  Bytes bytes = 0;
  Bytes alias = no_alias;  ///< where the input may not be, from the output

  /// Is the input there? With MPI_BOTTOM it seems so, though nothing is said of where the elements are.
  bool is_at(Bytes distance) const {
    return reinterpret_cast<std::intptr_t>(input) - reinterpret_cast<std::intptr_t>(output) == distance;
  }
  bool aliased() const { return input && is_at(alias); }
};

/// What a call said of its parts. All of it is compared: a program may change its arrays in place.
class KeptParts {
 public:
  void keep(const DescribedParts& parts, Rank ranks);
  void clear() { counts_.clear(); }
  /// Also true where this rank need not give them.
  bool same(const DescribedParts* given) const { return counts_.empty() || compare(*given); }

 private:
  bool compare(const DescribedParts& given) const;

  std::vector<Count> counts_, displacements_;  ///< no displacements: the parts lie one behind the other
  std::vector<MPI_Datatype> types_;            ///< empty: all parts have the signature's
};

/// Calls in one segment, of one communicator: used by one thread at a time.
class Replays {
 public:
  ~Replays() { clear(); }

  struct Replay {
    Signature signature;
    Bytes alias = no_alias;  ///< as in Origin; beside the signature, for it is looked at next
    std::shared_ptr<const Schedule> schedule = nullptr;
    execute::Work work;
    execute::Plan program = {};
    const Algorithm* algorithm = nullptr;
    std::optional<Bytes> input = {},
                         output = {};  ///< where the engine's buffers begin, from the program's; none: it has none
    Counter* served = nullptr;
    std::uint64_t calls = 0;  ///< not yet in `served`
    unsigned others = 0;      ///< calls that differed in their parts alone, while this one did not come again
    observe::Sampled sampled = {};
    std::array<KeptParts, 2> parts = {};  ///< of Origin::parts
    RecentSizes* recent = nullptr;        ///< as in Origin
    Bytes bytes = 0;
  };

  Replay* find(const Origin& origin) {
    Replay* r = of(origin.signature);
    return r && r->parts[0].same(origin.parts[0]) && r->parts[1].same(origin.parts[1]) ? r : nullptr;
  }
  /// Forgets all of them: the communicator may choose otherwise from now on.
  void clear();
  /// Those that were chosen by `sizes`.
  void forget(const RecentSizes* sizes);
  /// `ranks` is how many parts those of `origin` are; too many are not kept.
  void keep(const Origin& origin, Rank ranks, const Decision& decision, std::shared_ptr<const Schedule> schedule,
            const execute::Work& work, const observe::Sampled& sampled);

 private:
  static constexpr std::size_t size = 32;
  static std::size_t slot(const Signature& s) {
    const auto mixed = static_cast<std::uint64_t>(s.counts[0]) * 0x9e3779b97f4a7c15u >> 59;
    return (static_cast<std::size_t>(s.function) + static_cast<std::size_t>(mixed) +
            static_cast<std::size_t>(s.root) * 5) %
           size;
  }
  /// The one of this signature; null if there is none. It is in one of two places: two calls that take turns, a barrier
  /// and another one say, need not drive each other out.
  Replay* of(const Signature& signature) const {
    const std::size_t at = slot(signature);
    Replay* r = replays_[at].get();
    if (r && r->signature == signature) return r;
    r = replays_[at ^ 1].get();
    if (r && r->signature == signature) return r;
    return nullptr;
  }
  std::unique_ptr<Replay>& place_for(const Signature& signature);
  static void count(Replay& replay);

  std::array<std::unique_ptr<Replay>, size> replays_;
  std::size_t turn_ = 0;  // which of two gives way
};

/// MPI's return code, if the call was served before.
std::optional<int> replay(MPI_Comm comm, const Origin& origin);

}  // namespace stretto::intercept
