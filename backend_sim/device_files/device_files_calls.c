/* SPDX-License-Identifier: Apache-2.0 */
/* The C library's functions, as programs see them: paths of device_files.h are handled here, all others by the C library.
 *
 *     program    open("/dev/nvidia0")  ->  here  ->  open("/dev/null")
 *                open("/etc/hosts")    ->  here  ->  open("/etc/hosts")
 *
 * Calls on open files (fstat, ioctl) are not intercepted, nor are internal calls of the C library (glob, scandir, fts, realpath).
 */
#undef _FORTIFY_SOURCE /* it would rename these functions */
#define _GNU_SOURCE    /* RTLD_NEXT, statx, memfd_create; before any header */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "device_files.h"
#include "os_environment.h"

#define SHOWN __attribute__((visibility("default")))

enum { MAJOR = 195, CONTROL_MINOR = 255 };

/* glibc has two names for functions on large files; in musl they are the same. */
#ifdef __GLIBC__
#define ANY_SIZE(name) #name "64"
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one form of files of any size");
_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "likewise");
#else
#define ANY_SIZE(name) #name
#endif

/* ---- the C library's own ---- */

static struct {
    int (*openat)(int, const char *, int, ...);
    FILE *(*fopen)(const char *, const char *);
    int (*fstatat)(int, const char *, struct stat *, int);
#ifdef STATX_TYPE
    int (*statx)(int, const char *, int, unsigned, struct statx *);
#endif
    int (*faccessat)(int, const char *, int, int);
    int (*euidaccess)(const char *, int);
    ssize_t (*getxattr)(const char *, const char *, void *, size_t), (*lgetxattr)(const char *, const char *, void *, size_t);
    ssize_t (*listxattr)(const char *, char *, size_t), (*llistxattr)(const char *, char *, size_t);
    DIR *(*opendir)(const char *);
    DIR *(*fdopendir)(int);
    struct dirent *(*readdir)(DIR *);
    void (*rewinddir)(DIR *);
    int (*closedir)(DIR *);
    int (*xstatat)(int, int, const char *, struct stat *, int);
} libc;

static struct device_files files;
static _Atomic bool known;

