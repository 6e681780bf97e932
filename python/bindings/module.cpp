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
#define STRETTO_REGISTER(header) register_##header(m);
  STRETTO_BINDINGS(STRETTO_REGISTER)
#undef STRETTO_REGISTER
}
