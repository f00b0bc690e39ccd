/* SPDX-License-Identifier: Apache-2.0 */
/* team_wait.h - calls that wait until all devices of a team were added, as the documents say of binding and mapping.
 *
 *   process A   add dev0   bind ......... waits ......... bound
 *   process B                    import   add dev1
 *
 * They wait where another process has the object, or may come to have it: then somebody may still add what is missing. Where
 * nobody else can, a driver's call would never end, and here it is refused at once; and after team_wait= seconds it is
 * refused as well, since a test that hangs tells less than one that fails. While a call waits the machine is not locked, and
 * from then on the call begins anew: what it was given may be gone.
 */
#ifndef SIM_TEAM_WAIT_H
#define SIM_TEAM_WAIT_H

#include "process.h"

struct team_wait {
    bool asked;     /* the call is to be made again */
    uint64_t began; /* in milliseconds; 0: it did not wait yet */
};

/* Is the call to wait for this object, whose team is not complete? Then it returns, whatever, and nothing is changed. */
bool team_wait_for(struct team_wait *wait, const struct sim_process *process, const struct sim_handle *object);

/* Refused: it is not to wait, or has waited. */
vmm_result team_wait_refuse(const struct team_wait *wait, enum vmm_rule_id rule, const struct sim_handle *object);

/* Lets others go on for a moment. */
void team_wait_nap(struct team_wait *wait, struct sim_process *process);
/* The same where the call was to wait. False: it is done. */
static inline bool team_wait_again(struct team_wait *wait, struct sim_process *process)
{
    if (!wait->asked)
        return false;
    team_wait_nap(wait, process);
    return true;
}

#endif
