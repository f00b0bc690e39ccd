/* SPDX-License-Identifier: Apache-2.0 */
/* Machines as folders: one for each name; the last process removes it, the next one sweeps leftovers, and failures are
 * reported. */
#include "share_folder.h"

#include <errno.h>
#include <sys/wait.h>

#include "share_remove.h"
#include "share_rig.h"
#include "share_token.h"

static struct sim_profile profile;
static char why[SHARE_WHY];

static void names(void)
{
    static const char *const good[] = {"a", "A-b_c.9", "0123456789012345678901234567890123456789"};
    static const char *const bad[] = {"", ".", "..", ".a", "a/b", "a b", "a\n", "01234567890123456789012345678901234567890"};
    bool right = true;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        right &= share_name_ok(good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        right &= !share_name_ok(bad[i]);
    tap_ok(right, "valid names are accepted, and paths refused");
}

static void one_for_each_name(void)
{
    struct share_folder a, b, c;
    tap_ok(share_folder_open(&a, "x", &profile, why) && share_folder_open(&b, "x", &profile, why) &&
               share_folder_open(&c, "y", &profile, why),
           "three opens of two names succeed");
    struct stat is;
    tap_ok(stat(rig_path("x", "state"), &is) == 0 && (uint64_t)is.st_size >= sizeof(struct share_state) &&
               (uint64_t)is.st_size - sizeof(struct share_state) < os_page_size(),
           "the state has the size of its structure, in whole pages");
    tap_ok(a.state->id == b.state->id && a.state->id != c.state->id && rig_machines() == 2,
           "equal names share a machine, other names do not");
    share_folder_close(&a, true);
    tap_u64(rig_machines(), 2, "a machine stays while another process has it open");
    share_folder_close(&b, false);
    tap_u64(rig_machines(), 2, "a machine stays when its last process wants to keep it");
    tap_ok(share_folder_open(&a, "x", &profile, why), "opened again");
    share_folder_close(&a, true);
    share_folder_close(&c, true);
    tap_u64(rig_machines(), 0, "the last close removes the machine");
}

/* The format of the mark, by which builds of other versions know a machine's folder. */
static void marked(void)
{
    struct share_folder folder;
    struct stat is;
    char mark[32];
    share_folder_open(&folder, "x", &profile, why);
    if (stat(rig_path("x", "."), &is))
        tap_bail("no folder");
    uint64_t check = (uint64_t)is.st_ino ^ UINT64_C(0x6375766d6d2d6d6b) * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 3; i++) {
        check = (check ^ check >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
        check ^= check >> 29;
    }
    snprintf(mark, sizeof mark, "cuvmm-%016llx", (unsigned long long)check);
    tap_ok(stat(rig_path("x", mark), &is) == 0, "the mark of a machine's folder is %s", mark);
    share_folder_close(&folder, true);
}

/* The next process that opens a machine sweeps what a killed process left behind, unless a descriptor of it is open. */
static void leftovers(void)
{
    struct share_folder a, b;
    struct share_token token = {0};
    struct os_file_is is;
    char path[OS_PATH_MAX];
    share_folder_open(&a, "left", &profile, why);
    int file = share_folder_open_file(&a, "token", 1, OS_OPEN_NEW);
    tap_ok(share_token_write(file, &token, &is), "a machine gets a token");
    int fd = share_token_open(share_folder_file(&a, "token", 1, path));
    share_folder_close(&a, false);
    char half[SHARE_ENTRY_MAX];
    int root = os_folder_open(OS_NOWHERE, rig_root);
    tap_ok(share_spare_name(root, half) && os_folder_new(root, half), "another machine is half made");
    share_folder_open(&b, "next", &profile, why);
    tap_u64(rig_machines(), 2, "the half-made machine is swept; the one with an open descriptor stays");
    close(fd);
    share_folder_close(&b, true);
    share_folder_open(&b, "next", &profile, why);
    tap_u64(rig_machines(), 1, "after the descriptor is closed the machine is swept");
    share_folder_close(&b, true);
    share_spare_name(root, half);
    snprintf(path, sizeof path, "%s/%s/token.1", rig_root, half);
    os_folder_new(root, half);
    close(file);
    file = os_file_open(path, OS_OPEN_NEW);
    share_token_write(file, &token, &is);
    fd = share_token_open(path);
    share_folder_open(&b, "next", &profile, why);
    tap_ok(fd >= 0 && rig_machines() == 1, "a machine that was being removed is swept in spite of a descriptor");
    close(file);
    close(fd);
    close(root);
    share_folder_close(&b, true);
}

static void see_name(void *user, const char *entry)
{
    if (strcmp(entry, user) == 0)
        *(char *)user = '\0';
}

/* A name may have up to 40 letters. */
static void listed(void)
{
    struct share_folder longest, other;
    char name[] = "0123456789012345678901234567890123456789", entry[64];
    share_folder_open(&longest, name, &profile, why);
    snprintf(entry, sizeof entry, "m-%s", name);
    tap_ok(share_folder_each(see_name, entry, why) && !entry[0], "the list contains the machine with the longest name");
    memset(&other, 0x55, sizeof other);
    tap_ok(!share_folder_open_other(&other, longest.state->id ^ 1, &profile, why) && other.file == -1 && !other.path[0] &&
               !other.state,
           "opening a missing machine fails and leaves nothing open");
    char half[128];
    snprintf(half, sizeof half, "%s/m-half", rig_root);
    os_folder_new(OS_NOWHERE, half);
    tap_ok(!share_folder_open_other(&other, longest.state->id ^ 1, &profile, why) && !why[0],
           "an entry that another process is creating counts as missing");
    close(os_file_open(strcat(half, "/state"), OS_OPEN_NEW));
    errno = EIO; /* of an earlier call */
    tap_ok(!share_folder_open_other(&other, longest.state->id ^ 1, &profile, why) && !why[0], "also while its state is empty");
    *strrchr(half, '/') = '\0';
    rig_remove(half);
    share_folder_close(&longest, true);
}

/* Opens the machine, and puts a file where its folder should be. */
static bool lies_there(const char *name)
{
    struct share_folder folder;
    char path[OS_PATH_MAX], why_not[SHARE_WHY] = "";
    if (!share_folder_open(&folder, name, &profile, why_not) || folder.state->magic != SHARE_MAGIC) {
        fprintf(stderr, "%s\n", why_not);
        return false;
    }
    int file = name ? -1 : os_file_open(share_folder_file(&folder, "slot", 0, path), OS_OPEN_NEW);
    if (file >= 0)
        os_file_close(file);
    else if (!name)
        fprintf(stderr, "%s: the folder was removed\n", path);
    share_folder_close(&folder, true);
    return name || file >= 0;
}

/* Many processes open and close machines at once; each must find a complete machine. Opening sweeps leftovers, and must
 * not mistake a half-made machine for one. */
static void at_once(const char *name)
{
    enum { ALL = 4, TIMES = 100 };
    unsigned failed = 0;
    pid_t child[ALL];
    fflush(NULL);
    for (int i = 0; i < ALL; i++) {
        child[i] = fork();
        if (child[i])
            continue;
        for (int j = 0; j < TIMES; j++)
            if (!lies_there(name))
                _exit(1);
        _exit(0);
    }
    for (int i = 0; i < ALL; i++) {
        int status = 1;
        waitpid(child[i], &status, 0);
        failed += status != 0;
    }
    tap_u64(failed, 0, "%d processes open and close %s %d times", ALL, name ? "one machine" : "separate machines", TIMES);
}

int main(void)
{
    rig_begin();
    sim_profile_builtin("h100", &profile);
    names();
    one_for_each_name();
    marked();
    leftovers();
    listed();
    at_once("crowd");
    at_once(NULL);
    rig_end();
    return tap_done();
}
