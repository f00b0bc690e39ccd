/* SPDX-License-Identifier: Apache-2.0 */
/* All functions and variables of a module, and which of them each kernel uses. */
#include <string.h>

#include "ptx_lower.h"

static const char *name_of(struct ptx_lower *l, struct ptx_text name)
{
    return ptx_string(l->lasting, name);
}

/* ---- variables ---- */

static void number_shared(struct ptx_lower *l, const struct ptx_variable *v)
{
    struct ptx_shared *shared = &l->program->shareds[l->program->shared_count];
    ((struct ptx_variable *)(uintptr_t)v)->index = l->program->shared_count++;
    *shared = (struct ptx_shared){name_of(l, v->name), v->size, v->align};
}

static uint32_t count_shared(const struct ptx_module *module)
{
    uint32_t count = module->variable_count;
    for (const struct ptx_function *f = module->functions; f; f = f->next)
        count += f->local_count;
    return count;
}

static void fix_up(struct ptx_lower *l, struct ptx_global *g, const struct ptx_initial *i)
{
    struct ptx_fixup *fixup = &g->fixups[g->fixup_count++];
    const struct ptx_function *f = i->function;
    *fixup = (struct ptx_fixup){.at = i->at, .bytes = i->size, .shift = i->shift, .generic = i->generic, .of_routine = f != NULL,
                                .offset = (int64_t)i->value};
    fixup->number = f ? (f->alias ? f->alias : f)->number : i->variable->index;
    if (i->variable && i->variable->space != PTX_SPACE_GLOBAL && i->variable->space != PTX_SPACE_CONST)
        ptx_fail(l->context, i->variable->place, "the address of %.*s is unknown until a kernel runs",
                 PTX_TEXT(i->variable->name));
}

enum { INITIAL_MOST = 1 << 28 }; /* they are in host memory */

static void initialise(struct ptx_lower *l, struct ptx_global *g, const struct ptx_variable *v)
{
    uint32_t fixups = 0;
    unsigned char *bytes = NULL;
    for (const struct ptx_initial *i = v->initial; i; i = i->next)
        fixups += i->variable || i->function;
    g->fixups = ptx_alloc(l->lasting, fixups + 1u, sizeof *g->fixups);
    if (v->initial && v->size > INITIAL_MOST)
        ptx_fail(l->context, v->place, "%.*s has initial values, and more than %d bytes", PTX_TEXT(v->name), INITIAL_MOST);
    if (v->initial)
        bytes = ptx_alloc(l->lasting, (size_t)v->size, 1);
    for (const struct ptx_initial *i = v->initial; i; i = i->next)
        if (i->variable || i->function)
            fix_up(l, g, i);
        else
            memcpy(bytes + i->at, &i->value, i->size); /* every machine with such devices is little-endian */
    g->initial = bytes;
}

static uint8_t builtin_of(const struct ptx_function *f)
{
    static const char *const names[] = {[PTX_B_VPRINTF] = "vprintf", [PTX_B_ASSERTFAIL] = "__assertfail", [PTX_B_MALLOC] = "malloc",
                                        [PTX_B_FREE] = "free"};
    for (unsigned i = PTX_B_VPRINTF; i <= PTX_B_FREE && !f->has_body; i++)
        if (ptx_text_is(f->name, names[i]))
            return (uint8_t)i;
    return PTX_B_NONE;
}

/* No name of PTX is that of this variable. */
static void place_heap(struct ptx_program *p, const struct ptx_module *module)
{
    const struct ptx_function *f = module->functions;
    while (f && builtin_of(f) < PTX_B_MALLOC)
        f = f->next;
    if (!f)
        return;
    p->globals[p->global_count++] = (struct ptx_global){.name = "the heap of malloc", .size = PTX_HEAP_BYTES, .align = 256};
    p->heap = p->global_count;
}

