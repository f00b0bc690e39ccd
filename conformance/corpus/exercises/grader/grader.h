/* SPDX-License-Identifier: Apache-2.0 */
/* grader.h - the building blocks of every exercise's grade.c: parts that run in separate processes, points that name
 * a rule and the fix, machines whose calls fail on demand. Needs only the public header and the TAP harness
 * (conformance/harness/tap.h).
 *
 *     grade_main            for each machine (sim:h100, ...), for each part
 *       fork  ------------>   the part: opens the machine, uses what the student wrote, makes points
 *       wait, with a limit    ends, crashes, or hangs
 *     all its points, numbered anew; a crash or a hang is one more that failed
 *
 * A point that failed:
 *
 *     not ok 7 - sim:h100 grow: nothing is left after a call has failed
 *     #   mistake   after cuMemMap (call 9) was made to fail, memory is left behind
 *     #   rule      VMM-LEAK-HANDLE: a handle is still held
 *     #   fix       vmm_mem_release it; ...
 *
 * Rules are those of the book (cuvmm explain RULE), and beside them a few of the exercise itself, EX-..., which stand in its
 * task.md.
 */
#ifndef CUVMM_GRADER_H
#define CUVMM_GRADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tap.h"

/* An exercise's own rules. */
struct grade_rule {
    const char *id, *what, *way_out;
};

/* The report on a call that was refused, or that left something behind. */
struct grade_told {
    bool is;
    char rule[48], text[2400];
};

/* A machine as a part uses it. */
struct grade {
    const char *spec;       /* the machine without its layers */
    vmm_system *sys;
    vmm_context ctx;        /* of the device, current */
    vmm_device device;      /* the device to use: the last one, so that device 0 cannot be assumed */
    uint64_t unit;          /* minimum granularity of its memory */
    uint64_t before;        /* bytes of the device that were free when it was opened; 0 where others use it, too */
    struct grade_told reported; /* the refusal or warning that no point has shown yet, */
    struct grade_told first; /* and the first of all */
    bool expects;           /* refusals are currently expected and not recorded */
    /* Of a machine whose nth call is made to fail: */
    unsigned injected, seen;    /* the number of injected failures, and how many of them a grade_try has seen */
    char failed[64];            /* the call, "cuMemMap (call 9)" */
    bool strict;                /* releasing calls are judged as well; a scenario sets it */
    bool gave_back;             /* it was a releasing call, which cannot be undone */
    bool ours;                  /* it was the grader's own call, which proves nothing */
    char changed[320], spoilt[320]; /* the first error that was not passed on; the first thing that was wrong afterwards */
};

/* Opens the machine of this part, with these layers ("" or "fault=mem_create:1 | "), initialised and with a context on its last
 * device. Ends the part when it cannot. */
void grade_open(struct grade *g, const char *spec, const char *layers);

/* Ends it, and makes two points: no call was refused or drew a warning; nothing is left at the end. */
void grade_close(struct grade *g);

/* Ends it without making points. */
void grade_drop(struct grade *g);

/* A point. When it fails the mistake is described, with the rule: the named one, or NULL for the machine's last report. */
bool grade_point(struct grade *g, bool good, const char *rule, const char *name, const char *mistake, ...)
    __attribute__((format(printf, 5, 6)));

/* A point: a call of the student's must succeed. */
bool grade_ok(struct grade *g, vmm_result got, const char *name);

/* A point: it must be refused with this result, which does not count as a mistake. Set expects before the call. */
bool grade_refused(struct grade *g, vmm_result got, vmm_result want, const char *rule, const char *name);

/* A rule's text and fix for the reader: from the book, this exercise, or all exercises. */
void grade_note_rule(const char *id);

/* Skips what the machine does not have. */
void grade_skip(const char *name, const char *reason);

/* Bytes of device memory in use since the machine was opened are want. True if that is unknown. */
bool grade_uses(struct grade *g, uint64_t want);

/* The bytes [at, at + n) are value, are written with it. Whole words of 8 bytes. A refusal is reported in the next point. */
bool grade_is(struct grade *g, vmm_deviceptr at, uint64_t n, unsigned char value);
bool grade_fill(struct grade *g, vmm_deviceptr at, uint64_t n, unsigned char value);

/* n bytes of the host's memory, zero; free them. Ends the run if there is no memory. */
unsigned char *grade_room(uint64_t n);

/* The rights of a device at an address; a number that identifies the physical memory there; 0 if nothing is mapped. */
vmm_mem_access_flags grade_rights(struct grade *g, vmm_device device, vmm_deviceptr at);
uint64_t grade_block(struct grade *g, vmm_deviceptr at);

/* Only one device of the machine has rights at [at, at + size); checked for each unit. */
bool grade_others_have_none(struct grade *g, vmm_deviceptr at, uint64_t size);

/* A machine on which bytes can be filled but not moved: copies and kernels fail. */
#define GRADE_NO_COPIES                                                            \
    "fault=memcpy_htod:1:UNKNOWN:forever | fault=memcpy_htod_async:1:UNKNOWN:forever | " \
    "fault=memcpy_dtoh:1:UNKNOWN:forever | fault=memcpy_dtoh_async:1:UNKNOWN:forever | " \
    "fault=memcpy_dtod:1:UNKNOWN:forever | fault=memcpy_dtod_async:1:UNKNOWN:forever | " \
    "fault=launch:1:UNKNOWN:forever | "

/* Every call that a scenario makes fails once, one in each run. In the scenario each call of the student's goes through
 * GRADE_TWICE, which is true once it has succeeded:
 *
 *     if (GRADE_TWICE(g, vector_resize(&v, size)))      cuMemMap inside fails -> returns GRADE_INJECTED, not anything else
 *         grade_holds(g, v.size == size, "...");        called again -> SUCCESS
 *
 * grade_holds says what else must be true then. The scenario ends by giving everything back. Four points: an error is passed
 * on; it still works after an error; the error path breaks no rule; nothing is left after an error. A releasing call (unmap,
 * release, free) is exempt unless the scenario sets strict, because a program usually cannot handle its failure. The error
 * path itself is always exempt, because only one call fails in each run. */
#define GRADE_INJECTED VMM_ERROR_UNKNOWN
typedef void (*grade_scenario)(struct grade *g);
void grade_each_fault(const char *spec, grade_scenario scenario);
void grade_holds(struct grade *g, bool good, const char *what);
#define GRADE_TWICE(g, call) (GRADE_TRY(g, call) || (grade_again(g) && GRADE_TRY(g, call)))

/* Runs once: for a scenario that checks the state in between, and calls grade_again. */
#define GRADE_TRY(g, call) (grade_ready(g), grade_try((g), (call), #call))
void grade_ready(struct grade *g);
bool grade_try(struct grade *g, vmm_result got, const char *call);
bool grade_again(const struct grade *g);

struct grade_part {
    const char *name;
    void (*run)(const char *spec);
};

/* Of each exercise's grade.c: its parts and its own rules, both ended by an empty one. */
extern const struct grade_part grade_parts[];
extern const struct grade_rule grade_rules[];

#endif
