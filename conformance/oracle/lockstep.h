/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep.h - drives one system and one model side by side, call by call.
 *
 *   step (a call with symbolic arguments)  ->  system: result, detail, outputs  \
 *                                          ->  model:  what they should be       -> the same? if not: a difference
 *
 * A step names what it makes and later steps refer to it by that name, so any subset of a script stays meaningful:
 *
 *     r64 = mem_address_reserve ptr=out size=4G alignment=0 addr=0 flags=0
 *     h65 = mem_create handle=out size=2G prop={...} flags=0
 *     mem_map ptr=r64+1G size=2G offset=0 handle=h65 flags=0
 *
 * A name whose step is missing or was refused stands for 0.
 *
 * On a real driver (spec "cuda...") results and outputs are compared, not rules: the model adopts the driver's
 * addresses, calls recorded as crashing the process are skipped, and the machine's properties are queried at the start.
 * "as-driver:SPEC" treats a simulator the same way.
 */
#ifndef CUVMM_LOCKSTEP_H
#define CUVMM_LOCKSTEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "call.h"
#include "model/model.h"
#include "vmm.h"

#define STEP_ARGS 8
#define STEP_DESCS 9 /* most steps use no more than these */
#define STEP_FEW_DESCS 3
#define STEP_ATTRIBUTES 4
#define STEP_WORDS 5
#define STEP_OPS 3
#define STEP_NODES 3
#define STEP_STRUCTS 2
#define STEP_FIELDS 24 /* of a structure (call_structs.def) */
#define LOCKSTEP_LISTED 12 /* room of a list that a call writes */
#define STEP_FIRST_NAME 64 /* below: the primary contexts, 1 + device, which lockstep_open retains; streams and events */
#define STEP_STREAMS 4
#define STEP_EVENTS 2
#define STEP_FIRST_STREAM 40 /* the last one is of the last device, the others are of the first */
#define STEP_FIRST_EVENT 48

/* value of name + add; name 0: none. For a pointer parameter: add 0 is NULL, anything else the step's own buffer (for
 * bytes to copy: the first byte of their pattern). */
struct step_arg {
    uint32_t name;
    uint64_t add;
};

/* An operation of a batch. */
struct step_op {
    int operation;
    unsigned flags;
    struct step_arg address;
    uint64_t value;
};

/* One side of a copy of a box. base: an address; a number from 1 to 255 is the program's own memory, which begins with that
 * byte; of type ARRAY, an array, where the model knows one of that value. */
struct step_side {
    int type;
    struct step_arg base, context;
    uint64_t x, y, z, pitch, height;
};

struct step {
    uint32_t name;  /* of what the call makes; 0 when no step needs it */
    uint16_t call;  /* enum vmm_call_id */
    struct step_arg arg[STEP_ARGS];
    vmm_mem_allocation_prop prop;
    vmm_mem_access_desc desc[STEP_DESCS]; /* the first one's location is also the LOCATION parameter */
    vmm_pointer_attribute attribute[STEP_ATTRIBUTES];
    /* arguments of a kernel; of a pool's properties: type, handle types, most bytes, usage, a reserved byte; or the value of a
     * pool's attribute */
    uint64_t word[STEP_WORDS];
    struct step_op op[STEP_OPS];
    struct step_side side[2];    /* of a copy of a box: from, to */
    uint64_t extent[3];          /* bytes of a row, rows, layers */
    /* lists of nodes; of a fill or kernel as a node, node[1][0] is the address, and word: a row's pitch, the value, bytes of an
     * element, elements, rows; or kernel, blocks, threads, bytes, how many arguments */
    struct step_arg node[2][STEP_NODES]; /* of a batch of managed memory: addresses, sizes; word: places in the list of locations */
    struct step_arg field[STEP_STRUCTS][STEP_FIELDS]; /* of structures (call_structs.def) */
};

struct script {
    struct step *steps;
    size_t count, room;
};

