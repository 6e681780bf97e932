// SPDX-License-Identifier: BSD-3-Clause
//
// A small test harness. A test file is a list of TEST(name) { CHECK(…); CHECK_EQ(a, b); }; a program of some of them
// has one TEST_MAIN().
#pragma once

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace stretto::test {

struct Case {
  std::string_view file;  ///< "check_test"
  std::string_view name;
  void (*body)();
};

inline std::vector<Case>& cases() {
  static std::vector<Case> list;
  return list;
}

inline int& failures() {
  static int count = 0;  // of the test that runs now
  return count;
}

inline void fail(const char* file, int line, const std::string& what) {
  static std::mutex mutex;  // ranks may be threads
  const std::lock_guard lock(mutex);
  ++failures();
  std::cerr << file << ':' << line << ": " << what << '\n';
}

template <typename T>
std::string shown(const T& value) {
  std::ostringstream out;
  if constexpr (std::is_enum_v<T>)
    out << +static_cast<std::underlying_type_t<T>>(value);
  else if constexpr (requires { out << value; })
    out << std::boolalpha << value;
  else
    out << "(not printable)";
  return out.str();
}

template <typename A, typename B>
void check_equal(const A& a, const B& b, const char* file, int line, const char* what) {
  bool equal = false;
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && sizeof(A) > 1 && sizeof(B) > 1)
    equal = std::cmp_equal(a, b);
  else
    equal = a == b;
  if (!equal) fail(file, line, std::string(what) + ": " + shown(a) + " against " + shown(b));
}

/// Long tests try one case in so many: all, if STRETTO_TEST_ONE_IN is not set.
inline std::uint32_t one_in() {
  const char* text = std::getenv("STRETTO_TEST_ONE_IN");
  const int number = text ? std::atoi(text) : 1;
  return number > 1 ? static_cast<std::uint32_t>(number) : 1;
}

/// `all`, or `some` of them where one case in so many is tried.
template <typename T>
std::vector<T> all_or(std::vector<T> all, std::vector<T> some) {
  return one_in() == 1 ? all : some;
}

constexpr std::string_view stem(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
  return path.substr(0, path.rfind('.'));
}

/// Runs the tests of the file that the first argument names, or those whose names contain it, or all.
inline int run(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  int passed = 0, failed = 0;
  for (const Case& test : cases()) {
    if (test.file != wanted && test.name.find(wanted) == std::string_view::npos) continue;
    failures() = 0;
    try {
      test.body();
    } catch (const std::exception& e) {
      fail(test.name.data(), 0, std::string("threw: ") + e.what());
    }
    if (failures() > 0) std::cerr << "FAILED " << test.name << '\n';
    ++(failures() > 0 ? failed : passed);
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed > 0 || passed == 0 ? 1 : 0;
}

}  // namespace stretto::test

#define TEST(name)                                                                                   \
  static void test_##name();                                                                         \
  [[maybe_unused]] static const bool listed_##name =                                                 \
      (stretto::test::cases().push_back({stretto::test::stem(__FILE__), #name, test_##name}), true); \
  static void test_##name()
#define CHECK(condition) ((condition) ? void() : stretto::test::fail(__FILE__, __LINE__, "not true: " #condition))
#define CHECK_EQ(a, b) stretto::test::check_equal(a, b, __FILE__, __LINE__, #a " == " #b)
#define TEST_MAIN() \
  int main(int argc, char** argv) { return stretto::test::run(argc, argv); }
