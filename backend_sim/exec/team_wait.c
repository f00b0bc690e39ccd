/* SPDX-License-Identifier: Apache-2.0 */
#include "team_wait.h"

#include "objects.h"
#include "os_share.h"
#include "team_share.h"

bool team_wait_for(struct team_wait *wait, const struct sim_process *process, const struct sim_handle *object)
{
    uint64_t now = os_milliseconds(), most = UINT64_C(1000) * process->options.team_wait;
    if (!wait->began)
        wait->began = now;
    wait->again = now - wait->began < most && team_others_may_join(object->block);
    return wait->again;
}

vmm_result team_wait_refuse(const struct team_wait *wait, enum vmm_rule_id rule, const struct sim_handle *object)
{
    const struct team *team = object->block->team;
    uint64_t waited = os_milliseconds() - wait->began;
    vmm_object nearest = sim_object_handle(object);
    vmm_result result = vmm_detail_refuse(rule, object->value, team->wanted, &nearest);
    if (!object->block->shared)
        return result;
    if (waited >= 1000)
        vmm_detail_note("%u of %u devices were added; the call waited %llu second%s for the others (team_wait=)", team->members,
                        team->wanted, (unsigned long long)(waited / 1000), waited < 2000 ? "" : "s");
    else
        vmm_detail_note("%u of %u devices were added", team->members, team->wanted);
    return result;
}

void team_wait_sleep(struct team_wait *wait, struct sim_process *process)
{
    wait->again = false;
    sim_machine_unlock(process->machine);
    os_sleep();
    sim_machine_lock(process->machine);
}
