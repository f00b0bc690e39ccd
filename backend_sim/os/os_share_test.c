/* SPDX-License-Identifier: Apache-2.0 */
/* Files, folders, clocks, and locks that end with their holder. */
#include "os_share.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "child.h"
#include "os_own.h"
#include "os_system.h"
#include "passing.h"
#include "share_rig.h"
#include "vmm_fd.h"

static const char *path(const char *name)
{
    static char text[2][128];
    static int turn;
    turn ^= 1;
    snprintf(text[turn], sizeof text[turn], "%s/%s", rig_root, name);
    return text[turn];
}

static void identity(void)
{
    uint64_t self = os_process_id();
    int status = 0;
    tap_ok(self && self == os_process_id(), "a process keeps its number");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(os_process_id() == self || !os_process_id());
    tap_ok(waitpid(child, &status, 0) == child && status == 0, "a forked child has another number");
    tap_ok(os_process_id() == self, "the parent keeps its own after the fork");
}

static void files(void)
{
    struct os_file_is is;
    int file = os_file_open(path("a"), OS_OPEN_NEW);
    char bytes[4] = "";
    tap_ok(file >= 0 && (fcntl(file, F_GETFD) & FD_CLOEXEC), "a new file is close-on-exec");
    tap_ok(os_file_open(path("a"), OS_OPEN_NEW) < 0, "a file can be new only once");
    tap_ok(os_file_open(path("b"), OS_OPEN_WRITE) < 0 && os_file_open(path("b"), OS_OPEN_READ) < 0 && !os_file_exists(path("b")),
           "a missing file is neither opened nor created");
    tap_ok(os_file_write(file, 0, "abcd", 4) && os_file_read(file, 1, bytes, 3) && !memcmp(bytes, "bcd", 3),
           "bytes are written and read back");
    tap_ok(os_file_write(file, 2, "x", 1) && os_file_read(file, 2, bytes, 1) && bytes[0] == 'x',
           "a single byte is written and read back");
    errno = EINTR; /* left by an earlier call */
    tap_ok(!os_file_read(file, 2, bytes, 3), "a read beyond the end fails");
    tap_ok(os_file_look(file, &is) && is.regular && is.size == 4, "the file is regular and has its size");
    tap_ok(!os_file_look(-1, &is), "descriptor -1 has no file");
    tap_ok(os_file_is_at(file, OS_NOWHERE, path("a")), "the path leads to the file");
    tap_ok(os_rename(OS_NOWHERE, path("a"), path("c")) && !os_file_is_at(file, OS_NOWHERE, path("a")) &&
           os_file_is_at(file, OS_NOWHERE, path("c")), "after a rename the new path does");
    tap_ok(symlink(path("c"), path("l")) == 0 && os_file_open(path("l"), OS_OPEN_WRITE) < 0, "links are not followed");
    os_file_remove(OS_NOWHERE, path("l"));
    tap_ok(os_file_room(file, 0, 65536) && os_file_look(file, &is) && is.size >= 65536, "reserving space makes the file larger");
    os_file_close(file);
    os_file_remove(OS_NOWHERE, path("c"));
}

static void holds(void)
{
    int first = os_file_open(path("a"), OS_OPEN_NEW), second = os_file_open(path("a"), OS_OPEN_READ);
    int other = os_file_open(path("a"), OS_OPEN_READ), ends[2];
    tap_ok(os_lock(first) && os_lock(second) && !os_lock_exclusive(other),
           "several openings share the lock, and none gets it exclusively");
    os_file_close(first);
    int copy = dup(second);
    os_file_close(second);
    tap_ok(!os_lock_exclusive(other), "a duplicate keeps the lock");
    if (vmm_fd_pair(ends) != VMM_SUCCESS || vmm_fd_send(ends[0], copy, NULL, 0, -1) != VMM_SUCCESS)
        tap_bail("no sockets");
    os_file_close(copy);
    tap_ok(!os_lock_exclusive(other), "a descriptor in a message keeps the lock");
    close(ends[0]);
    close(ends[1]);
    tap_ok(os_lock_exclusive(other), "the lock ends with the last descriptor");
    os_unlock(other);
    tap_ok(os_lock(other), "after the exclusive lock is released, another opening can lock");
    os_file_close(other);
    os_file_remove(OS_NOWHERE, path("a"));
}

static void count_entry(void *user, const char *name)
{
    *(unsigned *)user += strcmp(name, "one") == 0 || strcmp(name, "two") == 0;
}

/* A folder is private to the user that created it, and is removed with its contents. */
static void folders(void)
{
    struct stat is = {0};
    struct os_file_is file;
    mode_t mask = umask(0);
    bool made = os_folder_new(OS_NOWHERE, path("folder"));
    umask(mask);
    tap_ok(made && !lstat(path("folder"), &is) && S_ISDIR(is.st_mode) && (is.st_mode & 07777) == 0700, "a new folder is private");
    tap_ok(!os_folder_new(OS_NOWHERE, path("folder")), "a folder can be new only once");
    tap_ok(os_folder_look(path("folder"), &file) && !file.regular && file.number == is.st_ino, "the folder is reported as one");
    os_file_close(os_file_open(path("folder/one"), OS_OPEN_NEW));
    os_file_close(os_file_open(path("folder/two"), OS_OPEN_MAKE));
    tap_ok(!lstat(path("folder/one"), &is) && (is.st_mode & 0777 & ~mask) == (0600 & ~mask) &&
               !os_folder_look(path("folder/one"), &file),
           "a file in the folder is private, and not a folder");
    unsigned wrong = 0;
    for (unsigned limit = 0; limit < 4; limit++) {
        unsigned seen = 0;
        wrong += !os_folder_each(path("folder"), limit, count_entry, &seen) || seen != (limit < 2 ? limit : 2);
    }
    tap_ok(!wrong && !os_folder_each(path("no folder"), 1, count_entry, &wrong),
           "at most the requested number of entries is visited");
    rig_remove(path("folder"));
    tap_ok(!os_file_exists(path("folder")), "the folder is removed with its contents");
    char deep[OS_PATH_MAX], name[2 * OS_PATH_MAX]; /* entries of a folder with the longest path have longer paths */
    size_t length = (size_t)snprintf(deep, sizeof deep, "%s/", rig_root);
    memset(deep + length, 'd', 200);
    deep[length + 200] = '\0';
    snprintf(name, sizeof name, "%s/%0*d", deep, OS_PATH_MAX - (int)length - 200, 7);
    tap_ok(os_folder_new(OS_NOWHERE, deep) && strlen(name) > OS_PATH_MAX, "a folder with a long name contains another");
    int file_there = os_file_open(name, OS_OPEN_NEW);
    tap_ok(file_there >= 0, "the file with the long path exists");
    os_file_close(file_there);
    rig_remove(deep);
    tap_ok(!os_file_exists(deep), "both go");
}

