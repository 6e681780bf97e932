// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/held_handles.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "mpi/native.hpp"

namespace stretto::mpi {
namespace {

std::mutex handles_mutex;  // guards all tables; never destroyed, like all that a program may use at its very end

thread_local bool may_call = true;

template <typename Handle>
class Held {
 public:
  explicit Held(int (*native_free)(Handle*)) : native_free_(native_free) {}

  void hold(Handle handle) {
    free_left();
    const std::lock_guard lock(handles_mutex);
    ++uses_[handle].calls;
    size_.store(uses_.size(), std::memory_order_relaxed);
  }
  void release(Handle handle) {
    unsigned freed = 0;
    {
      const std::lock_guard lock(handles_mutex);
      const auto use = uses_.find(handle);
      if (--use->second.calls > 0) return;
      freed = use->second.freed;
      uses_.erase(use);
      size_.store(uses_.size(), std::memory_order_relaxed);
      if (freed == 0) return;
      if (!may_call) {
        left_.insert(left_.end(), freed, handle);
        any_left_.store(true, std::memory_order_relaxed);
        return;
      }
    }
    for (Handle one = handle; freed > 0; --freed, one = handle) native_free_(&one);
  }
  bool put_off(Handle* handle, Handle null) {
    free_left();
    if (!handle || size_.load(std::memory_order_relaxed) == 0) return false;
    const std::lock_guard lock(handles_mutex);
    const auto use = uses_.find(*handle);
    if (use == uses_.end()) return false;
    ++use->second.freed;
    *handle = null;
    return true;
  }

  void free_left() {
    if (!any_left_.load(std::memory_order_relaxed)) return;
    std::vector<Handle> left;
    {
      const std::lock_guard lock(handles_mutex);
      left.swap(left_);
      any_left_.store(false, std::memory_order_relaxed);
    }
    for (Handle& handle : left) native_free_(&handle);
  }

 private:
  struct Use {
    int calls = 0;
    unsigned freed = 0;  // how often: the MPI may give one out twice, and count
  };

  int (*native_free_)(Handle*);
  std::unordered_map<Handle, Use> uses_;
  std::atomic<std::size_t> size_{0};
  std::vector<Handle> left_;  // by threads that may not free them
  std::atomic<bool> any_left_{false};
};

Held<MPI_Datatype>& types() {
  static auto& table = *new Held<MPI_Datatype>(native().Type_free);
  return table;
}
Held<MPI_Op>& ops() {
  static auto& table = *new Held<MPI_Op>(native().Op_free);
  return table;
}

}  // namespace

void HeldHandles::hold_type(MPI_Datatype type) {
  types_.push_back(type);
  types().hold(type);
}

void HeldHandles::hold_op(MPI_Op op) {
  ops_.push_back(op);
  ops().hold(op);
}

void HeldHandles::release() {
  for (const MPI_Datatype type : types_) types().release(type);
  for (const MPI_Op op : ops_) ops().release(op);
  types_.clear();
  ops_.clear();
}

void may_not_call_the_mpi() { may_call = false; }
bool may_call_the_mpi() { return may_call; }

void free_handles_left() {
  types().free_left();
  ops().free_left();
}

bool put_off_type_free(MPI_Datatype* type) { return types().put_off(type, constants().type_null); }
bool put_off_op_free(MPI_Op* op) { return ops().put_off(op, constants().op_null); }

}  // namespace stretto::mpi