#define LOCKSTEP_TOLD 240
/* Which calls are mixed. 0: as the first recordings were made; 1: stream memory operations on the default stream, too; 2: memory
 * pools, several streams with events, batches of operations, waits for a later write; and hardly any call that is left out; 3:
 * copies and fills in the order of a stream, copies of boxes, captures and graphs; pools of the host; 4: arrays, tiles and
 * managed memory. */
#define LOCKSTEP_MIX 1 /* the usual one */
#define LOCKSTEP_MIX_OF_GRAPHS 3
#define LOCKSTEP_NEWEST_MIX 4
#define LOCKSTEP_SCENE 400
#define LOCKSTEP_FILLERS 128

/* Why a step was left out of the comparison. */
enum left_out {
    LEFT_OUT_NOT,
    LEFT_OUT_LARGE,    /* a copy or fill of more bytes than the host should spend */
    LEFT_OUT_LOSES,    /* it would take the device from the process */
    LEFT_OUT_WAITS,    /* it might wait forever, or depends on the order of streams */
    LEFT_OUT_UNKNOWN,  /* the model does not foresee the answer */
    LEFT_OUT_FORGED,   /* of a driver: a forged handle, context or pool */
    LEFT_OUT_CRASH,    /* of a driver: breaks a rule that is known to end the process */
    LEFT_OUT_VARIES,   /* of a driver: its answer depends on what else the process has */
    LEFT_OUT_OURS,     /* of a driver: only the simulator refuses it */
    LEFT_OUT_MUCH,     /* of a driver: would take much of its memory */
    LEFT_OUT_FOREIGN,  /* of a driver: at addresses that may be its own */
    LEFT_OUT_BREAKS,   /* of a driver: its pools are broken afterwards */
    LEFT_OUT_UNOWNED,  /* of a driver: releases references that are another one's, and frees what those still use */
    LEFT_OUT_KINDS
};
extern const char *const lockstep_left_out[LEFT_OUT_KINDS];

/* Random steps by call: made, and succeeded; and those left out, by call and reason. */
struct lockstep_counts {
    uint64_t made[VMM_CALL_COUNT], succeeded[VMM_CALL_COUNT], left_out[VMM_CALL_COUNT][LEFT_OUT_KINDS];
};

struct lockstep {
    char spec[96];
    uint64_t looks; /* complete ones so far */
    int kept;       /* 1 + the descriptor of the last export; 0: none is open */
    vmm_system *sys;
    struct sim_profile profile;
    struct model model;
    uint64_t *values;        /* by name */
    size_t value_room;
    unsigned char *host;     /* room for copies */
    unsigned char *steady;   /* what streams copy from: each byte is 7 more than the one before */
    uint64_t calls;          /* steps compared so far */
    uint64_t flip;           /* self-test: the prediction of this call is inverted; 0: no call */
    bool wide;               /* random calls make ranges of many mappings, sizes past 4 GiB, and name many devices at once */
    unsigned mix;            /* of the calls that random steps are made of: the older ones, up to LOCKSTEP_MIX for all */
    bool follows;            /* a transcript, whose calls a driver has made */
    bool choosy;             /* random calls that would be left out are drawn again, in older mixes too */
    bool refused, changed;   /* of the last step: it was refused; it may have changed the state */
    const char *rule;        /* of the last step: the rule on both sides, NULL for none */
    char difference[600];    /* "" while both are the same */
    struct model_device *driver; /* what the driver reported of its devices; NULL: the system is a simulator */
    uint64_t skipped;        /* steps that are skipped on a driver */
    uint64_t unasked;        /* questions of complete checks that a driver cannot be asked */
    bool skip;               /* the last step was one of them */
    enum left_out left_out;  /* of the last step */
    bool ready;              /* streams and events exist */
    bool dead;               /* the driver's context is lost: no further step is valid */
    bool parted;             /* the last difference left system and model in different states */
    char signature[200];     /* of the difference: call, prediction, answer, without addresses */
    char reported[LOCKSTEP_TOLD]; /* of a driver's last step: result and the outputs that do not depend on placement */
    uint64_t destroyed;           /* user objects, by the last step */
    uint64_t late;                /* those that a driver has still to destroy */
    char more[LOCKSTEP_TOLD];     /* of that step: what recordings leave out, for transcripts */
    uint64_t told_from, told_size; /* addresses in this range are recorded, as offsets from its start */
    struct step *last;       /* where the next step is noted, for other processes to read; NULL for nowhere */
    char *scene;             /* the same for its context: LOCKSTEP_SCENE bytes; NULL for nowhere */
    uint64_t home, home_end; /* of a driver: addresses that are free except for the model's */
    uint64_t filler[LOCKSTEP_FILLERS]; /* of a driver: reservations that keep the model's out of the driver's chunks */
    const char *volatile *sweeping; /* what lockstep_close is destroying now, for who finds the process dead; NULL: not asked */
    size_t fillers;
};

