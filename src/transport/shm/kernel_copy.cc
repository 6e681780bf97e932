// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/kernel_copy.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace stretto::transport::shm {
namespace {

template <typename Move>
Bytes move_all(Bytes bytes, Move move) {
  constexpr Bytes most = Bytes{1} << 30;  // the kernel moves 2 GiB less a page at once
  Bytes moved = 0;
  while (moved < bytes) {
    const ssize_t n = move(moved, static_cast<std::size_t>(std::min(bytes - moved, most)));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    moved += n;
  }
  return moved;
}

}  // namespace

Bytes kernel_read(std::int64_t process, std::byte* to, const std::byte* from, Bytes bytes) {
  return move_all(bytes, [&](Bytes at, std::size_t piece) {
    const iovec mine{to + at, piece};
    const iovec theirs{const_cast<std::byte*>(from) + at, piece};
    return process_vm_readv(static_cast<pid_t>(process), &mine, 1, &theirs, 1, 0);
  });
}

Bytes kernel_write(std::int64_t process, std::byte* to, const std::byte* from, Bytes bytes) {
  return move_all(bytes, [&](Bytes at, std::size_t piece) {
    const iovec mine{const_cast<std::byte*>(from) + at, piece};
    const iovec theirs{to + at, piece};
    return process_vm_writev(static_cast<pid_t>(process), &mine, 1, &theirs, 1, 0);
  });
}

}  // namespace stretto::transport::shm
