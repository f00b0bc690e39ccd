/* SPDX-License-Identifier: Apache-2.0 */
#include "call_fabric.h"

#include <string.h>

#include "share_nodes.h"
#include "sim.h"
#include "team_share.h"

#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC

static vmm_result refuse(enum vmm_rule_id rule, uint64_t value, const char *why)
{
    vmm_result result = vmm_detail_refuse(rule, value, 0, NULL);
    if (why[0])
        vmm_detail_note("%s", why);
    return result;
}

/* ---- create ---- */

vmm_result sim_fabric_look(struct sim_process *process, struct sim_channel *channel)
{
    struct sim_machine *machine = process->machine;
    channel->number = imex_lowest(process->options.imex, &machine->hardware, channel->why);
    if (channel->number == IMEX_NONE || !machine->bytes) /* without contents nothing is shared */
        return VMM_SUCCESS;
    channel->place.channel = (uint32_t)channel->number;
    if (!imex_domain(process->options.imex, &machine->hardware, &channel->place.domain, channel->why) ||
        !sim_machine_share(machine, channel->why))
        return sim_machine_unreachable(channel->why);
    return VMM_SUCCESS;
}

/* ---- export ---- */

vmm_result sim_fabric_check_export(const struct sim_process *process, const struct sim_handle *handle)
{
    char why[SHARE_WHY];
    vmm_object nearest = sim_object_handle(handle);
    if (imex_usable(process->options.imex, &process->machine->hardware, handle->block->fabric.channel, why) != IMEX_NONE)
        return VMM_SUCCESS;
    vmm_result result = vmm_detail_refuse(VMM_RULE_EXPORT_FABRIC_IMEX, FABRIC, 0, &nearest);
    vmm_detail_note("%s", why);
    return result;
}

vmm_result sim_fabric_export(struct sim_machine *machine, struct sim_block *block, void *place)
{
    struct share_label label;
    if (!sim_machine_begin(machine))
        return sim_machine_unreachable(share_why(machine->share));
    const char *wrong = block->team ? team_share_binds(machine, block) : NULL;
    if (!wrong)
        wrong = share_name(machine->share, machine, block, &label);
    sim_machine_end(machine);
    if (wrong)
        return refuse(VMM_RULE_EXPORT_SYSTEM, 0, wrong);
    fabric_handle_write(place, &block->fabric, &label);
    return VMM_SUCCESS;
}

/* ---- import ---- */

/* The number of a handle in messages: its last eight bytes, which sender and receiver share. */
static uint64_t shown(const void *bytes)
{
    uint64_t last;
    memcpy(&last, (const char *)bytes + VMM_FABRIC_HANDLE_SIZE - sizeof last, sizeof last);
    return last;
}

/* Checks the domain and the channel that the handle itself names, before any node's shared state is read. */
static vmm_result check_place(const struct sim_process *process, uint64_t value, const struct imex_place *place)
{
    const struct sim_profile *profile = &process->machine->profile;
    uint64_t domain;
    char why[SHARE_WHY];
    if (imex_lowest(process->options.imex, profile, why) == IMEX_NONE)
        return refuse(VMM_RULE_IMPORT_FABRIC_IMEX, value, why);
    if (!imex_domain(process->options.imex, profile, &domain, why))
        return refuse(VMM_RULE_IMPORT_SYSTEM, 0, why);
    if (domain != place->domain)
        return refuse(VMM_RULE_IMPORT_FABRIC_DOMAIN, value, "");
    return imex_usable(process->options.imex, profile, place->channel, why) != IMEX_NONE
               ? VMM_SUCCESS
               : refuse(VMM_RULE_IMPORT_FABRIC_IMEX, value, why);
}

static vmm_result take_block(struct sim_machine *machine, struct share *node, uint64_t value,
                             const struct share_label *label, const struct imex_place *place, struct sim_block **block)
{
    char why[SHARE_WHY];
    if (!share_lock(node))
        return sim_machine_unreachable(share_why(node));
    share_tidy(node);
    enum share_found found = share_import_named(node, machine, label, place, block, why);
    share_unlock(node);
    if (found == SHARE_FOUND)
        return VMM_SUCCESS;
    return refuse(found == SHARE_UNKNOWN ? VMM_RULE_IMPORT_FABRIC_GONE : VMM_RULE_IMPORT_SYSTEM,
                  found == SHARE_UNKNOWN ? value : 0, why);
}

vmm_result sim_fabric_find(struct sim_process *process, const void *bytes, struct sim_block **block)
{
    struct sim_machine *machine = process->machine;
    struct imex_place place;
    struct share_label label;
    char why[SHARE_WHY];
    uint64_t value = shown(bytes);
    if (!sim_profile_has(&machine->profile, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED))
        return refuse(VMM_RULE_IMPORT_FABRIC, value, "this machine has no fabric handles (attribute 128)");
    if (!fabric_handle_read(bytes, &place, &label) || !machine->bytes) /* a shadow has no nodes */
        return refuse(VMM_RULE_IMPORT_FABRIC, value, "");
    vmm_result result = check_place(process, value, &place);
    if (result != VMM_SUCCESS)
        return result;
    bool held_up;
    struct share *node = share_node(machine, label.machine, &held_up, why);
    if (!node && held_up)
        return sim_machine_unreachable(why);
    if (!node)
        return why[0] ? refuse(VMM_RULE_IMPORT_SYSTEM, 0, why)
                      : refuse(VMM_RULE_IMPORT_FABRIC_GONE, value, "the node that exported it no longer exists");
    result = take_block(machine, node, value, &label, &place, block);
    share_nodes_tidy(machine);
    return result;
}
