// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "stretto/types.hpp"

namespace stretto::transport::shm {

/// Copies from another process's memory at `from` to mine at `to`, in one copy by the kernel. Returns how many bytes
/// from the beginning came: fewer if it refuses (Yama, seccomp, a container, memory of a device), or if they are not
/// there.
Bytes kernel_read(std::int64_t process, std::byte* to, const std::byte* from, Bytes bytes);

/// The same from mine at `from` to another's at `to`.
Bytes kernel_write(std::int64_t process, std::byte* to, const std::byte* from, Bytes bytes);

}  // namespace stretto::transport::shm
