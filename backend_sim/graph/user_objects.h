/* SPDX-License-Identifier: Apache-2.0 */
/* user_objects.h - data of the program that graphs hold references to, freed by a function of the program when the last one goes.
 *
 *     create O, 1 reference      1
 *     G retains O                2      a copy of G holds one more
 *     release O                  1
 *     G is destroyed             0      the function is called once the caller has released its lock: user_objects_call
 *
 * A program that releases what is another one's ends the object early, as on a driver: those that still name it find it ended.
 * The calls refuse like those of vmm.h, in the thread's detail. The caller does all locking.
 */
#ifndef SIM_USER_OBJECTS_H
#define SIM_USER_OBJECTS_H

#include "graphs.h"

struct user_held;
struct user_ending;

enum { USER_OBJECT_NO_DESTRUCTOR_SYNC = 1, USER_OBJECT_MOVE = 1 };

/* A copy of a graph holds the same references as the graph; a copy for an instance (all->instancing) holds one reference of
 * each. False when memory is out. */
bool user_objects_copy(struct graph_more *to, const struct graph_more *from, struct sim_graphs *all);
/* An instance that was updated holds what the graph holds, and nothing else. */
bool user_objects_update(struct graph_more *instance, struct graph_more *graph, struct sim_graphs *all);
void user_objects_drop(struct sim_graphs *all, struct graph_more *more);

/* Collects the ended objects and calls their functions, without the lock. */
struct user_ending *user_objects_ended(struct sim_graphs *all);
void user_objects_call(struct user_ending *ended);

/* Frees all of them; no more functions are called. */
void user_objects_close(struct sim_graphs *all);

#endif
