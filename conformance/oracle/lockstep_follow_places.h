/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_follow_places.h - where a transcript's driver had its reservations, for a simulator that has them elsewhere.
 *
 *     driver      | r64: 4G | r70: 2G |        r64+5G is 1G into r70
 *     simulator   | r64: 4G |  ...  | r70: 2G |     so r70+1G is used there
 *
 * Pools lie elsewhere, and what is near them, so a reservation does not always find room at the driver's address.
 */
#ifndef CUVMM_LOCKSTEP_FOLLOW_PLACES_H
#define CUVMM_LOCKSTEP_FOLLOW_PLACES_H

#include "lockstep.h"

struct follow_place {
    uint32_t name;
    uint64_t start, size; /* of the driver's */
};

struct follow_places {
    struct follow_place *place; /* reservations that there are */
    size_t count, room;
    uint64_t *value;            /* the driver's, by name; 0: none */
    size_t values;
};

/* Names each address of the step by the reservation that it lay in. A reservation is asked for where the driver's lay, or beside
 * what it lay beside; value: of what the step made, 0 for nothing. */
void places_translate(const struct follow_places *places, const struct lockstep *pair, struct step *step, uint64_t value);

/* Notes what the driver made of the step as the transcript has it. */
void places_note(struct follow_places *places, const struct step *step, bool succeeded, uint64_t value);

void places_clear(struct follow_places *places);

#endif
