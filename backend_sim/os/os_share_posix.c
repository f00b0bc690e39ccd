/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* flock */
#include "os_share.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "os_environment.h"
#include "os_system.h"
#include "posix.h"

/* ---- this process ---- */

static _Atomic uint64_t id, id_depth; /* cached for the process at that fork depth */

bool os_random(void *bytes, size_t size)
{
    int file = posix.open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    bool ok = file >= 0 && posix.read(file, bytes, size) == (ssize_t)size;
    if (file >= 0)
        close(file);
    return ok;
}

uint64_t os_process_id(void)
{
    uint64_t depth = 1 + os_fork_depth(), fresh = 0, none = 0;
    if (atomic_load(&id_depth) != depth) {
        atomic_store(&id, 0); /* cached by the parent; a forked child has one thread */
        atomic_store(&id_depth, depth);
    }
    if (!atomic_load(&id) && os_random(&fresh, sizeof fresh))
        atomic_compare_exchange_strong(&id, &none, fresh);
    return atomic_load(&id);
}

void os_yield(void)
{
    sched_yield();
}

uint64_t os_milliseconds(void)
{
    struct timespec now;
    posix.clock_gettime(CLOCK_MONOTONIC, &now);
    return 1 + (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t os_nanoseconds(void)
{
    struct timespec now;
    posix.clock_gettime(CLOCK_MONOTONIC, &now);
    return 1 + (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void os_sleep(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

enum { PATIENCE = 1500 }; /* milliseconds to wait for a process that the system has stopped or delayed */

bool os_too_long(uint64_t *began)
{
    uint64_t now = os_milliseconds();
    if (!*began)
        *began = now;
    return now > *began + PATIENCE;
}

/* ---- folders ---- */

/* Is the entry a folder of this user that no other user has access to? */
static bool is_private(int in, const char *name)
{
    struct stat is;
    return !posix.fstatat(in, name, &is, AT_SYMLINK_NOFOLLOW) && S_ISDIR(is.st_mode) && is.st_uid == geteuid() &&
           !(is.st_mode & 077);
}

static bool make_private(const char *path)
{
    return (!posix.mkdir(path, 0700) || errno == EEXIST) && is_private(OS_NOWHERE, path);
}

/* Is there an entry of that name that this user has no access to and did not create? */
static bool is_taken(const char *path)
{
    struct stat is;
    return !posix.lstat(path, &is) && (!S_ISDIR(is.st_mode) || is.st_uid != geteuid());
}

/* Shared memory is stored there, so a small file system would soon be full. */
static bool has_room(const char *path)
{
    struct statvfs is;
    return !posix.statvfs(path, &is) && (uint64_t)is.f_blocks * is.f_frsize >= UINT64_C(1) << 30 &&
           !posix.access(path, W_OK | X_OK);
}

struct own_folder {
    int in;
    const char *prefix;
    char name[64];
    uint64_t number;
};

/* Of several folders, the one with the lowest number: all processes choose the same one, and on a file system in memory it is
 * the oldest. */
static void look_for_own(void *user, const char *name)
{
    struct own_folder *own = user;
    struct os_file_is is;
    if (strncmp(name, own->prefix, strlen(own->prefix)) != 0 || strlen(name) >= sizeof own->name || !is_private(own->in, name) ||
        !os_file_look_in(own->in, name, &is) || (own->name[0] && is.number > own->number))
        return;
    own->number = is.number;
    strcpy(own->name, name);
}

/* This user's BASE/PREFIX..., if there is one. */
static bool find_own(const char *base, const char *prefix, char path[OS_PATH_MAX])
{
    struct own_folder own = {.in = os_folder_open(OS_NOWHERE, base), .prefix = prefix};
    if (own.in < 0)
        return false;
    os_folder_each_in(own.in, look_for_own, &own);
    close(own.in);
    if (own.name[0])
        snprintf(path, OS_PATH_MAX, "%.250s/%s", base, own.name);
    return own.name[0];
}

/* BASE/cuvmm-UID. In a folder that all users can write, another user can create that name first; then it is
 * BASE/cuvmm-UID-RANDOM, which this user's other processes find by its owner, also when the first name is free again. */
static bool default_root(const char *base, char path[OS_PATH_MAX])
{
    char first[OS_PATH_MAX], prefix[48], other[OS_PATH_MAX];
    uint64_t random;
    snprintf(prefix, sizeof prefix, "cuvmm-%lu-", (unsigned long)geteuid());
    snprintf(first, sizeof first, "%.250s/%.*s", base, (int)strlen(prefix) - 1, prefix);
    strcpy(path, first);
    if (is_private(OS_NOWHERE, first) || find_own(base, prefix, path) || make_private(first))
        return true;
    if (!is_taken(first) || !os_random(&random, sizeof random))
        return false;
    snprintf(other, sizeof other, "%.250s/%s%016" PRIx64, base, prefix, random);
    return make_private(other) && find_own(base, prefix, path);
}

static const char *base_folder(void)
{
    const char *temporary = os_environment("TMPDIR");
    if (has_room("/dev/shm"))
        return "/dev/shm";
    return temporary && temporary[0] == '/' && strlen(temporary) < OS_PATH_MAX / 2 ? temporary : "/tmp";
}

const char *os_share_root(char path[OS_PATH_MAX])
{
    static const char *const lacks = "the folder of machines cannot be created, or other users have access to it";
    const char *named = os_environment("CUVMM_MACHINES");
    if (!named || !named[0])
        return default_root(base_folder(), path) ? NULL : lacks;
    snprintf(path, OS_PATH_MAX, "%s", named);
    if (named[0] != '/')
        return "CUVMM_MACHINES is not an absolute path: it must begin with /";
    return strlen(named) >= OS_PATH_MAX / 2 ? "CUVMM_MACHINES is longer than 199 letters" : make_private(path) ? NULL : lacks;
}

int os_folder_open(int in, const char *name)
{
    return posix.openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool os_folder_new(int in, const char *name)
{
    return !posix.mkdirat(in, name, 0700);
}

bool os_rename(int folder, const char *from, const char *to)
{
    if (!os_rename_exclusive(folder, from, to))
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    struct stat is; /* on systems that cannot do both at once */
    return posix.fstatat(folder, to, &is, AT_SYMLINK_NOFOLLOW) && errno == ENOENT && !renameat(folder, from, folder, to);
}

static bool each(DIR *folder, unsigned limit, void (*visit)(void *user, const char *name), void *user)
{
    const struct dirent *entry;
    while (folder && limit && (entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            visit(user, entry->d_name);
            limit--;
        }
    if (folder)
        closedir(folder);
    return folder != NULL;
}

bool os_folder_each(const char *path, unsigned limit, void (*visit)(void *user, const char *name), void *user)
{
    return each(posix.opendir(path), limit, visit, user);
}

bool os_folder_each_in(int folder, void (*visit)(void *user, const char *name), void *user)
{
    /* reads from the beginning, and is closed at the end */
    int again = posix.openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *opened = again >= 0 ? posix.fdopendir(again) : NULL;
    if (again >= 0 && !opened)
        close(again);
    return each(opened, UINT_MAX, visit, user);
}

void os_folder_remove(int folder, const char *name)
{
    unlinkat(folder, name, AT_REMOVEDIR);
}

void os_file_remove(int folder, const char *name)
{
    unlinkat(folder, name, 0);
}

/* ---- files with names ---- */

int os_file_open_in(int folder, const char *name, enum os_open how)
{
    struct stat is;
    if (!posix.fstatat(folder, name, &is, AT_SYMLINK_NOFOLLOW) && !S_ISREG(is.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    static const int flags[] = {[OS_OPEN_READ] = O_RDONLY,
                                [OS_OPEN_WRITE] = O_RDWR,
                                [OS_OPEN_MAKE] = O_RDWR | O_CREAT,
                                [OS_OPEN_NEW] = O_RDWR | O_CREAT | O_EXCL};
    return posix.openat(folder, name, flags[how] | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
}

int os_file_open(const char *path, enum os_open how)
{
    return os_file_open_in(OS_NOWHERE, path, how);
}

bool os_file_exists(const char *path)
{
    struct stat is;
    return !posix.lstat(path, &is) || errno != ENOENT;
}

static void look(const struct stat *is, struct os_file_is *out)
{
    *out = (struct os_file_is){.regular = S_ISREG(is->st_mode),
                               .folder = S_ISDIR(is->st_mode),
                               .pipe = S_ISFIFO(is->st_mode),
                               .owner = (uint64_t)is->st_uid,
                               .size = (uint64_t)is->st_size,
                               .device = (uint64_t)is->st_dev,
                               .number = (uint64_t)is->st_ino};
}

bool os_file_is_own(const struct os_file_is *is)
{
    return is->owner == (uint64_t)geteuid();
}

bool os_path_look(const char *path, struct os_file_is *out)
{
    struct stat is;
    if (posix.stat(path, &is))
        return false;
    look(&is, out);
    return true;
}

bool os_folder_look(const char *path, struct os_file_is *out)
{
    return os_path_look(path, out) && out->folder;
}

bool os_file_may_be_used(const char *path)
{
    return !posix.faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS);
}

bool os_file_is_open(int file)
{
    return posix.fcntl(file, F_GETFD) >= 0 || errno != EBADF;
}

bool os_file_is_readable(int file)
{
    int flags = posix.fcntl(file, F_GETFL);
    return flags < 0 || (flags & O_ACCMODE) != O_WRONLY;
}

bool os_file_look(int file, struct os_file_is *out)
{
    struct stat is;
    if (file < 0 || posix.fstat(file, &is))
        return false;
    look(&is, out);
    return true;
}

bool os_file_look_in(int folder, const char *name, struct os_file_is *out)
{
    struct stat is;
    if (posix.fstatat(folder, name, &is, AT_SYMLINK_NOFOLLOW))
        return false;
    look(&is, out);
    return true;
}

bool os_file_is_at(int file, int folder, const char *name)
{
    struct stat here, there;
    return !posix.fstat(file, &here) && !posix.fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

bool os_file_read(int file, uint64_t offset, void *bytes, uint64_t size)
{
    for (uint64_t done = 0; done < size;) {
        ssize_t n = posix.pread(file, (char *)bytes + done, (size_t)(size - done), (off_t)(offset + done));
        if (n > 0)
            done += (uint64_t)n;
        else if (n == 0 || errno != EINTR)
            return false;
    }
    return true;
}

/* ---- locks that end with their holder ---- */

bool os_lock(int file)
{
    return !posix.flock(file, LOCK_SH | LOCK_NB);
}

bool os_lock_exclusive(int file)
{
    return !posix.flock(file, LOCK_EX | LOCK_NB);
}

void os_unlock(int file)
{
    posix.flock(file, LOCK_UN);
}

bool os_mark_alive(int file)
{
    return os_lock_exclusive(file);
}

bool os_process_alive(const char *path)
{
    int file = os_file_open(path, OS_OPEN_READ);
    if (file < 0)
        return errno != ENOENT; /* a process that cannot be checked counts as alive */
    bool lives = !os_lock(file);
    close(file);
    return lives;
}
