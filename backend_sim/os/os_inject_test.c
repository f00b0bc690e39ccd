/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that fail, are interrupted or do only part of the work: each function of os.h and os_share.h reports the failure,
 * or falls back. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include <sys/wait.h>

#include "os_fork.h"
#include "os_memory.h"
#include "os_mutex.h"
#include "os_share.h"
#include "os_inspect.h"
#include "profile.h"
#include "share_rig.h"
#include "touch.h"

static const char *path(const char *name)
{
    static char text[128];
    snprintf(text, sizeof text, "%s/%s", rig_root, name);
    return text;
}

/* Makes the nth request to a function fail with that error during the call. */
#define WITHOUT(function, nth, error, call) (inject_arm_at(function, nth), inject_error = (error), failed(call))

static bool failed(bool result)
{
    if (!inject_disarm())
        tap_bail("the injected fault was not reached");
    return result;
}

/* ---- files ---- */

static bool holds(int file, uint64_t offset, uint64_t size, unsigned char value)
{
    unsigned char byte = 0;
    for (uint64_t at = offset; at < offset + size; at++)
        if (!os_file_read(file, at, &byte, 1) || byte != value)
            return false;
    return true;
}

/* [ 9 | 9 | 9 ] clears the middle page. */
static void cleared(void)
{
    static unsigned char nine[3 * 4096];
    memset(nine, 9, sizeof nine);
    int file = os_file_new();
    os_file_grow(file, sizeof nine);
    os_file_write(file, 0, nine, sizeof nine);
    inject_arm_both("fallocate", 1, "pwrite");
    tap_ok(!failed(os_file_clear(file, 4096, 4096)), "clearing fails when the bytes can be neither freed nor overwritten");
    tap_ok(holds(file, 0, sizeof nine, 9), "the bytes are unchanged");
    tap_ok(WITHOUT("fallocate", 1, ENOMEM, os_file_clear(file, 4096, 4096)), "clearing falls back to writing zeros");
    tap_ok(holds(file, 4096, 4096, 0) && holds(file, 0, 4096, 9) && holds(file, 8192, 4096, 9),
           "exactly the requested bytes are zero");
    os_file_close(file);
}

static void interrupted(void)
{
    char bytes[4] = "";
    int file = os_file_new();
    tap_ok(WITHOUT("pwrite", 1, EINTR, os_file_write(file, 0, "abcd", 4)), "an interrupted write continues");
    tap_ok(WITHOUT("pread", 1, EINTR, os_file_read(file, 0, bytes, 4)) && !memcmp(bytes, "abcd", 4),
           "an interrupted read continues");
    tap_ok(WITHOUT("fallocate", 1, EINTR, os_file_room(file, 0, 4096)), "an interrupted allocation of space continues");
    tap_ok(!WITHOUT("pwrite", 1, ENOSPC, os_file_write(file, 0, "efgh", 4)) && os_file_read(file, 0, bytes, 4) &&
               !memcmp(bytes, "abcd", 4),
           "a write without space reports failure and changes nothing");
    tap_ok(!WITHOUT("pread", 1, EIO, os_file_read(file, 0, bytes, 4)), "a read that the disk refuses fails");
    tap_ok(!WITHOUT("fallocate", 1, ENOSPC, os_file_room(file, 4096, 4096)), "reserving space fails on a full disk");
    os_file_close(file);
}

/* Growing a file beyond the process's limit would raise SIGXFSZ. */
static void longest(void)
{
    struct os_file_is is;
    struct rlimit kept, low;
    int file = os_file_new();
    getrlimit(RLIMIT_FSIZE, &kept);
    low = (struct rlimit){.rlim_cur = 8192, .rlim_max = kept.rlim_max};
    setrlimit(RLIMIT_FSIZE, &low);
    tap_ok(os_file_grow(file, 8192) && !os_file_grow(file, 12288), "a file grows up to the process's limit, and no further");
    setrlimit(RLIMIT_FSIZE, &kept);
    tap_ok(!os_file_grow(file, UINT64_C(1) << 63), "a file cannot grow beyond the largest offset");
    tap_ok(!WITHOUT("getrlimit", 1, EINVAL, os_file_grow(file, 12288)) && !WITHOUT("fstat", 1, EIO, os_file_grow(file, 12288)) &&
               !WITHOUT("ftruncate", 1, ENOSPC, os_file_grow(file, 12288)),
           "growing fails when the system refuses, or does not report the size");
    tap_ok(os_file_look(file, &is) && is.size == 8192, "the file keeps its size");
    os_file_close(file);
}

