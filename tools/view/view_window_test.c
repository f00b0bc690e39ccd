/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of a random program's trace hold the objects that a plain look at all of them finds. */
#include "view_window.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuvmm.h"
#include "random.h"
#include "tap.h"

#define G UINT64_C(0x200000)
enum { HANDLES = 12, CALLS = 6000 };

static uint64_t dice;
static char path[100];

static void quiet(void *user, const vmm_detail *detail)
{
    (void)user;
    (void)detail;
}

/* Many short lives, and few that last. */
static void record(void)
{
    vmm_system *sys;
    char spec[200];
    vmm_mem_generic_allocation_handle handle[HANDLES] = {0}, lasts;
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_deviceptr at;
    vmm_context context;
    snprintf(spec, sizeof spec, "trace=%s|sim:h100", path);
    if (vmm_open(spec, &sys) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    vmm_set_report(sys, quiet, NULL);
    vmm_init(sys, 0);
    vmm_ctx_create(sys, &context, 0, 0);
    vmm_mem_address_reserve(sys, &at, (HANDLES + 1) * G, 0, 0, 0);
    vmm_mem_create(sys, &lasts, G, &prop, 0);
    vmm_mem_map(sys, at + HANDLES * G, G, 0, lasts, 0);
    for (int i = 0; i < CALLS; i++) {
        const size_t n = random_below(&dice, HANDLES);
        switch (random_below(&dice, 6)) {
        case 0:
        case 1: vmm_mem_create(sys, &handle[n], G, &prop, 0); break;
        case 2: vmm_mem_map(sys, at + n * G, G, 0, handle[random_below(&dice, HANDLES)], 0); break;
        case 3: vmm_mem_unmap(sys, at + n * G, (1 + random_below(&dice, 3)) * G); break;
        case 4: vmm_mem_release(sys, handle[n]); break;
        default: vmm_mem_set_access(sys, at + n * G, G, &desc, 1);
        }
    }
    vmm_close(sys);
}

/* ---- the same without any index ---- */

static void want(const struct timeline *t, bool *wanted, uint32_t object)
{
    if (object == TIMELINE_NONE || wanted[object])
        return;
    wanted[object] = true;
    want(t, wanted, t->object[object].handle);
    want(t, wanted, t->object[object].memory);
    want(t, wanted, t->object[object].context);
}

static bool is_right(const struct view_window *window, const struct timeline *t, bool *wanted)
{
    size_t at = 0;
    memset(wanted, 0, t->objects * sizeof *wanted);
    for (uint32_t i = 0; i < t->objects; i++)
        if (t->object[i].born < window->end && t->object[i].died >= window->first)
            want(t, wanted, i);
    for (uint32_t call = window->first; call < window->end; call++)
        for (uint32_t i = 0; i < timeline_touched(t, call); i++)
            want(t, wanted, t->touched[t->mark[call].first_touched + i]);
    for (uint32_t i = 0; i < t->objects; i++)
        if (wanted[i] && (at == window->objects || window->object[at++] != i))
            return false;
    return at == window->objects;
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    struct timeline timeline;
    struct view_trace trace;
    const unsigned rounds = random_rounds(300);
    unsigned good = 0;
    size_t least = SIZE_MAX;
    dice = random_seed(7013);
    snprintf(path, sizeof path, "%.50s/window.%ld.vtrace", tmp ? tmp : "/tmp", (long)getpid());
    record();
    FILE *in = fopen(path, "rb");
    if (!in || !timeline_read(&timeline, in, "trace") || timeline.complaint.length)
        tap_bail("the trace cannot be read");
    fclose(in);
    unlink(path);
    view_trace_of(&trace, &timeline, "trace");
    bool *wanted = text_grow(NULL, timeline.objects + 1);
    for (unsigned i = 0; i < rounds; i++) {
        struct view_window window;
        const uint32_t first = (uint32_t)random_below(&dice, timeline.calls + 10), most = (uint32_t)random_below(&dice, i % 2 ? 10 : 2000);
        view_window_of(&window, &trace, first, most);
        const uint32_t start = first < timeline.calls ? first : (uint32_t)timeline.calls;
        good += window.first == start && window.end - window.first <= most && is_right(&window, &timeline, wanted);
        least = window.objects < least ? window.objects : least;
        view_window_free(&window);
    }
    tap_ok(good == rounds, "%u of %u windows hold what lives in them or is named, of %zu objects", good, rounds, timeline.objects);
    tap_ok(least < 100 && timeline.objects > 4 * VIEW_BLOCK, "and no more: %zu at least", least);
    free(wanted);
    view_trace_free(&trace);
    timeline_free(&timeline);
    return tap_done();
}
