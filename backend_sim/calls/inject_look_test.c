/* SPDX-License-Identifier: Apache-2.0 */
/* Inspecting a machine from outside, and querying what is held, when each request fails once: a result, or none with the
 * reason; nothing leaks. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "share_rig.h"
#include "share_inspect.h"

enum { BLOCKS = 20, MOST = 40 }; /* after that many come the files of other processes, all alike */

static struct {
    long live;
    int file; /* the lowest free descriptor */
} before;

static int next_file(void)
{
    int file = dup(STDERR_FILENO);
    close(file);
    return file;
}

static void note_what_there_is(void)
{
    before.live = atomic_load(&inject_live);
    before.file = next_file();
}

static bool nothing_stays(void)
{
    return atomic_load(&inject_live) == before.live && next_file() == before.file;
}

/* A machine with exported memory, some of it bound, and descriptors of it. */
static vmm_system *furnished(int fd[BLOCKS])
{
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = RIG_G, .handle_types = RIG_FD};
    vmm_mem_generic_allocation_handle object = 0, memory[BLOCKS] = {0};
    vmm_system *sys = NULL;
    vmm_context ctx;
    if (vmm_open("sim:h200x2,machine=looked", &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS ||
        vmm_ctx_create(sys, &ctx, 0, 0) != VMM_SUCCESS)
        tap_bail("no machine: %s", vmm_last_detail()->note);
    for (int i = 0; i < BLOCKS; i++)
        if (rig_create(sys, RIG_G, &memory[i]) != VMM_SUCCESS || (fd[i] = rig_export(sys, memory[i])) < 0)
            tap_bail("nothing is exported");
    vmm_multicast_create(sys, &object, &prop);
    vmm_multicast_add_device(sys, object, 0);
    vmm_multicast_add_device(sys, object, 1);
    int team = rig_export(sys, object);
    /* the list grows for the bind of the sixteenth, and again among the descriptors */
    if (team < 0 || close(team) || vmm_multicast_bind_mem(sys, object, 0, memory[15], 0, RIG_G, 0) != VMM_SUCCESS)
        tap_bail("no team: %s", vmm_last_detail()->note);
    return sys;
}

static char why[SHARE_WHY];
static struct share *seen;

static bool look(void)
{
    why[0] = '\0';
    seen = share_open_there("m-looked", why);
    return seen != NULL;
}

static bool is_told_why(void)
{
    return why[0];
}

static bool looked(void)
{
    if (seen)
        share_close(seen);
    return nothing_stays();
}

static struct share_inspect *listed;

static void open_to_list(void)
{
    note_what_there_is();
    if (!look())
        tap_bail("%s", why);
}

static bool list(void)
{
    listed = share_inspect(seen);
    return listed != NULL;
}

/* A list of holders is complete, or there is none. */
static bool is_whole(void)
{
    bool whole = !listed || (listed->block_count == BLOCKS + 1 && listed->hold_count > BLOCKS);
    share_inspect_free(listed);
    return looked() && whole;
}

static unsigned all, missing, fewer;

static bool is_as_long(void)
{
    missing += !listed;
    fewer += listed && listed->hold_count + 1 == all && listed->block[BLOCKS - 1].found;
    share_inspect_free(listed);
    return looked();
}

/* Each time that the list grows, for a bind and for a descriptor: either the bind is listed or nothing is; the descriptor may
 * be missing. */
static void grows(void)
{
    const struct inject_case growing = {.name = "a list that grows",
                                        .function = "realloc",
                                        .least = 1,
                                        .most = 3,
                                        .begin = open_to_list,
                                        .call = list,
                                        .end = is_as_long};
    open_to_list();
    all = list() ? listed->hold_count : 0;
    share_inspect_free(listed);
    share_close(seen);
    inject_try(&growing);
    tap_ok(missing == 1 && fewer == 1, "of %u holders a bind is listed or nothing is, a descriptor may be missing", all);
}

struct hint {
    unsigned reported;
    char note[sizeof((vmm_detail *)0)->note];
};

static void see_hint(void *user, const vmm_detail *detail)
{
    struct hint *hint = user;
    if (detail->nearest.kind != VMM_OBJECT_NONE) /* a leak of what this process holds otherwise */
        return;
    hint->reported++;
    memcpy(hint->note, detail->note, sizeof hint->note);
}

/* An object without handles, which a descriptor still holds. */
static void hints(void)
{
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = RIG_G, .handle_types = RIG_FD};
    vmm_mem_generic_allocation_handle object = 0;
    struct hint hint = {0};
    vmm_system *sys = NULL;
    if (vmm_open("sim:h200x2,machine=hinted", &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS)
        tap_bail("no machine: %s", vmm_last_detail()->note);
    vmm_multicast_create(sys, &object, &prop);
    int fd = rig_export(sys, object);
    vmm_mem_release(sys, object);
    vmm_leaks(sys, see_hint, &hint);
    tap_ok(hint.reported == 1 && strstr(hint.note, "a multicast object of 2 MiB for 2 devices, held by this process: descriptor"),
           "an object that is held by a descriptor is reported: %s", hint.note);
    inject_arm_at("access", 1);
    vmm_leaks(sys, see_hint, &hint);
    tap_ok(inject_disarm() && hint.reported == 2 &&
               strstr(hint.note, "held by a descriptor somewhere: this system does not report which process has it"),
           "also where the holder is unknown: %s", hint.note);
    close(fd);
    rig_close(sys);
}

static void count(void *user, const vmm_detail *detail)
{
    *(unsigned *)user += detail->severity == VMM_SEVERITY_LEAK;
}

static vmm_system *held_by;
static uint64_t held, held_now;
static unsigned held_told;

/* Held objects are counted even without memory; they are listed one by one, or not at all. */
static bool leaks(void)
{
    held_told = 0;
    held_now = vmm_leaks(held_by, count, &held_told);
    return held_told || !held;
}

static bool is_counted(void)
{
    return held_now == held && (held_told == held || !held_told);
}

static bool counted(void)
{
    return is_counted() && nothing_stays();
}

static const struct inject_case cases[] = {
    {.name = "a machine that is opened to be looked at",
     .least = 4,
     .begin = note_what_there_is,
     .call = look,
     .reported = is_told_why,
     .end = looked},
    {.name = "a list of who holds what", .least = 4, .most = MOST, .begin = open_to_list, .call = list, .end = is_whole},
    {.name = "leaks", .most = MOST, .begin = note_what_there_is, .call = leaks, .reported = is_counted, .end = counted},
};

int main(void)
{
    int fd[BLOCKS];
    rig_begin();
    tap_note("each request fails once");
    vmm_system *sys = furnished(fd);
    held_by = sys;
    held = vmm_leaks(sys, NULL, NULL);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        inject_try(&cases[i]);
    grows();
    for (int i = 0; i < BLOCKS; i++)
        close(fd[i]);
    rig_close(sys);
    hints();
    rig_end();
    return tap_done();
}