static void unreported(void)
{
    struct os_file_is is;
    int file = os_file_open(path("a"), OS_OPEN_NEW), other = os_file_open(path("b"), OS_OPEN_NEW);
    tap_ok(os_file_is_at(file, OS_NOWHERE, path("a")) && !os_file_is_at(other, OS_NOWHERE, path("a")),
           "a path leads to its own file, and to no other");
    tap_ok(!WITHOUT("fstat", 1, EIO, os_file_is_at(file, OS_NOWHERE, path("a"))) &&
           !WITHOUT("lstat", 1, EIO, os_file_is_at(file, OS_NOWHERE, path("a"))),
           "the answer is no when the system reports nothing");
    tap_ok(WITHOUT("lstat", 1, EIO, os_file_exists(path("c"))), "a file may exist when the system does not report it");
    tap_ok(WITHOUT("fcntl", 1, EINVAL, os_file_is_open(file)) && !os_file_is_open(-1),
           "a descriptor counts as open when the system does not report it");
    fcntl(file, F_SETFD, FD_CLOEXEC);
    errno = EBADF; /* left by another call */
    tap_ok(os_file_is_open(file), "a close-on-exec descriptor counts as open");
    tap_ok(!WITHOUT("fstat", 1, EIO, os_file_look(file, &is)), "nothing is known of a file that the system does not report");
    tap_ok(WITHOUT("fcntl", 1, EINVAL, os_file_is_readable(file)), "such a file counts as readable");
    const int twin = dup(file);
    tap_ok(!WITHOUT("fcntl", 1, EINVAL, os_file_tag(file, 7)) && !os_file_has_tag(file, 7) && os_file_tag(file, 7) && os_file_has_tag(twin, 7),
           "an opening has a tag, which its duplicate shows");
    tap_ok(!os_file_has_tag(file, 8) && !os_file_has_tag(other, 7) && !WITHOUT("fcntl", 1, EINVAL, os_file_has_tag(file, 7)),
           "no other tag, and no other opening");
    close(twin);
    tap_ok(os_mark_alive(file) && !WITHOUT("flock", 1, ENOLCK, os_mark_alive(other)),
           "without a lock the file marks no process as alive");
    tap_ok(WITHOUT("open", 1, EMFILE, os_process_alive(path("c"))) && !os_process_alive(path("c")),
           "a process that cannot be checked counts as alive: no descriptor");
    tap_ok(WITHOUT("flock", 1, ENOLCK, os_process_alive(path("b"))) && !os_process_alive(path("b")),
           "a process that cannot be checked counts as alive: no lock");
    tap_ok(!os_folder_look(path("a"), &is) && !os_folder_look(path("c"), &is) && os_folder_look(rig_root, &is),
           "only a folder counts as a folder");
    os_file_close(file);
    os_file_close(other);
    os_file_remove(OS_NOWHERE, path("a"));
    os_file_remove(OS_NOWHERE, path("b"));
}

/* ---- names ---- */

static bool empty_file(const char *name)
{
    struct stat is;
    return !lstat(path(name), &is) && S_ISREG(is.st_mode) && !is.st_size;
}

/* Systems that cannot rename without replacing look for the target first; when the system reports nothing, the target counts as
 * taken. */
static void renamed(void)
{
    static const struct {
        const char *name;
        int error, look_error;
        bool source, target, done;
    } cases[] = {{"a free name", EINVAL, 0, true, false, true},
                 {"a free name, another system", ENOSYS, 0, true, false, true},
                 {"a free name, on a system without the call", EINVAL, 0, true, true, false},
                 {"a taken name", EINVAL, EIO, true, false, false},
                 {"a name that the system does not report", EINVAL, 0, false, false, false},
                 {"no source", ENOSPC, 0, true, false, false}};
    int folder = os_folder_open(OS_NOWHERE, rig_root);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct os_file_is before = {0}, after = {0};
        if (cases[i].source)
            os_file_close(os_file_open(path("from"), OS_OPEN_NEW));
        if (cases[i].target) {
            int target = os_file_open(path("to"), OS_OPEN_NEW);
            os_file_write(target, 0, "kept", 4);
            os_file_close(target);
        }
        os_file_look_in(folder, "from", &before);
        if (cases[i].look_error)
            inject_arm_both("rename", 1, "lstat");
        else
            inject_arm_at("rename", 1);
        inject_error = cases[i].error;
        bool done = failed(os_rename(folder, "from", "to"));
        tap_ok(done == cases[i].done, "%s: %s", cases[i].name, cases[i].done ? "renamed" : "not renamed");
        os_file_look_in(folder, done ? "to" : "from", &after);
        tap_ok(before.number == after.number && os_file_exists(path("from")) == (cases[i].source && !done),
               "the source file is where it should be");
        tap_ok(os_file_exists(path("to")) == (done || cases[i].target) && empty_file("to") == done,
               "the target name has the right file");
        os_file_remove(OS_NOWHERE, path("from"));
        os_file_remove(OS_NOWHERE, path("to"));
    }
    os_file_close(folder);
}

