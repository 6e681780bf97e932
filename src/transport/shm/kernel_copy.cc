// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/kernel_copy.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace stretto::transport::shm {

Bytes kernel_copy(std::int64_t process, std::byte* to, const std::byte* from, Bytes bytes) {
  constexpr Bytes most = Bytes{1} << 30;  // the kernel moves 2 GiB less a page at once
  Bytes copied = 0;
  while (copied < bytes) {
    const auto piece = static_cast<std::size_t>(std::min(bytes - copied, most));
    const iovec mine{to + copied, piece};
    const iovec theirs{const_cast<std::byte*>(from) + copied, piece};
    const ssize_t n = process_vm_readv(static_cast<pid_t>(process), &mine, 1, &theirs, 1, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    copied += n;
  }
  return copied;
}

}  // namespace stretto::transport::shm
