/* SPDX-License-Identifier: Apache-2.0 */
#include "growth.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "detail.h"
#include "growth_files.h"
#include "growth_series.h"
#include "heap.h"
#include "lifecycle.h"
#include "rules.h"
#include "units.h"

/* The objects of one kind that one place made. */
struct group {
    vmm_object_kind kind; /* NONE: open descriptors */
    const char *by;
    uint32_t place;
    uint64_t mark;        /* the mark at which counting began */
    uint64_t count, bytes;
    vmm_object newest;
    struct growth_series counts, sizes;
    bool reported;
    struct group *next;   /* of the same hash */
};

enum { BUCKETS = 1024 };

/* The marks of one text. */
struct phase {
    char *mark;
    uint64_t marks;
    struct group *bucket[BUCKETS];
    struct phase *next;
};

struct growth {
    unsigned steps;
    struct life_lock lock;
    struct phase *phases;
    struct phase own;        /* of growth_call */
    bool short_of_memory;    /* a group is missing, and an incomplete one must not be reported */
    uint64_t objects;        /* at the last mark */
    struct growth_files files;
    _Atomic uint64_t calls, due;
    _Atomic bool marked;     /* the program sets marks itself */
};

/* Details are reported without the lock. */
enum { MOST_REPORTS = 32 };
struct reports {
    vmm_detail detail[MOST_REPORTS];
    unsigned count;
};

struct growth *growth_new(unsigned steps)
{
    struct growth *growth = heap.calloc(1, sizeof *growth);
    if (!growth)
        return NULL;
    growth->steps = steps < 2 ? 2 : steps;
    atomic_store(&growth->due, GROWTH_CALLS);
    life_lock_init(&growth->lock, LIFE_LAYER, NULL);
    return growth;
}

static void free_groups(struct phase *phase)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct group *group = phase->bucket[i], *next; group; group = next) {
            next = group->next;
            heap.free(group);
        }
}

void growth_free(struct growth *growth)
{
    if (!growth)
        return;
    for (struct phase *phase = growth->phases, *next; phase; phase = next) {
        next = phase->next;
        free_groups(phase);
        heap.free(phase->mark);
        heap.free(phase);
    }
    free_groups(&growth->own);
    life_lock_end(&growth->lock);
    heap.free(growth);
}

/* ---- what is held ---- */

static uint64_t bytes_of(const vmm_object *object)
{
    switch (object->kind) {
    case VMM_OBJECT_RESERVATION:
    case VMM_OBJECT_MAPPING:
    case VMM_OBJECT_HANDLE:
    case VMM_OBJECT_ALLOCATION:
    case VMM_OBJECT_POOL:
    case VMM_OBJECT_ARRAY: return object->size;
    default: return 0;
    }
}

static struct group *group_of(struct growth *growth, struct phase *phase, vmm_object_kind kind, const char *by, uint32_t place)
{
    uint64_t hash =
        ((uint64_t)kind * 31 + place) * UINT64_C(11400714819323198485) ^ (uintptr_t)by * UINT64_C(14029467366897019727);
    struct group **bucket = &phase->bucket[hash >> 54], *group = *bucket;
    while (group && (group->kind != kind || group->by != by || group->place != place))
        group = group->next;
    if (group)
        return group;
    group = heap.calloc(1, sizeof *group);
    growth->short_of_memory |= !group;
    if (!group)
        return NULL;
    *group = (struct group){.kind = kind, .by = by, .place = place, .next = *bucket};
    growth_series_begin(&group->counts, phase->marks);
    growth_series_begin(&group->sizes, phase->marks);
    *bucket = group;
    return group;
}

static void hold(struct growth *growth, struct phase *phase, const vmm_object *object, uint64_t count, uint64_t bytes)
{
    struct group *group = group_of(growth, phase, object->kind, object->created_by, object->created_stack);
    if (!group)
        return;
    if (group->mark != phase->marks + 1)
        group->count = group->bytes = group->newest.created = 0;
    group->mark = phase->marks + 1;
    group->count += count;
    group->bytes += bytes;
    if (object->created >= group->newest.created)
        group->newest = *object;
    growth->objects += count;
}

struct look {
    struct growth *growth;
    struct phase *phase;
};

