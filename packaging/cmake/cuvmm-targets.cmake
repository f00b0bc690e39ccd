# SPDX-License-Identifier: Apache-2.0
# The imported targets, of an installation (cuvmm-config.cmake) or of one that the build makes (CMakeLists.txt).
#
#   cuvmm::cuvmm    libcuvmm.so: the calls of vmm.h on a simulator or a driver
#   cuvmm::static   libcuvmm.a
#   cuvmm::driver   cuda.h and -lcuda without a CUDA toolkit. The program is given no path of a library: it runs on the driver of
#                   the machine, and on the simulator under cuvmm_add_test
#   cuvmm::command  the command
#
# In: cuvmm_INCLUDE_DIR, cuvmm_LIB_DIR, cuvmm_DRIVER_DIR, cuvmm_BIN_DIR; _cuvmm_version, _cuvmm_soversion, _cuvmm_dl;
# _cuvmm_global: GLOBAL, or nothing.
if(TARGET cuvmm::cuvmm)
    return()
endif()

find_package(Threads REQUIRED)

add_library(cuvmm::cuvmm SHARED IMPORTED ${_cuvmm_global})
set_target_properties(cuvmm::cuvmm PROPERTIES
    IMPORTED_LOCATION "${cuvmm_LIB_DIR}/libcuvmm.so.${_cuvmm_version}"
    IMPORTED_SONAME "libcuvmm.so.${_cuvmm_soversion}"
    INTERFACE_INCLUDE_DIRECTORIES "${cuvmm_INCLUDE_DIR}")

add_library(cuvmm::static STATIC IMPORTED ${_cuvmm_global})
set_target_properties(cuvmm::static PROPERTIES
    IMPORTED_LOCATION "${cuvmm_LIB_DIR}/libcuvmm.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES "${cuvmm_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${_cuvmm_dl}")

add_library(cuvmm::driver INTERFACE IMPORTED ${_cuvmm_global})
set_target_properties(cuvmm::driver PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${cuvmm_INCLUDE_DIR}/cuvmm/abi"
    INTERFACE_LINK_OPTIONS "-L${cuvmm_DRIVER_DIR}" # a link directory would become a path in the program
    INTERFACE_LINK_LIBRARIES "-lcuda")

add_executable(cuvmm::command IMPORTED ${_cuvmm_global})
set_target_properties(cuvmm::command PROPERTIES IMPORTED_LOCATION "${cuvmm_BIN_DIR}/cuvmm")
