// SPDX-License-Identifier: BSD-3-Clause
//
// libstretto-heap: malloc and its kin, of which large blocks come from the shared heap and all else from the next
// allocator, mostly the C library's. `stretto run --shared-heap` puts it before the program.
#include <dlfcn.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "transport/shm/heap.hpp"

#define STRETTO_EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using stretto::Bytes;
using stretto::transport::shm::Heap;

constexpr std::size_t usual_least = std::size_t{256} << 10;
constexpr std::size_t smallest_least = std::size_t{64} << 10;  // more than this file itself ever asks for

std::atomic<std::size_t> least{
    SIZE_MAX};                         // of a block that comes from the heap; until the constructor below: none does
std::atomic<Heap*> the_heap{nullptr};  // never destroyed

// What the next allocator's functions are is asked at the first call, and the C library may call calloc to answer.
// clang-format off
#define STRETTO_NEXT(X) \
  X(malloc) X(calloc) X(realloc) X(free) X(memalign) X(aligned_alloc) X(posix_memalign) X(valloc) X(pvalloc) \
  X(malloc_usable_size)
// clang-format on
struct Next {
#define STRETTO_MEMBER(name) decltype(&::name) name;
  STRETTO_NEXT(STRETTO_MEMBER)
#undef STRETTO_MEMBER
};
constinit Next next_functions{};
constinit std::atomic<bool> next_found{false};
[[gnu::tls_model("initial-exec")]] constinit thread_local bool asking = false;

/// Memory for those calls, which is never given back.
alignas(16) constinit char early[4096];
constinit std::atomic<std::size_t> early_used{0};

void* take_early(std::size_t bytes) {
  const std::size_t rounded = (bytes + 15) / 16 * 16;
  const std::size_t at = early_used.fetch_add(rounded);
  return at + rounded <= sizeof early ? early + at : nullptr;
}
bool is_early(const void* block) {
  return reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(early) < sizeof early;
}

[[gnu::noinline, gnu::cold]] void find_next() {
  asking = true;
  Next found{};
#define STRETTO_FIND(name) found.name = reinterpret_cast<decltype(found.name)>(dlsym(RTLD_NEXT, #name));
  STRETTO_NEXT(STRETTO_FIND)
#undef STRETTO_FIND
  asking = false;
  static constinit std::atomic<bool> writing{false};
  if (!writing.exchange(true)) {
    asking = true;
    Heap::watch_forks();
    asking = false;
    next_functions = found;
    next_found.store(true, std::memory_order_release);
  }
  while (!next_found.load(std::memory_order_acquire)) {
  }
}

const Next& next() {
  if (!next_found.load(std::memory_order_acquire)) [[unlikely]]
    find_next();
  return next_functions;
}

/// Null: there is none, and never will be.
[[gnu::noinline]] Heap* made_heap() {
  static constinit std::mutex making;
  const std::lock_guard lock(making);
  if (Heap* heap = the_heap) return heap;
  if (least.load() == SIZE_MAX) return nullptr;
  try {
    std::string why;
    Heap* heap = Heap::create(Heap::usual_size(), why).release();
    if (heap) {
      heap->survive_forks();
      the_heap = heap;
      return heap;
    }
  } catch (const std::bad_alloc&) {
  }
  least = SIZE_MAX;
  return nullptr;
}

Heap* heap() {
  Heap* const made = the_heap.load(std::memory_order_acquire);
  return made ? made : made_heap();
}

/// A failing call of the system leaves no trace in a call of malloc that succeeds.
class ErrorKept {
 public:
  ~ErrorKept() { errno = error_; }
  ErrorKept& operator=(ErrorKept&&) = delete;

 private:
  int error_ = errno;
};

/// Null block: the next allocator is to do it.
Heap::Block allocate(std::size_t bytes, std::size_t alignment = 1) {
  const ErrorKept error;
  if (bytes > static_cast<std::size_t>(PTRDIFF_MAX) || alignment > static_cast<std::size_t>(PTRDIFF_MAX)) return {};
  Heap* const from = heap();
  if (!from) return {};
  try {
    return from->allocate(static_cast<Bytes>(bytes), static_cast<Bytes>(alignment));
  } catch (const std::bad_alloc&) {
    return {};
  }
}

bool is_large(std::size_t bytes) { return bytes >= least.load(std::memory_order_relaxed); }

bool is_of_heap(const void* block) {
  const Heap* const made = the_heap.load(std::memory_order_acquire);
  return made && made->owns(block);
}

void release(void* block) {
  const ErrorKept error;
  try {
    the_heap.load()->release(block);
  } catch (const std::bad_alloc&) {  // the block stays
  }
}

std::size_t size_of(void* block) { return static_cast<std::size_t>(the_heap.load()->size(block)); }

void* moved(void* block, std::size_t had, std::size_t bytes) {
  void* const larger = std::malloc(bytes);
  if (!larger) return nullptr;
  std::memcpy(larger, block, std::min(had, bytes));
  std::free(block);
  return larger;
}

