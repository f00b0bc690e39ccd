/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - breadth-first search over the states of the small world. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "world_parts.h"

#include "fnv.h"

/* ---- states ---- */

/* key: reservations | A alive, references | B alive, references | per granule: which memory starts here, its rights.
 * False when the model's state is outside of the small world. */
static bool key_of(struct world *w, uint8_t key[KEY])
{
    struct model *model = &w->pair.model;
    uint64_t base = w->pair.values[WORLD_WINDOW], unit = lockstep_unit(&w->pair);
    memset(key, 0, KEY);
    for (size_t i = 0; i < model->reservation_count; i++) {
        const struct model_reservation *r = &model->reservations[i];
        if (r->tag == WORLD_KEEPER)
            continue;
        bool first = r->start == base && r->size == unit, second = r->start == base + unit && r->size == 2 * unit;
        if (!first && !second)
            return false;
        key[0] = (uint8_t)(key[0] | (first ? 1 : 2));
    }
    for (size_t i = 0; i < model->memory_count; i++) {
        const struct model_memory *memory = &model->memories[i];
        if ((memory->tag != WORLD_A && memory->tag != WORLD_B) || memory->references > w->options->max_refs)
            return false;
        key[memory->tag == WORLD_A ? 1 : 2] = (uint8_t)(0x80 | memory->references);
    }
    for (size_t i = 0; i < model->mapping_count; i++) {
        const struct model_mapping *p = &model->mappings[i];
        uint64_t granule = (p->start - base) / unit;
        if (p->start < base || granule >= GRANULES)
            return false;
        key[3 + 2 * granule] = model_memory_of(model, p->handle)->tag == WORLD_A ? 1 : 2;
        key[4 + 2 * granule] = (uint8_t)(p->device[0] | p->device[1] << 4);
    }
    return true;
}

static size_t hash(const uint8_t key[KEY])
{
    uint64_t h = fnv1a(FNV1A, key, KEY);
    return (size_t)(h ^ h >> 32);
}

static void *grown(void *array, size_t bytes)
{
    void *larger = realloc(array, bytes);
    if (!larger) {
        fputs("world: the host has no memory left\n", stderr);
        exit(255);
    }
    return larger;
}

/* The number of the state with this key; a new one when it was not seen before and call is given. */
static uint32_t state_of(struct world *w, const uint8_t key[KEY], uint32_t before, uint32_t call)
{
    size_t at = hash(key) & (w->table_size - 1);
    for (; w->table[at] != NO_STATE; at = (at + 1) & (w->table_size - 1))
        if (!memcmp(w->states[w->table[at]].key, key, KEY))
            return w->table[at];
    if (w->report->states == w->options->max_states) {
        w->report->closed = false;
        return NO_STATE;
    }
    if (w->report->states == w->room) {
        w->room = w->room ? w->room * 2 : 1024;
        w->states = grown(w->states, w->room * sizeof *w->states);
    }
    uint32_t number = (uint32_t)w->report->states++;
    memcpy(w->states[number].key, key, KEY);
    w->states[number].before = before;
    w->states[number].call = call;
    w->table[at] = number;
    return number;
}

/* ---- differences ---- */

static void path_to(struct world *w, uint32_t state, struct script *path)
{
    size_t length = 0;
    for (uint32_t s = state; w->states[s].before != NO_STATE; s = w->states[s].before)
        length++;
    for (size_t i = 0; i < length; i++) {
        uint32_t s = state;
        for (size_t back = length - 1 - i; back > 0; back--)
            s = w->states[s].before;
        steps_add(path, &w->alphabet.steps[w->states[s].call]);
    }
}

static void prologue(struct world *w, struct script *script);

/* Counts a driver's difference, with the shortest path when it is the first of its kind. */
static void count_difference(struct world *w, uint32_t state, const struct step *last, const char *when)
{
    struct script way = {0};
    struct table_row *row = table_count(w->options->table, w->pair.signature);
    if (!row)
        return;
    snprintf(row->difference, sizeof row->difference, "%.60s%.520s", when, w->pair.difference);
    prologue(w, &way);
    path_to(w, state, &way);
    if (last)
        steps_add(&way, last);
    table_script(row, &way, 0, lockstep_unit(&w->pair));
    steps_free(&way);
}

