/* SPDX-License-Identifier: Apache-2.0 */
/* findings.h - what `cuvmm check` finds in a process: the one place where refusals, hazards and leaks become records, or lines of
 * text where no parent reads records.
 *
 *     a call is refused, or gets a warning   findings_add(detail)       {"v":1,"pid":1234,"kind":"finding","rule":"VMM-MAP-OVERLAP",...
 *     objects are held at the end            findings_add(leak)     ->  or
 *     the process exits normally             findings_close()           [1234] error VMM-MAP-OVERLAP: cuMemMap ...
 *                                                                         what, nearest, fix, called by main (a.c+0x1f)
 *
 * Used by the library that is preloaded above a driver (backend_cuda/check) and by the simulator's libcuda.so.1, so that both
 * report the same. Each finding is sent or written at once, because the program may crash on its next line; a finding that
 * recurs at the same place is sent once and counted each time. Takes no lock and calls no driver. The environment decides how:
 *
 *   CUVMM_CHECK         who reports: "driver" (the preloaded library) or "simulator" (libcuda.so.1)
 *   CUVMM_CHECK_STREAM  the socket of a parent that reads records (findings_stream.h); without it findings are text
 *   CUVMM_CHECK_LOG     a file to append text to; standard error without it
 *   CUVMM_CHECK_TALLY   a file of counts that all processes share (struct findings_tally); without it each process writes its sum
 *   CUVMM_CHECK_LEAKS   "no": what is held at the end is not reported
 *   CUVMM_CHECK_QUIET   "1": findings alone, no notes and no sum
 */
#ifndef CUVMM_FINDINGS_H
#define CUVMM_FINDINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "vmm.h"

/* The reason why a process could not be checked. */
enum findings_obstacle { FINDINGS_NO_MACHINE, FINDINGS_RUNTIME, FINDINGS_OBSTACLES };

/* A finding that was sent or written, and how often it recurred. */
struct findings_again {
    _Atomic uint64_t print;        /* of rule, call, place and process; 0: free */
    _Atomic uint64_t times, bytes; /* since it was sent */
    _Atomic uint32_t class;        /* enum finding */
};

enum { FINDINGS_AGAIN = 1024 };

/* Mapped by every process that is checked. begun, ended, checked and stopped count processes: those that called the driver, that
 * exited normally, that created a context or memory, and that could not be checked. Findings in records that the parent reads
 * are not counted here, except in `again`; the total is the sum of both. A file that ends before `again` lacks that part. */
struct findings_tally {
    _Atomic uint64_t errors, hazards, leaks;
    _Atomic uint64_t begun, ended, checked;
    _Atomic uint64_t stopped[FINDINGS_OBSTACLES];
    struct findings_again again[FINDINGS_AGAIN];
};

/* The class of a detail. NOTHING: a result that correct programs may get. */
enum finding { FINDING_NOTHING, FINDING_NOTE, FINDING_ERROR, FINDING_HAZARD, FINDING_LEAK };

enum finding findings_class(const vmm_detail *detail);

/* Does this side report in this process? `unset` is the answer if the environment does not decide. */
bool findings_wanted(const char *side, bool unset);

/* Starts checking this process. */
void findings_open(void);
/* Call it after a call of the program: records whether the program has created anything to check. Queries the system only
 * until then. Any thread; the caller holds no lock of the system. */
void findings_look(vmm_system *sys);
/* Records that this process could not be checked. */
void findings_stopped(enum findings_obstacle obstacle);
void findings_add(const vmm_detail *detail);
/* Call it when the process exits normally, after the leaks were added. */
void findings_close(void);

enum { FINDINGS_SUM = 200 };

/* "2 errors, 1 hazard, 0 leaks"; or "nothing was checked: " with the reason, and returns false. */
bool findings_sum(const struct findings_tally *tally, char *text, size_t size);
/* The reason why a process could not be checked, as a clause; NULL if all could. */
const char *findings_reason(const struct findings_tally *tally);

#endif
