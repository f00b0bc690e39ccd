# SPDX-License-Identifier: Apache-2.0
# The tests of pool.c, in both projects the same.
add_executable(pool pool.c)
target_link_libraries(pool PRIVATE cuvmm::driver) # or CUDA::cuda_driver of CMake's FindCUDAToolkit

# Does it work, on one machine and on another, and does it leave nothing behind?
cuvmm_add_test(NAME pool_h100 COMMAND pool CHECK)
cuvmm_add_test(NAME pool_odd COMMAND pool MACHINE odd CHECK)

# What if there is no memory?
cuvmm_add_test(NAME pool_no_memory COMMAND pool FAULT mem_create:1 CHECK)

# Its mistakes: a handle that the program forgets, and one that its error path does.
cuvmm_add_test(NAME pool_leak COMMAND pool leak CHECK)
cuvmm_add_test(NAME pool_error_path COMMAND pool FAULT mem_map:1 CHECK)
cuvmm_add_test(NAME pool_each_call COMMAND pool FAULT each MACHINE h200x2)
set_tests_properties(pool_leak pool_error_path PROPERTIES PASS_REGULAR_EXPRESSION "cuMemCreate.*1 leak")
set_tests_properties(pool_each_call PROPERTIES PASS_REGULAR_EXPRESSION "leaked")
