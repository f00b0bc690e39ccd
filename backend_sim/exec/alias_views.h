/* SPDX-License-Identifier: Apache-2.0 */
/* alias_views.h - old bytes that an address may still show after a write to the same memory through another address.
 *
 *     through M1, x is written to the first half of a unit that held o:
 *
 *     memory          [ x x x x o o o o ]     as it is
 *     view of M1      [ x x x x o o o o ]     as it was, and what M1 wrote itself
 *     view of others  [ o o o o o o o o ]     as it was when the first of it was written; they wrote nothing here
 *
 * Views are kept per unit, and only for units that were written. Forgetting all views takes constant time; their storage is
 * reused.
 */
#ifndef SIM_ALIAS_VIEWS_H
#define SIM_ALIAS_VIEWS_H

#include <stddef.h>
#include <stdint.h>

/* Every mapping consists of whole units. Larger units make large fills faster, and kernels with many fences slower. */
enum { VIEW_UNIT = 2048 };

/* Identifies a view: the memory's id, the offset in the memory / VIEW_UNIT, and the mapping's number. */
struct view_key {
    uint64_t block, unit;
    uint32_t mapping; /* VIEW_OF_OTHERS: any mapping that wrote nothing here */
};

#define VIEW_OF_OTHERS 0

struct view {
    struct view_key key;
    uint64_t age;
    unsigned char bytes[VIEW_UNIT];
};

struct alias_views {
    struct view **slot; /* hash table by key; at most half of the slots are used */
    size_t room, count;
    uint64_t age; /* number of calls to forget; a view with an earlier age is forgotten */
};

/* NULL when there is none. */
struct view *alias_views_find(const struct alias_views *views, struct view_key key);
/* Adds a view that does not exist yet; the caller fills its bytes. Its address is stable until alias_views_clear. Returns
 * NULL, with nothing changed, when memory is exhausted. */
struct view *alias_views_add(struct alias_views *views, struct view_key key);

void alias_views_forget(struct alias_views *views);
/* Frees the memory. A zeroed struct has no views. */
void alias_views_clear(struct alias_views *views);

#endif
