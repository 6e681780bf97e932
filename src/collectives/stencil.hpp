// SPDX-License-Identifier: BSD-3-Clause
//
// Graphs whose ranks all have the same neighbours, seen from where they are on a torus: isomorphic neighbourhoods
// (Träff, Carpen-Amarie, Hunold and Rougier 2016).
#pragma once

#include "stretto/graph.hpp"

namespace stretto {

/// Of each rank of the torus all that are at most one step away in each dimension, but not itself: 3^n - 1, which are
/// the same ones where a dimension is shorter than three.
std::vector<Neighbours> stencil(const std::vector<Rank>& dims);

/// Dimensions of a torus on which all ranks have the same offsets, with which dimension by dimension takes the fewest
/// messages; if there are none, those of near_square().
std::vector<Rank> stencil_dims(const std::vector<Neighbours>& all);

}  // namespace stretto
