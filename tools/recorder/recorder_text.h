/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_text.h - the calls that a process made last, as text.
 *
 *     the last 3 of 41 calls of process 4711 (/opt/app/step):
 *       39  -1.204 ms  thread 4711  cuMemMap(ptr 0x302000000, size 2 MiB, offset 0 bytes, handle 0x1001, flags 0) -> CUDA_SUCCESS, 3.1 us
 *               grow (pool.c:31) < main (step.c:12)
 *       40  -0.750 ms  thread 4711  cuMemUnmap(ptr 0x302000000, size 2 MiB) -> CUDA_SUCCESS, 1.0 us
 *       41  -0.000 ms  thread 4712  cuMemcpyDtoH(...) has not returned
 *     history of 0x302000010:
 *       call 39 (thread 4711) mapped [0x302000000, 0x302200000), 0x10 bytes into it
 *       call 40 (thread 4711) unmapped [0x302000000, 0x302200000)
 *
 * Times count back from the last call. The process may be running: entries that it writes meanwhile are left out.
 */
#ifndef CUVMM_TOOLS_RECORDER_TEXT_H
#define CUVMM_TOOLS_RECORDER_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "recorder/recorder.h"

/* The entries of a recorder's file, in the order of calls, and what is known of the process. */
struct recording {
    struct recorder_file *file; /* mapped, to be read alone */
    struct recorder_entry *entry;
    unsigned count;
    uint64_t calls; /* in all */
    uint64_t address; /* of the fault; 0 */
    bool fault;     /* as they were at the first fault */
    bool named;     /* print functions and lines of places, which takes a while */
};

/* Reads a file; the fault's entries where there are some, unless last is wanted. False: it is not there or is none of this cuvmm;
 * why has the reason. */
bool recording_open(struct recording *recording, const char *path, bool last, char *why, size_t size);
void recording_close(struct recording *recording);

/* The process is in a call, or died in one. */
bool recording_is_inside(const struct recording *recording);

/* At most `most` of them. */
void recording_print(const struct recording *recording, unsigned most, FILE *out);

/* What the calls did at an address; of those around it, if none. */
void recording_print_history(const struct recording *recording, uint64_t address, FILE *out);

#endif
