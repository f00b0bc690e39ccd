/* SPDX-License-Identifier: Apache-2.0 */
/* world_alphabet.c - every call that the search tries from every state of the small world. */
#include <string.h>

#include "world.h"

struct letters {
    struct script *script;
    uint64_t unit;
    int devices;
};

#define EACH(i, list) for (size_t i = 0; i < sizeof(list) / sizeof(list)[0]; i++)

static struct step_arg literal(uint64_t value)
{
    return (struct step_arg){0, value};
}

static struct step_arg named(uint32_t name, uint64_t add)
{
    return (struct step_arg){name, add};
}

static struct step_arg at(uint64_t offset)
{
    return named(WORLD_WINDOW, offset);
}

static void add(struct letters *l, const struct step *step)
{
    steps_add(l->script, step);
}

static void set(struct step *step, const char *parameter, struct step_arg value)
{
    *step_arg(step, parameter) = value;
}

/* The step once more with one parameter changed. */
static void spoilt(struct letters *l, const struct step *good, const char *parameter, struct step_arg value)
{
    struct step step = *good;
    step.name = 0;
    set(&step, parameter, value);
    add(l, &step);
}

/* ---- reservations ---- */

static void reservations(struct letters *l)
{
    const uint64_t g = l->unit;
    struct step good = step_of(VMM_CALL_mem_address_reserve);
    good.name = WORLD_R1;
    set(&good, "size", literal(g));
    set(&good, "addr", at(0));
    add(l, &good);
    struct step second = good;
    second.name = WORLD_R2;
    set(&second, "size", literal(2 * g));
    set(&second, "addr", at(g));
    add(l, &second);
    good.name = 0;
    const uint64_t sizes[] = {0, 1, 4096, g + 4096, 3 * g, (uint64_t)1 << 47, ~(uint64_t)0, ~(uint64_t)0 - (g - 1)};
    EACH(i, sizes) spoilt(l, &good, "size", literal(sizes[i]));
    const uint64_t alignments[] = {1, 3, 4096, g, 3 * g, (uint64_t)1 << 46, (uint64_t)1 << 63};
    EACH(i, alignments) spoilt(l, &good, "alignment", literal(alignments[i]));
    const struct step_arg hints[] = {literal(0), at(g), at(2 * g), at(3 * g), at(4096), literal((uint64_t)1 << 60)};
    EACH(i, hints) spoilt(l, &good, "addr", hints[i]);
    spoilt(l, &good, "flags", literal(1));
    spoilt(l, &good, "ptr", literal(0));
    const struct step_arg places[] = {at(0), at(g), at(2 * g), at(3 * g), at(4096), at(g + 1), literal(0)};
    const uint64_t lengths[] = {0, g, 2 * g, 3 * g, g - 1};
    EACH(i, places) EACH(j, lengths)
    {
        struct step step = step_of(VMM_CALL_mem_address_free);
        set(&step, "ptr", places[i]);
        set(&step, "size", literal(lengths[j]));
        add(l, &step);
    }
}

/* ---- memory ---- */

static void bad_props(struct letters *l, const struct step *good)
{
    struct step step = *good;
    step.name = 0;
    const vmm_mem_location locations[] = {{0, 0}, {1, -1}, {1, 99}, {2, 0}, {3, 99}, {4, 0}, {5, 0}};
    EACH(i, locations)
    {
        step.prop.location = locations[i];
        add(l, &step);
    }
    step = *good;
    step.name = 0;
    const int types[] = {0, 2, 3};
    EACH(i, types)
    {
        step.prop.type = types[i];
        add(l, &step);
    }
    step = *good;
    step.name = 0;
    step.prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_FABRIC;
    add(l, &step);
}

