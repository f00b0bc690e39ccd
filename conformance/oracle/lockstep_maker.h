/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_maker.h - internals of random calls: lockstep_random.c makes valid ones, lockstep_spoil.c makes them wrong.
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

/* Values near existing objects, and far from them. */
struct step_arg maker_address(const struct maker *m);
uint64_t maker_size(const struct maker *m, uint64_t right);
struct step_arg maker_handle(const struct maker *m);

/* Makes one argument of the step wrong, or only unusual. */
void maker_spoil(const struct maker *m);

#endif
