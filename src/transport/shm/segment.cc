// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/segment.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include "support/files.hpp"
#include "transport/shm/heap.hpp"

namespace stretto::transport::shm {
namespace {

constexpr Bytes page = 4096;
constexpr Bytes most_near_header = 512 << 10;  ///< connections to all ranks that meet at once
constexpr Bytes near_step = 32 << 10;          ///< provided at once: a call of the system for each connection is slow

struct Header {
  Token token;
  WaitNotice waiting;  // in the gap before the doorbell: boards are to begin in the first page
  Doorbell doorbell;
  std::atomic<std::uint32_t> departed{0};
  HeapNotice heap;
};

constexpr char name[] = "stretto";  // shown in /proc

constexpr Bytes rounded(Bytes bytes, Bytes to) { return (bytes + to - 1) / to * to; }
constexpr Bytes alignment(Bytes bytes) { return bytes % page == 0 ? page : static_cast<Bytes>(cache_line); }

std::string said(const char* call) { return std::string(call) + ": " + std::strerror(errno); }

/// For a function that gives nothing then.
std::nullptr_t failed(std::string& why, std::string what) {
  why = std::move(what);
  return nullptr;
}

/// A call that a signal may interrupt: a profiler's timer, say.
template <typename Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// `bytes` of the file at its own address; null: failed. It stands in no core file: there would be one of each process
/// of the node in those of all.
std::byte* map(int file, Bytes bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, size, MADV_DONTDUMP);
  return static_cast<std::byte*>(memory);
}

/// Growing a file beyond this would not only fail, but end the process by a signal. The program may lower it.
bool within_limit_of_files(Bytes bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         limit.rlim_cur >= static_cast<rlim_t>(bytes);
}

}  // namespace

bool has_ended(std::int64_t process) {
#ifdef SYS_pidfd_open
  // A process that nobody has waited for yet has a number, and still has ended.
  const OpenFile file(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0)));
  pollfd watched{file.number, POLLIN, 0};
  if (file.number >= 0) return poll(&watched, 1, 0) > 0;
  if (errno == ESRCH) return true;
#endif
  return kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

std::unique_ptr<Segment> Segment::create(Bytes most, std::string& why) {
  std::unique_ptr<Segment> s(new Segment);
  SegmentHandle& handle = s->handle_;
  handle.bytes = rounded(most, page);
  handle.process = getpid();
  if (uninterrupted([&] { return getrandom(handle.token.data(), sizeof handle.token, 0); }) != sizeof handle.token)
    return failed(why, said("getrandom"));
  if (!within_limit_of_files(handle.bytes))
    return failed(
        why, "the limit on the size of files, ulimit -f, is less than " + std::to_string(handle.bytes / 1024) + " KiB");
  handle.file = memfd_create(name, MFD_CLOEXEC);
  if (handle.file < 0) return failed(why, said("memfd_create"));
  struct stat made{};
  if (fstat(static_cast<int>(handle.file), &made) != 0) return failed(why, said("fstat"));
  s->node_ = made.st_ino;
  s->device_ = made.st_dev;
  s->memory_ = map(static_cast<int>(handle.file), handle.bytes);
  if (!s->memory_) return failed(why, said("mmap"));
  s->near_end_ = s->reserved_ = std::min(most_near_header, handle.bytes / 8 / page * page);
  std::byte* head = s->take(sizeof(Header));
  if (head != s->memory_) return failed(why, said("fallocate"));  // where all look for it
  auto* header = new (head) Header{handle.token, {}, {}, {}};
  s->doorbell_ = &header->doorbell;
  return s;
}

Segment::~Segment() {
  if (memory_) munmap(memory_, static_cast<std::size_t>(handle_.bytes));
  if (const int own = file(); own >= 0) close(own);
}

int Segment::file() const {
  struct stat now{};
  const int number = static_cast<int>(handle_.file);
  return fstat(number, &now) == 0 && now.st_ino == node_ && now.st_dev == device_ ? number : -1;
}

std::byte* Segment::reserve(Bytes bytes, Bytes kept) {
  const std::lock_guard lock(mutex_);
  const Bytes first = rounded(reserved_, alignment(bytes));
  if (first + bytes > handle_.bytes - kept) return nullptr;
  reserved_ = first + bytes;
  return memory_ + first;
}

