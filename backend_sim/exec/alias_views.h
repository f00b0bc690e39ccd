/* SPDX-License-Identifier: Apache-2.0 */
/* alias_views.h - old bytes: what an address of a memory may still show after the memory was written through another one.
 *
 *     through M1, x is written to the first half of a unit that held o:
 *
 *     memory          [ x x x x o o o o ]     as it is
 *     view of M1      [ x x x x o o o o ]     as it was, and what M1 wrote itself
 *     view of others  [ o o o o o o o o ]     as it was when the first of it was written; they wrote nothing here
 *
 * Kept by units, of what was written only. All views are forgotten at once, which takes no time; their room is used
 * again.
 */
#ifndef SIM_ALIAS_VIEWS_H
#define SIM_ALIAS_VIEWS_H

#include <stddef.h>
#include <stdint.h>

/* Every mapping is made of whole ones. Larger ones make large fills faster, and kernels with many fences slower. */
enum { VIEW_UNIT = 2048 };

/* Which one: a memory by its id, offset / VIEW_UNIT in it, and a mapping by its number. */
struct view_key {
    uint64_t block, unit;
    uint32_t mapping; /* VIEW_OF_OTHERS: any that wrote nothing here */
};

#define VIEW_OF_OTHERS 0

struct view {
    struct view_key key;
    uint64_t age;
    unsigned char bytes[VIEW_UNIT];
};

struct alias_views {
    struct view **slot; /* by the key's hash, at most half of them used */
    size_t room, count;
    uint64_t age; /* how often they were forgotten: views of an earlier age are */
};

/* NULL when there is none. */
struct view *alias_views_find(const struct alias_views *views, struct view_key key);
/* A view of which there is none; its bytes are to be filled. It stays where it is until alias_views_clear. NULL when memory
 * is out: nothing has changed. */
struct view *alias_views_add(struct alias_views *views, struct view_key key);

void alias_views_forget(struct alias_views *views);
/* Gives the memory back; zero bytes are views without any. */
void alias_views_clear(struct alias_views *views);

#endif
