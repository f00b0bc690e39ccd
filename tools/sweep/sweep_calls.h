/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_calls.h - the calls that a run made, by the places that made them, and which of them are to fail.
 *
 *     records   mem_map 1 by pool+0x11f5 | mem_map 2 by pool+0x11f5 | mem_create 1 by pool+0x1302
 *     sites     cuMemMap by pool+0x11f5: 1 2        cuMemCreate by pool+0x1302: 1
 */
#ifndef CUVMM_TOOLS_SWEEP_CALLS_H
#define CUVMM_TOOLS_SWEEP_CALLS_H

#include "sites.h"
#include "sweep.h"

#define SWEEP_SAID 120

struct sweep_outcome {
    enum sweep_class class;
    int status, signal_number;
    uint64_t leaks, misuses;   /* more than without a failure */
    char said[SWEEP_SAID];     /* the last line that it printed */
};

struct sweep_call {
    const struct sites_call *record;
    size_t order; /* among all records */
    bool chosen;
    struct sweep_outcome outcome;
};

struct sweep_site {
    struct sweep_call *call; /* its calls, in order */
    size_t count;
    char symbol[120], source[120]; /* the program's function, and "pool.c:76"; "" where it is not known */
};

struct sweep_calls {
    const struct sites_file *file;
    struct sweep_call *call; /* by site */
    size_t count;
    struct sweep_site *site; /* in order of first appearance */
    size_t sites;
    size_t given_back, placeless; /* calls that are left out: that give something back; that no code of the program made */
    uint32_t processes;
};

/* Which calls to fail: call and all as in the options. False when memory is out. */
bool sweep_calls_read(struct sweep_calls *calls, const struct sites_file *file, const char *call);
/* Fills in function and line of each site, as far as the program's files have them. */
void sweep_calls_name(struct sweep_calls *calls);
void sweep_calls_free(struct sweep_calls *calls);

/* Chooses at most that many: the first call of each site, and others at random. Returns how many. */
size_t sweep_calls_choose(struct sweep_calls *calls, uint64_t most, uint64_t seed);

/* Did both runs make the same calls at the same places? */
bool sweep_calls_equal(const struct sites_file *a, const struct sites_file *b);

/* Is what such a call does to give something back? Where it fails the program cannot but hold it. */
bool sweep_gives_back(uint16_t kind);

/* The program's file, without its folder, and the fault that makes this call fail: "mem_map:3:process=2". */
const char *sweep_module(const struct sites_file *file, const struct sites_call *record);
void sweep_fault(const struct sweep_calls *calls, const struct sweep_call *call, const char *result, char *text, size_t size);

/* The worst outcome of a site's runs; NULL where none was made. */
const struct sweep_call *sweep_worst(const struct sweep_site *site, size_t *runs, size_t *alike);

#endif
