/* SPDX-License-Identifier: Apache-2.0 */
/* The entry points of checked.def that correspond to one API call each. */
#include <string.h>

#include "call.h"
#include "check.h"
#include "check_order.h"
#include "thread.h"

/* All arguments but the last, which is the stream. */
#define FIRST3(a, b, c) a, b
#define FIRST4(a, b, c, d) a, b, c
#define PICK(a, b, c, d, picked, ...) picked
#define FIRST(...) PICK(__VA_ARGS__, FIRST4, FIRST3, ~)(__VA_ARGS__)

#define PARAMETERS(call) VMM_LIST(VMM_TYPED, VMM_PARAMS_##call)
#define ARGUMENTS(call) VMM_LIST(VMM_NAMED, VMM_PARAMS_##call)

/* Calls only the driver. */
#define ALONE(symbol, call)                                     \
    vmm_result (*driver)(PARAMETERS(call)) = NULL;              \
    check_function function_ = check_driver(CHECK_##symbol);    \
    memcpy(&driver, &function_, sizeof driver);                 \
    if (!driver)                                                \
        return VMM_ERROR_NOT_FOUND;

#pragma GCC visibility push(default)
#define DECLARE_OWN(symbol, call)
#define DECLARE_CALL(symbol, call) vmm_result symbol(PARAMETERS(call));
#define DECLARE_ASYNC(symbol, call) vmm_result symbol(PARAMETERS(call));
#define CHECK_ENTRY(symbol, name, version, streams, checked, call) DECLARE_##checked(symbol, call)
#include "checked.def"
#pragma GCC visibility pop

/* The tracking of work order, around the rest of the call. */
#define STEP_BEGIN(symbol, call)                                                                        \
    VMM_ENTRY_POINT(entry_);                                                                            \
    struct check_step step_;                                                                            \
    const struct vmm_call_##call record_ = {{VMM_CALL_##call, 0} VMM_EACH(VMM_AND_NAMED, VMM_PARAMS_##call)}; \
    if (check_steps(VMM_CALL_##call)) {                                                                 \
        vmm_within_begin(&vmm_this_thread()->within, &entry_);                                          \
        check_step_begin(&step_, CHECK_##symbol, &record_.head);                                        \
    }
#define STEP_END(call, result)                             \
    if (check_steps(VMM_CALL_##call)) {                    \
        check_step_end(&step_, result);                    \
        vmm_within_end(&vmm_this_thread()->within);        \
    }

#define DEFINE_OWN(symbol, call)
#define DEFINE_CALL(symbol, call)                               \
    vmm_result symbol(PARAMETERS(call))                         \
    {                                                           \
        ALONE(symbol, call)                                     \
        vmm_system *sys = check_enter(CHECK_##symbol);          \
        if (!sys) {                                             \
            vmm_result result = driver(ARGUMENTS(call));        \
            check_alone(CHECK_##symbol, result);                \
            return result;                                      \
        }                                                       \
        STEP_BEGIN(symbol, call)                                \
        vmm_result result = vmm_##call(sys, ARGUMENTS(call));   \
        STEP_END(call, result)                                  \
        check_leave();                                          \
        return result;                                          \
    }

/* The shadow does not know the program's streams, so it gets the call on the default stream, which has access to everything
 * that any stream has. */
#define DEFINE_ASYNC(symbol, call)                          \
    vmm_result symbol(PARAMETERS(call))                     \
    {                                                       \
        ALONE(symbol, call)                                 \
        vmm_system *sys = check_enter(CHECK_##symbol);      \
        if (!sys) {                                         \
            vmm_result result = driver(ARGUMENTS(call));    \
            check_alone(CHECK_##symbol, result);            \
            return result;                                  \
        }                                                   \
        STEP_BEGIN(symbol, call)                            \
        vmm_result result = driver(ARGUMENTS(call));        \
        check_answered(result);                             \
        vmm_##call(sys, FIRST(ARGUMENTS(call)), NULL);      \
        STEP_END(call, result)                              \
        check_leave();                                      \
        return result;                                      \
    }

#define CHECK_ENTRY(symbol, name, version, streams, checked, call) DEFINE_##checked(symbol, call)
#include "checked.def"
