# SPDX-License-Identifier: BSD-3-Clause
#
# find_package(stretto COMPONENTS mpich): imported libraries stretto::mpich, stretto::openmpi, stretto::abi, of those that
# were built. They come before the MPI: target_link_libraries(app PRIVATE stretto::mpich MPI::MPI_C).
get_filename_component(_stretto_libraries ${CMAKE_CURRENT_LIST_DIR}/../.. REALPATH)
foreach(_stretto_flavour mpich openmpi abi)
  set(_stretto_library ${_stretto_libraries}/libstretto-${_stretto_flavour}.so)
  if(EXISTS ${_stretto_library})
    set(stretto_${_stretto_flavour}_FOUND TRUE)
    if(NOT TARGET stretto::${_stretto_flavour})
      add_library(stretto::${_stretto_flavour} SHARED IMPORTED)
      set_target_properties(stretto::${_stretto_flavour} PROPERTIES
        IMPORTED_LOCATION ${_stretto_library} IMPORTED_SONAME libstretto-${_stretto_flavour}.so)
    endif()
  endif()
endforeach()
foreach(_stretto_flavour IN LISTS stretto_FIND_COMPONENTS)
  if(NOT stretto_${_stretto_flavour}_FOUND AND stretto_FIND_REQUIRED_${_stretto_flavour})
    set(stretto_FOUND FALSE)
    set(stretto_NOT_FOUND_MESSAGE "Stretto was not built for ${_stretto_flavour}: no library in ${_stretto_libraries}")
  endif()
endforeach()
unset(_stretto_libraries)
