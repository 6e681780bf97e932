// SPDX-License-Identifier: BSD-3-Clause
#include "operators.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mpi/native.hpp"

namespace stretto::differential {
namespace {

using mpi::native;

using Places = std::vector<Place>;

std::vector<const Model*> operands;

const Model& operand(MPI_Datatype type) {
  for (const Model* model : operands)
    if (model->type() == type) return *model;
  std::fprintf(stderr, "difference: an operator was given a type that no call under way was given\n");
  std::abort();  // not through the MPI's functions
}

std::int64_t load(const char* element, const Place& place) {
  if (place.basic->size == 8) {
    std::int64_t value = 0;
    std::memcpy(&value, element + place.at, sizeof value);
    return value;
  }
  std::int32_t value = 0;
  std::memcpy(&value, element + place.at, sizeof value);
  return value;
}

void store(char* element, const Place& place, std::int64_t value) {
  std::memcpy(element + place.at, &value, static_cast<std::size_t>(place.basic->size));  // little endian
}

/// inout = in ∘ inout, element by element; `combine(places, in, inout)` gets the addresses of two elements.
template <typename Combine>
void each_element(void* in, void* inout, const int* n, const MPI_Datatype* type, Combine combine) {
  const Model& model = operand(*type);
  for (std::ptrdiff_t i = 0; i < *n; ++i)
    combine(model.places(), static_cast<const char*>(in) + i * model.extent(),
            static_cast<char*>(inout) + i * model.extent());
}

void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  each_element(in, inout, n, type, [](const Places& places, const char* a, char* b) {
    for (const Place& p : places) store(b, p, (load(a, p) + load(b, p)) % field_prime);
  });
}

// Two by two matrices: the product depends on the order, not on the brackets.
void multiply(void* in, void* inout, int* n, MPI_Datatype* type) {
  each_element(in, inout, n, type, [](const Places& p, const char* a, char* b) {
    std::array<std::int64_t, 4> product{};
    for (std::size_t row = 0; row < 2; ++row)
      for (std::size_t column = 0; column < 2; ++column)
        product[2 * row + column] =
            (load(a, p[2 * row]) * load(b, p[column]) + load(a, p[2 * row + 1]) * load(b, p[2 + column])) % field_prime;
    for (std::size_t i = 0; i < 4; ++i) store(b, p[i], product[i]);
  });
}

// x ↦ ux + v, the left one applied last.
void compose(void* in, void* inout, int* n, MPI_Datatype* type) {
  each_element(in, inout, n, type, [](const Places& p, const char* a, char* b) {
    const std::int64_t u = load(a, p[0]);
    store(b, p[1], (u * load(b, p[1]) + load(a, p[1])) % field_prime);
    store(b, p[0], u * load(b, p[0]) % field_prime);
  });
}

// Words: of the left one's letters and then the right one's as many as an element has room for; zeros are blanks.
void append(void* in, void* inout, int* n, MPI_Datatype* type) {
  each_element(in, inout, n, type, [](const Places& places, const char* a, char* b) {
    std::vector<std::int64_t> word;
    for (const char* from : {a, static_cast<const char*>(b)})
      for (const Place& p : places)
        if (const std::int64_t letter = load(from, p)) word.push_back(letter);
    word.resize(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) store(b, places[i], word[i]);
  });
}

void take_left(void* in, void* inout, int* n, MPI_Datatype* type) {
  each_element(in, inout, n, type, [](const Places& places, const char* a, char* b) {
    for (const Place& p : places)
      for (const Part& part : p.basic->parts)
        std::memcpy(b + p.at + part.offset, a + p.at + part.offset, static_cast<std::size_t>(part.significant));
  });
}

Operator user(const char* name, MPI_User_function* function, bool commutative, Operator rest) {
  rest.name = name;
  rest.commutative = commutative;
  rest.function = function;
  native().Op_create(function, commutative ? 1 : 0, &rest.handle);
  return rest;
}

std::vector<Operator> join(std::initializer_list<const std::vector<Operator>*> lists) {
  std::vector<Operator> all;
  for (const auto* list : lists) all.insert(all.end(), list->begin(), list->end());
  return all;
}

}  // namespace

Operators::Operators() {
  const auto own = [](const char* name, MPI_Op op, Numbers numbers) { return Operator{name, op, true, true, numbers}; };
  const std::vector<Operator> sums{own("MPI_SUM", MPI_SUM, Numbers::sums),
                                   own("MPI_PROD", MPI_PROD, Numbers::products)};
  const std::vector<Operator> order{own("MPI_MIN", MPI_MIN, Numbers::any), own("MPI_MAX", MPI_MAX, Numbers::any)};
  const std::vector<Operator> bits{own("MPI_BAND", MPI_BAND, Numbers::any), own("MPI_BOR", MPI_BOR, Numbers::any),
                                   own("MPI_BXOR", MPI_BXOR, Numbers::any)};
  logical_ = {own("MPI_LAND", MPI_LAND, Numbers::flags), own("MPI_LOR", MPI_LOR, Numbers::flags),
              own("MPI_LXOR", MPI_LXOR, Numbers::flags)};
  integer_ = join({&sums, &order, &bits, &logical_});
  other_integer_ = join({&sums, &order, &bits});
  floating_ = join({&sums, &order});
  sum_only_ = {sums[0]};
  complex_ = sums;
  byte_ = bits;
  pair_ = {own("MPI_MINLOC", MPI_MINLOC, Numbers::any), own("MPI_MAXLOC", MPI_MAXLOC, Numbers::any)};
  const Operator arithmetic{"", MPI_Op{}, false, true, Numbers::field, 0, true};
  Operator matrix = arithmetic;
  matrix.length = 4;
  Operator affine = arithmetic;
  affine.length = 2;
  Operator words = arithmetic;
  words.length = 12;
  words.numbers = Numbers::letters;
  users_ = {user("add modulo", add, true, arithmetic), user("matrix product", multiply, false, matrix),
            user("composition", compose, false, affine), user("append", append, false, words),
            user("take left", take_left, false, Operator{"", MPI_Op{}, false, false, Numbers::any})};
}

Operators::~Operators() {
  for (Operator& op : users_) native().Op_free(&op.handle);
}

const std::vector<Operator>& Operators::of(Group group) const {
  switch (group) {
    case Group::c_integer: return integer_;
    case Group::other_integer: return other_integer_;
    case Group::floating: return floating_;
    case Group::sum_only: return sum_only_;
    case Group::complex: return complex_;
    case Group::logical: return logical_;
    case Group::byte: return byte_;
    case Group::pair: return pair_;
    case Group::character: break;
  }
  return none_;
}

void Operator::combine(void* in, void* inout, int n, MPI_Datatype type) const {
  if (function)
    function(in, inout, &n, &type);
  else
    native().Reduce_local(in, inout, n, type, handle);
}

void set_operands(std::vector<const Model*> models) { operands = std::move(models); }

}  // namespace stretto::differential
