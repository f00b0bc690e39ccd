/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_maker.h - internals of random calls: lockstep_random.c and lockstep_random_pool.c make valid ones, lockstep_spoil.c makes
 * them wrong.
 */
#ifndef CUVMM_LOCKSTEP_MAKER_H
#define CUVMM_LOCKSTEP_MAKER_H

#include "lockstep.h"

/* What a random step is made from. */
struct maker {
    struct chooser *dice;
    struct model *model;
    uint64_t unit;  /* the devices' granularity */
    struct step *step;
    bool wide;
    unsigned mix;
};

/* One kind of call. */
struct maker_row {
    enum vmm_call_id call;
    unsigned weight;
    void (*make)(const struct maker *m); /* NULL: the step is whole as step_of makes it */
};

#define PICK(m, list) ((list)[choose((m)->dice, sizeof(list) / sizeof(list)[0])])

static inline bool one_in(const struct maker *m, uint64_t n)
{
    return choose(m->dice, n) == 0;
}

static inline struct step_arg literal(uint64_t value)
{
    return (struct step_arg){0, value};
}

static inline void maker_set(const struct maker *m, const char *parameter, struct step_arg value)
{
    *step_arg(m->step, parameter) = value;
}

/* Copies and fills in the order of a stream, and copies of boxes; the same of captures and graphs. */
const struct maker_row *maker_box_rows(size_t *count);
const struct maker_row *maker_graph_rows(size_t *count);
/* Arrays and their tiles; managed memory. */
const struct maker_row *maker_array_rows(size_t *count);
const struct maker_row *maker_managed_rows(size_t *count);
void maker_spoil_box(const struct maker *m);
/* Makes wrong what an argument of that kind of a graph's call reads. */
void maker_spoil_node(const struct maker *m, size_t i, enum vmm_param_kind kind);

struct step_arg maker_stream(const struct maker *m);
/* A stream that is being captured; false, and nothing stored, where none is. */
bool maker_captured_stream(const struct maker *m, struct step_arg *stream);
/* Where bytes are kept of memory on a device that it has access to; another address where there is none. */
struct step_arg maker_box_place(const struct maker *m, int device);
/* A copy of a box: its extent and its sides, for the rights of the device. */
void maker_box(const struct maker *m, int device);
/* What is not a graph, node or instance. */
struct step_arg maker_old_object(const struct maker *m);
/* The device whose context a stream is of. */
int maker_device_of(const struct maker *m, struct step_arg stream);

/* Calls of memory pools and of several streams, of which a mix has this many kinds. */
const struct maker_row *maker_pool_rows(size_t *count);

/* What is not an array, or not one of the kind. */
struct step_arg maker_old_array(const struct maker *m);

/* No pool, or one that was destroyed. */
struct step_arg maker_old_pool(const struct maker *m);

/* An address in an allocation of a pool, near bytes that the model keeps; false where there is none. */
bool maker_block_place(const struct maker *m, struct step_arg *at);

/* Most of these calls should succeed, so that pools have something in them. */
bool maker_spares(enum vmm_call_id call);

/* An address as an offset from a name, which later steps may still have. */
struct step_arg maker_place(const struct maker *m, uint64_t address);
/* An address near bytes that the model keeps, in memory that the device has access to where there is some. */
struct step_arg maker_byte_place(const struct maker *m, int device);
/* The value of width bytes there, as far as the model keeps them. */
uint64_t maker_value_near(const struct maker *m, struct step_arg at, unsigned width);

/* Values near existing objects, and far from them. */
struct step_arg maker_address(const struct maker *m);
uint64_t maker_size(const struct maker *m, uint64_t right);
struct step_arg maker_handle(const struct maker *m);

/* Makes one argument of the step wrong, or only unusual. */
void maker_spoil(const struct maker *m);

#endif
