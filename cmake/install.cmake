# SPDX-License-Identifier: BSD-3-Clause
#
# What other builds and shells need to find the libraries: pkg-config, CMake, environment modules. All of it is found
# relative to its own place, for nobody knows where a wheel will be unpacked.
include(CMakePackageConfigHelpers)

set(title_mpich "MPICH")
set(title_openmpi "Open MPI")
set(title_abi "MPI 5 standard")
foreach(flavour IN LISTS STRETTO_FLAVOURS)
  set(title ${title_${flavour}})
  configure_file(cmake/stretto.pc.in ${CMAKE_CURRENT_BINARY_DIR}/packaged/stretto-${flavour}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/packaged/stretto-${flavour}.pc DESTINATION stretto/lib/pkgconfig)
endforeach()

write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/packaged/stretto-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/stretto-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/packaged/stretto-config-version.cmake
  DESTINATION stretto/lib/cmake/stretto)

configure_file(cmake/modulefile.in ${CMAKE_CURRENT_BINARY_DIR}/packaged/${PROJECT_VERSION} @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/packaged/${PROJECT_VERSION} DESTINATION stretto/lib/modulefiles/stretto)