/// Of a block of the heap.
void* resized(void* block, std::size_t bytes) {
  const std::size_t had = size_of(block);
  if (bytes == 0) {
    release(block);
    return nullptr;
  }
  const bool roomy = is_large(bytes) || bytes > had / 2;
  if (roomy && bytes <= static_cast<std::size_t>(PTRDIFF_MAX)) {
    const ErrorKept error;
    if ((bytes <= had && bytes > had - had / 4) || the_heap.load()->resize(block, static_cast<Bytes>(bytes)))
      return block;
  }
  return moved(block, had, bytes);
}

/// "0" and what cannot be understood: SIZE_MAX and the usual size.
std::size_t least_block() {
  const auto is = [](const char* name, std::string_view value) {
    const char* text = std::getenv(name);
    return text && value == text;
  };
  if (is("STRETTO_SHARED_HEAP", "0") || is("STRETTO_SHM", "0") || is("STRETTO_DISABLE", "1")) return SIZE_MAX;
  const char* text = std::getenv("STRETTO_SHARED_HEAP");
  if (!text) return usual_least;
  char* end = nullptr;
  const unsigned long long number = std::strtoull(text, &end, 10);
  const std::string_view unit = end;
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  const bool fits = end != text && shift >= 0 && number <= (std::uint64_t{1} << 20);
  const std::size_t bytes = fits ? static_cast<std::size_t>(number) << shift : 0;
  return bytes >= smallest_least ? bytes : usual_least;
}

[[gnu::constructor]] void begin() { least = least_block(); }

}  // namespace

STRETTO_EXPORTED void* malloc(std::size_t bytes) {
  if (is_large(bytes)) [[unlikely]]
    if (void* block = allocate(bytes).at) return block;
  return asking ? take_early(bytes) : next().malloc(bytes);
}

STRETTO_EXPORTED void* calloc(std::size_t n, std::size_t each) {
  std::size_t bytes = 0;
  if (!__builtin_mul_overflow(n, each, &bytes) && is_large(bytes)) [[unlikely]]
    if (const Heap::Block block = allocate(bytes); block.at)
      return block.zeros ? block.at : std::memset(block.at, 0, bytes);
  return asking ? take_early(bytes) : next().calloc(n, each);
}

STRETTO_EXPORTED void free(void* block) {
  if (is_of_heap(block)) [[unlikely]]
    return release(block);
  if (!is_early(block)) next().free(block);
}

STRETTO_EXPORTED void* realloc(void* block, std::size_t bytes) {
  if (!block) return std::malloc(bytes);
  if (is_of_heap(block)) [[unlikely]]
    return resized(block, bytes);
  if (is_early(block)) return moved(block, early + sizeof early - static_cast<char*>(block), bytes);
  if (is_large(bytes)) [[unlikely]] {
    const std::size_t had = next().malloc_usable_size(block);
    if (!is_large(had))  // a larger one is there because the heap is full
      if (void* larger = allocate(bytes).at) {
        std::memcpy(larger, block, std::min(had, bytes));
        next().free(block);
        return larger;
      }
  }
  return next().realloc(block, bytes);
}

STRETTO_EXPORTED int posix_memalign(void** into, std::size_t alignment, std::size_t bytes) {
  if (is_large(bytes) && std::has_single_bit(alignment) && alignment % sizeof(void*) == 0) [[unlikely]]
    if (void* block = allocate(bytes, alignment).at) {
      *into = block;
      return 0;
    }
  return next().posix_memalign(into, alignment, bytes);
}

#define STRETTO_ALIGNED(name, parameters, arguments, alignment)         \
  STRETTO_EXPORTED void* name parameters {                              \
    if (is_large(bytes) && std::has_single_bit(alignment)) [[unlikely]] \
      if (void* block = allocate(bytes, alignment).at) return block;    \
    return next().name arguments;                                       \
  }
STRETTO_ALIGNED(aligned_alloc, (std::size_t alignment, std::size_t bytes), (alignment, bytes), alignment)
STRETTO_ALIGNED(memalign, (std::size_t alignment, std::size_t bytes), (alignment, bytes), alignment)
STRETTO_ALIGNED(valloc, (std::size_t bytes), (bytes), std::size_t{1})  // at a page, as all blocks are
STRETTO_ALIGNED(pvalloc, (std::size_t bytes), (bytes), std::size_t{1})
#undef STRETTO_ALIGNED

STRETTO_EXPORTED std::size_t malloc_usable_size(void* block) {
  return is_of_heap(block) ? size_of(block) : next().malloc_usable_size(block);
}

/// The library that takes the place of MPI's functions asks for it.
STRETTO_EXPORTED Heap* stretto_shared_heap(const char* version) {
  return std::string_view(version) == STRETTO_VERSION ? heap() : nullptr;
}
