// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string_view>
#include <utility>
#include <vector>

#include "reduce/kernels.hpp"
#include "register.hpp"

namespace stretto::python {

void register_operations(nb::module_& m) {
  m.def(
      "predefined_operations",
      [] {
        std::vector<std::pair<std::string_view, std::string_view>> found;
        for (int op = 0; op < reduce::op_count; ++op)
          for (int type = 0; type < reduce::type_count; ++type)
            if (reduce::kernel(static_cast<reduce::Op>(op), static_cast<reduce::Type>(type)))
              found.emplace_back(reduce::name_of(static_cast<reduce::Op>(op)),
                                 reduce::name_of(static_cast<reduce::Type>(type)));
        return found;
      },
      "(operator, type) of all pairs that MPI defines: (\"sum\", \"f64\").");
}

}  // namespace stretto::python
