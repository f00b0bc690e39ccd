/* SPDX-License-Identifier: Apache-2.0 */
#include "leak_holders.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "share_mark.h"
#include "share_inspect.h"
#include "stacks.h"
#include "units.h"

enum { ROOM_FOR_MORE = 24 }; /* "; and 12345 more" */

static void add(vmm_detail *detail, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(vmm_detail *detail, const char *format, ...)
{
    size_t length = strlen(detail->note);
    va_list args;
    va_start(args, format);
    vsnprintf(detail->note + length, sizeof detail->note - length, format, args);
    va_end(args);
}

/* Appends words and as many holders as fit, without the process in slot self. Returns the number of holders. */
static unsigned add_holders(vmm_detail *detail, const struct share_inspect *snapshot, unsigned block, const char *words,
                            unsigned self)
{
    char text[SHARE_HOLD_TEXT];
    unsigned reported = 0, more = 0;
    for (unsigned i = 0; i < snapshot->hold_count; i++) {
        const struct share_inspect_hold *hold = &snapshot->hold[i];
        if (hold->block != block || (hold->file < 0 && hold->slot == self))
            continue;
        if (hold->file >= 0 && hold->pid == os_pid())
            snprintf(text, sizeof text, "this process: descriptor %d", hold->file);
        else
            share_inspect_hold_text(hold, text);
        if (strlen(detail->note) + strlen(words) + strlen(text) + ROOM_FOR_MORE < sizeof detail->note) {
            add(detail, "%s%s", reported ? "; " : words, text);
            reported++;
        } else {
            more++;
        }
    }
    if (more)
        add(detail, "%s%u more", reported ? "; and " : words, more);
    return reported + more;
}

static const char *place(vmm_mem_location location, char text[32])
{
    snprintf(text, 32, "%s %d", location.type == VMM_MEM_LOCATION_TYPE_DEVICE ? "device" : "host node", location.id);
    return text;
}

/* ---- leaks ---- */

/* The live handle of a leak. Values of another backend are never shared. */
static const struct sim_handle *handle_of(const struct sim_process *process, const vmm_detail *leak)
{
    void *object = NULL;
    if (leak->nearest.kind != VMM_OBJECT_HANDLE ||
        slots_find(&process->handles, leak->nearest.value, &object) != SLOT_LIVE)
        return NULL;
    const struct sim_handle *handle = object;
    return handle->block && handle->block->shared ? handle : NULL;
}

static void note_holders(vmm_detail *leak, const struct sim_handle *handle, const struct share_inspect *snapshot, unsigned slot)
{
    char maker[SHARE_HOLD_TEXT], call[SHARE_HOLD_TEXT];
    for (unsigned i = 0; i < snapshot->block_count; i++) {
        const struct share_inspect_block *block = &snapshot->block[i];
        if (block->number != handle->block->shared)
            continue;
        if (handle->imported)
            add(leak, "; exported by %s: %s", share_inspect_named(block->pid, block->program, maker),
                share_inspect_call(block->call, call));
        else
            add_holders(leak, snapshot, i, "; also held by ", slot);
    }
}

/* ---- hints ---- */

static bool holds(const struct share_inspect *snapshot, unsigned block, unsigned slot)
{
    for (unsigned i = 0; i < snapshot->hold_count; i++)
        if (snapshot->hold[i].block == block && snapshot->hold[i].file < 0 && snapshot->hold[i].slot == slot)
            return true;
    return false;
}

/* Does this process itself have a descriptor of the block open? */
static bool has_descriptor(const struct share_inspect *snapshot, unsigned block)
{
    for (unsigned i = 0; i < snapshot->hold_count; i++)
        if (snapshot->hold[i].block == block && snapshot->hold[i].file >= 0 && snapshot->hold[i].pid == os_pid())
            return true;
    return false;
}

/* Fills in the hint for a block that other processes hold. True when it is a leak: this process itself has a descriptor. */
static bool make_hint(vmm_detail *hint, const struct share_inspect *snapshot, unsigned index, unsigned slot)
{
    const struct share_inspect_block *block = &snapshot->block[index];
    char size[UNITS_TEXT], where[32];
    bool own = has_descriptor(snapshot, index);
    const uint32_t stack = block->pid == os_pid() ? stacks_kept(block->call) : 0;
    *hint = (vmm_detail){.severity = own ? VMM_SEVERITY_LEAK : VMM_SEVERITY_HINT,
                         .rule = vmm_rule_row(own ? VMM_RULE_LEAK_DESCRIPTOR : VMM_RULE_LEAK_ELSEWHERE)->id,
                         .function = share_call_name(block->call),
                         .call = share_call_number(block->call),
                         .nearest = {.created_stack = stack}}; /* the place of the export */
    units_text(block->size, size);
    if (block->team)
        add(hint, "a multicast object of %s for %u devices", size, block->team);
    else if (block->location.type == VMM_MEM_LOCATION_TYPE_INVALID)
        add(hint, "a memory pool");
    else
        add(hint, "%s on %s", size, place(block->location, where));
    if (!add_holders(hint, snapshot, index, ", held by ", slot) && block->out)
        add(hint, ", held by a descriptor %s",
            snapshot->reported ? "in no process: in a message, or in a process of another user"
                      : "somewhere: this system does not report which process has it");
    return own;
}

/* Did this process create it? */
static bool is_own(const struct share_inspect_block *block, const struct share *share)
{
    return block->team ? block->pid == os_pid() : block->home == share->serial;
}

static void add_hints(struct leak_holders *out, const struct share *share, const struct share_inspect *snapshot)
{
    /* analysers: clang-analyzer-unix.Malloc is wrong: the caller frees the hints */
    out->hint = heap.calloc(snapshot->block_count + 1, sizeof *out->hint);
    for (unsigned i = 0; out->hint && i < snapshot->block_count; i++)
        if (is_own(&snapshot->block[i], share) && !holds(snapshot, i, share->slot))
            out->leaks += make_hint(&out->hint[out->count++], snapshot, i, share->slot);
}

/* ---- leaks and hints together ---- */

static void look(const struct sim_process *process, struct share *share, vmm_detail *leaks, uint64_t count, bool reported,
                 struct leak_holders *out)
{
    struct share_inspect *snapshot = NULL;
    if (share->blocks) /* only shared blocks have anything to report */
        snapshot = reported ? share_inspect(share) : share_inspect_own(share);
    if (!snapshot)
        return;
    for (uint64_t i = 0; i < count; i++) {
        const struct sim_handle *handle = handle_of(process, &leaks[i]);
        if (handle && handle->block->share == share)
            note_holders(&leaks[i], handle, snapshot, share->slot);
    }
    if (share == process->machine->share && process->machine->processes == process && !process->machine_next)
        add_hints(out, share, snapshot);
    share_inspect_free(snapshot);
}

struct leak_holders sim_leak_holders(const struct sim_process *process, vmm_detail *leaks, uint64_t count, bool reported)
{
    struct leak_holders out = {NULL, 0, 0};
    if (sim_process_forked(process)) /* shared memory belongs to the parent */
        return out;
    if (process->machine->share)
        look(process, process->machine->share, leaks, count, reported, &out);
    for (struct share *node = process->machine->nodes; node; node = node->next)
        look(process, node, leaks, count, reported, &out);
    return out;
}
