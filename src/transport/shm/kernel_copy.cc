// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/kernel_copy.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "support/memory.hpp"

namespace stretto::transport::shm {
namespace {

/// By process_vm_readv or process_vm_writev.
Bytes move_all(decltype(&process_vm_readv) move, std::int64_t process, const std::byte* mine, const std::byte* theirs,
               Bytes bytes) {
  constexpr Bytes most = Bytes{1} << 30;  // the kernel moves 2 GiB less a page at once
  Bytes moved = 0;
  while (moved < bytes) {
    const auto piece = static_cast<std::size_t>(std::min(bytes - moved, most));
    const iovec here{const_cast<std::byte*>(mine) + moved, piece};
    const iovec there{const_cast<std::byte*>(theirs) + moved, piece};
    const ssize_t n = move(static_cast<pid_t>(process), &here, 1, &there, 1, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    moved += n;
  }
  return moved;
}

/// Where the kernel copies slowly, by `rep movsb`, a second copy through memory in the cache takes far less.
bool slowly_copied(const void* to, const void* from, Bytes bytes) {
  return bytes >= least_by_string && bytes_behind(to, from) - 1 < 15;
}

/// In pieces, each by way of memory that lies as `like` does. `move(at, between, bytes)` says how many came.
template <typename Move>
Bytes move_through(const std::byte* like, Bytes bytes, Move move) {
  constexpr Bytes piece = 16384;
  constexpr std::uintptr_t line = 64;
  alignas(line) std::byte room[piece + line];
  std::byte* between = room + reinterpret_cast<std::uintptr_t>(like) % line;
  for (Bytes at = 0; at < bytes;) {
    const Bytes asked = std::min(piece, bytes - at);
    const Bytes moved = move(at, between, asked);
    at += moved;
    if (moved < asked) return at;
  }
  return bytes;
}

}  // namespace

Bytes kernel_read(std::int64_t process, std::byte* to, const std::byte* from, Bytes bytes) {
  if (!slowly_copied(to, from, bytes)) return move_all(process_vm_readv, process, to, from, bytes);
  return move_through(from, bytes, [&](Bytes at, std::byte* between, Bytes asked) {
    const Bytes moved = move_all(process_vm_readv, process, between, from + at, asked);
    copy_bytes(to + at, between, moved);
    return moved;
  });
}

Bytes kernel_write(std::int64_t process, std::byte* to, const std::byte* from, Bytes bytes) {
  if (!slowly_copied(to, from, bytes)) return move_all(process_vm_writev, process, from, to, bytes);
  return move_through(to, bytes, [&](Bytes at, std::byte* between, Bytes asked) {
    copy_bytes(between, from + at, asked);
    return move_all(process_vm_writev, process, between, to + at, asked);
  });
}

}  // namespace stretto::transport::shm
