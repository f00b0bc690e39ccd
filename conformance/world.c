/* world.c - breadth-first search over the states of the small world. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#define NO_STATE UINT32_MAX

enum { KEY = 12, GRANULES = 4, REBUILDS_PER_SYSTEM = 200 };

/* A state and the shortest way there: the state before, and the call that led from it. */
struct state {
    uint8_t key[KEY];
    uint32_t before;
    uint32_t call;
};

struct world {
    const struct world_options *options;
    struct world_report *report;
    struct script alphabet;
    struct lockstep pair;
    char spec[64];
    struct state *states;
    size_t room;
    uint32_t *table; /* state numbers by hash of their keys */
    size_t table_size;
    unsigned rebuilds;
};

/* ---- states ---- */

/* key: reservations | A alive, references | B alive, references | per granule: which memory starts here, its rights.
 * False when the model's state is outside the world. */
static bool key_of(struct world *w, uint8_t key[KEY])
{
    struct model *model = &w->pair.model;
    uint64_t base = w->pair.values[WORLD_WINDOW], unit = lockstep_unit(&w->pair);
    memset(key, 0, KEY);
    for (size_t i = 0; i < model->reservation_count; i++) {
        const struct model_reservation *r = &model->reservations[i];
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
    uint64_t h = 14695981039346656037u;
    for (int i = 0; i < KEY; i++)
        h = (h ^ key[i]) * 1099511628211u;
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
        script_add(path, &w->alphabet.steps[w->states[s].call]);
    }
}

static void prologue(struct world *w, struct script *script);

/* Keeps the shortest way to the difference. Returns false. */
static bool differ(struct world *w, uint32_t state, const struct step *last, const char *when)
{
    struct world_report *report = w->report;
    report->same = false;
    snprintf(report->difference, sizeof report->difference, "%s%s", when, w->pair.difference);
    prologue(w, &report->path);
    path_to(w, state, &report->path);
    if (last)
        script_add(&report->path, last);
    return false;
}

/* ---- going to a state ---- */

/* Finds the window, and makes A and B once so that their names are stale handles from the start. */
static void prologue(struct world *w, struct script *script)
{
    uint64_t unit = w->alphabet.steps[0].arg[1].add;
    struct step step = step_of(VMM_CALL_mem_address_reserve);
    step.name = WORLD_WINDOW;
    step_arg(&step, "size")->add = GRANULES * unit;
    script_add(script, &step);
    step = step_of(VMM_CALL_mem_address_free);
    step_arg(&step, "ptr")->name = WORLD_WINDOW;
    step_arg(&step, "size")->add = GRANULES * unit;
    script_add(script, &step);
    for (uint32_t name = WORLD_STALE; name <= WORLD_B; name++) {
        step = step_of(VMM_CALL_mem_create);
        step.name = name;
        step_arg(&step, "size")->add = unit;
        script_add(script, &step);
    }
    for (uint32_t name = WORLD_STALE; name <= WORLD_B; name++) {
        step = step_of(VMM_CALL_mem_release);
        step_arg(&step, "handle")->name = name;
        script_add(script, &step);
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
    prologue(w, &script);
    for (size_t i = 0; same && i < script.count; i++)
        same = lockstep_step(&w->pair, &script.steps[i]);
    script_free(&script);
    return same;
}

/* Takes everything away by calls, which is quicker than a new system. */
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
    while (going && model->reservation_count) {
        step_arg(&give_back, "ptr")->add = model->reservations[0].start;
        step_arg(&give_back, "size")->add = model->reservations[0].size;
        going = lockstep_step(&w->pair, &give_back) && w->pair.changed;
    }
    return going;
}

