/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a machine from outside, and asking what is held, when each request fails once: an answer, or none and why; nothing
 * stays behind. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "scarce_rig.h"

#include "share_rig.h"
#include "share_who.h"

enum { BLOCKS = 20, TRIES = 40 }; /* after so many come the files of other processes, one like the other */

static struct {
    long live;
    int file; /* the lowest descriptor that is free */
} before;

static int next_file(void)
{
    int file = dup(STDERR_FILENO);
    close(file);
    return file;
}

static void note_what_there_is(void)
{
    before.live = atomic_load(&scarce_live);
    before.file = next_file();
}

static bool nothing_stays(void)
{
    return atomic_load(&scarce_live) == before.live && next_file() == before.file;
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

static void look(void)
{
    char why[SHARE_WHY];
    bool clean = true, told = true, failed = true;
    unsigned refused = 0;
    for (unsigned long nth = 1; failed && nth < TRIES; nth++) {
        note_what_there_is();
        scarce_arm(nth);
        struct share *share = share_open_there("m-looked", why);
        failed = scarce_disarm() != NULL;
        refused += !share;
        told = told && (share || why[0]);
        if (share)
            share_close(share);
        clean = clean && nothing_stays();
    }
    tap_ok(clean && !failed, "a machine that cannot be opened to be looked at leaves nothing open");
    tap_ok(told && refused > 3, "and why is told, each of %u times", refused);
}

static void list(void)
{
    char why[SHARE_WHY];
    bool clean = true, whole = true, failed = true;
    unsigned refused = 0;
    for (unsigned long nth = 1; failed && nth < TRIES; nth++) {
        note_what_there_is();
        struct share *share = share_open_there("m-looked", why);
        if (!share)
            tap_bail("%s", why);
        scarce_arm(nth);
        struct share_who *who = share_who(share);
        failed = scarce_disarm() != NULL;
        refused += !who;
        whole = whole && (!who || (who->block_count == BLOCKS + 1 && who->hold_count > BLOCKS));
        share_who_free(who);
        share_close(share);
        clean = clean && nothing_stays();
    }
    tap_ok(whole, "a list of who holds what is whole, or there is none");
    tap_ok(clean && refused > 3, "and nothing stays behind, %u times", refused);
}

/* Each time that the list grows, for a bind and for a descriptor: the one is listed or nothing is, the other may be missing. */
static void grows(void)
{
    char why[SHARE_WHY];
    unsigned whole = 0, missing = 0, fewer = 0;
    for (unsigned long nth = 0; nth <= 2; nth++) {
        struct share *share = share_open_there("m-looked", why);
        if (!share)
            tap_bail("%s", why);
        scarce_arm_at("realloc", nth);
        struct share_who *who = share_who(share);
        bool failed = scarce_disarm() != NULL;
        whole = who && !failed ? who->hold_count : whole;
        missing += failed && !who;
        fewer += failed && who && who->hold_count + 1 == whole && who->block[BLOCKS - 1].found;
        share_who_free(who);
        share_close(share);
    }
    tap_ok(missing == 1 && fewer == 1, "of %u holders a bind is listed or nothing is, a descriptor may be missing", whole);
}

struct hint {
    unsigned told;
    char note[sizeof((vmm_detail *)0)->note];
};

static void see_hint(void *user, const vmm_detail *detail)
{
    struct hint *hint = user;
    if (detail->nearest.kind != VMM_OBJECT_NONE) /* a leak of what this process holds otherwise */
        return;
    hint->told++;
    memcpy(hint->note, detail->note, sizeof hint->note);
}

/* An object that nobody has a handle of any more, and a descriptor still holds. */
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
    tap_ok(hint.told == 1 && strstr(hint.note, "a multicast object of 2 MiB for 2 devices, held by this process: descriptor"),
           "an object that is held by a descriptor is told: %s", hint.note);
    scarce_arm_at("access", 1);
    vmm_leaks(sys, see_hint, &hint);
    tap_ok(scarce_disarm() && hint.told == 2 &&
               strstr(hint.note, "held by a descriptor somewhere: where cannot be told on this system"),
           "also where nobody tells who has it: %s", hint.note);
    close(fd);
    rig_close(sys);
}

static void count(void *user, const vmm_detail *detail)
{
    *(unsigned *)user += detail->severity == VMM_SEVERITY_LEAK;
}

/* What is held is counted without memory, too; told it is one by one, or not at all. */
static void leaks(vmm_system *sys)
{
    const uint64_t held = vmm_leaks(sys, NULL, NULL);
    bool clean = true, counted = true, failed = true;
    for (unsigned long nth = 1; failed && nth < TRIES; nth++) {
        unsigned told = 0;
        note_what_there_is();
        scarce_arm(nth);
        uint64_t now = vmm_leaks(sys, count, &told);
        failed = scarce_disarm() != NULL;
        counted = counted && now == held && (told == held || !told);
        clean = clean && nothing_stays();
    }
    tap_ok(counted, "what is held is counted whatever fails");
    tap_ok(clean, "and nothing stays behind");
}

int main(void)
{
    int fd[BLOCKS];
    rig_begin();
    tap_note("each request fails once");
    vmm_system *sys = furnished(fd);
    look();
    list();
    grows();
    leaks(sys);
    for (int i = 0; i < BLOCKS; i++)
        close(fd[i]);
    rig_close(sys);
    hints();
    rig_end();
    return tap_done();
}