/* Numbers first, so that initial values can name each other. */
static void place_variables(struct ptx_lower *l)
{
    const struct ptx_module *module = l->module;
    struct ptx_program *p = l->program;
    p->globals = ptx_alloc(l->lasting, module->variable_count + 2u, sizeof *p->globals);
    p->shareds = ptx_alloc(l->lasting, count_shared(module) + 1u, sizeof *p->shareds);
    for (struct ptx_variable *v = module->variables; v; v = v->next)
        if (v->space == PTX_SPACE_SHARED)
            number_shared(l, v);
        else
            v->index = p->global_count++;
    for (const struct ptx_function *f = module->functions; f; f = f->next)
        for (const struct ptx_variable *v = f->locals; v; v = v->next)
            if (v->space == PTX_SPACE_SHARED)
                number_shared(l, v);
    place_heap(p, module);
    for (const struct ptx_variable *v = module->variables; v; v = v->next) {
        if (v->space == PTX_SPACE_SHARED)
            continue;
        struct ptx_global *g = &p->globals[v->index];
        *g = (struct ptx_global){.name = name_of(l, v->name), .size = v->size, .align = v->align, .managed = v->managed,
                                 .constant = v->space == PTX_SPACE_CONST, .is_extern = v->linking == PTX_LINK_EXTERN};
        initialise(l, g, v);
        if (g->is_extern && !g->size) /* a declaration without .extern defines the variable, as with the driver's compiler */
            ptx_fail(l->context, v->place, "%.*s is declared .extern without a size, but no module defines it",
                     PTX_TEXT(v->name));
    }
}

enum { CONSTANT_MOST = 64 << 10 };

static void check_constants(struct ptx_lower *l)
{
    uint64_t at = 0;
    for (const struct ptx_variable *v = l->module->variables; v; v = v->next) {
        if (v->space != PTX_SPACE_CONST || v->size > CONSTANT_MOST)
            at += v->space == PTX_SPACE_CONST ? v->size : 0;
        else
            at = (at + v->align - 1) / v->align * v->align + v->size;
        if (at > CONSTANT_MOST)
            ptx_fail(l->context, v->place, "with %.*s there are %llu bytes of constant memory, but the maximum is %d",
                     PTX_TEXT(v->name),
                     (unsigned long long)at, CONSTANT_MOST);
    }
}

/* ---- functions ---- */

static bool is_called(const struct ptx_program *p, uint32_t number)
{
    for (uint32_t i = 0; i < p->routine_count; i++)
        for (uint32_t k = 0; k < p->routines[i].call_count; k++)
            if (p->routines[i].calls[k] == number)
                return true;
    return false;
}

static void make_routines(struct ptx_lower *l)
{
    const struct ptx_module *module = l->module;
    struct ptx_program *p = l->program;
    const char **refused = ptx_alloc(l->context, module->function_count + 1u, sizeof *refused);
    p->routines = ptx_alloc(l->lasting, module->function_count + 1u, sizeof *p->routines);
    p->routine_count = module->function_count;
    l->called = ptx_alloc(l->context, module->function_count + 1u, sizeof *l->called);
    p->kernels = ptx_alloc(l->lasting, module->function_count + 1u, sizeof *p->kernels);
    for (const struct ptx_function *f = module->functions; f; f = f->next) {
        struct ptx_routine *r = &p->routines[f->number];
        r->name = name_of(l, f->name);
        ptx_lower_function(l, f, r);
        refused[f->number] = l->refused;
        r->builtin = builtin_of(f);
    }
    for (const struct ptx_function *f = module->functions; f; f = f->next)
        if (!f->has_body && !f->alias && !f->is_entry && !p->routines[f->number].builtin && is_called(p, f->number))
            ptx_fail(l->context, f->place, "%.*s is called, but no module defines it", PTX_TEXT(f->name));
    for (const struct ptx_function *f = module->functions; f; f = f->next)
        if (!f->has_body && f->is_entry)
            ptx_fail(l->context, f->place, "the kernel %.*s has no body", PTX_TEXT(f->name));
    l->refusals = refused;
}

/* ---- kernels ---- */

/* Walks the call graph: the local memory that each routine needs together with its callees, and
 * whether it is recursive. The path to the current routine is a list, not recursion. */
