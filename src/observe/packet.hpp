// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers and texts in a row, as one rank tells them to another of the same build.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace stretto::mpi::observe {

class Packet {
 public:
  Packet() = default;
  explicit Packet(std::string bytes) : bytes_(std::move(bytes)) {}

  template <typename... Values>
  void put(const Values&... values) {
    (put_one(values), ...);
  }
  /// In the order in which they were put; texts as std::string.
  template <typename... Values>
  void get(Values&... values) {
    ((values = get<Values>()), ...);
  }
  template <typename Value>
  Value get() {
    if constexpr (std::is_same_v<Value, std::string>) {
      const auto size = get<std::size_t>();
      at_ += size;
      return bytes_.substr(at_ - size, size);
    } else {
      static_assert(std::is_trivially_copyable_v<Value>);
      Value value;
      std::memcpy(&value, bytes_.data() + at_, sizeof value);
      at_ += sizeof value;
      return value;
    }
  }

  bool at_end() const { return at_ == bytes_.size(); }
  const std::string& bytes() const { return bytes_; }

 private:
  void put_one(std::string_view text) {
    put_one(text.size());
    bytes_ += text;
  }
  template <typename Value>
    requires(std::is_trivially_copyable_v<Value> && !std::is_convertible_v<const Value&, std::string_view>)
  void put_one(const Value& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace stretto::mpi::observe
