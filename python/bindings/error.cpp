// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/error.hpp"

#include "register.hpp"

namespace stretto::python {

// The class is Python's (stretto.errors), so that both sides raise and catch the same one.
void register_error(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      const nb::object type = nb::module_::import_("stretto.errors").attr("Error");
      const nb::object instance = type(nb::str(error.what()), nb::str(error.hint().c_str()));
      PyErr_SetObject(type.ptr(), instance.ptr());
    }
  });
}

}  // namespace stretto::python
