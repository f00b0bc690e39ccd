/* SPDX-License-Identifier: Apache-2.0 */
/* The entry points of check_entries.def that are one call of the API each. */
#include <string.h>

#include "check.h"

/* Parameters by number of types: ARGUMENTS(a) of (int, long) is (int a1, long a2). */
#define TYPES1(A) A a
#define TYPES2(A, B) A a, B b
#define TYPES3(A, B, C) A a, B b, C c
#define TYPES4(A, B, C, D) A a, B b, C c, D d
#define TYPES5(A, B, C, D, E) A a, B b, C c, D d, E e
#define NAMES1(A) a
#define NAMES2(A, B) a, b
#define NAMES3(A, B, C) a, b, c
#define NAMES4(A, B, C, D) a, b, c, d
#define NAMES5(A, B, C, D, E) a, b, c, d, e
/* Without the last, which is the stream. */
#define FIRST3(A, B, C) a, b
#define FIRST4(A, B, C, D) a, b, c
#define PICK(x1, x2, x3, x4, x5, picked, ...) picked
#define TYPES(...) PICK(__VA_ARGS__, TYPES5, TYPES4, TYPES3, TYPES2, TYPES1, 0)(__VA_ARGS__)
#define NAMES(...) PICK(__VA_ARGS__, NAMES5, NAMES4, NAMES3, NAMES2, NAMES1, 0)(__VA_ARGS__)
#define FIRST(...) PICK(__VA_ARGS__, 0, FIRST4, FIRST3, 0, 0, 0)(__VA_ARGS__)

/* The driver alone. */
#define ALONE(symbol, types)                                         \
    vmm_result(*driver) types = NULL;                                \
    check_function function_ = check_driver(CHECK_##symbol);         \
    memcpy(&driver, &function_, sizeof driver);                      \
    if (!driver)                                                     \
        return VMM_ERROR_NOT_FOUND;

#pragma GCC visibility push(default)
#define CHECK_CALL(symbol, base, version, streams, name, types) vmm_result symbol types;
#define CHECK_ASYNC(symbol, base, version, streams, name, types) vmm_result symbol types;
#include "check_entries.def"
#pragma GCC visibility pop

#define CHECK_CALL(symbol, base, version, streams, name, types) \
    vmm_result symbol(TYPES types)                              \
    {                                                           \
        ALONE(symbol, types)                                    \
        vmm_system *sys = check_enter(CHECK_##symbol);          \
        if (!sys) {                                             \
            vmm_result result = driver(NAMES types);            \
            check_alone(CHECK_##symbol, result);                \
            return result;                                      \
        }                                                       \
        vmm_result result = vmm_##name(sys, NAMES types);       \
        check_leave();                                          \
        return result;                                          \
    }

/* The shadow knows no streams: it is asked about the default one, where every range may be used that may be used at all. */
#define CHECK_ASYNC(symbol, base, version, streams, name, types) \
    vmm_result symbol(TYPES types)                               \
    {                                                            \
        ALONE(symbol, types)                                     \
        vmm_system *sys = check_enter(CHECK_##symbol);           \
        vmm_result result = driver(NAMES types);                 \
        if (sys) {                                               \
            check_answered(result);                              \
            vmm_##name(sys, FIRST types, NULL);                  \
            check_leave();                                       \
        } else {                                                 \
            check_alone(CHECK_##symbol, result);                 \
        }                                                        \
        return result;                                           \
    }
#include "check_entries.def"
