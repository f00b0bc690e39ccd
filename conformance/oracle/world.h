/* SPDX-License-Identifier: Apache-2.0 */
/* world.h - a world so small that every state of it can be visited, and every call tried from each.
 *
 *   addresses   [R1 1 G][R2 2 G       ][1 G that nobody reserves]     a window of 4 G
 *   memory      A: 1 G of device 0     B: 2 G of the last device      mapped nowhere, once or several times
 *   rights      none, read, read-write: of each device, for each mapping
 *   references  of A and B: 0 .. max_refs
 *
 * Search is breadth first over the model's states. From each, every call of a fixed alphabet (good and bad arguments:
 * every place, length, handle, right, id, hint) is made on the simulator and on the model and compared: result, rule,
 * outputs, objects, rights. What refused calls leave is compared as well. A call that leads out of the world (more
 * references, a reservation elsewhere, other memory) is made and compared, and not followed.
 *
 * On a driver the search goes on after a difference: it is counted by kind, and the world rebuilt where both are no
 * longer in the same state. Calls with values of memory that is gone are left out there, since the driver may have
 * given them to other memory. A world that takes a driver too long can be asked in parts, one after another or on
 * several machines: states before the part are found on the simulator.
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
    unsigned patience;   /* seconds that the calls from one state may take before SIGALRM ends the process; 0: any */
    size_t from, to;     /* of a driver: the states that it is asked about, [from, to); to 0: to the end */
    FILE *record;        /* of a driver: where the answers are written (world_record.h); NULL for nowhere */
    FILE *recording;     /* to be compared with; the search ends where it does; NULL for none */
    struct table *table; /* of a driver: where differences are counted */
    struct step *last;   /* see struct lockstep */
    int devices;         /* 1 or 2 */
    bool strict;
    unsigned max_refs;   /* of each handle, 1 .. 15 */
    size_t max_states;   /* the search gives up beyond */
    uint64_t flip;       /* self-test: see struct lockstep */
    FILE *dump;          /* where alphabet, states and transitions are written; NULL for nowhere */
};

struct world_report {
    size_t calls;        /* of the alphabet */
    size_t states;
    size_t visited;      /* of them, without those before options.from */
    size_t compared;     /* with a recording: answers */
    size_t transitions;  /* calls made from states */
    size_t refused, kept, changed, outside; /* of them; kept: succeeded without a change; outside: out of the world */
    size_t halfway;      /* of the refused ones: those that are known to leave something changed */
    bool closed;         /* no state was left unvisited */
    bool same;           /* system and model never differed */
    bool lacking;        /* the system has fewer devices than were asked for; nothing was tried */
    size_t unreached;    /* of a driver: states that could not be built again, or not for all their calls */
    size_t spared;       /* of a driver: transitions left out */
    size_t unlike;       /* answers that are not those of the recording */
    bool ended;          /* by the budget, or by the recording */
    struct script path;  /* when they did: the shortest way there */
    char difference[700];
};

/* Fills report; the caller frees report->path with steps_free. */
void world_explore(const struct world_options *options, struct world_report *report);

/* The alphabet for a number of devices. In it r64 is the window, h65 a stale handle, h66 and h67 are A and B, stale
 * while they are not alive. */
void world_alphabet(int devices, uint64_t unit, struct script *alphabet);

enum { WORLD_WINDOW = STEP_FIRST_NAME, WORLD_STALE, WORLD_A, WORLD_B, WORLD_R1, WORLD_R2, WORLD_KEEPER };

#endif
