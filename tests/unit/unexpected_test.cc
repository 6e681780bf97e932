// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/unexpected.hpp"

#include <chrono>

#include "support/test.hpp"

namespace stretto::transport::shm::unexpected_test {
namespace {

TEST(fragments_of_an_operation_come_in_order) {
  const std::uint64_t first = key_of(1, 1), second = key_of(1, 2), third = key_of(2, 1);
  UnexpectedFragments buffer;
  for (const auto value : {std::byte{1}, std::byte{2}}) {
    buffer.add(first, value == std::byte{2}, {value});
    buffer.add(third, true, {value, value});
  }
  CHECK(!buffer.find(second));
  const UnexpectedFragments::Entry* const found = buffer.find(first);
  CHECK(found->data == std::vector{std::byte{1}} && !found->last);
  buffer.add(second, true, {});
  CHECK(found == buffer.find(first));  // stays
  buffer.drop(first);
  CHECK(buffer.find(first)->data == std::vector{std::byte{2}} && buffer.find(first)->last);
  buffer.drop(first);
  CHECK(!buffer.find(first) && buffer.find(second)->data.empty());
  buffer.forget(1);
  CHECK(!buffer.find(second) && !buffer.empty());
  buffer.forget(2);
  CHECK(buffer.empty());
}

TEST(finding_takes_no_longer_when_there_are_many) {
  constexpr int many = 300'000;
  const std::uint64_t first = key_of(1, 1), second = key_of(2, 1);
  UnexpectedFragments buffer;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < many; ++i) {
    buffer.add(first, true, {});
    CHECK(!buffer.find(second));
  }
  // Looking through all of them each time would take minutes.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

}  // namespace
}  // namespace stretto::transport::shm::unexpected_test
