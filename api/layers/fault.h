/* SPDX-License-Identifier: Apache-2.0 */
/* fault.h - the layer that makes the Nth call fail, so that a program's error paths can be tested.
 *
 *   fault=CALL:N[:RESULT][:process=P][:forever]
 *     CALL      a call by either name (mem_create, cuMemCreate), or any
 *     N         the number of the call, from 1
 *     RESULT    what it returns: OUT_OF_MEMORY (the default) or another name of results.def, with or without
 *               ERROR_ or CUDA_ERROR_ in front; not SUCCESS
 *     process=P only in the Pth process of the run (sites.h), from 1; without it in each
 *     forever   every call from the Nth on fails, not only the Nth
 *
 *   fault=mem_create:3            create 1 -> backend   create 2 -> backend   create 3 = OUT_OF_MEMORY   4 -> backend
 *   fault=any:10:UNKNOWN:forever  ten calls in, the driver is gone for good
 *
 * The backend never sees a call that was made to fail: nothing changes and no output is written. The detail has severity ERROR,
 * no rule, and a note that names the layer. Several fault layers may be stacked; each counts the calls that reach it.
 * Counting is atomic: of racing calls exactly one is the Nth.
 */
#ifndef CUVMM_LAYERS_FAULT_H
#define CUVMM_LAYERS_FAULT_H

#include <stdbool.h>

#include "backend.h"

/* The plan, parsed from the spec. */
struct fault_plan {
    enum vmm_call_id call; /* VMM_CALL_COUNT: any */
    uint64_t nth;
    vmm_result result;
    bool forever;
    uint32_t process; /* 0: each */
};

/* An error in the text: its position (from 1), what was expected and what was found. */
struct fault_error {
    size_t column;
    char text[120];
};

/* On failure *plan is unchanged. */
bool fault_parse(const char *args, struct fault_plan *plan, struct fault_error *error);

#endif
