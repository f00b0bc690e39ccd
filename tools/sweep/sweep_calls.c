/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "module_symbols.h"

bool sweep_gives_back(uint16_t kind)
{
    static const char *const words[] = {"_free", "release", "unmap", "destroy", "close", "unbind", "_reset", "trim"};
    const char *name = vmm_call_name((enum vmm_call_id)kind);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

const char *sweep_module(const struct sites_file *file, const struct sites_call *record)
{
    const char *path = file->name[record->module].text, *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Handlers that run at exit are called by the C library: nothing of the program is to blame. */
static bool has_place(const struct sites_file *file, const struct sites_call *record)
{
    const char *module = sweep_module(file, record);
    return record->module && strncmp(module, "libc.so", 7) != 0 && strncmp(module, "ld-linux", 8) != 0;
}

static uint64_t recorded(const struct sites_file *file)
{
    return file->count < file->room ? file->count : file->room;
}

/* ---- by site ---- */

#define COMPARE(a, b)       \
    if ((a) != (b))         \
        return (a) < (b) ? -1 : 1

static int compare_sites(const struct sites_call *a, const struct sites_call *b)
{
    COMPARE(a->kind, b->kind);
    COMPARE(a->module, b->module);
    COMPARE(a->offset, b->offset);
    return 0;
}

static int by_site(const void *left, const void *right)
{
    const struct sweep_call *a = left, *b = right;
    int sites = compare_sites(a->record, b->record);
    if (sites)
        return sites;
    COMPARE(a->record->process, b->record->process);
    COMPARE(a->order, b->order);
    return 0;
}

static int by_appearance(const void *left, const void *right)
{
    const struct sweep_call *a = ((const struct sweep_site *)left)->call, *b = ((const struct sweep_site *)right)->call;
    COMPARE(a->record->process, b->record->process);
    COMPARE(a->order, b->order);
    return 0;
}

static bool is_wanted(struct sweep_calls *calls, const struct sites_call *record, enum vmm_call_id only)
{
    if (!record->complete || (only != VMM_CALL_COUNT && record->kind != only))
        return false;
    if (!has_place(calls->file, record)) {
        calls->placeless++;
        return false;
    }
    if (only == VMM_CALL_COUNT && sweep_gives_back(record->kind)) {
        calls->given_back++;
        return false;
    }
    return true;
}

static void find_sites(struct sweep_calls *calls)
{
    qsort(calls->call, calls->count, sizeof *calls->call, by_site);
    for (size_t i = 0; i < calls->count; i++) {
        struct sweep_site *last = calls->sites ? &calls->site[calls->sites - 1] : NULL;
        if (last && compare_sites(last->call->record, calls->call[i].record) == 0) {
            last->count++;
            continue;
        }
        struct sweep_site *site = &calls->site[calls->sites++];
        *site = (struct sweep_site){.call = &calls->call[i], .count = 1};
    }
    qsort(calls->site, calls->sites, sizeof *calls->site, by_appearance);
}

/* The program's function and the line in it, of those that the compiler inlined the outermost. */
static void name_site(struct sweep_site *site, const char *path)
{
    const struct code_symbol *list;
    const unsigned count = module_symbols_at(path, "", site->call->record->offset, &list);
    const struct code_symbol *outer = &list[count - 1];
    const char *slash = strrchr(outer->file, '/');
    snprintf(site->symbol, sizeof site->symbol, "%s", outer->function);
    if (outer->line)
        snprintf(site->source, sizeof site->source, "%s:%u", slash ? slash + 1 : outer->file, outer->line);
}

void sweep_calls_name(struct sweep_calls *calls)
{
    for (size_t i = 0; i < calls->sites; i++)
        name_site(&calls->site[i], calls->file->name[calls->site[i].call->record->module].text);
    module_symbols_forget();
}

bool sweep_calls_read(struct sweep_calls *calls, const struct sites_file *file, const char *call)
{
    size_t all = recorded(file);
    enum vmm_call_id only = call && strcmp(call, "any") != 0 ? vmm_call_find(call) : VMM_CALL_COUNT;
    *calls = (struct sweep_calls){.file = file};
    calls->call = calloc(all + 1, sizeof *calls->call);
    calls->site = calloc(all + 1, sizeof *calls->site);
    if (!calls->call || !calls->site)
        return false;
    for (size_t i = 0; i < all; i++) {
        const struct sites_call *record = &file->call[i];
        if (record->process > calls->processes)
            calls->processes = record->process;
        if (is_wanted(calls, record, only))
            calls->call[calls->count++] = (struct sweep_call){.record = record, .order = i};
    }
    find_sites(calls);
    return true;
}

void sweep_calls_free(struct sweep_calls *calls)
{
    free(calls->call);
    free(calls->site);
    *calls = (struct sweep_calls){0};
}

/* ---- which of them ---- */

/* xorshift64*: the same choice for a seed, wherever it is made. */
static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * UINT64_C(2685821657736338717) >> 16) % below;
}

