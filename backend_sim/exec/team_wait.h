/* SPDX-License-Identifier: Apache-2.0 */
/* team_wait.h - calls that wait until all devices of a team were added, as the documentation requires for binds and maps.
 *
 *   process A   add dev0   bind ......... waits ......... bound
 *   process B                    import   add dev1
 *
 * A call waits if a peer has the object or may still get it, and so can add the missing devices. If no peer can, a driver's
 * call would never end, so cuvmm refuses it at once. After team_wait= seconds cuvmm refuses the call as well, because a
 * failing test is more useful than one that hangs. A waiting call does not hold the machine's lock, and afterwards it starts
 * over, because its arguments may name objects that have ended meanwhile.
 */
#ifndef SIM_TEAM_WAIT_H
#define SIM_TEAM_WAIT_H

#include "process.h"

struct team_wait {
    bool again;     /* make the call again */
    uint64_t began; /* in milliseconds; 0: the call has not waited yet */
};

/* Must the call wait for this object, whose team is incomplete? If so, the call returns, with any result, and changes nothing. */
bool team_wait_for(struct team_wait *wait, const struct sim_process *process, const struct sim_handle *object);

/* Refuses a call that does not wait, or has waited long enough. */
vmm_result team_wait_refuse(const struct team_wait *wait, enum vmm_rule_id rule, const struct sim_handle *object);

/* Releases the lock for a moment, so that other threads and processes make progress. */
void team_wait_sleep(struct team_wait *wait, struct sim_process *process);
/* The same if the call must wait. False: the call is complete. */
static inline bool team_wait_again(struct team_wait *wait, struct sim_process *process)
{
    if (!wait->again)
        return false;
    team_wait_sleep(wait, process);
    return true;
}

#endif
