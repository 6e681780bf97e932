// SPDX-License-Identifier: BSD-3-Clause
//
// The forms of a call, as functions with the parameters of the blocking ones: who calls them need not know the form.
#include <chrono>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "measure/library.hpp"

namespace stretto::measure {
namespace {

enum class Side : std::uint8_t { native, stretto };

/// What completes requests of a library.
struct Completion {
  decltype(&PMPI_Wait) Wait = nullptr;
  decltype(&PMPI_Start) Start = nullptr;
  decltype(&PMPI_Request_free) Request_free = nullptr;
};
template <Side side>
Completion completion;

struct KeptRequest {
  MPI_Request request{};
  decltype(&PMPI_Request_free) free = nullptr;  // null: there is none
};
std::vector<KeptRequest*> kept_requests;

std::int64_t overlapped_steps = 0;
volatile double sink = 0;
bool elsewhere = false;

/// Of one function of one library, which has them in static members: a table of functions has no room for more.
template <Side side, Function function, typename... A>
struct Forms {
  static inline int (*post)(A..., MPI_Request*) = nullptr;
  static inline int (*make)(A..., MPI_Info, MPI_Request*) = nullptr;
  static inline KeptRequest kept;
  static inline std::tuple<A...> of_kept;

  static int nonblocking(A... arguments) {
    MPI_Request request;
    if (const int code = post(arguments..., &request); code != MPI_SUCCESS) return code;
    if (overlapped_steps > 0) compute(overlapped_steps);
    return completion<side>.Wait(&request, MPI_STATUS_IGNORE);
  }

  static int persistent(A... arguments) {
    if (!kept.free || of_kept != std::tuple<A...>(arguments...)) {
      if (const int code = remake(arguments...); code != MPI_SUCCESS) return code;
    }
    if (const int code = completion<side>.Start(&kept.request); code != MPI_SUCCESS) return code;
    return completion<side>.Wait(&kept.request, MPI_STATUS_IGNORE);
  }

 private:
  [[gnu::noinline]] static int remake(A... arguments) {
    if (kept.free)
      kept.free(&kept.request);
    else
      kept_requests.push_back(&kept);
    of_kept = std::tuple<A...>(arguments...);
    const int code = make(arguments..., MPI_INFO_NULL, &kept.request);
    kept.free = code == MPI_SUCCESS ? completion<side>.Request_free : nullptr;
    return code;
  }
};

template <typename Pointer>
void look_up(Pointer& function, const Find& find, const char* name) {
  function = reinterpret_cast<Pointer>(find(name));
}

template <Side side, Function function, typename... A>
void add(int (*&nonblocking)(A...), int (*&persistent)(A...), const Find& find, const char* post, const char* make) {
  using F = Forms<side, function, A...>;
  look_up(F::post, find, post);
  look_up(F::make, find, make);
  nonblocking = F::nonblocking;
  persistent = F::make ? F::persistent : nullptr;
}

template <Side side>
FunctionsWithRequests with_requests(const Find& find) {
  look_up(completion<side>.Wait, find, "MPI_Wait");
  look_up(completion<side>.Start, find, "MPI_Start");
  look_up(completion<side>.Request_free, find, "MPI_Request_free");
  FunctionsWithRequests made;
#define STRETTO_ADD(with, function, name, ...)                                                        \
  add<side, Function::function>(made.nonblocking.name, made.persistent.name, find, "MPI_I" #function, \
                                "MPI_" #name "_init");
  STRETTO_FUNCTIONS(STRETTO_ADD, )
#undef STRETTO_ADD
  return made;
}

}  // namespace

FunctionsWithRequests native_with_requests(const Find& find) { return with_requests<Side::native>(find); }
FunctionsWithRequests stretto_with_requests(const Find& find) { return with_requests<Side::stretto>(find); }

void free_requests() {
  for (KeptRequest* one : kept_requests)
    if (const auto free = std::exchange(one->free, nullptr)) free(&one->request);
  kept_requests.clear();
}

void compute_elsewhere(bool does) { elsewhere = does; }

void compute(std::int64_t steps) {
  if (elsewhere) return std::this_thread::sleep_for(std::chrono::nanoseconds(steps));
  double x = sink;
  for (std::int64_t i = 0; i < steps; ++i) x = x * 0.999 + 1e-3;
  sink = x;
}

void overlap_with(std::int64_t steps) { overlapped_steps = steps; }

}  // namespace stretto::measure
