/* SPDX-License-Identifier: Apache-2.0 */
/* Machines as JSON. See machine.h. */
#include "machine_seen.h"

#ifndef CUVMM_HAVE_JANSSON

bool machine_json(FILE *out, FILE *err, const struct machine_seen *seen, size_t count)
{
    (void)out;
    (void)seen;
    (void)count;
    fprintf(err, "cuvmm machine: this cuvmm was built without jansson, which writes JSON; install its development "
                 "files and build again\n");
    return false;
}

#else

#include <inttypes.h>
#include <jansson.h>

#include "share_mark.h"

/* JSON's numbers of this library are signed. */
static json_t *number(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *person(uint64_t pid, const char *program)
{
    json_t *object = json_object();
    json_object_set_new(object, "pid", number(pid));
    json_object_set_new(object, "program", json_string(program));
    return object;
}

/* Nothing of a call that is not known. */
static void set_call(json_t *object, uint64_t call)
{
    const char *name = share_call_name(call);
    if (!name)
        return;
    json_object_set_new(object, "call", number(share_call_number(call)));
    json_object_set_new(object, "function", json_string(name));
}

static json_t *numbers(const uint64_t *values, unsigned count)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(array, number(values[i]));
    return array;
}

static json_t *process_of(const struct share_inspect *who, const struct share_inspect_process *process)
{
    json_t *object = person(process->pid, process->program);
    json_object_set_new(object, "stopped", json_boolean(process->stopped));
    json_object_set_new(object, "devices", numbers(process->device, who->devices));
    json_object_set_new(object, "nodes", numbers(process->node, who->nodes));
    return object;
}

static json_t *hold_of(const struct share_inspect_hold *hold)
{
    json_t *object = person(hold->pid, hold->program);
    if (hold->file >= 0) {
        json_object_set_new(object, "descriptor", json_integer(hold->file));
        return object;
    }
    if (hold->object)
        json_object_set_new(object, "bound_to", number(hold->object));
    else
        json_object_set_new(object, "handles", number(hold->handles));
    set_call(object, hold->call);
    return object;
}

static json_t *block_of(const struct share_inspect *who, unsigned index)
{
    const struct share_inspect_block *block = &who->block[index];
    json_t *object = json_object(), *maker = person(block->pid, block->program), *holders = json_array();
    char place[32];
    set_call(maker, block->call);
    json_object_set_new(maker, "left", json_boolean(block->orphan));
    for (unsigned i = 0; i < who->hold_count; i++)
        if (who->hold[i].block == index)
            json_array_append_new(holders, hold_of(&who->hold[i]));
    json_object_set_new(object, "number", number(block->number));
    json_object_set_new(object, "size", number(block->size));
    if (block->team) {
        json_object_set_new(object, "team", number(block->team));
        json_object_set_new(object, "devices_added", number(block->members));
    } else if (block->location.type == VMM_MEM_LOCATION_TYPE_INVALID) {
        json_object_set_new(object, "pool", json_true());
    } else {
        json_object_set_new(object, "location", json_string(machine_place(block->location, place)));
    }
    json_object_set_new(object, "fabric", json_boolean(block->fabric));
    json_object_set_new(object, "exporter", maker);
    json_object_set_new(object, "holders", holders);
    json_object_set_new(object, "descriptor_left", json_boolean(block->out));
    json_object_set_new(object, "descriptor_seen", who->reported ? json_boolean(block->found) : json_null());
    return object;
}

static json_t *machine_of(const struct machine_seen *seen)
{
    const struct share_inspect *who = seen->who;
    json_t *object = json_object(), *processes = json_array(), *blocks = json_array();
    for (unsigned i = 0; i < who->process_count; i++)
        json_array_append_new(processes, process_of(who, &who->process[i]));
    for (unsigned i = 0; i < who->block_count; i++)
        json_array_append_new(blocks, block_of(who, i));
    json_object_set_new(object, "name", json_string(seen->name));
    json_object_set_new(object, "profile", json_string(who->profile));
    json_object_set_new(object, "processes", processes);
    json_object_set_new(object, "exported", blocks);
    json_object_set_new(object, "device_memory", number(who->device_memory));
    json_object_set_new(object, "devices_used", numbers(who->device_used, who->devices));
    json_object_set_new(object, "node_memory", number(who->node_memory));
    json_object_set_new(object, "nodes_used", numbers(who->node_used, who->nodes));
    return object;
}

bool machine_json(FILE *out, FILE *err, const struct machine_seen *seen, size_t count)
{
    json_t *all = json_object(), *machines = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(machines, machine_of(&seen[i]));
    bool written = json_object_set_new(all, "machines", machines) == 0 && json_dumpf(all, out, JSON_INDENT(2)) == 0;
    json_decref(all);
    if (written)
        fputs("\n", out);
    else
        fputs("cuvmm machine: the JSON cannot be written\n", err);
    return written;
}

#endif
