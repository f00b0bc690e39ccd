/* SPDX-License-Identifier: Apache-2.0 */
/* world_record.h - a driver's answers from every state of the small world, as a compact file.
 *
 *   calls 865
 *   k 0 INVALID_VALUE                    each answer once, by number: result, outputs, "moved" for another state
 *   k 1 SUCCESS ptr=w+0 moved
 *   s 0 1 0x34 7 ...                     state 0: answer 1 for the first call, answer 0 for the next 34, ...
 *   s 1 =12 4 =852                       state 1: 12 answers as in the line before, answer 4, 852 as before
 *
 * States are numbered in the order of the search, calls in the order of the alphabet, so the file is valid for the same
 * search with the same alphabet. "-" is a call that does not apply, "not made" one that is skipped on a driver; '!'
 * marks an answer that the model did not predict. Recordings of parts may follow one another in a file, in the order of
 * their states: each begins with its own "calls", and counts its answers from 0.
 */
#ifndef CUVMM_WORLD_RECORD_H
#define CUVMM_WORLD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct record {
    FILE *file;
    bool reading;
    size_t calls;
    char **answers;
    size_t count, room;
    uint32_t *line, *before; /* answers of this state and of the one before, by call */
    size_t state;            /* of this line */
};

/* Starts to write. */
void world_record_begin(struct record *record, FILE *file, size_t calls);

/* Starts to read. False when the head is not that of a recording with this many calls. */
bool world_record_open(struct record *record, FILE *file, size_t calls);

/* Writes one answer of the current state; ends that state's answers. */
void world_record_put(struct record *record, size_t call, const char *answer);
void world_record_state(struct record *record, size_t state);

/* Reads the next state's answers. False at the end of the file; *error is then NULL or describes what is wrong with
 * it. */
bool world_record_next(struct record *record, const char **error);

/* The answer read for a call. */
const char *world_record_answer(const struct record *record, size_t call);

void world_record_close(struct record *record);

#endif
