# SPDX-License-Identifier: Apache-2.0
# cuvmm_add_test: a test of CTest that runs on a simulated machine of its own.
#
#   cuvmm_add_test(NAME name COMMAND program [argument...]
#                  [MACHINE machine]         h100 (default), h200x2, sim:odd,strict, my.profile, ...: what `cuvmm exec --machine` takes
#                  [CHECK]                   findings and leaks fail the test (`cuvmm check`)
#                  [FAULT call:n...]         these calls fail: mem_map:3, mem_create:1:INVALID_VALUE; each: every call in turn
#                  [SUPPRESSIONS file...]    with CHECK: findings that are known
#                  [OPTIONS option...]       further options of `cuvmm check` or, without CHECK, of `cuvmm exec`
#                  [WORKING_DIRECTORY folder])
#
# The program is a target that was added before, or a file. The test has the label cuvmm, and takes set_tests_properties as others do.
function(cuvmm_add_test)
    cmake_parse_arguments(PARSE_ARGV 0 test "CHECK" "NAME;MACHINE;WORKING_DIRECTORY" "COMMAND;FAULT;SUPPRESSIONS;OPTIONS")
    if(test_UNPARSED_ARGUMENTS OR test_KEYWORDS_MISSING_VALUES)
        message(FATAL_ERROR "cuvmm_add_test: unknown or without a value: ${test_UNPARSED_ARGUMENTS} ${test_KEYWORDS_MISSING_VALUES}")
    elseif(NOT test_NAME OR NOT test_COMMAND)
        message(FATAL_ERROR "cuvmm_add_test needs NAME and COMMAND")
    elseif(test_SUPPRESSIONS AND NOT test_CHECK)
        message(FATAL_ERROR "cuvmm_add_test(NAME ${test_NAME}): SUPPRESSIONS is for CHECK")
    elseif(test_CHECK AND test_FAULT MATCHES "^each")
        message(FATAL_ERROR "cuvmm_add_test(NAME ${test_NAME}): FAULT each finds leaks and misuse by itself; leave CHECK out")
    endif()

    set(machine "${test_MACHINE}")
    if(NOT machine)
        set(machine h100)
    endif()
    if(NOT machine MATCHES "^sim(:|$)")
        set(machine "sim:${machine}")
    endif()
    list(JOIN test_FAULT "|" faults)
    string(REPLACE "|" "|fault=" layers "fault=${faults}")

    set(environment)
    if(test_CHECK)
        set(command check --error-exitcode=99 "--backend=${machine}")
        foreach(file IN LISTS test_SUPPRESSIONS)
            get_filename_component(file "${file}" ABSOLUTE)
            list(APPEND command "--suppressions=${file}")
        endforeach()
        if(test_FAULT)
            set(environment "CUVMM_LAYERS=${layers}")
        endif()
    else()
        set(command exec "--machine=${machine}")
        if(test_FAULT)
            list(APPEND command "--fault=${faults}")
        endif()
    endif()

    list(POP_FRONT test_COMMAND program)
    if(TARGET "${program}")
        set(program "$<TARGET_FILE:${program}>")
    endif()
    if(NOT test_WORKING_DIRECTORY)
        set(test_WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
    endif()
    add_test(NAME "${test_NAME}" COMMAND "$<TARGET_FILE:cuvmm::command>" ${command} ${test_OPTIONS} -- "${program}" ${test_COMMAND}
        WORKING_DIRECTORY "${test_WORKING_DIRECTORY}")
    set_tests_properties("${test_NAME}" PROPERTIES LABELS cuvmm)
    if(environment)
        set_tests_properties("${test_NAME}" PROPERTIES ENVIRONMENT "${environment}")
    endif()
endfunction()