struct walk {
    uint32_t routine, call; /* its next call */
};

static uint32_t deepest_call(const struct ptx_lower *l, const struct ptx_routine *r)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < r->call_count; i++)
        most = l->need[r->calls[i]] > most ? l->need[r->calls[i]] : most;
    return most;
}

static void measure_from(struct ptx_lower *l, struct walk *way, uint8_t *state, uint32_t from)
{
    enum { OPEN = 1, DONE };
    uint32_t depth = 0;
    way[depth++] = (struct walk){from, 0};
    state[from] = OPEN;
    while (depth) {
        struct walk *w = &way[depth - 1];
        const struct ptx_routine *r = &l->program->routines[w->routine];
        if (w->call < r->call_count) {
            uint32_t next = r->calls[w->call++];
            if (state[next] == OPEN)
                l->loops[next] = true;
            if (state[next])
                continue;
            state[next] = OPEN;
            way[depth++] = (struct walk){next, 0};
            continue;
        }
        uint64_t need = (r->frame + 15) / 16 * 16 + (uint64_t)deepest_call(l, r);
        l->need[w->routine] = need > INT32_MAX ? INT32_MAX : (uint32_t)need;
        state[w->routine] = DONE;
        depth--;
    }
}

static void measure_routines(struct ptx_lower *l)
{
    uint32_t count = l->program->routine_count;
    struct walk *way = ptx_alloc(l->context, count + 1u, sizeof *way);
    uint8_t *state = ptx_alloc(l->context, count + 1u, 1);
    l->need = ptx_alloc(l->context, count + 1u, sizeof *l->need);
    l->loops = ptx_alloc(l->context, count + 1u, 1);
    for (uint32_t i = 0; i < count; i++)
        if (!state[i])
            measure_from(l, way, state, i);
}

static void reach(uint32_t *list, uint32_t *count, bool *seen, uint32_t number)
{
    if (seen[number])
        return;
    seen[number] = true;
    list[(*count)++] = number;
}

/* The routines that a kernel can reach: a list, and a flag for each routine. */
struct reached {
    uint32_t *list, count;
    bool *seen, *shared; /* shared: for each shared variable whether one of them uses it */
};

/* A function pointer may refer to any routine that is not a kernel. */
static void reach_all(struct ptx_lower *l, struct ptx_kernel *k, struct reached *all)
{
    const struct ptx_program *p = l->program;
    uint32_t *list = all->list, count = 0;
    bool *seen = all->seen;
    reach(list, &count, seen, k->routine);
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_routine *r = &p->routines[list[i]];
        for (uint32_t c = 0; c < r->call_count; c++)
            reach(list, &count, seen, r->calls[c]);
        for (uint32_t c = 0; r->calls_pointers && c < p->routine_count; c++)
            if (p->routines[c].defined && !l->is_kernel[c])
                reach(list, &count, seen, c);
        k->recursive = k->recursive || r->calls_pointers || l->loops[list[i]];
        k->multimem = k->multimem || r->multimem;
        if (l->refusals[list[i]] && !k->refused)
            k->refused = l->refusals[list[i]];
    }
    all->count = count;
    for (uint32_t i = 0; i < count; i++)
        seen[list[i]] = false; /* for the next kernel */
}