static bool go(struct world *w, uint32_t state)
{
    struct script path = {0};
    uint8_t key[KEY];
    bool swept = w->pair.sys && w->rebuilds++ < REBUILDS_PER_SYSTEM && sweep(w);
    bool same = (swept || !*w->pair.difference) && (swept || open_again(w));
    path_to(w, state, &path);
    for (size_t i = 0; same && i < path.count; i++)
        same = lockstep_step(&w->pair, &path.steps[i]);
    script_free(&path);
    if (same && key_of(w, key) && !memcmp(key, w->states[state].key, KEY))
        return true;
    return differ(w, state, NULL, "going to the state again: ");
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

/* A and B are made only where they are not; their names would be lost otherwise. */
static bool applies(const struct world *w, uint32_t state, const struct step *step)
{
    if (step->name == WORLD_A)
        return !w->states[state].key[1];
    if (step->name == WORLD_B)
        return !w->states[state].key[2];
    return true;
}

static void dump(struct world *w, uint32_t state, size_t call, const char *where, uint32_t next)
{
    if (!w->options->dump)
        return;
    const vmm_detail *detail = vmm_last_detail();
    fprintf(w->options->dump, "t s%u a%zu %d %s ", state, call, w->pair.refused ? (int)detail->result : 0,
            detail->rule ? detail->rule : "-");
    if (next == NO_STATE)
        fprintf(w->options->dump, "%s\n", where);
    else
        fprintf(w->options->dump, "s%u\n", next);
}

/* One call from one state. *moved: the pair is elsewhere now. False when both differ. */
static bool try_call(struct world *w, uint32_t state, uint32_t call, bool *moved)
{
    struct world_report *report = w->report;
    const struct step *step = &w->alphabet.steps[call];
    uint8_t key[KEY];
    *moved = false;
    report->transitions++;
    if (!lockstep_step(&w->pair, step))
        return differ(w, state, step, "");
    bool inside = key_of(w, key);
    report->refused += w->pair.refused;
    if (inside && !memcmp(key, w->states[state].key, KEY)) {
        report->kept += !w->pair.refused;
        dump(w, state, call, "=", NO_STATE);
        return lockstep_check_objects(&w->pair) || differ(w, state, step, "after the call: ");
    }
    *moved = true;
    uint32_t next = inside ? state_of(w, key, state, call) : NO_STATE;
    report->changed += inside && !w->pair.refused;
    report->outside += !inside && !w->pair.refused;
    report->halfway += w->pair.refused;
    dump(w, state, call, "x", next);
    return (lockstep_check_objects(&w->pair) && quick_look(w)) || differ(w, state, step, "after the call: ");
}

static bool visit_state(struct world *w, uint32_t state)
{
    bool moved;
    if (!go(w, state))
        return false;
    if (!lockstep_check(&w->pair))
        return differ(w, state, NULL, "in the state: ");
    for (uint32_t call = 0; call < w->alphabet.count; call++) {
        if (!applies(w, state, &w->alphabet.steps[call]))
            continue;
        if (!try_call(w, state, call, &moved) || (moved && !go(w, state)))
            return false;
    }
    return true;
}

/* ---- the search ---- */

static void dump_alphabet(const struct world *w, uint64_t unit)
{
    char line[512];
    fprintf(w->options->dump, "spec %s\nunit %llu\n", w->spec, (unsigned long long)unit);
    for (size_t i = 0; i < w->alphabet.count; i++) {
        step_print(&w->alphabet.steps[i], unit, line, sizeof line);
        fprintf(w->options->dump, "a%zu %s\n", i, line);
    }
}

static void dump_states(const struct world *w)
{
    for (size_t i = 0; i < w->report->states; i++) {
        fprintf(w->options->dump, "s%zu ", i);
        for (int k = 0; k < KEY; k++)
            fprintf(w->options->dump, "%02x", w->states[i].key[k]);
        if (w->states[i].before != NO_STATE)
            fprintf(w->options->dump, " s%u a%u", w->states[i].before, w->states[i].call);
        fputc('\n', w->options->dump);
    }
}

static bool set_up(struct world *w)
{
    const struct world_options *o = w->options;
    uint8_t key[KEY];
    snprintf(w->spec, sizeof w->spec, "sim:%s%s", o->devices == 1 ? "h100" : "h200x2", o->strict ? ",strict" : "");
    struct lockstep probe;
    if (!lockstep_open(&probe, w->spec)) {
        snprintf(w->report->difference, sizeof w->report->difference, "%s", probe.difference);
        return false;
    }
    uint64_t unit = lockstep_unit(&probe);
    lockstep_close(&probe);
    world_alphabet(o->devices, unit, &w->alphabet);
    w->report->calls = w->alphabet.count;
    if (o->dump)
        dump_alphabet(w, unit);
    for (w->table_size = 1024; w->table_size < o->max_states * 2;)
        w->table_size *= 2;
    w->table = grown(NULL, w->table_size * sizeof *w->table);
    memset(w->table, 0xFF, w->table_size * sizeof *w->table);
    memset(key, 0, sizeof key);
    state_of(w, key, NO_STATE, 0);
    return true;
}

void world_explore(const struct world_options *options, struct world_report *report)
{
    struct world w = {.options = options, .report = report};
    memset(report, 0, sizeof *report);
    report->same = report->closed = true;
    if (!set_up(&w))
        report->same = false;
    for (uint32_t s = 0; report->same && s < report->states; s++)
        if (!visit_state(&w, s))
            break;
    report->closed &= report->same;
    if (options->dump && report->same)
        dump_states(&w);
    if (w.pair.sys)
        lockstep_close(&w.pair);
    script_free(&w.alphabet);
    free(w.states);
    free(w.table);
}