/* A function pointer is not an object pointer: POSIX allows dlsym's result to be stored like this. */
static void next(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

/* Constructors of other libraries may run before this one. Running it twice does no harm. */
__attribute__((constructor)) static void look_up(void)
{
    if (atomic_load(&known))
        return;
    next(ANY_SIZE(openat), &libc.openat);
    next(ANY_SIZE(fopen), &libc.fopen);
    next(ANY_SIZE(fstatat), &libc.fstatat);
#ifdef STATX_TYPE
    next("statx", &libc.statx);
#endif
    next("faccessat", &libc.faccessat);
    next("euidaccess", &libc.euidaccess);
    next("getxattr", &libc.getxattr);
    next("lgetxattr", &libc.lgetxattr);
    next("listxattr", &libc.listxattr);
    next("llistxattr", &libc.llistxattr);
    next("opendir", &libc.opendir);
    next("fdopendir", &libc.fdopendir);
    next(ANY_SIZE(readdir), &libc.readdir);
    next("rewinddir", &libc.rewinddir);
    next("closedir", &libc.closedir);
    next(ANY_SIZE(__fxstatat), &libc.xstatat);
    files = device_files_read(os_environment("CUVMM_DEVICE_FILES"));
    atomic_store(&known, true);
}

/* ---- which path ---- */

/* Where relative paths start. */
static const char *folder_of(int fd, char text[DEVICE_FILE_PATH])
{
    char link[DEVICE_FILE_PATH];
    snprintf(link, sizeof link, fd == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, text, DEVICE_FILE_PATH);
    if (length <= 0 || length >= DEVICE_FILE_PATH)
        return NULL;
    text[length] = '\0';
    return text;
}

static enum device_file which(int fd, const char *path, int *number)
{
    char folder[DEVICE_FILE_PATH];
    int before = errno;
    look_up();
    bool relative = path && path[0] != '/';
    if (!files.devices || !path || (relative && !device_file_may_be(path)))
        return DEVICE_FILE_OTHER;
    enum device_file what = device_file_of(&files, relative ? folder_of(fd, folder) : NULL, path, number);
    errno = before;
    return what;
}

static int fail(int error)
{
    errno = error;
    return -1;
}

static bool is_given(enum device_file what)
{
    return what == DEVICE_FILE_DEVICE || what == DEVICE_FILE_CONTROL || what == DEVICE_FILE_FOLDER || what == DEVICE_FILE_VERSION;
}

/* ---- open ---- */

static int open_version(int flags)
{
    if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC))
        return fail(EACCES);
    int fd = memfd_create("version", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
    size_t length = strlen(files.version);
    if (fd >= 0 && (write(fd, files.version, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);           /* LCOV_EXCL_LINE: the system is out of memory */
        return fail(ENOMEM); /* LCOV_EXCL_LINE: the system is out of memory */
    }
    return fd;
}

static int open_given(enum device_file what, int flags)
{
    if (what == DEVICE_FILE_ABSENT)
        return fail(ENOENT);
    if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        return fail(EEXIST);
    if (what == DEVICE_FILE_FOLDER)
        return fail((flags & O_ACCMODE) == O_RDONLY ? EACCES : EISDIR); /* opendir is what lists it */
    if (flags & O_DIRECTORY)
        return fail(ENOTDIR);
    return what == DEVICE_FILE_VERSION ? open_version(flags) : libc.openat(AT_FDCWD, "/dev/null", flags & ~(O_CREAT | O_TRUNC));
}

static int open_any(int fd, const char *path, int flags, mode_t mode)
{
    int number;
    enum device_file what = which(fd, path, &number);
    return is_given(what) || what == DEVICE_FILE_ABSENT ? open_given(what, flags) : libc.openat(fd, path, flags, mode);
}

/* The mode is passed only if a file may be created. */
#define MODE(flags)                                         \
    mode_t mode = 0;                                        \
    if ((flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) { \
        va_list arguments;                                  \
        va_start(arguments, flags);                         \
        mode = va_arg(arguments, mode_t);                   \
        va_end(arguments);                                  \
    }

SHOWN int open(const char *path, int flags, ...)
{
    MODE(flags)
    return open_any(AT_FDCWD, path, flags, mode);
}

SHOWN int openat(int fd, const char *path, int flags, ...)
{
    MODE(flags)
    return open_any(fd, path, flags, mode);
}

#ifdef __GLIBC__
SHOWN int open64(const char *path, int flags, ...)
{
    MODE(flags)
    return open_any(AT_FDCWD, path, flags, mode);
}

SHOWN int openat64(int fd, const char *path, int flags, ...)
{
    MODE(flags)
    return open_any(fd, path, flags, mode);
}
#endif

/* Those of programs that were compiled with _FORTIFY_SOURCE. */
#define CHECKED(name, parameters, arguments)   \
    SHOWN int name parameters;                 \
    SHOWN int name parameters { return open_any arguments; }
CHECKED(__open_2, (const char *path, int flags), (AT_FDCWD, path, flags, 0))
CHECKED(__open64_2, (const char *path, int flags), (AT_FDCWD, path, flags, 0))
CHECKED(__openat_2, (int fd, const char *path, int flags), (fd, path, flags, 0))
CHECKED(__openat64_2, (int fd, const char *path, int flags), (fd, path, flags, 0))

static FILE *fopen_any(const char *path, const char *mode)
{
    int number;
    enum device_file what = which(AT_FDCWD, path, &number);
    if (!is_given(what) && what != DEVICE_FILE_ABSENT)
        return libc.fopen(path, mode);
    int flags = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
    int fd = open_given(what, flags | (strchr(mode, 'e') ? O_CLOEXEC : 0) | (strchr(mode, 'x') ? O_CREAT | O_EXCL : 0));
    FILE *file = fd < 0 ? NULL : fdopen(fd, mode);
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

SHOWN FILE *fopen(const char *path, const char *mode)
{
    return fopen_any(path, mode);
}

#ifdef __GLIBC__
SHOWN FILE *fopen64(const char *path, const char *mode)
{
    return fopen_any(path, mode);
}
#endif

/* ---- stat ---- */

/* A similar real file, and what is reported in its place. */
static const char *like(enum device_file what)
{
    return what == DEVICE_FILE_FOLDER ? "/proc" : what == DEVICE_FILE_VERSION ? "/proc/version" : "/dev/null";
}

static mode_t mode_of(enum device_file what)
{
    return what == DEVICE_FILE_FOLDER ? S_IFDIR | 0555 : what == DEVICE_FILE_VERSION ? S_IFREG | 0444 : S_IFCHR | 0666;
}

static unsigned minor_of(enum device_file what, int number)
{
    return what == DEVICE_FILE_CONTROL ? CONTROL_MINOR : (unsigned)number;
}

static bool is_device(enum device_file what)
{
    return what == DEVICE_FILE_DEVICE || what == DEVICE_FILE_CONTROL;
}

/* glibc before 2.33 has it only under another name, with the version of the struct that their headers state. */
#ifndef _STAT_VER
#define _STAT_VER 1
#endif
static int libc_stat(int fd, const char *path, struct stat *status, int flags)
{
    if (libc.fstatat)
        return libc.fstatat(fd, path, status, flags);
    return libc.xstatat(_STAT_VER, fd, path, status, flags); /* LCOV_EXCL_LINE: an older C library */
}

static int stat_any(int fd, const char *path, struct stat *status, int flags)
{
    int number = 0;
    enum device_file what = which(fd, path, &number);
    if (what == DEVICE_FILE_ABSENT)
        return fail(ENOENT);
    if (!is_given(what))
        return libc_stat(fd, path, status, flags);
    int result = libc_stat(AT_FDCWD, like(what), status, 0);
    status->st_mode = mode_of(what);
    status->st_ino = 0x6e760000U + (is_device(what) ? minor_of(what, number) : 0x1000U + (unsigned)what);
    if (is_device(what))
        status->st_rdev = makedev(MAJOR, minor_of(what, number));
    return result;
}

SHOWN int stat(const char *path, struct stat *status)
{
    return stat_any(AT_FDCWD, path, status, 0);
}

SHOWN int lstat(const char *path, struct stat *status)
{
    return stat_any(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

SHOWN int fstatat(int fd, const char *path, struct stat *status, int flags)
{
    return stat_any(fd, path, status, flags);
}

#ifdef __GLIBC__
#define AS_64(status) ((struct stat *)(void *)(status))

SHOWN int stat64(const char *path, struct stat64 *status)
{
    return stat_any(AT_FDCWD, path, AS_64(status), 0);
}

SHOWN int lstat64(const char *path, struct stat64 *status)
{
    return stat_any(AT_FDCWD, path, AS_64(status), AT_SYMLINK_NOFOLLOW);
}

SHOWN int fstatat64(int fd, const char *path, struct stat64 *status, int flags)
{
    return stat_any(fd, path, AS_64(status), flags);
}

/* Those of programs that were linked with a C library before 2.33, which has one version of the struct on 64-bit machines. */
static int old_stat(int version, int fd, const char *path, void *status, int flags)
{
    int number;
    enum device_file what = which(fd, path, &number);
    if (libc.xstatat && !is_given(what) && what != DEVICE_FILE_ABSENT)
        return libc.xstatat(version, fd, path, status, flags);
    return stat_any(fd, path, status, flags);
}

#define OLD(name, parameters, arguments)   \
    SHOWN int name parameters;             \
    SHOWN int name parameters { return old_stat arguments; }
OLD(__xstat, (int version, const char *path, struct stat *status), (version, AT_FDCWD, path, status, 0))
OLD(__xstat64, (int version, const char *path, struct stat64 *status), (version, AT_FDCWD, path, status, 0))
OLD(__lxstat, (int version, const char *path, struct stat *status), (version, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW))
OLD(__lxstat64, (int version, const char *path, struct stat64 *status), (version, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW))
OLD(__fxstatat, (int version, int fd, const char *path, struct stat *status, int flags), (version, fd, path, status, flags))
OLD(__fxstatat64, (int version, int fd, const char *path, struct stat64 *status, int flags), (version, fd, path, status, flags))
#endif

#ifdef STATX_TYPE /* musl has it from 1.2.4 on */
SHOWN int statx(int fd, const char *restrict path, int flags, unsigned mask, struct statx *restrict status)
{
    int number = 0;
    enum device_file what = which(fd, path, &number);
    if (what == DEVICE_FILE_ABSENT)
        return fail(ENOENT);
    if (!is_given(what))
        return libc.statx(fd, path, flags, mask, status);
    int result = libc.statx(AT_FDCWD, like(what), 0, mask, status);
    status->stx_mode = (unsigned short)mode_of(what);
    status->stx_ino = 0x6e760000U + (is_device(what) ? minor_of(what, number) : 0x1000U + (unsigned)what);
    if (is_device(what)) {
        status->stx_rdev_major = MAJOR;
        status->stx_rdev_minor = minor_of(what, number);
    }
    return result;
}
#endif

/* ---- access ---- */

static int access_given(enum device_file what, int mode)
{
    if (what == DEVICE_FILE_ABSENT)
        return fail(ENOENT);
    int denied = is_device(what) ? X_OK : what == DEVICE_FILE_FOLDER ? W_OK : W_OK | X_OK;
    return mode & denied ? fail(EACCES) : 0;
}

SHOWN int faccessat(int fd, const char *path, int mode, int flags)
{
    int number;
    enum device_file what = which(fd, path, &number);
    return is_given(what) || what == DEVICE_FILE_ABSENT ? access_given(what, mode) : libc.faccessat(fd, path, mode, flags);
}

SHOWN int access(const char *path, int mode)
{
    return faccessat(AT_FDCWD, path, mode, 0);
}

SHOWN int euidaccess(const char *path, int mode)
{
    int number;
    enum device_file what = which(AT_FDCWD, path, &number);
    return is_given(what) || what == DEVICE_FILE_ABSENT ? access_given(what, mode) : libc.euidaccess(path, mode);
}

SHOWN int eaccess(const char *path, int mode)
{
    return euidaccess(path, mode);
}

/* ls -l also reads these. */
static bool has_attributes(const char *path)
{
    int number;
    enum device_file what = which(AT_FDCWD, path, &number);
    if (is_given(what))
        errno = ENOTSUP;
    return !is_given(what);
}

SHOWN ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    return has_attributes(path) ? libc.getxattr(path, name, value, size) : -1;
}

SHOWN ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
    return has_attributes(path) ? libc.lgetxattr(path, name, value, size) : -1;
}

SHOWN ssize_t listxattr(const char *path, char *names, size_t size)
{
    return has_attributes(path) ? libc.listxattr(path, names, size) : -1;
}

SHOWN ssize_t llistxattr(const char *path, char *names, size_t size)
{
    return has_attributes(path) ? libc.llistxattr(path, names, size) : -1;
}

/* ---- folders ---- */

/* The streams of folders that contain our entries. If there is no room for a stream, it is read by the C library alone. */
static struct listing {
    DIR *stream;
    enum device_file folder;
    size_t added;
    struct dirent entry;
} listings[32];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct listing *find_listing(const DIR *stream)
{
    for (size_t i = 0; i < sizeof listings / sizeof listings[0]; i++)
        if (listings[i].stream == stream)
            return &listings[i];
    return NULL;
}

static DIR *list(DIR *stream, enum device_file folder)
{
    if (!stream || (folder != DEVICE_FILE_DEV && folder != DEVICE_FILE_DRIVER && folder != DEVICE_FILE_FOLDER))
        return stream;
    pthread_mutex_lock(&lock);
    struct listing *free_one = find_listing(NULL);
    if (free_one)
        *free_one = (struct listing){.stream = stream, .folder = folder};
    pthread_mutex_unlock(&lock);
    return stream;
}

SHOWN DIR *opendir(const char *path)
{
    int number;
    enum device_file what = which(AT_FDCWD, path, &number);
    if (what == DEVICE_FILE_FOLDER) /* for any stream: hides all of its own entries */
        return list(libc.opendir("/"), what);
    if (what == DEVICE_FILE_ABSENT || is_given(what)) {
        errno = what == DEVICE_FILE_ABSENT ? ENOENT : ENOTDIR;
        return NULL;
    }
    return list(libc.opendir(path), what);
}

SHOWN DIR *fdopendir(int fd)
{
    char folder[DEVICE_FILE_PATH];
    int number, before = errno;
    look_up();
    const char *path = files.devices ? folder_of(fd, folder) : NULL;
    enum device_file what = path ? device_file_of(&files, NULL, path, &number) : DEVICE_FILE_OTHER;
    errno = before;
    return list(libc.fdopendir(fd), what);
}

static struct dirent *ours(struct listing *listing)
{
    char name[DEVICE_FILE_PATH];
    if (!device_file_entry(&files, listing->folder, listing->added, name))
        return NULL;
    listing->entry = (struct dirent){.d_ino = 0x6e760000U + listing->added++,
                                     .d_reclen = sizeof listing->entry,
                                     .d_type = listing->folder == DEVICE_FILE_DEV                              ? DT_CHR
                                               : listing->folder == DEVICE_FILE_DRIVER || name[0] == '.' ? DT_DIR
                                                                                                         : DT_REG};
    snprintf(listing->entry.d_name, sizeof listing->entry.d_name, "%s", name);
    return &listing->entry;
}

static struct dirent *read_any(DIR *stream)
{
    look_up();
    pthread_mutex_lock(&lock);
    struct listing *listing = files.devices ? find_listing(stream) : NULL;
    pthread_mutex_unlock(&lock);
    if (!listing)
        return libc.readdir(stream);
    struct dirent *entry = NULL;
    int before = errno;
    if (listing->folder != DEVICE_FILE_FOLDER)
        do {
            errno = 0;
            entry = libc.readdir(stream);
        } while (entry && device_file_hides(&files, listing->folder, entry->d_name));
    if (entry || errno == 0)
        errno = before;
    return entry ? entry : ours(listing);
}

SHOWN struct dirent *readdir(DIR *stream)
{
    return read_any(stream);
}

#ifdef __GLIBC__
SHOWN struct dirent64 *readdir64(DIR *stream)
{
    return (struct dirent64 *)(void *)read_any(stream);
}
#endif

SHOWN void rewinddir(DIR *stream)
{
    look_up();
    pthread_mutex_lock(&lock);
    struct listing *listing = find_listing(stream);
    if (listing)
        listing->added = 0;
    pthread_mutex_unlock(&lock);
    libc.rewinddir(stream);
}

SHOWN int closedir(DIR *stream)
{
    look_up();
    pthread_mutex_lock(&lock);
    struct listing *listing = find_listing(stream);
    if (listing)
        listing->stream = NULL;
    pthread_mutex_unlock(&lock);
    return libc.closedir(stream);
}