static void memory(struct letters *l)
{
    const uint64_t g = l->unit;
    struct step good = step_of(VMM_CALL_mem_create), step;
    good.name = WORLD_A;
    set(&good, "size", literal(g));
    add(l, &good);
    step = good;
    step.name = WORLD_B;
    step.prop.location.id = l->devices - 1;
    set(&step, "size", literal(2 * g));
    add(l, &step);
    const uint64_t sizes[] = {0, 1, 4096, g + 4096, (uint64_t)1 << 44, ~(uint64_t)0};
    EACH(i, sizes) spoilt(l, &good, "size", literal(sizes[i]));
    spoilt(l, &good, "flags", literal(1));
    spoilt(l, &good, "handle", literal(0));
    spoilt(l, &good, "prop", literal(0));
    bad_props(l, &good);
    const struct step_arg handles[] = {named(WORLD_A, 0), named(WORLD_B, 0), named(WORLD_STALE, 0), literal(0),
                                       literal(0xdead0), named(WORLD_A, 1)};
    EACH(i, handles)
    {
        step = step_of(VMM_CALL_mem_release);
        set(&step, "handle", handles[i]);
        add(l, &step);
        step = step_of(VMM_CALL_mem_get_allocation_properties_from_handle);
        set(&step, "handle", handles[i]);
        add(l, &step);
        spoilt(l, &step, "prop", literal(0));
    }
    add(l, &(struct step){.call = VMM_CALL_mem_get_info, .arg = {{0, 1}, {0, 1}}});
}

/* ---- mappings ---- */

static void map(struct letters *l, struct step_arg ptr, uint64_t size, struct step_arg handle, uint64_t offset,
                uint64_t flags)
{
    struct step step = step_of(VMM_CALL_mem_map);
    set(&step, "ptr", ptr);
    set(&step, "size", literal(size));
    set(&step, "offset", literal(offset));
    set(&step, "handle", handle);
    set(&step, "flags", literal(flags));
    add(l, &step);
}

static void maps(struct letters *l)
{
    const uint64_t g = l->unit;
    const struct step_arg handles[] = {named(WORLD_A, 0), named(WORLD_B, 0), named(WORLD_STALE, 0), literal(0),
                                       literal(0xdead0)};
    const struct step_arg places[] = {at(0), at(g), at(2 * g), at(3 * g), at(4096), at(g + 1), literal(0),
                                      at((uint64_t)1 << 38)};
    const uint64_t sizes[] = {g, 2 * g}, odd[] = {0, 4096, g + 4096, 3 * g, 4 * g, ~(uint64_t)0};
    EACH(h, handles) EACH(p, places) EACH(s, sizes) map(l, places[p], sizes[s], handles[h], 0, 0);
    for (int h = 0; h < 2; h++)
        for (int p = 0; p < 3; p++) {
            EACH(s, odd) map(l, places[p], odd[s], handles[h], 0, 0);
            map(l, places[p], g, handles[h], g, 0);
            map(l, places[p], g, handles[h], 4096, 0);
            map(l, places[p], g * (1 + (uint64_t)h), handles[h], 0, 1);
        }
}

static void unmaps(struct letters *l)
{
    const uint64_t g = l->unit;
    const struct step_arg places[] = {at(0), at(g), at(2 * g), at(3 * g), at(4096), at(g + 4096), at(1),
                                      at(g - 4096), literal(0), at((uint64_t)1 << 38)};
    const uint64_t sizes[] = {0, 1, 4096, g - 4096, g, g + 4096, 2 * g, 3 * g, 4 * g, 8 * g, ~(uint64_t)0};
    EACH(p, places) EACH(s, sizes)
    {
        struct step step = step_of(VMM_CALL_mem_unmap);
        set(&step, "ptr", places[p]);
        set(&step, "size", literal(sizes[s]));
        add(l, &step);
    }
}

/* ---- rights ---- */

static vmm_mem_access_desc desc(int type, int id, int flags)
{
    return (vmm_mem_access_desc){{type, id}, flags};
}

static void grant(struct letters *l, struct step_arg ptr, uint64_t size, vmm_mem_access_desc a, vmm_mem_access_desc b,
                  uint64_t count)
{
    struct step step = step_of(VMM_CALL_mem_set_access);
    set(&step, "ptr", ptr);
    set(&step, "size", literal(size));
    set(&step, "count", literal(count));
    step.desc[0] = a;
    step.desc[1] = b;
    add(l, &step);
}

