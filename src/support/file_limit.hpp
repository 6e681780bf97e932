// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>

namespace stretto {

/// While it is there, a file that grows beyond `ulimit -f` is an error of write(), and not the end of the program.
class NoSignalAtFileLimit {
 public:
  NoSignalAtFileLimit() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &ignore, &before_);
  }
  ~NoSignalAtFileLimit() { sigaction(SIGXFSZ, &before_, nullptr); }
  NoSignalAtFileLimit(const NoSignalAtFileLimit&) = delete;
  NoSignalAtFileLimit& operator=(const NoSignalAtFileLimit&) = delete;

 private:
  struct sigaction before_{};  // what the program does then
};

}  // namespace stretto