/* Opens spec (a simulator or "cuda", with layers before it where wanted), initialises it, retains the primary context
 * of every device and makes the first one current. On failure returns false with the reason in difference. */
bool lockstep_open(struct lockstep *pair, const char *spec);

/* On a driver, first frees everything that the model holds; contexts stay. False when something else seems to be left,
 * which may affect later pairs of this process. */
bool lockstep_close(struct lockstep *pair);

/* Does spec name a driver? *backend: the spec to open. */
bool lockstep_names_driver(const char *spec, const char **backend);

/* Makes the step on both. False when they differ; the reason is in difference. */
bool lockstep_step(struct lockstep *pair, const struct step *step);

/* Compares everything that can be queried: objects, rights of every granule and location, attributes, properties, free
 * memory, bytes. False when they differ. */
bool lockstep_check(struct lockstep *pair);

/* Compares the objects that the system enumerates, without queries and without side effects. */
bool lockstep_check_objects(struct lockstep *pair);

/* Runs a script on a fresh pair; every: the number of steps between complete checks (0: none; objects are compared
 * after each step). Returns the index of the first step that differs, the step count when none does. */
size_t lockstep_run(const char *spec, const struct script *script, size_t every, uint64_t flip, char *difference,
                    size_t size);

/* The same for one difference: skips others, as long as both are in the same state after them. *clean becomes false
 * where lockstep_close returns false. */
size_t lockstep_run_for(const char *spec, const struct script *script, size_t every, const char *signature,
                        char *difference, size_t size, bool *clean);

/* The unit that sizes are written in: the devices' granularity. */
uint64_t lockstep_unit(const struct lockstep *pair);

/* ---- scripts ---- */

void steps_add(struct script *script, const struct step *step);
void steps_free(struct script *script);

/* An empty step of a call, all outputs given. */
struct step step_of(enum vmm_call_id call);

/* The argument of that parameter. */
struct step_arg *step_arg(struct step *step, const char *parameter);

/* One line, without newline. Returns what snprintf does. */
int step_print(const struct step *step, uint64_t unit, char *line, size_t size);

/* Reads what step_print wrote. False when the line is not a step; error then says where and why. */
bool step_parse(const char *line, uint64_t unit, struct step *step, char *error, size_t size);

/* "spec sim:h100" and one step a line; '#' starts a comment. */
void steps_write(FILE *file, const char *spec, uint64_t unit, const struct script *script);
bool steps_read(FILE *file, char *spec, size_t spec_size, struct script *script, char *error, size_t size);

/* ---- random calls ---- */

/* The source of choices: a seed, or bytes, of which each choice consumes as many as it needs, with zeros after the
 * last. */
struct chooser {
    uint64_t state;
    const unsigned char *bytes; /* NULL: state is the seed */
    size_t left;
};

uint64_t choose(struct chooser *chooser, uint64_t below);

/* Counts the step that lockstep_step was called with last. */
void lockstep_count(struct lockstep_counts *counts, const struct lockstep *pair, const struct step *step);

/* Why lockstep_step would leave the step out; nothing is called. */
enum left_out lockstep_foresee(struct lockstep *pair, const struct step *step);

/* What the model predicts for the step; nothing is called. */
vmm_result lockstep_predict(struct lockstep *pair, const struct step *step);

/* A random step that makes sense in the pair's state, named name. */
void lockstep_random(struct chooser *chooser, struct lockstep *pair, uint32_t name, struct step *step);

#endif