/* Keeps the shortest path to the difference. Returns false; on a driver true, as long as the search can continue. */
static bool differ(struct world *w, uint32_t state, const struct step *last, const char *when)
{
    struct world_report *report = w->report;
    if (w->driver && w->pair.signature[0]) {
        count_difference(w, state, last, when);
        report->same &= !w->pair.dead;
        return !w->pair.dead;
    }
    report->same = false;
    snprintf(report->difference, sizeof report->difference, "%s%s", when, w->pair.difference);
    prologue(w, &report->path);
    path_to(w, state, &report->path);
    if (last)
        steps_add(&report->path, last);
    return false;
}

/* ---- going to a state ---- */

/* Finds the window, and makes A and B once so that their names are stale handles from the start. On a driver a
 * reservation beside the window stays, so that the surrounding addresses stay the driver's. */
static void prologue(struct world *w, struct script *script)
{
    uint64_t unit = w->alphabet.steps[0].arg[1].add;
    struct step step = step_of(VMM_CALL_mem_address_reserve);
    if (w->driver) {
        step.name = WORLD_KEEPER;
        step_arg(&step, "size")->add = unit;
        steps_add(script, &step);
    }
    step.name = WORLD_WINDOW;
    step_arg(&step, "size")->add = GRANULES * unit;
    steps_add(script, &step);
    step = step_of(VMM_CALL_mem_address_free);
    step_arg(&step, "ptr")->name = WORLD_WINDOW;
    step_arg(&step, "size")->add = GRANULES * unit;
    steps_add(script, &step);
    for (uint32_t name = WORLD_STALE; name <= WORLD_B; name++) {
        step = step_of(VMM_CALL_mem_create);
        step.name = name;
        step_arg(&step, "size")->add = unit;
        steps_add(script, &step);
    }
    for (uint32_t name = WORLD_STALE; name <= WORLD_B; name++) {
        step = step_of(VMM_CALL_mem_release);
        step_arg(&step, "handle")->name = name;
        steps_add(script, &step);
    }
}

static bool open_again(struct world *w)
{
    struct script script = {0};
    if (w->pair.sys)
        lockstep_close(&w->pair);
    w->rebuilds = 0;
    bool same = lockstep_open(&w->pair, w->spec);
    w->pair.flip = w->options->flip;
    w->pair.last = w->options->last;
    prologue(w, &script);
    for (size_t i = 0; same && i < script.count; i++)
        same = lockstep_step(&w->pair, &script.steps[i]);
    steps_free(&script);
    if (same && w->driver) {
        w->pair.told_from = w->pair.values[WORLD_WINDOW];
        w->pair.told_size = GRANULES * lockstep_unit(&w->pair);
    }
    return same;
}

/* Frees everything by calls, which is quicker than a new system. */
static bool sweep(struct world *w)
{
    struct model *model = &w->pair.model;
    struct step unmap = step_of(VMM_CALL_mem_unmap), release = step_of(VMM_CALL_mem_release);
    struct step give_back = step_of(VMM_CALL_mem_address_free);
    bool going = true;
    while (going && model->mapping_count) {
        step_arg(&unmap, "ptr")->add = model->mappings[0].start;
        step_arg(&unmap, "size")->add = model->mappings[0].size;
        going = lockstep_step(&w->pair, &unmap) && w->pair.changed;
    }
    while (going && model->memory_count) {
        step_arg(&release, "handle")->add = model->memories[0].handle;
        going = lockstep_step(&w->pair, &release) && w->pair.changed;
    }
    for (size_t i = model->reservation_count; going && i-- > 0;) {
        if (model->reservations[i].tag == WORLD_KEEPER)
            continue;
        step_arg(&give_back, "ptr")->add = model->reservations[i].start;
        step_arg(&give_back, "size")->add = model->reservations[i].size;
        going = lockstep_step(&w->pair, &give_back) && w->pair.changed;
    }
    return going;
}

/* The path to the state from the empty one. */
static bool walk(struct world *w, uint32_t state)
{
    struct script path = {0};
    uint8_t key[KEY];
    bool same = true;
    path_to(w, state, &path);
    for (size_t i = 0; same && i < path.count; i++)
        same = lockstep_step(&w->pair, &path.steps[i]);
    steps_free(&path);
    return same && key_of(w, key) && !memcmp(key, w->states[state].key, KEY);
}

