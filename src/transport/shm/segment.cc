// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>

namespace stretto::transport::shm {
namespace {

constexpr Bytes page = 4096;
constexpr Bytes step = 1 << 20;  // asked of the system at once

struct Header {
  std::array<std::uint64_t, 2> token;
  Bell bell;
};

constexpr char name[] = "stretto";  // shown in /proc

constexpr Bytes rounded(Bytes bytes, Bytes to) { return (bytes + to - 1) / to * to; }

std::string said(const char* call) { return std::string(call) + ": " + std::strerror(errno); }

/// Growing a file beyond this would not only fail, but end the process by a signal.
bool within_limit_of_files(Bytes bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         limit.rlim_cur >= static_cast<rlim_t>(bytes);
}

/// The file of a card; negative: `why` says what failed. A process of another container may have the same number: its
/// files are not for opening, let alone mapping.
int open_file(const std::string& path, Bytes bytes, std::string& why) {
  char target[64];
  const ssize_t length = readlink(path.c_str(), target, sizeof target);
  int file = -1;
  if (length < 0)
    why = said(path.c_str());
  else if (!std::string_view(target, static_cast<std::size_t>(length)).starts_with(std::string("/memfd:") + name))
    why = path + " is of another process";
  else if (file = open(path.c_str(), O_RDWR | O_CLOEXEC); file < 0)
    why = said(path.c_str());
  struct stat found{};
  if (file < 0 || (fstat(file, &found) == 0 && found.st_size == bytes)) return file;
  close(file);
  why = path + " is of another process";
  return -1;
}

}  // namespace

std::unique_ptr<Segment> Segment::create(Bytes most, std::string& why) {
  std::unique_ptr<Segment> s(new Segment);
  Card& card = s->card_;
  card.bytes = rounded(most, page);
  card.process = getpid();
  if (getrandom(card.token.data(), sizeof card.token, 0) != sizeof card.token) {
    why = said("getrandom");
    return nullptr;
  }
  if (!within_limit_of_files(card.bytes)) {
    why = "the limit on the size of files, ulimit -f, is less than " + std::to_string(card.bytes / 1024) + " KiB";
    return nullptr;
  }
  card.file = memfd_create(name, MFD_CLOEXEC);
  if (card.file < 0 || ftruncate(static_cast<int>(card.file), card.bytes) != 0) {
    why = said(card.file < 0 ? "memfd_create" : "ftruncate");
    return nullptr;
  }
  void* memory = mmap(nullptr, static_cast<std::size_t>(card.bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
                      static_cast<int>(card.file), 0);
  if (memory == MAP_FAILED) {
    why = said("mmap");
    return nullptr;
  }
  s->memory_ = static_cast<std::byte*>(memory);
  std::byte* head = s->take(sizeof(Header));
  if (!head) {
    why = said("fallocate");
    return nullptr;
  }
  auto* header = new (head) Header{card.token, {}};
  s->bell_ = &header->bell;
  return s;
}

Segment::~Segment() {
  if (memory_) munmap(memory_, static_cast<std::size_t>(card_.bytes));
  if (card_.file >= 0) close(static_cast<int>(card_.file));
}

std::byte* Segment::take(Bytes bytes, Bytes kept) {
  const std::lock_guard lock(mutex_);
  const Bytes first = rounded(taken_, bytes % page == 0 ? page : static_cast<Bytes>(cache_line));
  const Bytes end = first + bytes;
  if (end > card_.bytes - kept) return nullptr;
  if (end > provided_) {
    const Bytes provide = std::min(rounded(end, step), card_.bytes);
    // Without this, a system without memory would show it by a bus error at the first touch.
    if (fallocate(static_cast<int>(card_.file), 0, provided_, provide - provided_) != 0) return nullptr;
    provided_ = provide;
  }
  taken_ = end;
  return memory_ + first;
}

std::unique_ptr<Mapping> Mapping::open(const Card& card, std::string& why) {
  const std::string path = "/proc/" + std::to_string(card.process) + "/fd/" + std::to_string(card.file);
  const int file = open_file(path, card.bytes, why);
  if (file < 0) return nullptr;
  void* memory = mmap(nullptr, static_cast<std::size_t>(card.bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) {
    why = said("mmap");
    return nullptr;
  }
  std::unique_ptr<Mapping> mapping(new Mapping(static_cast<std::byte*>(memory), card.bytes));
  const auto* header = reinterpret_cast<const Header*>(mapping->memory_);
  // A process of that number may be another one, in another container.
  if (header->token == card.token) return mapping;
  why = path + " is of another process";
  return nullptr;
}

Mapping::~Mapping() { munmap(memory_, static_cast<std::size_t>(bytes_)); }

Bell* Mapping::bell() const { return &reinterpret_cast<Header*>(memory_)->bell; }

}  // namespace stretto::transport::shm
