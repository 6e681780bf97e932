// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/held_handles.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "mpi/native.hpp"

namespace stretto::mpi {
namespace {

std::mutex mutex;  // guards all tables; never destroyed, like all that a program may use at its very end

template <typename Handle>
class Table {
 public:
  void hold(Handle handle) {
    const std::lock_guard lock(mutex);
    ++uses_[handle].calls;
    size_.store(uses_.size(), std::memory_order_relaxed);
  }
  /// True: it is to be freed now.
  bool release(Handle handle) {
    const std::lock_guard lock(mutex);
    const auto use = uses_.find(handle);
    if (--use->second.calls > 0) return false;
    const bool freed = use->second.freed;
    uses_.erase(use);
    size_.store(uses_.size(), std::memory_order_relaxed);
    return freed;
  }
  bool put_off(Handle* handle, Handle null) {
    if (!handle || size_.load(std::memory_order_relaxed) == 0) return false;
    const std::lock_guard lock(mutex);
    const auto use = uses_.find(*handle);
    if (use == uses_.end()) return false;
    use->second.freed = true;
    *handle = null;
    return true;
  }

 private:
  struct Use {
    int calls = 0;
    bool freed = false;
  };
  std::unordered_map<Handle, Use> uses_;
  std::atomic<std::size_t> size_{0};
};

Table<MPI_Datatype>& types() {
  static auto& table = *new Table<MPI_Datatype>;
  return table;
}
Table<MPI_Op>& ops() {
  static auto& table = *new Table<MPI_Op>;
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
  for (MPI_Datatype type : types_)
    if (types().release(type)) native().Type_free(&type);
  for (MPI_Op op : ops_)
    if (ops().release(op)) native().Op_free(&op);
  types_.clear();
  ops_.clear();
}

bool put_off_type_free(MPI_Datatype* type) { return types().put_off(type, constants().type_null); }
bool put_off_op_free(MPI_Op* op) { return ops().put_off(op, constants().op_null); }

}  // namespace stretto::mpi