/* A file is identified by its disk as well. */
static void elsewhere(void)
{
    struct stat here, there;
    int file = os_file_open(path("a"), OS_OPEN_NEW);
    if (fstat(file, &here) || stat("/proc/self", &there))
        tap_bail("no files");
    tap_ok(here.st_dev == there.st_dev || !os_file_is_at(file, OS_NOWHERE, "/proc/self/status"),
           "a file on another disk is another file");
    tap_ok(os_file_is_at(file, OS_NOWHERE, path("a")), "the path of the file itself matches");
    os_file_close(file);
    os_file_remove(OS_NOWHERE, path("a"));
}

/* ---- the identity of a process ---- */

static void no_randomness(void)
{
    unsigned char bytes[16];
    tap_ok(!WITHOUT("open", 1, EMFILE, os_random(bytes, sizeof bytes)) &&
               !WITHOUT("read", 1, EIO, os_random(bytes, sizeof bytes)),
           "reading random bytes fails");
    tap_u64(WITHOUT("open", 1, EMFILE, os_process_id() != 0), 0, "without random bytes a process has no number");
    uint64_t number = os_process_id();
    tap_ok(number && number == os_process_id(), "with random bytes it gets one");
}

static void names(void)
{
    char program[OS_PROGRAM] = "x", command[OS_COMMAND] = "";
    WITHOUT("fopen", 1, EMFILE, (os_program(os_pid(), program), true));
    tap_text(program, "", "a process whose name cannot be read has no name");
    WITHOUT("fopen", 1, EMFILE, (os_command(os_pid(), command), true));
    os_program(os_pid(), program);
    tap_text(command, program, "one whose command cannot be read has its name");
    tap_ok(!WITHOUT("fopen", 1, EMFILE, os_is_stopped(os_pid())),
           "a process whose state cannot be read is not reported as stopped");
}

static void see(void *user, const struct os_opening *opening)
{
    *(unsigned *)user += opening->pid == os_pid();
}

static void openings(void)
{
    unsigned seen = 0;
    char name[40]; /* used by no other test */
    snprintf(name, sizeof name, "opened.%ld", (long)getpid());
    int file = os_file_open(path(name), OS_OPEN_NEW);
    tap_ok(!WITHOUT("access", 1, EACCES, os_openings_each(name, see, &seen)) && !seen,
           "a system without the list of open files reports nothing");
    tap_ok(!WITHOUT("access", 1, EACCES, os_own_openings_each(name, see, &seen)) && !seen, "not even for this process");
    tap_ok(os_own_openings_each(name, see, &seen) && seen == 1, "with the list, this process's own descriptor is found");
    seen = 0;
    tap_ok(os_openings_each(name, see, &seen) && seen == 1, "with the list of all processes, this process is found");
    WITHOUT("stat", 1, EIO, os_openings_each(name, see, &seen));
    tap_u64(seen, 1, "a descriptor whose file the system does not report is not found");
    os_file_close(file);
    os_file_remove(OS_NOWHERE, path(name));
}

/* ---- the folder of machines ---- */

/* Where machines would lie; the folder is not made. In /tmp this user may have one already, also one with a longer name: other
 * programs put their machines there where /dev/shm is unusable. */
static bool would_lie_in(const char *folder, const char *function, unsigned long nth)
{
    char root[OS_PATH_MAX], own[OS_PATH_MAX];
    int length = snprintf(own, sizeof own, "%s/cuvmm-%lu", folder, (unsigned long)geteuid());
    inject_arm_both(function, nth, "mkdir");
    bool made = !failed(os_share_root(root));
    return !strncmp(root, own, (size_t)length) && (!root[length] || (made && root[length] == '-'));
}

