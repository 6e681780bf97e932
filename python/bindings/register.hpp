// SPDX-License-Identifier: BSD-3-Clause
//
// One function per public header, each in the file named for the header, and one for predefined operations; called by
// module.cpp in this order.
#pragma once

#include <nanobind/nanobind.h>

namespace stretto::python {

namespace nb = nanobind;

void register_error(nb::module_& m);
void register_schedule(nb::module_& m);
void register_builder(nb::module_& m);
void register_collective(nb::module_& m);
void register_graph(nb::module_& m);
void register_function(nb::module_& m);
void register_algorithm(nb::module_& m);
void register_check(nb::module_& m);
void register_algorithm_file(nb::module_& m);
void register_variants(nb::module_& m);
void register_rules(nb::module_& m);
void register_sources(nb::module_& m);
void register_operations(nb::module_& m);
void register_machine(nb::module_& m);
void register_cost(nb::module_& m);
void register_simulate(nb::module_& m);
void register_topology(nb::module_& m);

}  // namespace stretto::python
