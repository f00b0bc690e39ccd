/* SPDX-License-Identifier: Apache-2.0 */
/* replay_state.h - the inside of the replayer. Needs jansson. */
#ifndef CUVMM_TOOLS_REPLAY_STATE_H
#define CUVMM_TOOLS_REPLAY_STATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "descriptors.h"
#include "fabrics.h"
#include "step.h"
#include "text.h"
#include "trace_line.h"

#define REPLAY_THREADS 1024

/* An object of the trace: what its value was when recorded and is now. */
struct replay_object {
    char name[16]; /* "R1" */
    uint64_t recorded, now, size;
    bool ended;
};

/* Host memory that work may use after its call has returned. Contents do not matter where work writes, so all of that shares one. */
struct replay_room {
    unsigned char *shared; /* the last one of kept that was lent */
    size_t size;
    unsigned char **kept;
    size_t count;
};

struct replay {
    FILE *out, *err;
    vmm_system *sys;
    bool rules;               /* the backend reports rules and objects */
    struct trace_line line;   /* that is being played */
    struct replay_object *object;
    size_t objects;
    vmm_context current[REPLAY_THREADS]; /* by thread number of the trace */
    int64_t thread;           /* whose context is current now */
    bool unknown_bytes;       /* a copy whose bytes the trace does not hold was made: contents are not compared */
    struct descriptors open;  /* that exports made, and foreign */
    int foreign;              /* an open descriptor that no export made, -1 until one is needed */
    struct fabrics fabrics;   /* fabric handles that they made */
    struct replay_room room;
    bool captured;            /* streams may be captured: what is copied from the host is read by launches */
    uint64_t made, skipped;
    struct step step;
};

/* Reports that the line is no trace: at the place of key in it. Returns false. */
bool replay_malformed(struct replay *r, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Fills r->step from the line's object. *skip: the call cannot be made again (its memory is not in the trace). */
bool replay_load(struct replay *r, json_t *line, bool *skip);

/* Compares what was recorded with r->step after its call; a difference is described in *difference, which stays empty
 * otherwise. Learns the names of new objects. False: malformed. */
bool replay_compare(struct replay *r, json_t *line, struct text *difference);

/* "R1+0x200" as it is now, and where a recorded value lies now. False: no such object. */
bool replay_named(const struct replay *r, const char *name, uint64_t *value);
/* Lies it in an object that an earlier line made? */
bool replay_is_known(const struct replay *r, uint64_t recorded);
uint64_t replay_translate(const struct replay *r, uint64_t recorded);

/* Where size bytes of a recorded device address lie now, for a call that takes them for the host's: in a reservation or
 * allocation that lives, which the process has in its own addresses, too, and where memory is mapped or the program itself may
 * read (write, where written). False: nowhere that could be touched. */
bool replay_device(const struct replay *r, uint64_t recorded, uint64_t size, bool written, uint64_t *now);

/* Frees the host memory that the replay has lent. */
void replay_room_end(struct replay_room *room);

/* A hex string of the trace. */
bool replay_hex(struct replay *r, const char *key, json_t *json, uint64_t *value);

/* {"type":..,"id":..} and a whole property. */
bool replay_prop(struct replay *r, const char *key, json_t *json, vmm_mem_allocation_prop *prop);

/* A structure of call_structs.def, a list of them for the step, and what a call wrote against what it wrote when recorded. */
bool replay_struct(struct replay *r, const char *key, json_t *json, const struct vmm_shape *shape, void *at);
bool replay_structs(struct replay *r, const char *key, json_t *json, const struct vmm_shape *shape);
bool replay_compare_struct(struct replay *r, const struct vmm_param *param, json_t *json, struct text *difference);
bool replay_compare_range(struct replay *r, const struct vmm_param *param, json_t *json, struct text *difference);

#endif
