/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_file.h - making the file of a process, and writing one call into it.
 *
 *     slot = recorder_begin(file, call)     the call's arguments; seq is odd, result PENDING
 *     the call is made
 *     recorder_end(file, slot, call, ...)   result, outputs, time; seq is even
 */
#ifndef CUVMM_RECORDER_FILE_H
#define CUVMM_RECORDER_FILE_H

#include "call.h"
#include "recorder.h"

/* Where the kept arguments of each call lie in its record; computed once. */
struct recorder_plan {
    struct {
        uint16_t offset[RECORDER_ARGUMENTS];
        uint8_t size[RECORDER_ARGUMENTS]; /* 0: the address of a structure that is passed by value */
        uint8_t out[RECORDER_ARGUMENTS];  /* it points to the value that is kept if the call succeeds */
        uint8_t count;
    } call[VMM_CALL_COUNT];
};
void recorder_plan_make(struct recorder_plan *plan);

/* Creates and maps the file of this process in the folder. Returns NULL, with the reason in errno, on failure. */
struct recorder_file *recorder_file_make(const char *folder);
void recorder_file_unmap(struct recorder_file *file);

uint64_t recorder_begin(struct recorder_file *file, const struct recorder_plan *plan, const struct vmm_call *call);
void recorder_end(struct recorder_file *file, uint64_t slot, const struct recorder_plan *plan, const struct vmm_call *call,
                  vmm_result result);

/* The first fault of the process: preserves the entries as they are. address is 0 if unknown. */
void recorder_fault(struct recorder_file *file, uint64_t address);

#endif