/* Chooses that many of the list. */
static void choose(struct sweep_call **list, size_t count, size_t wanted, uint64_t *state)
{
    for (size_t i = 0; i < wanted && i < count; i++) {
        size_t at = i + (size_t)draw(state, count - i);
        struct sweep_call *other = list[at];
        list[at] = list[i];
        list[i] = other;
        other->chosen = true;
    }
}

size_t sweep_calls_choose(struct sweep_calls *calls, uint64_t most, uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    struct sweep_call **list = calloc(calls->count + 1, sizeof *list);
    size_t count = 0, chosen = calls->sites < most ? calls->sites : (size_t)most;
    if (!list)
        return 0;
    for (size_t i = 0; i < calls->sites; i++)
        list[count++] = calls->site[i].call;
    choose(list, count, chosen, &state);
    count = 0;
    for (size_t i = 0; i < calls->sites; i++)
        for (size_t k = 0; k < calls->site[i].count; k++)
            if (!calls->site[i].call[k].chosen)
                list[count++] = &calls->site[i].call[k];
    if (most > chosen) {
        size_t more = most - chosen < count ? (size_t)(most - chosen) : count;
        choose(list, count, more, &state);
        chosen += more;
    }
    free(list);
    return chosen;
}

/* ---- two runs ---- */

struct key {
    const struct sites_file *file;
    const struct sites_call *record;
};

static int by_number(const void *left, const void *right)
{
    const struct sites_call *a = ((const struct key *)left)->record, *b = ((const struct key *)right)->record;
    COMPARE(a->process, b->process);
    COMPARE(a->kind, b->kind);
    COMPARE(a->nth, b->nth);
    return 0;
}

static struct key *sorted(const struct sites_file *file, size_t count)
{
    struct key *key = calloc(count + 1, sizeof *key);
    for (size_t i = 0; key && i < count; i++)
        key[i] = (struct key){file, &file->call[i]};
    if (key)
        qsort(key, count, sizeof *key, by_number);
    return key;
}

static bool is_same_call(const struct key *a, const struct key *b)
{
    return by_number(a, b) == 0 && a->record->offset == b->record->offset &&
           strcmp(a->file->name[a->record->module].text, b->file->name[b->record->module].text) == 0;
}

bool sweep_calls_equal(const struct sites_file *a, const struct sites_file *b)
{
    size_t count = recorded(a);
    bool same = a->count == b->count && count == recorded(b);
    struct key *left = sorted(a, same ? count : 0), *right = sorted(b, same ? count : 0);
    same = same && left && right;
    for (size_t i = 0; same && i < count; i++)
        same = is_same_call(&left[i], &right[i]);
    free(left);
    free(right);
    return same;
}

/* ---- what is reported of them ---- */

void sweep_fault(const struct sweep_calls *calls, const struct sweep_call *call, const char *result, char *text, size_t size)
{
    int length = snprintf(text, size, "%s:%" PRIu64 "%s%s", vmm_call_name((enum vmm_call_id)call->record->kind), call->record->nth,
                          result ? ":" : "", result ? result : "");
    if (calls->processes > 1 && length > 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, ":process=%" PRIu32, call->record->process);
}

const struct sweep_call *sweep_worst(const struct sweep_site *site, size_t *runs, size_t *alike)
{
    const struct sweep_call *worst = NULL;
    *runs = *alike = 0;
    for (size_t i = 0; i < site->count; i++) {
        const struct sweep_call *call = &site->call[i];
        if (call->outcome.class == SWEEP_NOT_RUN)
            continue;
        ++*runs;
        if (!worst || call->outcome.class > worst->outcome.class) {
            worst = call;
            *alike = 0;
        }
        *alike += call->outcome.class == worst->outcome.class;
    }
    return worst;
}