static void see(void *user, const vmm_object *object)
{
    const struct look *look = user;
    if (object->kind != VMM_OBJECT_DEVICE && object->kind != VMM_OBJECT_BIND)
        hold(look->growth, look->phase, object, 1, bytes_of(object));
}

/* ---- what grew ---- */

static const char *things(vmm_object_kind kind, uint64_t count)
{
    static const char *const names[][2] = {
        [VMM_OBJECT_NONE] = {"open descriptor of device memory", "open descriptors of device memory"},
        [VMM_OBJECT_RESERVATION] = {"reservation", "reservations"}, [VMM_OBJECT_MAPPING] = {"mapping", "mappings"},
        [VMM_OBJECT_HANDLE] = {"handle", "handles"},                [VMM_OBJECT_ALLOCATION] = {"allocation", "allocations"},
        [VMM_OBJECT_CONTEXT] = {"context", "contexts"},             [VMM_OBJECT_STREAM] = {"stream", "streams"},
        [VMM_OBJECT_EVENT] = {"event", "events"},                   [VMM_OBJECT_POOL] = {"memory pool", "memory pools"},
        [VMM_OBJECT_ARRAY] = {"array", "arrays"},
    };
    return names[kind][count != 1];
}

/* "2", or "1 each 100 marks" for slower growth. */
static void rate(const struct growth_series *series, bool bytes, char *text, size_t size)
{
    char units[UNITS_TEXT];
    uint64_t more = series->now > series->first ? series->now - series->first : 0,
             marks = series->marks > 1 ? series->marks - 1 : 1;
    uint64_t each = more / marks;
    if (bytes && each)
        snprintf(text, size, "%s a mark", units_text(each, units));
    else if (each)
        snprintf(text, size, "%llu a mark", (unsigned long long)each);
    else
        snprintf(text, size, "1 each %llu marks", (unsigned long long)(more ? marks / more : marks));
}

static void note(vmm_detail *detail, const struct phase *phase, const struct group *group, bool bytes, int scale)
{
    const struct growth_series *series = bytes ? &group->sizes : &group->counts;
    char units[UNITS_TEXT], size[UNITS_TEXT + 16] = "", speed[60], times[80], text[2 * sizeof detail->note];
    if (group->bytes)
        snprintf(size, sizeof size, ", %s", units_text(group->bytes, units));
    rate(series, bytes, speed, sizeof speed);
    if (scale)
        snprintf(times, sizeof times, "the least of each %llu grew %u times in a row", 1ULL << scale, series->scale[scale].rises);
    else
        snprintf(times, sizeof times, "it grew at %u marks in a row", series->scale[0].rises);
    snprintf(text, sizeof text, "%llu %s%s held at mark %llu \"%.30s\", %llu at the first; %s, about %s",
             (unsigned long long)group->count, things(group->kind, group->count), size, (unsigned long long)phase->marks,
             phase->mark ? phase->mark : "of its own", (unsigned long long)group->counts.first, times, speed);
    /* 20-digit numbers would not fit, but no program gets that far. */
    snprintf(detail->note, sizeof detail->note, "%.*s", (int)sizeof detail->note - 1, text);
}

static void report_group(const struct phase *phase, struct group *group, unsigned steps, struct reports *reports)
{
    int counts = growth_series_grows(&group->counts, steps), sizes = growth_series_grows(&group->sizes, steps);
    if (group->reported || (counts < 0 && sizes < 0) || reports->count == MOST_REPORTS)
        return;
    vmm_detail *detail = &reports->detail[reports->count++];
    *detail = (vmm_detail){.severity = VMM_SEVERITY_WARNING,
                           .rule = vmm_rule_row(VMM_RULE_LEAK_GROWS)->id,
                           .function = group->by,
                           .call = group->newest.created,
                           .nearest = group->newest};
    if (group->kind == VMM_OBJECT_NONE)
        detail->nearest.created_by = NULL;
    note(detail, phase, group, counts < 0, counts < 0 ? sizes : counts);
    group->reported = true;
}

/* All groups of a phase get the value of this mark; groups that were not seen hold nothing now. */
static void settle(struct phase *phase, unsigned steps, struct reports *reports)
{
    phase->marks++;
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct group *group = phase->bucket[i]; group; group = group->next) {
            if (group->mark != phase->marks)
                group->count = group->bytes = 0;
            growth_series_add(&group->counts, group->count);
            growth_series_add(&group->sizes, group->bytes);
            if (reports)
                report_group(phase, group, steps, reports);
        }
}

