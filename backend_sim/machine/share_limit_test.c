/* SPDX-License-Identifier: Apache-2.0 */
/* In a control group with a memory limit, like a container's: exports stay below the limit, so that they get no process killed,
 * and a killed process leaves room for the next one, which frees the leftovers. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "os_memory.h"
#include "share_rig.h"

enum { LIMIT = 128, PIECE = 8 }; /* MiB */

static char group[128];

static bool put(const char *name, unsigned long long number)
{
    char path[200], text[32];
    snprintf(path, sizeof path, "%s/%s", group, name);
    int file = open(path, O_WRONLY), length = snprintf(text, sizeof text, "%llu", number);
    bool done = file >= 0 && write(file, text, (size_t)length) == length;
    if (file >= 0)
        close(file);
    return done;
}

/* False if this user or this system has no such groups. */
static bool make_group(void)
{
    snprintf(group, sizeof group, "/sys/fs/cgroup/memory/cuvmm-test-%ld", (long)getpid());
    if (!mkdir(group, 0700) && put("memory.limit_in_bytes", (unsigned long long)LIMIT << 20))
        return true;
    rmdir(group);
    snprintf(group, sizeof group, "/sys/fs/cgroup/cuvmm-test-%ld", (long)getpid());
    if (!mkdir(group, 0700) && put("memory.max", (unsigned long long)LIMIT << 20))
        return true;
    rmdir(group);
    return false;
}

/* Writes through a mapping and exports, piece by piece, until a call is refused; then exports each a second time. Returns the
 * number of pieces. */
static unsigned fill(bool write_first, bool *reported)
{
    vmm_system *sys = rig_open("limited");
    vmm_mem_generic_allocation_handle memory = 0;
    unsigned done = 0;
    *reported = false;
    for (bool more = sys != NULL; more && done < 2 * LIMIT / PIECE; done += more) {
        if (rig_create(sys, (uint64_t)PIECE << 20, &memory) != VMM_SUCCESS)
            break;
        vmm_deviceptr at = write_first ? rig_map(sys, memory, (uint64_t)PIECE << 20) : 0;
        more = !write_first || vmm_memset_d8(sys, at, 7, (uint64_t)PIECE << 20) == VMM_SUCCESS;
        *reported = !more && vmm_last_detail()->rule;
        if (more && rig_export(sys, memory) < 0) {
            *reported = rig_reported("VMM-EXPORT-SYSTEM") && strstr(vmm_last_detail()->note, "no space");
            more = false;
        }
    }
    return done;
}

/* Runs in the group and returns 0 to 99, the number of pieces; then the process is killed, or ends. */
static int in_group(bool write_first, bool dies)
{
    int ends[2], status = -1;
    unsigned char done = 255;
    if (pipe(ends))
        tap_bail("no pipe");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool reported = false;
        unsigned char count = 254;
        if (put("cgroup.procs", (unsigned long long)getpid()))
            count = (unsigned char)fill(write_first, &reported);
        if (!reported)
            count = 253;
        if (write(ends[1], &count, 1) != 1 || dies)
            raise(SIGKILL);
        _exit(0);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], &done, 1);
    close(ends[0]);
    waitpid(child, &status, 0);
    return n == 1 ? done : 255;
}

static void limited(bool write_first)
{
    int first = in_group(write_first, true), second = in_group(write_first, true), third = in_group(write_first, false);
    tap_ok(first >= LIMIT / PIECE * 3 / 4 && first < LIMIT / PIECE,
           "%d pieces of %d MiB%s are exported under a limit of %d MiB, and the next one is refused",
           first, PIECE, write_first ? " that were written" : "", LIMIT);
    tap_ok(second == first && third == first, "the next process exports as many, beside the leftovers of a killed one (%d, %d)",
           second,
           third);
    rig_close(rig_open("limited"));
}

int main(void)
{
    uint64_t limit, more = 0;
    rig_begin();
    uint64_t left = os_memory_left(&limit);
    tap_ok(left <= limit, "the remaining memory is at most the limit");
    tap_ok(!os_memory_room(UINT64_MAX, &more) && !more && os_memory_room(0, &more),
           "less memory remains than the limit allows in all");
    if (getenv("CUVMM_EMULATED")) {
        tap_skip("an emulator's own memory counts in the group", "memory under a limit");
    } else if (strncmp(rig_root, "/dev/shm", 8) != 0 || !make_group()) {
        tap_skip("this system has no control group with a limit for this user", "exports under a memory limit");
    } else {
        limited(false);
        limited(true);
        tap_ok(!rmdir(group), "no process is left in the group");
    }
    rig_end();
    return tap_done();
}