/* [before] [milliseconds] [after], and never 0. */
static void clocks(void)
{
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    uint64_t now = os_milliseconds();
    clock_gettime(CLOCK_MONOTONIC, &after);
    tap_ok(now > (uint64_t)before.tv_sec * 1000 + (uint64_t)before.tv_nsec / 1000000 &&
               now <= (uint64_t)after.tv_sec * 1000 + (uint64_t)after.tv_nsec / 1000000 + 1,
           "os_milliseconds follows the system's clock, and is at least 1");
    uint64_t began = 0;
    tap_ok(!os_too_long(&began) && began >= now && began <= os_milliseconds(), "a wait that has just begun is not too long");
    uint64_t kept = began = now > 2000 ? now - 2000 : 1;
    tap_ok(os_too_long(&began) == (now > 2000) && began == kept, "a wait that began two seconds ago is too long");
}

/* A refused write is not retried for ever. */
static void written(void)
{
    char bytes[4] = "";
    int file = os_file_open(path("w"), OS_OPEN_MAKE), reading = open(path("w"), O_RDONLY);
    tap_ok(os_file_write(file, 3, "abcd", 4) && pread(reading, bytes, 4, 3) == 4 && memcmp(bytes, "abcd", 4) == 0, "written");
    tap_ok(!os_file_write(reading, 0, "abcd", 4) && !os_file_write(-1, 0, "abcd", 4),
           "writing fails through a read-only descriptor and through none");
    close(reading);
    os_file_close(file);
    os_file_remove(OS_NOWHERE, path("w"));
}

/* A program may have closed its standard input: then the next file gets descriptor 0. */
static void number_0(void)
{
    int kept = dup(STDIN_FILENO), file;
    close(STDIN_FILENO);
    file = os_file_open(path("zero"), OS_OPEN_MAKE);
    os_file_close(file);
    tap_ok(file == 0 && !os_process_alive(path("zero")),
           "a file without a lock marks no process as alive, with descriptor 0 too");
    os_file_remove(OS_NOWHERE, path("zero"));
    bool known = os_resident() != 0;
    tap_ok(known && fcntl(STDIN_FILENO, F_GETFD) < 0, "the file that says how much memory is resident is closed, too");
    if (kept >= 0 && (dup2(kept, STDIN_FILENO) != STDIN_FILENO || close(kept)))
        tap_bail("standard input cannot be restored");
}

static void lives(void)
{
    int socket;
    tap_ok(!os_process_alive(path("life")), "a missing file marks no process as alive");
    pid_t child = child_begin(&socket, 20);
    if (child == 0) {
        int file = -1;
        struct os_own own = {.file = &file};
        bool ok = os_own_add(&own);
        file = os_file_open(path("life"), OS_OPEN_MAKE);
        ok = ok && os_mark_alive(file) && os_mark_alive(file) && os_process_alive(path("life"));
        if (fork() == 0) { /* its child does not inherit the mark, and lives on */
            passing_go_on(ok ? socket : -1);
            passing_wait(socket);
            _exit(0);
        }
        for (;;)
            pause();
    }
    passing_wait(socket);
    int file = os_file_open(path("life"), OS_OPEN_WRITE);
    tap_ok(os_process_alive(path("life")) && !os_mark_alive(file), "the file marks one process as alive, and refuses another");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    tap_ok(!os_process_alive(path("life")) && os_mark_alive(file),
           "the mark ends when the process is killed, although its child lives on");
    close(socket);
    os_file_close(file);
    os_file_remove(OS_NOWHERE, path("life"));
}

/* Only a lock on the first byte marks a process as alive: locks on later bytes have no effect. */
static void locked_behind(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 1};
    int socket, file = os_file_open(path("behind"), OS_OPEN_MAKE);
    pid_t child = child_begin(&socket, 20);
    if (child == 0) {
        bool locked = !fcntl(file, F_SETLK, &lock);
        passing_go_on(socket);
        passing_wait(socket);
        _exit(!locked);
    }
    int status = -1;
    passing_wait(socket);
    tap_ok(!os_process_alive(path("behind")) && os_mark_alive(file), "a lock on the next byte marks no process as alive");
    passing_go_on(socket);
    waitpid(child, &status, 0);
    tap_u64((uint64_t)status, 0, "the child held that lock");
    close(socket);
    os_file_close(file);
    os_file_remove(OS_NOWHERE, path("behind"));
}

int main(void)
{
    rig_begin();
    identity();
    files();
    folders();
    clocks();
    holds();
    written();
    lives();
    locked_behind();
    number_0();
    rig_end();
    return tap_done();
}