static bool look_at(struct growth *growth, struct phase *phase, vmm_system *sys)
{
    struct look look = {growth, phase};
    vmm_object files = {.kind = VMM_OBJECT_NONE, .created_by = "cuMemExportToShareableHandle"};
    const vmm_detail reported = *vmm_detail_here();
    growth->objects = 0;
    bool seen = vmm_visit(sys, see, &look) == VMM_SUCCESS;
    *vmm_detail_here() = reported;
    uint64_t open = growth_files(&growth->files);
    if (seen && open)
        hold(growth, phase, &files, open, 0);
    return seen;
}

static struct phase *phase_of(struct growth *growth, const char *mark)
{
    struct phase *phase = growth->phases;
    while (phase && strcmp(phase->mark, mark) != 0)
        phase = phase->next;
    if (phase)
        return phase;
    phase = heap.calloc(1, sizeof *phase);
    char *copy = phase ? heap.strdup(mark) : NULL;
    if (!copy) {
        heap.free(phase);
        return NULL;
    }
    phase->mark = copy;
    phase->next = growth->phases;
    growth->phases = phase;
    return phase;
}

static void report_all(const struct reports *reports, vmm_report_fn report, void *user)
{
    for (unsigned i = 0; i < reports->count; i++)
        report(user, &reports->detail[i]);
}

void growth_mark(struct growth *growth, vmm_system *sys, const char *mark, vmm_report_fn report, void *user)
{
    struct reports reports = {.count = 0};
    int cancel = life_no_cancel();
    atomic_store(&growth->marked, true);
    life_acquire(&growth->lock);
    struct phase *phase = phase_of(growth, mark);
    if (phase && look_at(growth, phase, sys))
        settle(phase, growth->steps, growth->short_of_memory ? NULL : &reports);
    life_release(&growth->lock);
    report_all(&reports, report, user);
    life_may_cancel(cancel);
}

void growth_call(struct growth *growth, vmm_system *sys)
{
    uint64_t calls = atomic_fetch_add_explicit(&growth->calls, 1, memory_order_relaxed) + 1;
    uint64_t due = atomic_load_explicit(&growth->due, memory_order_relaxed);
    if (calls < due || atomic_load_explicit(&growth->marked, memory_order_relaxed) ||
        !atomic_compare_exchange_strong(&growth->due, &due, UINT64_MAX)) /* LCOV_EXCL_BR_LINE: another thread was quicker */
        return;
    int cancel = life_no_cancel();
    life_acquire(&growth->lock);
    if (look_at(growth, &growth->own, sys))
        settle(&growth->own, 0, NULL);
    uint64_t pause = growth->objects > GROWTH_CALLS ? growth->objects : GROWTH_CALLS;
    life_release(&growth->lock);
    life_may_cancel(cancel);
    atomic_store(&growth->due, calls + pause);
}

/* Did it grow during the second half of the run? If so, the windows that grew cover that half. */
static bool went_on(const struct growth_series *series, unsigned steps)
{
    for (int i = 0; i < GROWTH_SCALES; i++) {
        uint64_t rises = series->scale[i].rises;
        if (rises >= steps && rises << i >= series->marks / 2)
            return true;
    }
    return false;
}

void growth_end(struct growth *growth, vmm_report_fn report, void *user)
{
    struct reports reports = {.count = 0};
    unsigned steps = growth->steps > GROWTH_STEPS_OWN ? growth->steps : GROWTH_STEPS_OWN;
    int cancel = life_no_cancel();
    life_acquire(&growth->lock);
    for (unsigned i = 0; i < BUCKETS && !growth->short_of_memory && !atomic_load(&growth->marked); i++) /* LCOV_EXCL_BR_LINE: another thread sets a mark meanwhile */
        for (struct group *group = growth->own.bucket[i]; group; group = group->next)
            if (went_on(&group->counts, steps) || went_on(&group->sizes, steps))
                report_group(&growth->own, group, steps, &reports);
    life_release(&growth->lock);
    report_all(&reports, report, user);
    life_may_cancel(cancel);
}
