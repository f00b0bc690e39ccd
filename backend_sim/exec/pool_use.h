/* SPDX-License-Identifier: Apache-2.0 */
/* pool_use.h - warns about work that uses a pool's memory out of stream order.
 *
 *     S   alloc A ......... kernel on A ........ free A ........ kernel on A     POOL-USE-FREED: its new owner loses it
 *     T              kernel on A                                                 POOL-USE-UNORDERED: nothing makes T wait for S
 *     T                          kernel on A                                     POOL-FREE-IN-FLIGHT, at the free
 *
 * That a call has waited, or that a stream waits for an event, counts as an order of everything before it with everything after
 * it: a warning is always right, and a mistake after such a call may go unnoticed.
 */
#ifndef SIM_POOL_USE_H
#define SIM_POOL_USE_H

#include "pools.h"

/* The call uses [address, address + size) on the stream at the place; argument: the parameter concerned. Under the
 * machine's lock. */
void pool_use_at(struct sim_process *process, const struct queue_place *place, uint64_t address, uint64_t size,
                 const char *argument);
static inline void pool_use(struct sim_process *process, const struct queue_place *place, uint64_t address, uint64_t size,
                            const char *argument)
{
    if (process->chunks.count)
        pool_use_at(process, place, address, size, argument);
}

/* The call frees the allocation on the stream at the place. */
void pool_use_freeing(struct sim_process *process, const struct queue_place *place, const struct sim_piece *piece);

#endif
