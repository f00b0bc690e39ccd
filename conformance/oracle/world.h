/* SPDX-License-Identifier: Apache-2.0 */
/* world.h - a world so small that every state of it can be visited, and every call tried from each.
 *
 *   addresses   [R1 1 G][R2 2 G       ][1 G never reserved]     a window of 4 G
 *   memory      A: 1 G of device 0     B: 2 G of the last device      mapped nowhere, once or several times
 *   rights      none, read, read-write: of each device, for each mapping
 *   references  of A and B: 0 .. max_refs
 *
 * The search is breadth-first over the model's states. From each state it makes every call of a fixed alphabet (good
 * and bad arguments: every address, length, handle, right, id, hint) on the simulator and on the model and compares
 * result, rule, outputs, objects and rights, also after refusals. A call that leads out of the world (more references,
 * a reservation elsewhere, other memory) is compared, but not followed.
 *
 * On a driver the search continues after a difference: it counts the difference by kind, and rebuilds the world where
 * both are no longer in the same state. It skips calls with handles of memory that has ended, since the driver may have
 * reused the values. A world that takes a driver too long can be searched in parts, one after another or on several
 * machines: the simulator finds the states before the part.
 *
 *   states   0 ........ from ........ to ........
 *            simulator  | driver      | (another run)
 */
#ifndef CUVMM_WORLD_H
#define CUVMM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lockstep.h"
#include "lockstep_table.h"

struct world_options {
    const char *spec;    /* NULL: the simulator with as many devices */
    unsigned budget;     /* seconds after which the search stops; 0: none */
    /* seconds that the calls from one state may take before SIGALRM ends the process; 0: no limit */
    unsigned patience;
    size_t from, to;     /* of a driver: the states to search, [from, to); to 0: to the end */
    FILE *record;        /* of a driver: where the answers are written (world_record.h); NULL for nowhere */
    FILE *recording;     /* the recording to compare with; the search ends where it does; NULL for none */
    struct table *table; /* of a driver: where differences are counted */
    struct step *last;   /* see struct lockstep */
    int devices;         /* 1 or 2 */
    bool strict;
    unsigned max_refs;   /* of each handle, 1 .. 15 */
    size_t max_states;   /* the search stops beyond this number */
    uint64_t flip;       /* self-test: see struct lockstep */
    FILE *dump;          /* where alphabet, states and transitions are written; NULL for nowhere */
};

struct world_report {
    size_t calls;        /* of the alphabet */
    size_t states;
    size_t visited;      /* of them, without those before options.from */
    size_t compared;     /* with a recording: answers */
    size_t transitions;  /* calls made from states */
    /* of them; kept: succeeded without a change; outside: led out of the world */
    size_t refused, kept, changed, outside;
    size_t halfway;      /* of the refused ones: those with a known side effect */
    bool closed;         /* every state was visited */
    bool same;           /* system and model never differed */
    bool lacking;        /* the system has fewer devices than requested; nothing was tried */
    size_t unreached;    /* of a driver: states that could not be built again, or not for all their calls */
    size_t spared;       /* of a driver: transitions skipped */
    size_t unlike;       /* answers that differ from the recording */
    bool ended;          /* by the budget, or by the recording */
    struct script path;  /* when they did: the shortest path there */
    char difference[700];
};

/* Fills report; the caller frees report->path with steps_free. */
void world_explore(const struct world_options *options, struct world_report *report);

/* The alphabet for a number of devices. In it r64 is the window, h65 a stale handle, h66 and h67 are A and B, stale
 * while they are not alive. */
void world_alphabet(int devices, uint64_t unit, struct script *alphabet);

enum { WORLD_WINDOW = STEP_FIRST_NAME, WORLD_STALE, WORLD_A, WORLD_B, WORLD_R1, WORLD_R2, WORLD_KEEPER };

#endif