static bool go(struct world *w, uint32_t state)
{
    bool swept = w->pair.sys && !w->pair.parted && w->rebuilds++ < REBUILDS_PER_SYSTEM && sweep(w);
    bool same = (swept || !*w->pair.difference || w->driver) && (swept || open_again(w));
    if (same && walk(w, state))
        return true;
    if (w->driver && !w->pair.dead && open_again(w) && walk(w, state)) /* it may have another address */
        return true;
    if (w->driver)
        w->report->unreached++;
    differ(w, state, NULL, "returning to the state: ");
    return false;
}

/* ---- trying calls ---- */

/* Rights of every granule and device, where each mapping begins, free memory. */
static bool quick_look(struct world *w)
{
    struct step access = step_of(VMM_CALL_mem_get_access), base = step_of(VMM_CALL_pointer_get_attribute);
    struct step info = step_of(VMM_CALL_mem_get_info);
    step_arg(&base, "attribute")->add = VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR;
    for (uint64_t granule = 0; granule < GRANULES; granule++) {
        struct step_arg place = {WORLD_WINDOW, granule * lockstep_unit(&w->pair) + 4096};
        *step_arg(&access, "ptr") = *step_arg(&base, "ptr") = place;
        for (int device = 0; device < w->options->devices; device++) {
            access.desc[0].location.id = device;
            if (!lockstep_step(&w->pair, &access))
                return false;
        }
        if (!lockstep_step(&w->pair, &base))
            return false;
    }
    return lockstep_step(&w->pair, &info);
}

/* A and B are made only where they do not exist; their names would be lost otherwise. */
static bool applies(const struct world *w, uint32_t state, const struct step *step)
{
    if (step->name == WORLD_A)
        return !w->states[state].key[1];
    if (step->name == WORLD_B)
        return !w->states[state].key[2];
    return true;
}

/* Does the call name memory that has ended? Its value may be reused by now. */
static bool spared(const struct world *w, uint32_t state, const struct step *step)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(step->call, &count);
    for (size_t i = 0; w->driver && i < count && i < STEP_ARGS; i++) {
        uint32_t name = step->arg[i].name;
        if (params[i].kind == VMM_PARAM_HANDLE && name &&
            (name == WORLD_STALE || !w->states[state].key[name == WORLD_A ? 1 : 2]))
            return true;
    }
    return false;
}

/* One call from one state. *moved: the pair is in another state now. False when both differ. */
static bool try_call(struct world *w, uint32_t state, uint32_t call, bool *moved)
{
    struct world_report *report = w->report;
    const struct step *step = &w->alphabet.steps[call];
    uint8_t key[KEY];
    *moved = false;
    if (spared(w, state, step)) {
        report->spared++;
        world_keep(w, state, call, "not made", true, false);
        return true;
    }
    report->transitions++;
    if (!lockstep_step(&w->pair, step)) {
        world_keep(w, state, call, w->pair.reported, false, false);
        *moved = w->pair.parted || !key_of(w, key) || memcmp(key, w->states[state].key, KEY) != 0;
        return differ(w, state, step, "");
    }
    report->spared += w->pair.skip;
    bool inside = key_of(w, key);
    world_keep(w, state, call, w->pair.reported, true, !inside || memcmp(key, w->states[state].key, KEY) != 0);
    report->refused += w->pair.refused;
    if (inside && !memcmp(key, w->states[state].key, KEY)) {
        report->kept += !w->pair.refused && !w->pair.skip;
        world_dump_call(w, state, call, "=", NO_STATE);
        return lockstep_check_objects(&w->pair) || differ(w, state, step, "after the call: ");
    }
    *moved = true;
    uint32_t next = inside ? state_of(w, key, state, call) : NO_STATE;
    report->changed += inside && !w->pair.refused;
    report->outside += !inside && !w->pair.refused;
    report->halfway += w->pair.refused;
    world_dump_call(w, state, call, "x", next);
    return (lockstep_check_objects(&w->pair) && quick_look(w)) || differ(w, state, step, "after the call: ");
}

static bool visit_state(struct world *w, uint32_t state)
{
    bool moved;
    if (w->options->patience)
        alarm(w->options->patience);
    if (!go(w, state))
        return w->driver && !w->pair.dead;
    if (!lockstep_check(&w->pair) && !differ(w, state, NULL, "in the state: "))
        return false;
    for (uint32_t call = 0; call < w->alphabet.count; call++) {
        if (!applies(w, state, &w->alphabet.steps[call])) {
            world_keep(w, state, call, "-", true, false);
            continue;
        }
        if (!try_call(w, state, call, &moved))
            return false;
        if (moved && !go(w, state))
            return w->driver && !w->pair.dead;
    }
    if (w->options->record && !w->seeking)
        world_record_state(&w->record, state);
    return true;
}

