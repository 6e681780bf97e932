// SPDX-License-Identifier: BSD-3-Clause
//
// Datatypes of which the test knows, byte for byte, what MPI may touch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "basics.hpp"
#include "random.hpp"

namespace stretto::differential {

/// A basic element at a displacement, in the order of the type map.
struct Place {
  std::ptrdiff_t at;
  const Basic* basic;
};

using Signature = std::vector<const Basic*>;
/// Are all its elements of one type?
bool is_uniform(const Signature& signature);

class Model {
 public:
  Model(MPI_Datatype type, std::string text, std::vector<Place> places, bool derived);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  MPI_Datatype type() const { return type_; }
  const std::string& text() const { return text_; }
  const std::vector<Place>& places() const { return places_; }
  std::ptrdiff_t extent() const { return extent_; }
  /// First byte, and one past the last, that `n` elements reach, from the address of the first of them on.
  std::ptrdiff_t low(std::ptrdiff_t n) const;
  std::ptrdiff_t high(std::ptrdiff_t n) const;
  bool is_derived() const { return derived_; }

 private:
  MPI_Datatype type_;
  std::string text_;
  std::vector<Place> places_;
  bool derived_;
  std::ptrdiff_t extent_ = 0;
};

using ModelPointer = std::shared_ptr<const Model>;

ModelPointer plain_model(const Basic& basic);
/// `basic` in a row, as a derived type.
ModelPointer row_model(const Basic& basic, int length);
/// Of no bytes.
ModelPointer empty_model(const Basic& basic);
/// Some type with this signature, fit for `count` elements: in a row, with holes, backwards, with a lower bound that is
/// not its first byte, or interleaved. `one_way`: elements follow each other upwards in memory.
ModelPointer random_model(Random& random, const Signature& signature, int count, bool one_way);

}  // namespace stretto::differential
