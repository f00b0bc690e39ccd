/* SPDX-License-Identifier: Apache-2.0 */
/* Resources of one process: any number of files and mappings, none of which a forked child keeps; and a shared machine that
 * gets no entry for its own resources. */
#define _GNU_SOURCE /* memfd_create, fallocate, RTLD_NEXT */
#include "inject_rig.h"

#include <sys/wait.h>

#include "os_own.h"
#include "share_folder.h"
#include "share_rig.h"

enum { MANY = 200 };

static struct os_own own[MANY], filler[2 * MANY];
static int file[MANY], none = -1;

static void remove_own(void)
{
    for (int i = 0; i < MANY; i++) {
        os_own_remove(&own[i]);
        if (file[i] >= 0)
            close(file[i]);
        file[i] = -1;
    }
}

/* Returns how many of them a child has. */
static int in_child(void)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int there = 0;
        for (int i = 0; i < MANY; i++)
            there += file[i] >= 0 && fcntl(file[i], F_GETFD) >= 0;
        _exit(there);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void many(void)
{
    int added = 0, there = 0;
    for (int i = 0; i < MANY; i++) {
        own[i].file = &file[i];
        file[i] = -1;
        added += os_own_add(&own[i]);
        file[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
    }
    tap_u64((uint64_t)added, MANY, "any number of resources can be added");
    tap_u64((uint64_t)in_child(), 0, "a child has none of them");
    for (int i = 0; i < MANY; i++)
        there += file[i] >= 0 && fcntl(file[i], F_GETFD) >= 0;
    tap_u64((uint64_t)there, MANY, "the parent has all of them");
    for (int i = 0; i < MANY; i += 2)
        os_own_remove(&own[i]);
    tap_u64((uint64_t)in_child(), MANY / 2, "removed resources stay in a child");
    remove_own();
}

/* Takes all free entries; returns how many. */
static int fill(void)
{
    int filled = 0;
    inject_arm_at("calloc", 1);
    inject_each = true;
    for (filler[0].file = &none; filled < 2 * MANY && os_own_add(&filler[filled]); filler[filled].file = &none)
        filled++;
    if (!inject_disarm())
        tap_bail("places are never all taken");
    return filled;
}

static void let_go(int filled)
{
    while (filled-- > 0)
        os_own_remove(&filler[filled]);
}

static void no_memory(void)
{
    struct sim_profile profile;
    struct share_folder folder;
    struct os_own one = {.file = &none};
    char why[SHARE_WHY];
    if (!sim_profile_builtin(RIG_PROFILE, &profile))
        tap_bail("no profile");
    int filled = fill();
    tap_ok(filled >= 16, "%d entries are taken", filled);
    inject_arm_at("calloc", 1);
    inject_each = true;
    bool open = share_folder_open(&folder, "x", &profile, why);
    tap_ok(inject_disarm() && !open && strstr(why, "no machine can be created"), "without an entry the machine is not opened: %s",
           why);
    tap_u64(rig_machines(), 0, "no folder of the machine is left");
    let_go(filled);
    tap_ok(os_own_add(&one), "released entries can be reused");
    os_own_remove(&one);
}

static vmm_system *lifeless;
static vmm_result answer;

static bool initialised(void)
{
    answer = vmm_init(lifeless, 0);
    return answer == VMM_SUCCESS;
}

static bool of_the_system(void)
{
    return answer == VMM_ERROR_OUT_OF_MEMORY || answer == VMM_ERROR_OPERATING_SYSTEM;
}

/* A machine is open, and there is no memory for the entry of its life file. */
static void no_life(void)
{
    if (vmm_open("sim:" RIG_PROFILE ",machine=x", &lifeless))
        tap_bail("it does not open");
    int filled = fill();
    const struct inject_case without_life = {.name = "a machine in which it cannot live is not initialised",
                                             .function = "calloc",
                                             .each = true,
                                             .least = 1,
                                             .call = initialised,
                                             .reported = of_the_system};
    inject_try(&without_life);
    tap_result(vmm_init(lifeless, 0), VMM_SUCCESS, "with one it is");
    let_go(filled);
    rig_close(lifeless);
}

int main(void)
{
    rig_begin();
    no_memory(); /* first, because entries are kept */
    no_life();
    many();
    rig_end();
    return tap_done();
}
