/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder, a process's own trace and growth when an allocation or a system call fails: calls pass through, and nothing
 * leaks. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "fake_backend.h"
#include "growth.h"
#include "marks.h"
#include "tap.h"

enum { MOST = 200 };

static char folder[64];

static void empty_folder(void)
{
    DIR *all = opendir(folder);
    for (const struct dirent *entry = all ? readdir(all) : NULL; entry; entry = readdir(all))
        unlinkat(dirfd(all), entry->d_name, 0);
    if (all)
        closedir(all);
}

/* Opens a layer, makes a call and closes it, with the nth request failing; returns true once no request failed. */
static bool try_layer(vmm_result (*open)(const char *, struct vmm_backend *, struct vmm_backend **), const char *args,
                      unsigned long nth, bool *good)
{
    struct fake fake;
    struct vmm_backend *top = NULL;
    long live = atomic_load(&inject_live);
    fake_init(&fake);
    inject_arm(nth);
    vmm_result result = open(args, &fake.base, &top);
    if (result == VMM_SUCCESS) {
        *good = *good && fake_dispatch(top, &(struct vmm_call_mem_release){{VMM_CALL_mem_release, 0}, 5}.head, 1) == VMM_SUCCESS && fake.seen == 1;
        top->ops->close(top);
    }
    const char *failed = inject_disarm();
    *good = *good && (result == VMM_SUCCESS ? fake.closed == 1 : !top && !fake.closed) && atomic_load(&inject_live) == live;
    if (!*good)
        tap_note("request %lu: %s", nth, failed ? failed : "none");
    empty_folder();
    return !failed;
}

static void test_layer(vmm_result (*open)(const char *, struct vmm_backend *, struct vmm_backend **), const char *args,
                       const char *name)
{
    bool good = true, through = false;
    unsigned long nth = 1;
    for (; nth <= MOST && good && !through; nth++)
        through = try_layer(open, args, nth, &good);
    tap_ok(good && through, "%s: each of %lu requests fails once; calls pass, and nothing is left", name, nth - 2);
}

static void ignore(void *user, const vmm_detail *detail)
{
    (void)detail;
    ++*(unsigned *)user;
}

/* A group that cannot be stored must not make another one appear to grow, and later marks still work. */
static void test_growth(void)
{
    bool through = false, good = true;
    unsigned found = 0;
    for (unsigned long nth = 1; nth <= MOST && good && !through; nth++) {
        vmm_system *sys = NULL;
        vmm_deviceptr at;
        if (vmm_open("sim:h100", &sys) || vmm_init(sys, 0) || vmm_mem_address_reserve(sys, &at, 2 << 20, 0, 0, 0))
            tap_bail("no machine");
        long live = atomic_load(&inject_live);
        inject_arm(nth);
        struct growth *growth = growth_new(2);
        for (int mark = 0; growth && mark < 4; mark++)
            growth_mark(growth, sys, "step", ignore, &found);
        if (growth)
            growth_free(growth);
        through = !inject_disarm();
        good = !found && atomic_load(&inject_live) == live;
        vmm_close(sys);
    }
    tap_ok(good && through, "marks of a program that grows not, without memory");
    inject_arm_at("malloc", 1);
    const char *mark = marks_set("a text that is new");
    inject_disarm();
    tap_ok(mark && strstr(mark, "after 4096"), "a mark's text without memory is that of many");
    tap_text(marks_set("a text that is new"), "a text that is new", "and the next time itself");
}

int main(void)
{
    char pattern[100];
    const char *place = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/inject.XXXXXX", place && place[0] ? place : "/tmp");
    if (!mkdtemp(folder) || !freopen("/dev/null", "w", stderr))
        tap_bail("no folder");
    snprintf(pattern, sizeof pattern, "%s/t.%%p.jsonl", folder);
    test_layer(vmm_recorder_open, folder, "the recorder");
    test_layer(vmm_trace_open, pattern, "a trace of a process");
    test_growth();
    rmdir(folder);
    return tap_done();
}
