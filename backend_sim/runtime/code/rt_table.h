/* SPDX-License-Identifier: Apache-2.0 */
/* rt_table.h - a map from addresses to values, with lock-free lookup while entries are added.
 *
 *     put(address of vectorAdd, symbol)      one writer at a time: the caller's lock
 *     get(address of vectorAdd)  -> symbol   any thread at any time
 *
 *     slots:  | key, value | - | key, value | key, NULL |      NULL: removed; the key may come back
 *
 * A table that has become too small stays in memory after its successor, because a reader might still use it;
 * together the old tables are no larger than the last one.
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

/* NULL: no entry. key must not be NULL. */
void *rt_table_get(struct rt_table *table, const void *key);
/* Sets the value; false if memory is exhausted, which cannot happen for an existing key. The caller serialises writers. */
bool rt_table_put(struct rt_table *table, const void *key, void *value);
/* Removes the value. */
void rt_table_remove(struct rt_table *table, const void *key);

#endif
