/* SPDX-License-Identifier: Apache-2.0 */
/* A machine in lines. See machine.h. */
#include <inttypes.h>

#include "machine_seen.h"
#include "text.h"

const char *machine_place(vmm_mem_location location, char text[32])
{
    if (location.type == VMM_MEM_LOCATION_TYPE_DEVICE)
        snprintf(text, 32, "device %d", location.id);
    else if (location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA)
        snprintf(text, 32, "host node %d", location.id);
    else
        snprintf(text, 32, "location type %d, %d", (int)location.type, location.id);
    return text;
}

static void put_use(FILE *out, uint64_t bytes, vmm_mem_location location, const char **between)
{
    char size[TEXT_SIZE_ROOM], place[32];
    if (!bytes)
        return;
    fprintf(out, "%s%s on %s", *between, text_size_short(bytes, size), machine_place(location, place));
    *between = ", ";
}

static void put_process(FILE *out, const struct share_inspect *who, const struct share_inspect_process *process)
{
    const char *between = "";
    char name[SHARE_HOLD_TEXT];
    fprintf(out, "  %s%s: ", share_inspect_named(process->pid, process->program, name),
            process->stopped ? ", stopped" : "");
    for (unsigned i = 0; i < who->devices; i++)
        put_use(out, process->device[i], (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, (int)i}, &between);
    for (unsigned i = 0; i < who->nodes; i++)
        put_use(out, process->node[i], (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, (int)i}, &between);
    fprintf(out, "%s\n", between[0] ? "" : "nothing by itself");
}

static void put_hold(FILE *out, const struct share_inspect_hold *hold)
{
    char text[SHARE_HOLD_TEXT];
    fprintf(out, "    %s %s", hold->file < 0 ? "held by" : "open in", share_inspect_hold_text(hold, text));
    if (hold->handles > 1)
        fprintf(out, ", %" PRIu64 " handles", hold->handles);
    fputs("\n", out);
}

/* "on device 0", "multicast for 2 devices, 1 added". Returns text. */
static const char *machine_block_place(const struct share_inspect_block *block, char text[64])
{
    char place[32];
    if (block->team)
        snprintf(text, 64, "multicast for %u devices, %u added", block->team, block->members);
    else if (block->location.type == VMM_MEM_LOCATION_TYPE_INVALID)
        snprintf(text, 64, "that list a memory pool"); /* pool_table.h */
    else
        snprintf(text, 64, "on %s", machine_place(block->location, place));
    return text;
}

static void put_block(FILE *out, const struct share_inspect *who, unsigned index)
{
    const struct share_inspect_block *block = &who->block[index];
    char size[TEXT_SIZE_ROOM], place[64], name[SHARE_HOLD_TEXT], call[SHARE_HOLD_TEXT];
    fprintf(out, "  exported %" PRIu64 ", %s %s%s, by %s%s: %s\n", block->number, text_size_short(block->size, size),
            machine_block_place(block, place), block->fabric ? ", for a fabric" : "",
            share_inspect_named(block->pid, block->program, name), block->orphan ? ", which has left" : "",
            share_inspect_call(block->call, call));
    for (unsigned i = 0; i < who->hold_count; i++)
        if (who->hold[i].block == index)
            put_hold(out, &who->hold[i]);
    if (block->out && !who->reported)
        fputs("    open somewhere: this system does not report which process has it\n", out);
    else if (block->out && !block->found)
        fputs("    open in no process: in a message, or in a process of another user\n", out);
}

static void put_total(FILE *out, uint64_t used, uint64_t all, vmm_mem_location location)
{
    char taken[TEXT_SIZE_ROOM], whole[TEXT_SIZE_ROOM], place[32];
    fprintf(out, "  %s: %s of %s in use\n", machine_place(location, place), text_size_short(used, taken),
            text_size_short(all, whole));
}

void machine_text(FILE *out, const struct machine_seen *seen)
{
    const struct share_inspect *who = seen->who;
    fprintf(out, "%s%s (%s), %u process%s, %u exported\n", seen->name[0] ? "machine " : "a machine without a name",
            seen->name, who->profile, who->process_count, who->process_count == 1 ? "" : "es", who->block_count);
    for (unsigned i = 0; i < who->process_count; i++)
        put_process(out, who, &who->process[i]);
    for (unsigned i = 0; i < who->block_count; i++)
        put_block(out, who, i);
    for (unsigned i = 0; i < who->devices; i++)
        put_total(out, who->device_used[i], who->device_memory,
                  (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, (int)i});
    for (unsigned i = 0; i < who->nodes; i++)
        if (who->node_used[i])
            put_total(out, who->node_used[i], who->node_memory,
                      (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, (int)i});
}
