// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <algorithm>

#include "mpi/native.hpp"

namespace stretto::differential {
namespace {

using mpi::native;

std::ptrdiff_t first_byte(const std::vector<Place>& places) {
  std::ptrdiff_t low = places.empty() ? 0 : places[0].at;
  for (const Place& p : places) low = std::min(low, p.at);
  return low;
}

std::ptrdiff_t end_byte(const std::vector<Place>& places) {
  std::ptrdiff_t high = places.empty() ? 0 : places[0].at;
  for (const Place& p : places) high = std::max(high, p.at + p.basic->size);
  return high;
}

int alignment_of(const Signature& signature) {
  int most = 1;
  for (const Basic* b : signature) most = std::max(most, b->alignment);
  return most;
}

/// One behind the other, or the other way round, with or without gaps.
std::vector<Place> scatter(Random& random, const Signature& signature, bool gaps, bool reversed) {
  std::vector<Place> places(signature.size());
  std::ptrdiff_t at = random.percent(30) ? -3 * alignment_of(signature) : 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t which = reversed ? places.size() - 1 - i : i;
    const Basic* basic = signature[which];
    at += (-at % basic->alignment + basic->alignment) % basic->alignment;
    places[which] = {at, basic};
    at += basic->size + (gaps ? random.below(3) * basic->alignment : 0);
  }
  return places;
}

MPI_Datatype make_indexed(const std::vector<Place>& places) {
  std::vector<int> lengths(places.size(), 1);
  std::vector<int> displacements;
  for (const Place& p : places) displacements.push_back(static_cast<int>(p.at / p.basic->size));
  MPI_Datatype type{};
  native().Type_indexed(static_cast<int>(places.size()), lengths.data(), displacements.data(), places[0].basic->handle,
                        &type);
  return type;
}

MPI_Datatype make_struct(const std::vector<Place>& places) {
  std::vector<int> lengths(places.size(), 1);
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> types;
  for (const Place& p : places) {
    displacements.push_back(p.at);
    types.push_back(p.basic->handle);
  }
  MPI_Datatype type{};
  native().Type_create_struct(static_cast<int>(places.size()), lengths.data(), displacements.data(), types.data(),
                              &type);
  return type;
}

MPI_Datatype resized(MPI_Datatype type, std::ptrdiff_t lower, std::ptrdiff_t extent) {
  MPI_Datatype result{};
  native().Type_create_resized(type, lower, extent, &result);
  native().Type_free(&type);
  return result;
}

ModelPointer finished(MPI_Datatype type, const std::string& kind, std::vector<Place> places) {
  native().Type_commit(&type);
  std::string text = kind + '{';
  for (const Place& p : places) {
    if (text.back() != '{') text += ' ';
    text += p.basic->name.substr(4) + '@' + std::to_string(p.at);
  }
  return std::make_shared<Model>(type, text + '}', std::move(places), true);
}

/// `length` numbers in blocks at a fixed distance.
ModelPointer vector_model(Random& random, const Basic& basic, int length) {
  int block = random.between(1, length);
  while (length % block != 0) --block;
  const int stride = block + random.between(0, 3);
  MPI_Datatype type{};
  native().Type_vector(length / block, block, stride, basic.handle, &type);
  std::vector<Place> places;
  for (int i = 0; i < length; ++i) places.push_back({(i / block * stride + i % block) * basic.size, &basic});
  return finished(type, "vector", std::move(places));
}

/// A column of a matrix with `count` columns stored by rows: consecutive elements interleave.
ModelPointer column_model(const Basic& basic, int length, int count) {
  MPI_Datatype type{};
  native().Type_vector(length, 1, count, basic.handle, &type);
  std::vector<Place> places;
  for (int i = 0; i < length; ++i) places.push_back({std::ptrdiff_t{i} * count * basic.size, &basic});
  return finished(resized(type, 0, basic.size), "column", std::move(places));
}

}  // namespace

bool is_uniform(const Signature& signature) {
  return std::ranges::all_of(signature, [&](const Basic* b) { return b == signature[0]; });
}

Model::Model(MPI_Datatype type, std::string text, std::vector<Place> places, bool derived)
    : type_(type),
      text_(std::move(text)),
      places_(std::move(places)),
      derived_(derived) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  native().Type_get_extent(type_, &lower, &extent);
  extent_ = extent;
  text_ += '/' + std::to_string(extent_);
}

Model::~Model() {
  if (derived_) native().Type_free(&type_);
}

std::ptrdiff_t Model::low(std::ptrdiff_t n) const {
  return n == 0 ? 0 : first_byte(places_) + std::min<std::ptrdiff_t>(0, (n - 1) * extent_);
}

std::ptrdiff_t Model::high(std::ptrdiff_t n) const {
  return n == 0 ? 0 : end_byte(places_) + std::max<std::ptrdiff_t>(0, (n - 1) * extent_);
}

ModelPointer plain_model(const Basic& basic) {
  return std::make_shared<Model>(basic.handle, basic.name, std::vector<Place>{{0, &basic}}, false);
}

ModelPointer row_model(const Basic& basic, int length) {
  MPI_Datatype type{};
  native().Type_contiguous(length, basic.handle, &type);
  std::vector<Place> places;
  for (int i = 0; i < length; ++i) places.push_back({std::ptrdiff_t{i} * basic.size, &basic});
  return finished(type, "row", std::move(places));
}

ModelPointer empty_model(const Basic& basic) {
  MPI_Datatype type{};
  native().Type_contiguous(0, basic.handle, &type);
  return finished(type, "empty", {});
}

ModelPointer random_model(Random& random, const Signature& signature, int count, bool one_way) {
  const bool uniform = is_uniform(signature);
  const Basic& basic = *signature[0];
  const auto length = static_cast<int>(signature.size());
  const int kind = random.below(uniform ? 8 : 4);
  if (kind == 4) return length == 1 ? plain_model(basic) : row_model(basic, length);
  if (kind == 5) return vector_model(random, basic, length);
  // Not many long columns: MPICH's Allreduce takes as much memory as if they did not interleave.
  const bool short_columns = count > 0 && std::int64_t{count} * count * length * basic.size < (1 << 26);
  if (kind == 6 && short_columns) return column_model(basic, length, count);
  const bool reversed = kind == 1;
  auto places = scatter(random, signature, kind != 0, reversed);
  const bool indexed = uniform && basic.alignment == basic.size && random.percent(50);
  MPI_Datatype type = indexed ? make_indexed(places) : make_struct(places);
  const std::ptrdiff_t unit = alignment_of(signature);
  const std::ptrdiff_t span = (end_byte(places) - first_byte(places) + unit - 1) / unit * unit;
  std::string text = indexed ? "indexed" : "struct";
  if (kind == 2 || (kind == 3 && one_way)) {
    type = resized(type, first_byte(places) - unit * random.below(3), span + unit * random.below(3));
    text += " resized";
  } else if (kind == 3) {
    type = resized(type, 0, -span);
    text += " backwards";
  }
  return finished(type, text, std::move(places));
}

}  // namespace stretto::differential