static void root(void)
{
    struct statvfs is;
    char found[OS_PATH_MAX], lengthy[OS_PATH_MAX], file[128], open_to_all[128];
    memset(lengthy, 'x', sizeof lengthy);
    lengthy[0] = '/';
    lengthy[sizeof lengthy - 1] = '\0';
    snprintf(file, sizeof file, "%s", path("file"));
    snprintf(open_to_all, sizeof open_to_all, "%s", path("all"));
    os_file_close(os_file_open(file, OS_OPEN_NEW));
    setenv("CUVMM_MACHINES", file, 1);
    tap_ok(os_share_root(found) && !strcmp(found, file), "a file in place of the folder is refused, and named");
    os_folder_new(OS_NOWHERE, open_to_all);
    chmod(open_to_all, 0755);
    setenv("CUVMM_MACHINES", open_to_all, 1);
    tap_ok(os_share_root(found), "a folder that other users can read is refused");
    chmod(open_to_all, 0700);
    tap_ok(!os_share_root(found) && !strcmp(found, open_to_all), "the folder must belong only to this user");
    tap_ok(WITHOUT("lstat", 1, EIO, os_share_root(found)), "the folder is refused when the system does not report its owner");
    setenv("CUVMM_MACHINES", "relative", 1);
    tap_text(os_share_root(found), "CUVMM_MACHINES is not an absolute path: it must begin with /",
             "a relative path is refused");
    tap_text(found, "relative", "and named");
    setenv("CUVMM_MACHINES", lengthy, 1);
    tap_text(os_share_root(found), "CUVMM_MACHINES is longer than 199 letters", "a path that is too long is refused");
    setenv("TMPDIR", rig_root, 1);
    setenv("CUVMM_MACHINES", "", 1);
    tap_ok(would_lie_in(rig_root, "statvfs", 1), "an empty CUVMM_MACHINES is ignored; without /dev/shm the folder is in TMPDIR");
    unsetenv("CUVMM_MACHINES");
    if (!statvfs("/dev/shm", &is) && (uint64_t)is.f_blocks * is.f_frsize >= UINT64_C(1) << 30)
        tap_ok(would_lie_in(rig_root, "access", 1), "the folder is in TMPDIR when /dev/shm is not accessible");
    setenv("TMPDIR", "relative", 1);
    tap_ok(would_lie_in("/tmp", "statvfs", 1), "without an absolute path in TMPDIR the folder is in /tmp");
    setenv("TMPDIR", lengthy, 1);
    tap_ok(would_lie_in("/tmp", "statvfs", 1), "the folder is in /tmp when TMPDIR is too long");
    unsetenv("TMPDIR");
    tap_ok(would_lie_in("/tmp", "statvfs", 1), "the folder is in /tmp when TMPDIR does not exist");
    os_file_remove(OS_NOWHERE, file);
    rmdir(open_to_all);
    setenv("CUVMM_MACHINES", rig_root, 1);
}

/* Where machines are stored when /dev/shm cannot be queried. */
static bool lie_in(char root[OS_PATH_MAX])
{
    return !WITHOUT("statvfs", 1, EIO, os_share_root(root) != NULL);
}

static void see_any(void *user, const char *name)
{
    *(unsigned *)user += strncmp(name, "cuvmm-", 6) == 0;
}

/* The folder's name is taken by something that is not this user's: all processes choose the same other folder. */
static void taken(void)
{
    enum { ALL = 8 };
    char first[128], root[OS_PATH_MAX], again[OS_PATH_MAX];
    unsigned same = 0, there = 0;
    int ends[2];
    unsetenv("CUVMM_MACHINES");
    setenv("TMPDIR", rig_root, 1);
    snprintf(first, sizeof first, "%s/cuvmm-%lu", rig_root, (unsigned long)geteuid());
    if (symlink("/", first) || pipe(ends))
        tap_bail("no link");
    inject_arm_both("statvfs", 1, "mkdir");
    inject_each = true;
    tap_ok(failed(os_share_root(root) != NULL) && !strcmp(root, first), "fails when another folder cannot be created");
    inject_arm_both("statvfs", 1, "opendir");
    inject_each = true;
    tap_ok(failed(os_share_root(root) != NULL), "fails when other folders cannot be listed");
    inject_arm_both("statvfs", 1, "open");
    inject_each = true;
    tap_ok(failed(os_share_root(root) != NULL), "fails when the parent folder cannot be opened");
    fflush(NULL);
    for (int i = 0; i < ALL; i++)
        if (fork() == 0) {
            char whole[OS_PATH_MAX] = "";
            bool had = lie_in(root);
            memcpy(whole, root, strlen(root));
            _exit(!had || write(ends[1], whole, sizeof whole) != sizeof whole);
        }
    while (waitpid(-1, NULL, 0) > 0)
        ;
    tap_ok(lie_in(again) && strlen(again) == strlen(first) + 17 && !strncmp(again, first, strlen(first)) &&
           again[strlen(first)] == '-',
           "when a link has the name, machines are stored beside it: %s", again);
    for (int i = 0; i < ALL; i++)
        same += read(ends[0], root, sizeof root) == sizeof root && !strcmp(root, again);
    tap_u64(same, ALL, "all concurrent processes get the same folder");
    unlink(first);
    tap_ok(lie_in(root) && !strcmp(root, again), "the choice stays when the first name is free again");
    os_folder_each(rig_root, 1000, see_any, &there);
    for (unsigned i = 0; i < there; i++)
        tap_ok(lie_in(root) && !rmdir(root), "each of several such folders is found");
    tap_ok(lie_in(root) && !strcmp(root, first) && !rmdir(root), "without them the usual folder is used again");
    close(ends[0]);
    close(ends[1]);
    unsetenv("TMPDIR");
    setenv("CUVMM_MACHINES", rig_root, 1);
}