/* Static variables in order, then those whose size the launch sets, which all begin at the same address. */
static void place_shared(struct ptx_lower *l, struct ptx_kernel *k, const struct reached *all)
{
    const struct ptx_program *p = l->program;
    bool *used = all->shared;
    uint64_t at = 0, align = 1;
    k->shared = ptx_alloc(l->lasting, p->shared_count + 1u, sizeof *k->shared);
    memset(used, 0, p->shared_count);
    for (uint32_t i = 0; i < all->count; i++) {
        const struct ptx_routine *r = &p->routines[all->list[i]];
        for (uint32_t n = 0; n < r->reference_count; n++)
            if (r->references[n].kind == PTX_R_SHARED)
                used[r->references[n].number] = true;
    }
    for (uint32_t i = 0; i < p->shared_count; i++) {
        const struct ptx_shared *s = &p->shareds[i];
        k->shared[i] = UINT32_MAX;
        if (!used[i])
            continue;
        if (!s->size) {
            align = s->align > align ? s->align : align;
            continue;
        }
        at = (at + s->align - 1) / s->align * s->align;
        k->shared[i] = (uint32_t)at;
        at += s->size;
        if (at > INT32_MAX)
            ptx_fail(l->context, l->function->place, "%s uses more than 2^31 bytes of shared memory", k->name);
    }
    k->shared_bytes = (uint32_t)at;
    at = (at + align - 1) / align * align;
    for (uint32_t i = 0; i < p->shared_count; i++)
        if (used[i] && !p->shareds[i].size)
            k->shared[i] = (uint32_t)at;
}

static uint32_t threads_of(const uint32_t dim[3])
{
    uint64_t all = (uint64_t)dim[0] * dim[1];
    all = all > UINT16_MAX ? UINT16_MAX : all * dim[2];
    return all > UINT16_MAX ? UINT16_MAX : (uint32_t)all;
}

static void make_kernel(struct ptx_lower *l, const struct ptx_function *f, struct reached *all)
{
    struct ptx_program *p = l->program;
    struct ptx_kernel *k = &p->kernels[p->kernel_count++];
    const struct ptx_routine *r = &p->routines[f->number];
    l->function = f;
    *k = (struct ptx_kernel){.name = r->name, .routine = f->number, .params = r->params, .param_count = r->param_count};
    memcpy(k->required, f->required_threads, sizeof k->required);
    memcpy(k->cluster, f->cluster, sizeof k->cluster);
    k->max_threads = f->required_threads[0] ? threads_of(f->required_threads) : f->max_threads[0] ? threads_of(f->max_threads) : 0;
    k->max_registers = f->max_registers && (!l->module->max_registers || f->max_registers < l->module->max_registers) ? f->max_registers
                                                                                                                       : l->module->max_registers;
    for (uint32_t i = 0; i < k->param_count; i++)
        k->param_bytes = k->params[i].offset + k->params[i].size;
    k->local_bytes = l->need[f->number];
    reach_all(l, k, all);
    place_shared(l, k, all);
}

static void keep_sources(struct ptx_lower *l)
{
    const struct ptx_module *module = l->module;
    struct ptx_program *p = l->program;
    p->files = ptx_alloc(l->lasting, module->file_count + 1u, sizeof *p->files);
    p->file_count = module->file_count;
    for (uint32_t i = 0; i < module->file_count; i++)
        p->files[i] = module->files[i].at ? name_of(l, module->files[i]) : "";
    p->sources = ptx_alloc(l->lasting, module->source_count + 1u, sizeof *p->sources);
    p->source_count = module->source_count;
    for (uint32_t i = 0; i < module->source_count; i++)
        p->sources[i] = (struct ptx_place_of_source){module->sources[i].file, module->sources[i].line, module->sources[i].column};
}

void ptx_lower_module(struct ptx_lower *l)
{
    const struct ptx_module *module = l->module;
    l->program->version = module->version;
    l->program->capability = module->capability;
    keep_sources(l);
    place_variables(l);
    check_constants(l);
    make_routines(l);
    measure_routines(l);
    l->is_kernel = ptx_alloc(l->context, module->function_count + 1u, 1);
    for (const struct ptx_function *f = module->functions; f; f = f->next)
        l->is_kernel[f->number] = f->is_entry;
    struct reached all = {.list = ptx_alloc(l->context, module->function_count + 1u, sizeof *all.list),
                          .seen = ptx_alloc(l->context, module->function_count + 1u, 1),
                          .shared = ptx_alloc(l->context, l->program->shared_count + 1u, 1)};
    for (const struct ptx_function *f = module->functions; f; f = f->next)
        if (f->is_entry && f->has_body)
            make_kernel(l, f, &all);
}
