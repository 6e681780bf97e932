// SPDX-License-Identifier: BSD-3-Clause
#include "register.hpp"

#ifdef __clang__
#define STRETTO_COMPILER __VERSION__
#else
#define STRETTO_COMPILER "GCC " __VERSION__
#endif

NB_MODULE(_core, m) {
  using namespace stretto::python;
  m.doc() = "Stretto's core: schedules, algorithms, the checker and the rules.";
  m.def("version", [] { return STRETTO_VERSION; });
  m.def("compiler", [] { return STRETTO_COMPILER; }, "The compiler that this module was built with.");
  register_error(m);
  register_schedule(m);
  register_builder(m);
  register_collective(m);
  register_graph(m);
  register_function(m);
  register_algorithm(m);
  register_check(m);
  register_algorithm_file(m);
  register_variants(m);
  register_rules(m);
  register_sources(m);
  register_operations(m);
  register_machine(m);
  register_cost(m);
  register_simulate(m);
  register_topology(m);
}