/* Creates, or with mode 0 removes, BASE/NAME. */
static void make_folder(char made[OS_PATH_MAX], const char *name, mode_t mode, uid_t owner)
{
    snprintf(made, OS_PATH_MAX, "%s/%s", rig_root, name);
    if (mkdir(made, mode) || chmod(made, mode) || (owner && chown(made, owner, owner)))
        tap_bail("no folder %s", made);
}

static uint64_t number_of(const char *folder)
{
    struct stat is;
    return lstat(folder, &is) ? 0 : (uint64_t)is.st_ino;
}

/* Several folders, some of them private to this user: the private one with the lowest number is chosen, whatever the listing
 * order. */
static void several(void)
{
    enum { OWN = 6 };
    static const char tail[] = "0123456789012345678901234567890123456789012345678901234567890123456789";
    char own[OWN][OS_PATH_MAX], lengthy[OS_PATH_MAX], open_to_all[OS_PATH_MAX], root[OS_PATH_MAX], name[160];
    unsigned least = 0;
    unsigned long user = (unsigned long)geteuid();
    unsetenv("CUVMM_MACHINES");
    setenv("TMPDIR", rig_root, 1);
    snprintf(name, sizeof name, "cuvmm-%lu-%s", user, tail);
    make_folder(lengthy, name, 0700, 0);
    snprintf(name, sizeof name, "cuvmm-%lu-all", user);
    make_folder(open_to_all, name, 0755, 0);
    for (int i = 0; i < OWN; i++) {
        snprintf(name, sizeof name, "cuvmm-%lu-%d", user, i);
        make_folder(own[i], name, 0700, 0);
    }
    for (unsigned left = OWN; left; left--) {
        for (unsigned i = least = 0; i < OWN; i++)
            if (number_of(own[i]) && (!number_of(own[least]) || number_of(own[i]) < number_of(own[least])))
                least = i;
        tap_ok(lie_in(root) && !strcmp(root, own[least]), "of %u folders, the private one with the lowest number is chosen: %s",
               left, root);
        rmdir(own[least]);
    }
    tap_ok(number_of(lengthy) && number_of(open_to_all), "the other folders still exist");
    rmdir(lengthy);
    rmdir(open_to_all);
    snprintf(name, sizeof name, "%s/cuvmm-%lu", rig_root, user);
    rmdir(name);
    unsetenv("TMPDIR");
    setenv("CUVMM_MACHINES", rig_root, 1);
}

/* The usual name is taken by a folder that is not private: this user's own is refused, another user's is skipped. */
static void not_private(void)
{
    char first[OS_PATH_MAX], root[OS_PATH_MAX], name[32];
    unsetenv("CUVMM_MACHINES");
    setenv("TMPDIR", rig_root, 1);
    snprintf(name, sizeof name, "cuvmm-%lu", (unsigned long)geteuid());
    make_folder(first, name, 0755, 0);
    tap_ok(!lie_in(root) && !strcmp(root, first), "this user's folder is refused, and named, while others can read it");
    chmod(first, 0700);
    tap_ok(lie_in(root) && !strcmp(root, first), "it is accepted once it is private");
    if (geteuid() || chown(first, 1, 1)) {
        tap_skip("needs the superuser", "a folder that belongs to another user");
    } else {
        tap_ok(lie_in(root) && strlen(root) == strlen(first) + 17 && !rmdir(root),
               "a new folder is created beside another user's");
        setenv("CUVMM_MACHINES", first, 1);
        tap_ok(os_share_root(root) && !strcmp(root, first), "another user's folder is refused when CUVMM_MACHINES names it");
        unsetenv("CUVMM_MACHINES");
    }
    rmdir(first);
    unsetenv("TMPDIR");
    setenv("CUVMM_MACHINES", rig_root, 1);
}

