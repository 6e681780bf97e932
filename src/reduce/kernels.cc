// SPDX-License-Identifier: BSD-3-Clause

#include "reduce/kernels.hpp"

#if defined(__x86_64__) && !defined(STRETTO_BASELINE_KERNELS)
#define STRETTO_KERNELS_OF_X86
#include <cpuid.h>
#endif

#include <iterator>

#include "reduce/definitions.hpp"

namespace stretto::reduce {

namespace {

#if defined(STRETTO_KERNELS_OF_X86)
// Clang's __builtin_cpu_supports does not know this one.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

const Table& best_table() {
  const Table* best = nullptr;
  for (const Variant& variant : variants())
    if (variant.supported) best = variant.table;
  return *best;
}

struct TypeFacts {
  std::string_view name;
  Bytes size;
};

#define STRETTO_TYPE(it, ...) {.name = #it, .size = Type::it == Type::none ? 0 : sizeof(Definition<Type::it>::Element)},
constexpr TypeFacts type_facts[] = {STRETTO_REDUCE_TYPES};
#undef STRETTO_TYPE

constexpr std::string_view op_names[] = {"none", "sum",  "prod", "min",  "max",    "land",  "lor",
                                         "lxor", "band", "bor",  "bxor", "minloc", "maxloc"};
static_assert(std::size(op_names) == op_count);

}  // namespace

std::span<const Variant> variants() {
#if defined(STRETTO_KERNELS_OF_X86)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && has_f16c();
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  static const Variant all[] = {
      {"baseline", &baseline_table, true}, {"avx2", &avx2_table, avx2}, {"avx512", &avx512_table, avx512}};
#else
  static const Variant all[] = {{"baseline", &baseline_table, true}};
#endif
  return all;
}

Kernel kernel(Op op, Type type, Stores stores) {
  static const Table& best = best_table();
  return best(op, type, stores);
}

std::string_view name_of(Op op) { return op_names[static_cast<int>(op)]; }
std::string_view name_of(Type type) { return type_facts[static_cast<int>(type)].name; }
Bytes size_of(Type type) { return type_facts[static_cast<int>(type)].size; }

}  // namespace stretto::reduce
