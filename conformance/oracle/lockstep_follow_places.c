/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_follow_places.c - see lockstep_follow_places.h. */
#include "lockstep_follow_places.h"

#include <stdlib.h>
#include <string.h>

#include "lockstep_parts.h"
#include "tap.h"

static void *grown(void *old, size_t size)
{
    void *larger = realloc(old, size);
    if (!larger)
        tap_bail("the host has no memory left");
    return larger;
}

void places_clear(struct follow_places *places)
{
    free(places->place);
    free(places->value);
    *places = (struct follow_places){0};
}

static uint64_t driver_value(const struct follow_places *places, struct step_arg arg)
{
    return (arg.name < places->values ? places->value[arg.name] : 0) + arg.add;
}

static const struct follow_place *place_at(const struct follow_places *places, uint64_t at)
{
    for (size_t i = 0; i < places->count; i++)
        if (at - places->place[i].start < places->place[i].size)
            return &places->place[i];
    return NULL;
}

static void rename_arg(const struct follow_places *places, struct step_arg *arg)
{
    const uint64_t at = driver_value(places, *arg);
    const struct follow_place *place = place_at(places, at);
    if (place)
        *arg = (struct step_arg){place->name, at - place->start};
}

/* Where the simulator has room for it, seen from what the driver's lay beside. */
static uint64_t hint(const struct follow_places *places, const struct lockstep *pair, uint64_t start, uint64_t size, uint64_t alignment)
{
    for (size_t i = 0; i < places->count; i++) {
        const struct follow_place *beside = &places->place[i];
        const uint64_t here = lockstep_value(pair, (struct step_arg){beside->name, 0});
        const uint64_t behind = here + beside->size, before = here - size;
        if (here && beside->start + beside->size == start && !(alignment && behind % alignment))
            return behind;
        if (here && start + size == beside->start && !(alignment && before % alignment))
            return before;
    }
    return start;
}

static bool has_address(const struct step *step)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)step->call, &count);
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= params[i].kind == VMM_PARAM_FILL_NODE || params[i].kind == VMM_PARAM_KERNEL_NODE;
    return any;
}

void places_translate(const struct follow_places *places, const struct lockstep *pair, struct step *step, uint64_t value)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)step->call, &count);
    if (step->call == VMM_CALL_mem_address_reserve && value) {
        *step_arg(step, "addr") = (struct step_arg){.add = hint(places, pair, value, step_arg(step, "size")->add,
                                                                             step_arg(step, "alignment")->add)};
        return;
    }
    for (size_t i = 0; i < count && i < STEP_ARGS; i++)
        if (params[i].kind == VMM_PARAM_ADDRESS)
            rename_arg(places, &step->arg[i]);
    for (size_t i = 0; i < STEP_OPS; i++)
        rename_arg(places, &step->op[i].address);
    for (size_t i = 0; i < 2; i++)
        rename_arg(places, &step->side[i].base);
    if (has_address(step))
        rename_arg(places, &step->node[1][0]);
}

static void keep_value(struct follow_places *places, uint32_t name, uint64_t value)
{
    if (name >= places->values) {
        const size_t room = name * 2 + 1;
        places->value = grown(places->value, room * sizeof *places->value);
        memset(places->value + places->values, 0, (room - places->values) * sizeof *places->value);
        places->values = room;
    }
    places->value[name] = value;
}

void places_note(struct follow_places *places, const struct step *step, bool succeeded, uint64_t value)
{
    if (!succeeded)
        return;
    if (step->call == VMM_CALL_mem_address_free) {
        const uint64_t start = driver_value(places, *step_arg((struct step *)(uintptr_t)step, "ptr"));
        for (size_t i = 0; i < places->count; i++)
            if (places->place[i].start == start)
                places->place[i] = places->place[--places->count];
    }
    if (step->name && value)
        keep_value(places, step->name, value);
    if (step->call != VMM_CALL_mem_address_reserve || !value)
        return;
    if (places->count == places->room)
        places->place = grown(places->place, (places->room = places->room * 2 + 16) * sizeof *places->place);
    places->place[places->count++] = (struct follow_place){step->name, value, step_arg((struct step *)(uintptr_t)step, "size")->add};
}