/* Reading a machine's profile from a file. */
static void profiles(void)
{
    static const struct {
        const char *function;
        int error;
        vmm_result result;
        const char *says;
    } wanted[] = {{"open", EMFILE, VMM_ERROR_OPERATING_SYSTEM, "cannot be opened: "},
                  {"open", ENOTDIR, VMM_ERROR_NOT_FOUND, "cannot be opened: "},
                  {"fstat", EIO, VMM_ERROR_OPERATING_SYSTEM, "cannot be read: not a regular file"},
                  {"malloc", ENOMEM, VMM_ERROR_OUT_OF_MEMORY, "cannot be read: no memory for its text"},
                  {"read", EIO, VMM_ERROR_OPERATING_SYSTEM, "cannot be read: "},
                  {"read", EINTR, VMM_SUCCESS, ""}};
    struct sim_profile profile;
    int file = os_file_open(path("p"), OS_OPEN_NEW);
    os_file_write(file, 0, "base = h100\nname = p", 20);
    for (unsigned i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct sim_profile_error error = {9, 9, "", ""};
        memset(&profile, 0, sizeof profile);
        inject_arm_at(wanted[i].function, 1);
        inject_error = wanted[i].error;
        vmm_result result = sim_profile_read(path("p"), &profile, &error);
        inject_disarm();
        tap_result(result, wanted[i].result, "%s fails: %s", wanted[i].function, error.text);
        tap_ok(strstr(error.text, wanted[i].says) && !strcmp(profile.name, result == VMM_SUCCESS ? "p" : ""),
               "the message matches, and the profile is unchanged");
    }
    os_file_close(file);
    os_file_remove(OS_NOWHERE, path("p"));
}

static bool is_within_limit(void)
{
    uint64_t most = 0;
    return os_memory_left(&most) <= most;
}

/* When the system reports no limit on memory, there is none. */
static void memory(void)
{
    uint64_t limit = 0;
    tap_ok(WITHOUT("fopen", 1, EMFILE, os_memory_left(&limit) == UINT64_MAX) && limit == UINT64_MAX,
           "an unreported limit is not a limit");
    inject_arm_at("fopen", 2);
    inject_each = true;
    os_memory_left(&limit);
    inject_disarm();
    tap_u64(limit, UINT64_MAX, "a group whose files cannot be read has no limit");
    const struct inject_case untold = {
        .name = "the rest is within its limit", .function = "fopen", .call = is_within_limit, .reported = inject_never};
    inject_try(&untold);
}

/* ---- memory, signals, a mutex ---- */

static void addresses(void)
{
    uint64_t page = os_page_size(), at = 0;
    tap_ok(!os_reserve_anywhere(UINT64_MAX, page, &at) && !at, "reserving more addresses than exist fails");
    tap_ok(!os_file_room(-1, 0, UINT64_C(1) << 40), "no file has no room");
    tap_ok(!WITHOUT("mmap", 1, ENOMEM, os_is_taken(page, page)), "addresses that cannot be asked about are not known to be taken");
    tap_ok(!WITHOUT("stat", 1, EACCES, os_is_single_thread()), "nor is a program known to have one thread");
    tap_ok(!WITHOUT("mmap", 1, ENOMEM, os_reserve_anywhere(page, page, &at)) && !at, "reserving fails when the system refuses");
    if (!os_reserve_anywhere(4 * page, 4 * page, &at))
        tap_bail("no addresses");
    tap_ok(at % (4 * page) == 0 && !os_reserve(at, page), "the addresses are aligned, and reserved");
    int file = os_file_new();
    os_file_grow(file, page);
    os_file_write(file, 0, "seen", 4);
    tap_ok(os_map_fixed(at, page, file, 0, false) && !memcmp((const char *)(uintptr_t)at, "seen", 4),
           "the file's bytes appear at the reserved addresses");
    tap_ok(WITHOUT("mmap", 1, ENOMEM, os_map_noaccess(at, page)), "os_map_noaccess needs no new mapping");
    tap_ok(write(file, (const void *)(uintptr_t)at, 1) < 0 && errno == EFAULT, "the addresses are inaccessible");
    os_map_fixed(at, page, file, 0, false);
    inject_arm_both("mmap", 1, "mmap");
    tap_ok(!failed(!os_map_noaccess(at, page)) && write(file, (const void *)(uintptr_t)at, 1) < 0 && errno == EFAULT,
           "os_map_noaccess also succeeds after giving up the spare mapping");
    os_map_fixed(at, page, file, 0, false);
    inject_arm_three("mmap", 1, "mmap", "mprotect");
    tap_ok(!failed(os_map_noaccess(at, page)) && !memcmp((const char *)(uintptr_t)at, "seen", 4),
           "when that fails as well, the mapping is unchanged");
    inject_arm_both("mmap", 1, "mmap");
    /* and has freed the spare mapping */
    tap_ok(!failed(!os_map_noaccess(at, page)), "os_map_noaccess protects the mapping when no other way is left");
    tap_ok(WITHOUT("mmap", 1, ENOMEM, os_map_fixed(at, page, file, 0, false)) && !memcmp((const char *)(uintptr_t)at, "seen", 4),
           "os_map_fixed needs no spare mapping");
    tap_ok(WITHOUT("mmap", 1, ENOMEM, os_map_noaccess(at, page)) && write(file, (const void *)(uintptr_t)at, 1) < 0 &&
           errno == EFAULT,
           "os_map_noaccess works without a spare mapping");
    void *shared = os_map(file, 0, page);
    if (getenv("CUVMM_EMULATED"))
        tap_skip("an emulator accepts any advice", "neither shared memory nor part of a page can be wiped at a fork");
    else
        tap_ok(!os_wipe_at_fork(shared, page) && !os_wipe_at_fork((char *)shared + 1, page) && !os_wipe_at_fork(shared, page - 1),
               "neither shared memory nor part of a page can be wiped at a fork");
    os_unmap(shared, page);
    os_unreserve(at, 4 * page);
    os_file_close(file);
    tap_ok(!WITHOUT("mmap", 1, ENOMEM, os_map(-1, 0, page) != NULL), "no memory");
}