static void grants(struct letters *l)
{
    const uint64_t g = l->unit;
    const struct step_arg places[] = {at(0), at(g), at(2 * g), at(3 * g), at(4096), literal(0), at((uint64_t)1 << 38)};
    const uint64_t sizes[] = {g, 2 * g, 3 * g, 4 * g}, odd[] = {0, 1, 4096, g + 4096, ~(uint64_t)0};
    const int rights[] = {0, 1, 3};
    const vmm_mem_access_desc good = desc(1, 0, 3);
    EACH(p, places) EACH(s, sizes) EACH(r, rights) for (int d = 0; d < l->devices; d++)
        grant(l, places[p], sizes[s], desc(1, d, rights[r]), good, 1);
    EACH(s, odd) grant(l, at(0), odd[s], good, good, 1), grant(l, at(g), odd[s], good, good, 1);
    const vmm_mem_access_desc bad[] = {desc(1, 0, 2),  desc(1, 0, 4), desc(1, 0, 7), desc(1, -1, 3), desc(1, 99, 3),
                                       desc(0, 0, 3),  desc(2, 0, 3), desc(3, 0, 3), desc(4, 0, 3),  desc(5, 0, 3),
                                       desc(2, 0, 0), desc(1, 0, 1)};
    EACH(b, bad) EACH(s, sizes)
    {
        grant(l, at(0), sizes[s], bad[b], good, 1);
        grant(l, at(g), sizes[s], good, bad[b], 2);
        grant(l, at(0), sizes[s], bad[b], good, 2);
    }
    grant(l, at(0), g, good, good, 0);
    struct step step = step_of(VMM_CALL_mem_set_access);
    set(&step, "ptr", at(0));
    set(&step, "size", literal(g));
    set(&step, "count", literal(1));
    spoilt(l, &step, "desc", literal(0));
}

/* ---- questions ---- */

static void questions(struct letters *l)
{
    const uint64_t g = l->unit;
    const struct step_arg places[] = {at(0), at(g - 1), at(g), at(2 * g + 12345), at(3 * g), at(4 * g - 1), literal(0),
                                      at((uint64_t)1 << 38)};
    const vmm_mem_location who[] = {{1, 0}, {1, 1}, {1, -1}, {1, 99}, {2, 0}, {3, 0}, {0, 0}, {4, 0}, {5, 0}};
    const int attributes[] = {0, 1, 2, 3, 4, 9, 11, 12, 13, 14, 16, 18, 19, 20, 99};
    struct step step;
    EACH(p, places)
    {
        step = step_of(VMM_CALL_mem_get_access);
        set(&step, "ptr", places[p]);
        EACH(w, who) step.desc[0].location = who[w], add(l, &step);
        spoilt(l, &step, "flags", literal(0));
        spoilt(l, &step, "location", literal(0));
        step = step_of(VMM_CALL_mem_retain_allocation_handle);
        set(&step, "addr", places[p]);
        add(l, &step);
        spoilt(l, &step, "handle", literal(0));
        step = step_of(VMM_CALL_pointer_get_attribute);
        set(&step, "ptr", places[p]);
        EACH(i, attributes) spoilt(l, &step, "attribute", literal((uint64_t)attributes[i]));
        step = step_of(VMM_CALL_mem_get_address_range);
        set(&step, "dptr", places[p]);
        add(l, &step);
    }
}

static void uses(struct letters *l)
{
    const uint64_t g = l->unit;
    const uint64_t places[] = {0, g - 8, g, 2 * g - 8, 2 * g, 3 * g - 8, 3 * g, 4 * g - 8}, sizes[] = {0, 8, 16};
    EACH(p, places) EACH(s, sizes)
    {
        struct step step = step_of(VMM_CALL_memset_d8);
        set(&step, "dst", at(places[p]));
        set(&step, "value", literal(1 + p * 3 + s));
        set(&step, "n", literal(sizes[s]));
        add(l, &step);
        step = step_of(VMM_CALL_memcpy_dtoh);
        set(&step, "src", at(places[p]));
        set(&step, "byte_count", literal(sizes[s]));
        add(l, &step);
    }
}

void world_alphabet(int devices, uint64_t unit, struct script *alphabet)
{
    struct letters l = {alphabet, unit, devices};
    reservations(&l);
    memory(&l);
    maps(&l);
    unmaps(&l);
    grants(&l);
    questions(&l);
    uses(&l);
}
