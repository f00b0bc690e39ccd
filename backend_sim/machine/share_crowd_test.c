/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of machines with thousands of other entries, and a folder whose name another user took first: processes still find
 * machines and export memory. */
#include <signal.h>
#include <sys/wait.h>

#include "child.h"
#include "passing.h"
#include "share_folder.h"
#include "share_rig.h"

enum { CROWD = 1500 }; /* entries before the machine, and as many after it */

static const char *entry(unsigned number)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/m-%u", rig_root, number);
    return path;
}

static void crowd(unsigned first)
{
    for (unsigned i = first; i < first + CROWD; i++)
        if (mkdir(entry(i), 0700))
            tap_bail("no folder");
}

static void see(void *user, const char *name)
{
    *(unsigned *)user += strcmp(name, "m-middle") == 0;
}

static void among_many(void)
{
    struct sim_profile profile;
    struct share_folder middle, other;
    char why[SHARE_WHY] = "";
    unsigned seen = 0;
    sim_profile_builtin(RIG_PROFILE, &profile);
    crowd(0);
    if (!share_folder_open(&middle, "middle", &profile, why))
        tap_bail("%s", why);
    crowd(CROWD);
    tap_ok(share_folder_open_other(&other, middle.state->id, &profile, why),
           "a machine is found by its id among %d others: %s",
           2 * CROWD, why);
    share_folder_close(&other, false);
    tap_ok(share_folder_each(see, &seen, why) && seen == 1, "the list contains the machine");
    int token = share_folder_open_file(&middle, "token", 7, OS_OPEN_NEW);
    struct share_folder self = {.path = "/-"};
    memcpy(self.root, middle.root, sizeof self.root);
    tap_ok(token >= 0 && share_folder_other_has(&self, middle.state->id, "token", 7), "another machine's token is found");
    close(token);
    share_folder_close(&middle, false); /* as a killed process does */
    tap_ok(share_folder_open(&other, "next", &profile, why) && !os_file_exists(rig_path("middle", "state")),
           "the next open sweeps the leftover machine");
    share_folder_close(&other, true);
    for (unsigned i = 0; i < 2 * CROWD; i++)
        if (rmdir(entry(i)))
            tap_bail("%s is gone", entry(i));
}

/* ---- another user created the folder first ---- */

static uid_t another; /* the id of a user in no other run of this test */

/* As that user: reports the folder of machines, exports, and waits. */
static _Noreturn void user(int socket)
{
    char root[OS_PATH_MAX] = "";
    vmm_mem_generic_allocation_handle memory = 0;
    unsetenv("CUVMM_MACHINES");
    unsetenv("TMPDIR");
    bool had = !setgid(another) && !setuid(another) && !os_share_root(root);
    if (write(socket, root, sizeof root) != sizeof root || !had)
        _exit(1);
    vmm_system *sys = rig_open(NULL);
    if (rig_create(sys, RIG_G, &memory) != VMM_SUCCESS)
        _exit(1);
    int fd = rig_export(sys, memory);
    passing_go_on(socket);
    passing_wait(socket);
    rig_close(sys);
    _exit(fd < 0);
}

struct one {
    pid_t child;
    int socket;
    char root[OS_PATH_MAX];
};

static bool begin(struct one *one)
{
    fflush(NULL);
    one->child = child_begin(&one->socket, 30);
    if (one->child == 0)
        user(one->socket);
    if (read(one->socket, one->root, sizeof one->root) != sizeof one->root)
        tap_bail("a user's process does not answer");
    return passing_wait(one->socket);
}

static bool end(struct one *one)
{
    int status = -1;
    passing_go_on(one->socket);
    waitpid(one->child, &status, 0);
    close(one->socket);
    return status == 0;
}

static void taken_by_another(void)
{
    struct one first, second, third;
    another = 20000 + (uid_t)getpid() % 40000;
    if (geteuid() || !begin(&first)) {
        tap_skip("this process cannot change its user", "another user has the folder's name");
        return;
    }
    tap_ok(end(&first) && !rmdir(first.root), "a user's machines are in %s", first.root);
    if (mkdir(first.root, 0700)) /* root's folder, without access for others */
        tap_bail("%s", first.root);
    tap_ok(begin(&first) && begin(&second), "two processes of the user export memory");
    tap_ok(strlen(first.root) > 17 && !strcmp(first.root, second.root), "when the name is taken, machines are in %s",
           first.root);
    char usual[OS_PATH_MAX];
    snprintf(usual, sizeof usual, "%.*s", (int)strlen(first.root) - 17, first.root);
    tap_ok(!rmdir(usual), "the other user's folder stays empty");
    tap_ok(begin(&third), "a third comes");
    tap_ok(!strcmp(first.root, third.root), "after the name is free, processes still choose the same folder");
    bool exported = end(&first);
    exported &= end(&second);
    exported &= end(&third);
    tap_ok(exported, "all processes export");
    tap_ok(!rmdir(first.root) && rmdir(usual), "no folder is left");
}

int main(void)
{
    rig_begin();
    among_many();
    taken_by_another();
    rig_end();
    return tap_done();
}