static void ignore(uint64_t address, enum os_touch touch)
{
    (void)address;
    (void)touch;
}

static void unwatched(void)
{
    struct sigaction before, now;
    sigaction(SIGBUS, NULL, &before); /* the sanitizer's handler, or none */
    tap_ok(!WITHOUT("sigaction", 1, EINVAL, os_watch_faults(ignore)), "os_watch_faults fails when the system refuses a handler");
    WITHOUT("sigaction", 1, EINVAL, (os_unwatch_faults(), true));
    os_unwatch_faults();
    tap_ok(!sigaction(SIGBUS, NULL, &now) && now.sa_handler == before.sa_handler, "the previous handlers are back");
}

/* The text on standard error when the host accesses an address without the right to it. */
static const char *said_of(vmm_deviceptr at, const char *function, unsigned long nth)
{
    static char text[4096];
    int ends[2], kept = dup(STDERR_FILENO);
    if (pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0)
        tap_bail("no pipe");
    inject_arm_at(function, nth);
    bool stopped = !touch_write(at, 1);
    bool happened = inject_disarm() != NULL;
    dup2(kept, STDERR_FILENO);
    close(ends[1]);
    close(kept);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    for (ssize_t i = 0; i < n; i++) /* no bytes may follow the text */
        text[i] = text[i] ? text[i] : '?';
    close(ends[0]);
    return stopped && happened ? text : "nothing happened";
}

/* The interrupted thread may hold the lock that the explanation needs. */
static void busy(void)
{
    static const char line[] = "cuvmm: the host accessed a device address without the right to it [VMM-HOST-ACCESS]\n";
    touch_begin();
    vmm_system *sys = rig_open(NULL);
    vmm_deviceptr at = 0;
    vmm_mem_address_reserve(sys, &at, RIG_G, 0, 0, 0);
    tap_text(said_of(at, "pthread_mutex_trylock", 1), line, "a single line appears while the list of processes is locked");
    tap_text(said_of(at, "pthread_mutex_trylock", 2), line, "a single line appears while the machine is locked");
    tap_ok(!strncmp(said_of(at, "write", 1), "", 1), "nothing appears when it cannot be written");
    rig_close(sys);
    touch_end();
}