/* ---- the search ---- */

static bool set_up(struct world *w)
{
    const struct world_options *o = w->options;
    uint8_t key[KEY];
    const char *backend;
    if (o->spec)
        snprintf(w->spec, sizeof w->spec, "%s", o->spec);
    else
        snprintf(w->spec, sizeof w->spec, "sim:%s%s", o->devices == 1 ? "h100" : "h200x2", o->strict ? ",strict" : "");
    w->driver = lockstep_names_driver(w->spec, &backend);
    w->until = time(NULL) + (time_t)o->budget;
    struct lockstep probe;
    if (!lockstep_open(&probe, w->spec)) {
        snprintf(w->report->difference, sizeof w->report->difference, "%s", probe.difference);
        return false;
    }
    uint64_t unit = lockstep_unit(&probe);
    w->report->lacking = probe.profile.devices < o->devices;
    lockstep_close(&probe);
    if (w->report->lacking) {
        snprintf(w->report->difference, sizeof w->report->difference, "\"%s\" has fewer than %d devices", w->spec,
                 o->devices);
        return false;
    }
    world_alphabet(o->devices, unit, &w->alphabet);
    w->report->calls = w->alphabet.count;
    if (o->dump)
        world_dump_alphabet(w, unit);
    if (o->record)
        world_record_begin(&w->record, o->record, w->alphabet.count);
    if (o->recording && !world_record_open(&w->record, o->recording, w->alphabet.count)) {
        snprintf(w->report->difference, sizeof w->report->difference, "the recording has a different alphabet");
        return false;
    }
    for (w->table_size = 1024; w->table_size < o->max_states * 2;)
        w->table_size *= 2;
    w->table = grown(NULL, w->table_size * sizeof *w->table);
    memset(w->table, 0xFF, w->table_size * sizeof *w->table);
    memset(key, 0, sizeof key);
    state_of(w, key, NO_STATE, 0);
    return true;
}

/* Does the search continue to state s? */
static bool another(struct world *w, uint32_t s)
{
    struct world_report *report = w->report;
    const char *error = NULL;
    if (!report->same || s >= report->states)
        return false;
    if (w->seeking)
        return s < w->options->from;
    if (w->options->to && s >= w->options->to) {
        report->ended = true;
        return false;
    }
    report->ended = w->options->budget && time(NULL) >= w->until;
    if (!report->ended && w->options->recording)
        report->ended = !world_recorded(w, s, &error);
    if (error) {
        snprintf(report->difference, sizeof report->difference, "the recording: %s", error);
        report->same = false;
    }
    return !report->ended && report->same;
}

/* Finds the states before options->from on the simulator, then switches to the driver. False when that is
 * impossible. */
static bool seek(struct world *w)
{
    struct world_report *report = w->report;
    char spec[sizeof w->spec];
    uint32_t s = 0;
    memcpy(spec, w->spec, sizeof spec);
    snprintf(w->spec, sizeof w->spec, "as-driver:sim:%s", w->options->devices == 1 ? "h100" : "h200x2");
    w->seeking = true;
    while (another(w, s) && visit_state(w, s))
        s++;
    w->seeking = false;
    memcpy(w->spec, spec, sizeof spec);
    lockstep_close(&w->pair);
    if (!report->same)
        return false;
    *report = (struct world_report){.calls = report->calls, .states = report->states, .same = true,
                                    .closed = report->closed};
    if (s < w->options->from)
        snprintf(report->difference, sizeof report->difference, "there are only %u states", s);
    w->until = time(NULL) + (time_t)w->options->budget;
    return s == w->options->from;
}

void world_explore(const struct world_options *options, struct world_report *report)
{
    struct world w = {.options = options, .report = report};
    memset(report, 0, sizeof *report);
    report->same = report->closed = true;
    if (!set_up(&w) || (options->from && !seek(&w)))
        report->same = false;
    for (uint32_t s = (uint32_t)options->from; another(&w, s);
         s++, report->visited += !options->recording || w.record.state == s - 1)
        if (!visit_state(&w, s))
            break;
    report->closed &= report->same && !report->ended && !report->unreached;
    if (options->dump && report->same)
        world_dump_states(&w);
    if (w.pair.sys)
        lockstep_close(&w.pair);
    if (w.record.file)
        world_record_close(&w.record);
    steps_free(&w.alphabet);
    free(w.states);
    free(w.table);
}