// Without this, a system without memory would show it by a bus error at the first touch.
bool Segment::provide(const std::byte* at, Bytes bytes) {
  const Bytes first = offset(at) / page * page;
  const Bytes end = rounded(offset(at) + bytes, page);
  struct stat now{};
  const int own = file();
  const bool grows = fstat(own, &now) != 0 || now.st_size < end;
  return (!grows || within_limit_of_files(end)) &&
         uninterrupted([&] { return fallocate(own, 0, first, end - first); }) == 0;
}

bool Segment::provide_near_end(Bytes end) {
  if (end <= near_provided_) return true;
  const Bytes more = std::min(rounded(end, near_step), near_end_) - near_provided_;
  if (!provide(memory_ + near_provided_, more)) return false;
  near_provided_ += more;
  grown_ = std::max(grown_, near_provided_);
  return true;
}

bool Segment::provide_near_header(Bytes bytes) {
  const std::lock_guard lock(mutex_);
  return provide_near_end(std::min(near_taken_ + bytes, near_end_));
}

std::byte* Segment::take(Bytes bytes, Bytes kept) {
  {
    const std::lock_guard lock(mutex_);
    const Bytes first = rounded(near_taken_, alignment(bytes));
    if (first + bytes <= near_end_ && provide_near_end(first + bytes)) {
      near_taken_ = first + bytes;
      return memory_ + first;
    }
  }
  std::byte* memory = reserve(bytes, kept);
  return memory && provide(memory, bytes) ? memory : nullptr;
}

bool Segment::grow(Bytes end) {
  const std::lock_guard lock(mutex_);
  if (end <= grown_) return true;
  if (!within_limit_of_files(end)) return false;
  if (uninterrupted([&] { return ftruncate(file(), end); }) != 0) return false;
  grown_ = end;
  return true;
}

HeapNotice& Segment::heap() const { return reinterpret_cast<Header*>(memory_)->heap; }

void Segment::tell_wait(const Wait& wait) {
  WaitNotice& notice = reinterpret_cast<Header*>(memory_)->waiting;
  notice.since.store(wait.since, std::memory_order_relaxed);
  notice.told.store(wait.told, std::memory_order_release);
}

void Segment::depart() { reinterpret_cast<Header*>(memory_)->departed.store(1, std::memory_order_release); }

std::unique_ptr<Mapping> Mapping::open(const SegmentHandle& handle, std::string& why) {
  const std::string path = "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.file);
  const OpenFile file(uninterrupted([&] { return ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
  if (file.number < 0) return failed(why, said(path.c_str()));
  // A process of another container may have the same number: its files are not for mapping.
  Token found{};
  if (pread(file.number, found.data(), sizeof found, 0) != sizeof found || found != handle.token)
    return failed(why, path + " is of another process");
  std::byte* const memory = map(file.number, handle.bytes);
  if (!memory) return failed(why, said("mmap"));
  std::unique_ptr<Mapping> mapping(new Mapping(handle, memory));
  // Written before it is read, as in Process::connect().
  mapping->doorbell()->sleepers.fetch_add(0, std::memory_order_relaxed);
  return mapping;
}

Mapping::Mapping(const SegmentHandle& handle, std::byte* memory)
    : handle_(handle),
      memory_(memory),
      heap_(std::make_unique<PeerHeap>(reinterpret_cast<const Header*>(memory)->heap)) {}

Mapping::~Mapping() { munmap(memory_, static_cast<std::size_t>(handle_.bytes)); }

Doorbell* Mapping::doorbell() const { return &reinterpret_cast<Header*>(memory_)->doorbell; }

Wait Mapping::wait() const {
  const WaitNotice& notice = reinterpret_cast<const Header*>(memory_)->waiting;
  const std::int64_t told = notice.told.load(std::memory_order_acquire);
  return {notice.since.load(std::memory_order_relaxed), told};
}

bool Mapping::died() const {
  const auto* header = reinterpret_cast<const Header*>(memory_);
  return header->departed.load(std::memory_order_acquire) == 0 && has_ended(handle_.process);
}

}  // namespace stretto::transport::shm