static void no_mutex(void)
{
    os_mutex mutex = {.in = {.word = 0}};
    struct os_party party, other;
    int file = os_file_open(path("m"), OS_OPEN_MAKE);
    uint64_t turn = 0;
    tap_ok(!WITHOUT("fcntl", 1, ENOLCK, os_party_join(&party, &mutex, file)), "joining fails without locks");
    tap_ok(WITHOUT("stat", 1, ENOENT, os_party_join(&party, &mutex, file)) && !party.space,
           "a party can join when its PID namespace is unknown");
    tap_ok(WITHOUT("fcntl", 1, EAGAIN, os_party_join(&other, &mutex, file)) && other.ticket == party.ticket + 2 && other.space,
           "a ticket that another party holds is skipped (EAGAIN)");
    tap_ok(WITHOUT("fcntl", 1, EACCES, os_party_join(&other, &mutex, file)) && other.ticket == party.ticket + 4,
           "a ticket that another party holds is skipped (EACCES)");
    inject_arm_at("fcntl", 1);
    inject_each = true;
    inject_error = EAGAIN;
    struct os_party none;
    tap_ok(!failed(os_party_join(&none, &mutex, file)) && !none.ticket, "joining fails when every ticket is taken");
    tap_ok(os_mutex_lock(&mutex, &party, 0, &turn) && !WITHOUT("fcntl", 1, EINVAL, os_mutex_lock(&mutex, &other, 0, &turn)),
           "a holder counts as alive when the system does not report its lock");
    tap_ok(os_mutex_holder(&mutex, &other, turn).elsewhere, "and as being in another PID namespace");
    os_file_close(file);
    os_file_remove(OS_NOWHERE, path("m"));
}

static os_mutex held;
static struct os_party holder;

static void release(void)
{
    os_mutex_unlock(&held, &holder);
}

/* The waiting process does not run for five seconds, in which the holder may not have run either. */
static void stand_still(void)
{
    inject_meanwhile("clock_gettime", 2, release);
    inject_late = 5;
}

static void patience(void)
{
    struct os_party waiter;
    uint64_t turn = 0;
    int file = os_file_open(path("m"), OS_OPEN_MAKE), again = os_file_open(path("m"), OS_OPEN_WRITE);
    if (!os_party_join(&holder, &held, file) || !os_party_join(&waiter, &held, again) || !os_mutex_lock(&held, &holder, 0, &turn))
        tap_bail("no mutex");
    inject_meanwhile("clock_gettime", 2, stand_still); /* the first time: when the sleep begins; the second: when it ends */
    tap_ok(os_mutex_lock(&held, &waiter, 1000, &turn) && inject_disarm(), "time in which the process did not run does not "
                                                                          "count as waiting");
    os_mutex_unlock(&held, &waiter);
    os_file_close(again);
    os_file_close(file);
    os_file_remove(OS_NOWHERE, path("m"));
}

static int hearer;
static size_t drained;

static size_t drain(int from)
{
    static char bytes[1 << 12];
    size_t sum = 0;
    for (ssize_t n; (n = read(from, bytes, sizeof bytes)) > 0; sum += (size_t)n)
        for (ssize_t i = 0; i < n; i++)
            if (bytes[i] != 's')
                return 0;
    return sum;
}

static void drain_now(void)
{
    drained = drain(hearer);
}

/* A full pipe takes only the beginning of a text; the test drains it before the rest is written. */
static void said_by_halves(int from, int to)
{
    static char text[(1 << 16) + 100];
    hearer = from;
    memset(text, 's', sizeof text);
    int room = fcntl(to, F_SETPIPE_SZ, 4096);
    if (room < 0 || room >= 1 << 16 || fcntl(from, F_SETFL, O_NONBLOCK) || fcntl(to, F_SETFL, O_NONBLOCK))
        tap_bail("the pipe cannot be made small");
    inject_meanwhile("write", 2, drain_now);
    os_print(text, (size_t)room + 100);
    tap_ok(inject_disarm() && drained == (size_t)room && drain(from) == 100, "a partial write continues");
}

/* Text is dropped when the pipe has no reader. */
static void said(void)
{
    int ends[2], kept = dup(STDERR_FILENO);
    char heard[16] = "";
    if (pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0)
        tap_bail("no pipe");
    WITHOUT("write", 1, EPIPE, (os_print("lost", 4), true));
    os_print("heard", 5);
    ssize_t n = read(ends[0], heard, sizeof heard - 1);
    said_by_halves(ends[0], ends[1]);
    dup2(kept, STDERR_FILENO);
    tap_ok(n == 5 && !strcmp(heard, "heard"), "text that cannot be written is dropped");
    close(ends[0]);
    close(ends[1]);
    close(kept);
}

int main(void)
{
    rig_begin();
    no_randomness(); /* first, because the process caches its number */
    cleared();
    interrupted();
    longest();
    unreported();
    renamed();
    elsewhere();
    names();
    openings();
    root();
    taken();
    several();
    not_private();
    profiles();
    memory();
    addresses();
    unwatched();
    busy();
    no_mutex();
    patience();
    said();
    rig_end();
    return tap_done();
}
