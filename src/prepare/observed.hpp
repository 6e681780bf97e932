// SPDX-License-Identifier: BSD-3-Clause
//
// What calls tell STRETTO_PROFILE and STRETTO_TRACE beside their times: their bytes, and what waits for them.
#pragma once

#include <memory>
#include <vector>

#include "communicator/communicator.hpp"
#include "mpi/arguments.hpp"
#include "observe/pending.hpp"

namespace stretto::mpi {

class PendingCall;

/// The number of bytes of an observed call (docs/profile.md).
Bytes observed_bytes(Communicator& c, const Arguments& arguments);

/// When a call begins, if it is observed.
inline observe::Nanoseconds observed_begin() { return settings().observes() ? execute::now() : 0; }

/// A call that is not blocking began at `began` and was left to the native library, which has posted or made it.
void observe_native(MPI_Comm comm, const Arguments& arguments, Form form, observe::Nanoseconds began,
                    MPI_Request request);
/// The native library's MPI_Start of such a persistent call.
int start_natively(MPI_Request* request);

/// An MPI function that waits for requests or tests them: its time belongs, in equal shares, to those collectives among
/// them that are under way when it begins, until the last of them has ended.
class ObservedWait {
 public:
  ObservedWait(int n, const MPI_Request* requests) {
    if (observe::any_pending()) [[unlikely]]
      begin(n, requests);
  }
  ~ObservedWait() {
    if (seen_) [[unlikely]]
      end();
  }
  ObservedWait& operator=(ObservedWait&&) = delete;

  /// Before the program gets to know of the end of a call, in whatever function of this thread.
  static void divide_time();

 private:
  struct Native {
    int at;  // among the requests
    MPI_Request request;
    std::shared_ptr<observe::PendingTimes> times;
  };
  struct Seen {
    const MPI_Request* requests;
    std::vector<PendingCall*> own = {};
    std::vector<Native> natives = {};
    observe::Nanoseconds began = 0;
    bool divided = false;
  };
  void begin(int n, const MPI_Request* requests);
  void divide();
  void end();

  std::unique_ptr<Seen> seen_;  // null: nobody's time
};

}  // namespace stretto::mpi
