# SPDX-License-Identifier: BSD-3-Clause
#
# How a library is linked that stands in front of all others in somebody else's process.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -static-libstdc++ -static-libgcc)
check_cxx_source_compiles("#include <string>\nint main(int n, char**) { return std::stoi(std::string(1, char(n))); }"
  STRETTO_STATIC_LIBSTDCXX)
unset(CMAKE_REQUIRED_LINK_OPTIONS)

function(preloaded target)
  set(exports ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports.map)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${exports})
  # Instances of templates of the standard library would otherwise take the place of the program's own.
  target_link_options(${target} PRIVATE -Wl,-z,nodelete -Wl,--gc-sections -Wl,--version-script=${exports})
  if(NOT STRETTO_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)  # no MPI's symbol may be wanted at load time
    if(STRETTO_STATIC_LIBSTDCXX)
      # The program may bring an older one; and a whole one is 1.5 MB of resident memory in every C program.
      target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
    endif()
  endif()
endfunction()
