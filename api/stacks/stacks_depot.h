/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_depot.h - an append-only store of records in which equal keys are one record.
 *
 *     depot_add(KIND, "abc", 3, &value, 4)   ->  ref 5      a new record   [head | key, padded | value]
 *     depot_add(KIND, "abc", 3, ..)          ->  ref 5      as it was: the first value stays
 *     depot_find(KIND, "abd", 3)             ->  0          absent
 *
 * Records never move, change or end, so a reader needs no lock: a reference is found by one atomic load of a slot, and whatever
 * is behind it was written before. A signal or a fork may occur between any two instructions. The store is a private mapping,
 * of which a forked child gets a copy.
 */
#ifndef CUVMM_STACKS_DEPOT_H
#define CUVMM_STACKS_DEPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum depot_kind { DEPOT_STACK = 1, DEPOT_TEXT, DEPOT_MODULE, DEPOT_LOADED, DEPOT_PC, DEPOT_PYTHON, DEPOT_PYTHON_AT, DEPOT_KEPT };

/* The limit on the size of all records together, in bytes. Tests lower it. */
extern uint64_t depot_limit;

/* A record's reference; 0: absent. */
uint32_t depot_find(enum depot_kind kind, const void *key, size_t size);
/* The record with that key, created if it is absent. 0: the depot is full, or there is no memory for it. */
uint32_t depot_add(enum depot_kind kind, const void *key, size_t size, const void *value, size_t value_size);

/* A record's key, which begins at a multiple of 8 bytes, its size, and its value. The reference must be one that was returned. */
const void *depot_key(uint32_t ref);
size_t depot_size(uint32_t ref);
const void *depot_value(uint32_t ref);

/* Is it the reference of a record of that kind? The number must be 0 or one that was returned. */
bool depot_is(enum depot_kind kind, uint32_t ref);

/* Was a record refused? */
bool depot_full(void);

#endif
