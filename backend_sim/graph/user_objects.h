/* SPDX-License-Identifier: Apache-2.0 */
/* user_objects.h - data of the program that graphs hold references to, freed by a function of the program when the last one goes.
 *
 *     create O, 1 reference      1
 *     G retains O                2      a copy of G holds one more
 *     release O                  1
 *     G is destroyed             0      the function is called once the caller has released its lock: user_objects_call
 *
 * The calls refuse as those of vmm.h do, in the thread's detail. The caller does all locking.
 */
#ifndef SIM_USER_OBJECTS_H
#define SIM_USER_OBJECTS_H

#include "graphs.h"

struct user_object;
struct user_held;

/* Gives a new object its value. */
vmm_result user_object_create(struct sim_graphs *all, uint64_t *value, void *data, void (*destroy)(void *data), unsigned count,
                              unsigned flags);
vmm_result user_object_retain(const struct sim_graphs *all, uint64_t value, unsigned count);
vmm_result user_object_release(struct sim_graphs *all, uint64_t value, unsigned count);

enum { USER_OBJECT_NO_DESTRUCTOR_SYNC = 1, USER_OBJECT_MOVE = 1 };
/* Gives the graph of that value references of an object; with the flag MOVE they are the caller's. */
vmm_result user_object_hold(const struct sim_graphs *all, vmm_graph value, uint64_t of, unsigned count, unsigned flags);
/* Takes references from the graph, as many as it has. */
vmm_result user_object_let_go(struct sim_graphs *all, vmm_graph value, uint64_t of, unsigned count);

/* What a graph holds, a copy of it holds as well. False when memory is out. */
bool user_objects_copy(struct graph_more *to, const struct graph_more *from);
void user_objects_drop(struct sim_graphs *all, struct graph_more *more);

/* Takes the objects that have ended, and calls their functions: without the lock. */
struct user_object *user_objects_ended(struct sim_graphs *all);
void user_objects_call(struct user_object *ended);

/* Frees all of them; no function is called any more. */
void user_objects_close(struct sim_graphs *all);

#endif
