// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "stretto/types.hpp"

namespace stretto::execute {

/// Memory that is given out piece by piece and taken back all at once. Pieces never move. What it got from the system
/// it keeps, because touching fresh pages costs more than most calls; trim() gives back what is beyond a bound.
class Arena {
 public:
  static constexpr Bytes alignment = 64;
  static constexpr Bytes kept = Bytes{64} << 20;

  std::byte* take(Bytes bytes) {
    bytes = (std::max<Bytes>(bytes, 1) + alignment - 1) / alignment * alignment;
    while (now_ < chunks_.size() && chunks_[now_].size - used_ < bytes) next();
    if (now_ == chunks_.size()) grow(bytes);
    std::byte* piece = chunks_[now_].memory.get() + used_;
    used_ += bytes;
    return piece;
  }

  /// Ends the use of all pieces.
  void trim() {
    reset();
    if (total_ <= kept) return;
    chunks_.clear();
    total_ = 0;
  }

  void reset() {
    now_ = 0;
    used_ = 0;
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{alignment}); }
  };
  struct Chunk {
    std::unique_ptr<std::byte[], Free> memory;
    Bytes size;
  };

  void next() {
    ++now_;
    used_ = 0;
  }

  void grow(Bytes bytes) {
    const Bytes size = std::max<Bytes>(bytes, 1 << 16);
    auto* memory =
        static_cast<std::byte*>(::operator new[](static_cast<std::size_t>(size), std::align_val_t{alignment}));
    chunks_.push_back({std::unique_ptr<std::byte[], Free>(memory), size});
    used_ = 0;
    total_ += size;
  }

  std::vector<Chunk> chunks_;
  std::size_t now_ = 0;
  Bytes used_ = 0;
  Bytes total_ = 0;
};

}  // namespace stretto::execute
