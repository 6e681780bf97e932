// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/operators.hpp"

#include <algorithm>
#include <vector>

#include "execute/arena.hpp"
#include "mpi/flavour/flavour.hpp"
#include "mpi/handle_table.hpp"
#include "mpi/native.hpp"

namespace stretto::mpi {
namespace {

using OperatorTable = HandleTable<MPI_Op, reduce::Op, 64>;

const OperatorTable& operator_table() {
  static const OperatorTable made = [] {
    OperatorTable t;
    using reduce::Op;
    t.insert(MPI_SUM, Op::sum);
    t.insert(MPI_PROD, Op::prod);
    t.insert(MPI_MIN, Op::min);
    t.insert(MPI_MAX, Op::max);
    t.insert(MPI_LAND, Op::land);
    t.insert(MPI_LOR, Op::lor);
    t.insert(MPI_LXOR, Op::lxor);
    t.insert(MPI_BAND, Op::band);
    t.insert(MPI_BOR, Op::bor);
    t.insert(MPI_BXOR, Op::bxor);
    t.insert(MPI_MINLOC, Op::minloc);
    t.insert(MPI_MAXLOC, Op::maxloc);
    t.insert(MPI_REPLACE, Op::none);  // not for reductions
    t.insert(MPI_NO_OP, Op::none);
    return t;
  }();
  return made;
}

void predefined(const execute::Combiner& combiner, const void* left, const void* right, void* target, Count n) {
  reinterpret_cast<reduce::Kernel>(const_cast<void*>(combiner.context))(left, right, target, n);
}

void predefined_non_temporal(const execute::Combiner& combiner, const void* left, const void* right, void* target,
                             Count n) {
  reinterpret_cast<reduce::Kernel>(const_cast<void*>(combiner.non_temporal_context))(left, right, target, n);
}

/// MPI's own call is inout = in ∘ inout, so the result always replaces the right operand. It gets a copy where the
/// target is another place; in parts, because the copy may have to be a temporary one.
void user(const execute::Combiner& combiner, const void* left, const void* right, void* target, Count n) {
  constexpr Count part = 4096;
  const auto& element = *static_cast<const execute::Element*>(combiner.element);
  const MPI_Op op = *static_cast<const MPI_Op*>(combiner.context);
  const MPI_Datatype type = *static_cast<const MPI_Datatype*>(element.type);
  execute::Arena temporary;
  std::vector<char> packed;
  const bool needs_room = target == left;
  char* room = needs_room
                   ? reinterpret_cast<char*>(temporary.take(footprint(element, std::min(part, n)))) - element.lower
                   : nullptr;
  for (Count first = 0; first < n; first += part) {
    const Count count = std::min(part, n - first);
    const Bytes shift = first * element.extent;
    const char* l = static_cast<const char*>(left) + shift;
    const char* r = static_cast<const char*>(right) + shift;
    char* t = static_cast<char*>(target) + shift;
    char* inout = needs_room ? room : t;
    if (inout != r) copy_elements(element, r, inout, count, packed);
    note_error(native().Reduce_local(l, inout, static_cast<int>(count), type, op), element);
    if (inout != t) copy_elements(element, inout, t, count, packed);
  }
}

}  // namespace

bool is_commutative(MPI_Op op) {
  int commutative = 0;
  return native().Op_commutative(op, &commutative) == MPI_SUCCESS && commutative != 0;
}

bool is_standard(MPI_Op op) { return operator_table().find(op) != nullptr; }

OperatorFacts facts_of(const MPI_Op& op, const TypeFacts& type) {
  OperatorFacts facts;
  if (const reduce::Op* known = operator_table().find(op)) {
    const reduce::Kernel kernel = *known == reduce::Op::none ? nullptr : reduce::kernel(*known, type.type);
    facts.usable = kernel != nullptr;
    if (!kernel) return facts;
    const reduce::Kernel non_temporal = reduce::kernel(*known, type.type, reduce::Stores::non_temporal);
    facts.combiner = {predefined, reinterpret_cast<const void*>(kernel), nullptr, predefined_non_temporal,
                      reinterpret_cast<const void*>(non_temporal)};
    return facts;
  }
  if (flavour::is_predefined(op)) return facts;  // not of the standard: what it may be applied to is not known
  int commutative = 0;
  if (native().Op_commutative(op, &commutative) != MPI_SUCCESS) return facts;
  facts.usable = true;
  facts.predefined = false;
  facts.commutative = commutative != 0;
  facts.combiner = {.combine = user, .context = &op, .element = &type.element};
  return facts;
}

}  // namespace stretto::mpi
