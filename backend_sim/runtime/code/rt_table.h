/* SPDX-License-Identifier: Apache-2.0 */
/* rt_table.h - values by address, found without a lock while others are added.
 *
 *     put(address of vectorAdd, symbol)      one writer at a time: the caller's lock
 *     get(address of vectorAdd)  -> symbol   any thread at any time
 *
 *     slots:  | key, value | - | key, value | key, NULL |      NULL: removed; the key may come back
 *
 * A table that has become too small stays in memory behind its successor, because a reader might still be in it: together they
 * are no larger than the last one.
 */
#ifndef SIM_RUNTIME_RT_TABLE_H
#define SIM_RUNTIME_RT_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct rt_slots;
struct rt_table {
    struct rt_slots *_Atomic slots;
};

/* NULL: there is none. key is not NULL. */
void *rt_table_get(struct rt_table *table, const void *key);
/* Sets the value; false when memory is out, which it is not for a key that was there before. Writers exclude each other. */
bool rt_table_put(struct rt_table *table, const void *key, void *value);
/* Removes the value. */
void rt_table_remove(struct rt_table *table, const void *key);

#endif
