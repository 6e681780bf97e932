// SPDX-License-Identifier: BSD-3-Clause
//
// Small files of the system, as under /proc, and what may be wrong with others. Not by std::ifstream: its locales are
// half a megabyte of code and data in each process that is preloaded.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string>
#include <string_view>

namespace stretto {

/// Closes what open() gave; below 0: nothing.
class OpenFile {
 public:
  explicit OpenFile(int number) : number(number) {}
  ~OpenFile() {
    if (number >= 0) close(number);
  }
  OpenFile& operator=(OpenFile&&) = delete;

  const int number;
};

/// What a file says, of a long one no more than the first `most` bytes and 4096; empty where it cannot be read.
inline std::string read_file(const char* path, std::size_t most = std::size_t{1} << 20) {
  const OpenFile file(open(path, O_RDONLY | O_CLOEXEC));
  if (file.number < 0) return {};
  std::string text;
  char part[4096];
  while (text.size() < most) {
    const ssize_t n = read(file.number, part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(part, static_cast<std::size_t>(n));
  }
  return text;
}

/// The first line of a small file; empty where it cannot be read.
inline std::string first_line(const std::string& path) {
  const std::string text = read_file(path.c_str());
  return text.substr(0, text.find('\n'));
}

/// What a path names that is no regular file: "a FIFO".
inline std::string_view kind_of_file(mode_t mode) {
  if (S_ISREG(mode)) return "a file";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// While it is there, a file that grows beyond `ulimit -f` is an error of write(), and not the end of the program.
class NoSignalAtFileLimit {
 public:
  NoSignalAtFileLimit() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &ignore, &before_);
  }
  ~NoSignalAtFileLimit() { sigaction(SIGXFSZ, &before_, nullptr); }
  NoSignalAtFileLimit& operator=(NoSignalAtFileLimit&&) = delete;

 private:
  struct sigaction before_{};  // what the program does then
};

}  // namespace stretto
