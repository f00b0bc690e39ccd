/* SPDX-License-Identifier: Apache-2.0 */
/* world_parts.h - internals of the small world: world.c searches, world_write.c writes and reads recordings. */
#ifndef CUVMM_WORLD_PARTS_H
#define CUVMM_WORLD_PARTS_H

#include <time.h>

#include "world.h"
#include "world_record.h"

#define NO_STATE UINT32_MAX

enum { KEY = 12, GRANULES = 4, REBUILDS_PER_SYSTEM = 200 };

/* A state and the shortest path there: the previous state, and the call that led from it. */
struct state {
    uint8_t key[KEY];
    uint32_t before;
    uint32_t call;
};

struct world {
    const struct world_options *options;
    struct world_report *report;
    struct script alphabet;
    struct lockstep pair;
    char spec[96];
    bool driver;
    bool seeking; /* states before options->from are found on the simulator */
    struct record record;
    bool record_read;  /* a state of the recording was read */
    time_t until;
    struct state *states;
    size_t room;
    uint32_t *table; /* state numbers by hash of their keys */
    size_t table_size;
    unsigned rebuilds;
};

/* Records the driver's answer, or compares it with the recording. */
void world_keep(struct world *w, uint32_t state, uint32_t call, const char *reported, bool foreseen, bool moved);

/* Reads a state from the recording. False at its end; *error describes what is wrong with it, if anything. */
bool world_recorded(struct world *w, uint32_t state, const char **error);

/* The lines of a dump. where: "=" or "x", when next is not a state. */
void world_dump_alphabet(const struct world *w, uint64_t unit);
void world_dump_call(struct world *w, uint32_t state, size_t call, const char *where, uint32_t next);
void world_dump_states(const struct world *w);

#endif
