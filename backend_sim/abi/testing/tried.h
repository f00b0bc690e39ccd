/* SPDX-License-Identifier: Apache-2.0 */
/* tried.h - for tests of libcuda.so.1: a call that is repeated, with one allocation after another failing, until it succeeds. */
#ifndef SIM_ABI_TESTING_TRIED_H
#define SIM_ABI_TESTING_TRIED_H

#include "inject_rig.h"

#include "testing/rig.h"

enum { TRIES = 100, SAME = 20 };

/* Makes the call until nothing fails any more; a request that makes a cache grow each time is tried again. */
#define TRIED(call, want)                                                                                        \
    do {                                                                                                         \
        unsigned long nth_ = 1, same_ = 0, wrong_ = 0;                                                           \
        CUresult result_ = CUDA_ERROR_UNKNOWN;                                                                   \
        for (const char *failed_ = ""; failed_ && nth_ < TRIES; nth_ += ++same_ % SAME == 0) {                   \
            inject_arm(nth_);                                                                                    \
            result_ = (call);                                                                                    \
            failed_ = inject_disarm();                                                                           \
            wrong_ += failed_ && result_ != CUDA_ERROR_OUT_OF_MEMORY && result_ != (want);                       \
            if (failed_ && result_ == (want))                                                                    \
                break; /* it did without */                                                                      \
        }                                                                                                        \
        tap_ok(!wrong_ && result_ == (want) && nth_ < TRIES, "%.80s, request %lu: %s", #call, nth_, code_name(result_)); \
    } while (0)

#endif
