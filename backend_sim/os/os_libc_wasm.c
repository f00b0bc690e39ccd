/* SPDX-License-Identifier: Apache-2.0 */
/* The host functions of wasi-libc, implemented inside the module on files in memory, so that a module does not import
 * them (os_wasm.h), and fopen and os_file_open see the same files.
 *
 *     fopen("my.profile") -> wasi-libc -> __wasi_path_open -> memory_files_open
 *
 * The rest of that interface returns ENOSYS. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <wasi/api.h>

#include "os_share.h"
#include "os_wasm.h"

static struct memory_opening *at(__wasi_fd_t fd)
{
    return memory_files_at(os_files(), (int)fd);
}

static bool is_console(__wasi_fd_t fd)
{
    return fd >= 0 && fd < MEMORY_ROOT;
}

/* ---- arguments and environment: empty, except for variables that the page sets with setenv ---- */

__wasi_errno_t __wasi_environ_sizes_get(__wasi_size_t *count, __wasi_size_t *size)
{
    *count = *size = 0;
    return 0;
}

__wasi_errno_t __wasi_environ_get(uint8_t **list, uint8_t *text)
{
    (void)list, (void)text;
    return 0;
}

/* ---- time and chance ---- */

__wasi_errno_t __wasi_clock_time_get(__wasi_clockid_t id, __wasi_timestamp_t precision, __wasi_timestamp_t *now)
{
    (void)precision;
    *now = (__wasi_timestamp_t)os_import_clock(id == __WASI_CLOCKID_REALTIME);
    return 0;
}

__wasi_errno_t __wasi_random_get(uint8_t *bytes, __wasi_size_t size)
{
    os_import_random(bytes, size);
    return 0;
}

/* A sleep ends at once: nothing else runs. */
__wasi_errno_t __wasi_poll_oneoff(const __wasi_subscription_t *in, __wasi_event_t *out, __wasi_size_t count, __wasi_size_t *events)
{
    for (__wasi_size_t i = 0; i < count; i++)
        out[i] = (__wasi_event_t){.userdata = in[i].userdata, .type = __WASI_EVENTTYPE_CLOCK};
    *events = count;
    return 0;
}

__wasi_errno_t __wasi_sched_yield(void)
{
    return 0;
}

_Noreturn void __wasi_proc_exit(__wasi_exitcode_t status)
{
    os_import_ended((int)status);
}

/* ---- descriptors ---- */

__wasi_errno_t __wasi_fd_close(__wasi_fd_t fd)
{
    return (__wasi_errno_t)memory_files_close(os_files(), (int)fd);
}

__wasi_errno_t __wasi_fd_fdstat_get(__wasi_fd_t fd, __wasi_fdstat_t *is)
{
    const struct memory_opening *opening = at(fd);
    struct memory_info info = {0};
    if (!opening && !is_console(fd))
        return EBADF;
    if (opening)
        memory_files_info(opening, &info);
    *is = (__wasi_fdstat_t){
        .fs_filetype = is_console(fd) ? __WASI_FILETYPE_CHARACTER_DEVICE : info.folder ? __WASI_FILETYPE_DIRECTORY : __WASI_FILETYPE_REGULAR_FILE,
        .fs_flags = opening && opening->how & MEMORY_APPEND ? __WASI_FDFLAGS_APPEND : 0,
        .fs_rights_base = (opening && !(opening->how & MEMORY_WRITE) ? 0 : __WASI_RIGHTS_FD_WRITE) |
                          (opening && !(opening->how & MEMORY_READ) ? 0 : __WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_READDIR) |
                          (is_console(fd) ? 0 : __WASI_RIGHTS_FD_SEEK | __WASI_RIGHTS_FD_TELL),
        .fs_rights_inheriting = ~(__wasi_rights_t)0};
    return 0;
}

__wasi_errno_t __wasi_fd_fdstat_set_flags(__wasi_fd_t fd, __wasi_fdflags_t flags)
{
    struct memory_opening *opening = at(fd);
    if (!opening)
        return EBADF;
    opening->how = (opening->how & ~(unsigned)MEMORY_APPEND) | (flags & __WASI_FDFLAGS_APPEND ? MEMORY_APPEND : 0);
    return 0;
}

static void filestat(const struct memory_info *info, __wasi_filestat_t *is)
{
    *is = (__wasi_filestat_t){.dev = 1,
                              .ino = info->number,
                              .filetype = info->folder ? __WASI_FILETYPE_DIRECTORY : __WASI_FILETYPE_REGULAR_FILE,
                              .nlink = 1,
                              .size = info->size};
}

__wasi_errno_t __wasi_fd_filestat_get(__wasi_fd_t fd, __wasi_filestat_t *is)
{
    const struct memory_opening *opening = at(fd);
    struct memory_info info;
    if (!opening && !is_console(fd))
        return EBADF;
    *is = (__wasi_filestat_t){.dev = 2, .ino = (__wasi_inode_t)fd, .filetype = __WASI_FILETYPE_CHARACTER_DEVICE, .nlink = 1};
    if (opening) {
        memory_files_info(opening, &info);
        filestat(&info, is);
    }
    return 0;
}

__wasi_errno_t __wasi_fd_filestat_set_size(__wasi_fd_t fd, __wasi_filesize_t size)
{
    struct memory_opening *opening = at(fd);
    return (__wasi_errno_t)(opening ? memory_files_resize(opening, size) : EBADF);
}

static uint64_t end_of(const struct memory_opening *opening)
{
    struct memory_info info;
    memory_files_info(opening, &info);
    return info.size;
}

__wasi_errno_t __wasi_fd_seek(__wasi_fd_t fd, __wasi_filedelta_t offset, __wasi_whence_t whence, __wasi_filesize_t *to)
{
    struct memory_opening *opening = at(fd);
    if (!opening)
        return is_console(fd) ? ESPIPE : EBADF;
    uint64_t base = whence == __WASI_WHENCE_SET ? 0 : whence == __WASI_WHENCE_CUR ? opening->at : end_of(opening);
    if (offset < 0 ? base < (uint64_t)-offset : (uint64_t)offset > INT64_MAX - base)
        return EINVAL;
    *to = opening->at = base + (uint64_t)offset;
    return 0;
}

__wasi_errno_t __wasi_fd_tell(__wasi_fd_t fd, __wasi_filesize_t *to)
{
    return __wasi_fd_seek(fd, 0, __WASI_WHENCE_CUR, to);
}

__wasi_errno_t __wasi_fd_sync(__wasi_fd_t fd)
{
    return at(fd) ? 0 : EBADF;
}

__wasi_errno_t __wasi_fd_datasync(__wasi_fd_t fd)
{
    return __wasi_fd_sync(fd);
}

/* ---- reads and writes ---- */

__wasi_errno_t __wasi_fd_pread(__wasi_fd_t fd, const __wasi_iovec_t *list, size_t count, __wasi_filesize_t offset, __wasi_size_t *total)
{
    const struct memory_opening *opening = at(fd);
    int error = opening ? 0 : EBADF;
    *total = 0;
    for (size_t i = 0, done; i < count && !error; i++) {
        error = memory_files_read(opening, offset + *total, list[i].buf, list[i].buf_len, &done);
        *total += done;
    }
    return (__wasi_errno_t)error;
}

/* Nothing is ever typed into the console: the page passes lines to functions. */
__wasi_errno_t __wasi_fd_read(__wasi_fd_t fd, const __wasi_iovec_t *list, size_t count, __wasi_size_t *total)
{
    *total = 0;
    if (is_console(fd))
        return 0;
    __wasi_errno_t error = at(fd) ? __wasi_fd_pread(fd, list, count, at(fd)->at, total) : EBADF;
    if (!error)
        at(fd)->at += *total;
    return error;
}

__wasi_errno_t __wasi_fd_pwrite(__wasi_fd_t fd, const __wasi_ciovec_t *list, size_t count, __wasi_filesize_t offset, __wasi_size_t *total)
{
    struct memory_opening *opening = at(fd);
    int error = opening ? 0 : EBADF;
    *total = 0;
    for (size_t i = 0; i < count && !error; i++) {
        error = memory_files_write(opening, offset + *total, list[i].buf, list[i].buf_len);
        if (!error)
            *total += list[i].buf_len;
    }
    return *total ? 0 : (__wasi_errno_t)error;
}

__wasi_errno_t __wasi_fd_write(__wasi_fd_t fd, const __wasi_ciovec_t *list, size_t count, __wasi_size_t *total)
{
    struct memory_opening *opening = at(fd);
    *total = 0;
    for (size_t i = 0; is_console(fd) && i < count; i++) {
        os_import_print((int)fd, list[i].buf, list[i].buf_len);
        *total += list[i].buf_len;
    }
    if (is_console(fd))
        return 0;
    if (!opening)
        return EBADF;
    if (opening->how & MEMORY_APPEND)
        opening->at = end_of(opening);
    __wasi_errno_t error = __wasi_fd_pwrite(fd, list, count, opening->at, total);
    opening->at += *total;
    return error;
}

/* ---- folders and names: one folder is open from the start, / ---- */

__wasi_errno_t __wasi_fd_prestat_get(__wasi_fd_t fd, __wasi_prestat_t *is)
{
    if (fd != MEMORY_ROOT)
        return EBADF;
    *is = (__wasi_prestat_t){.tag = __WASI_PREOPENTYPE_DIR, .u = {.dir = {.pr_name_len = 1}}};
    return 0;
}

__wasi_errno_t __wasi_fd_prestat_dir_name(__wasi_fd_t fd, uint8_t *path, __wasi_size_t length)
{
    if (fd != MEMORY_ROOT || length < 1)
        return EBADF;
    path[0] = '/';
    return 0;
}

__wasi_errno_t __wasi_path_open(__wasi_fd_t fd, __wasi_lookupflags_t links, const char *path, __wasi_oflags_t flags, __wasi_rights_t rights,
                                __wasi_rights_t inherited, __wasi_fdflags_t kind, __wasi_fd_t *made)
{
    unsigned how = (rights & __WASI_RIGHTS_FD_READ ? MEMORY_READ : 0) | (rights & __WASI_RIGHTS_FD_WRITE ? MEMORY_WRITE : 0) |
                   (flags & __WASI_OFLAGS_CREAT ? MEMORY_MAKE : 0) | (flags & __WASI_OFLAGS_EXCL ? MEMORY_NEW : 0) |
                   (flags & __WASI_OFLAGS_TRUNC ? MEMORY_EMPTY : 0) | (flags & __WASI_OFLAGS_DIRECTORY ? MEMORY_FOLDER : 0) |
                   (kind & __WASI_FDFLAGS_APPEND ? MEMORY_APPEND : 0);
    int file = 0, error = memory_files_open(os_files(), (int)fd, path, how, &file);
    (void)links, (void)inherited;
    *made = (__wasi_fd_t)file;
    return (__wasi_errno_t)error;
}

__wasi_errno_t __wasi_path_filestat_get(__wasi_fd_t fd, __wasi_lookupflags_t links, const char *path, __wasi_filestat_t *is)
{
    struct memory_info info;
    int error = memory_files_look(os_files(), (int)fd, path, &info);
    (void)links;
    if (!error)
        filestat(&info, is);
    return (__wasi_errno_t)error;
}

__wasi_errno_t __wasi_path_create_directory(__wasi_fd_t fd, const char *path)
{
    return (__wasi_errno_t)memory_files_new_folder(os_files(), (int)fd, path);
}

__wasi_errno_t __wasi_path_unlink_file(__wasi_fd_t fd, const char *path)
{
    return (__wasi_errno_t)memory_files_remove(os_files(), (int)fd, path, false);
}

__wasi_errno_t __wasi_path_remove_directory(__wasi_fd_t fd, const char *path)
{
    return (__wasi_errno_t)memory_files_remove(os_files(), (int)fd, path, true);
}

__wasi_errno_t __wasi_path_rename(__wasi_fd_t from_fd, const char *from, __wasi_fd_t to_fd, const char *to)
{
    return (__wasi_errno_t)memory_files_rename(os_files(), (int)from_fd, from, (int)to_fd, to, true);
}

/* ---- unused functions: all of the interface is defined here, so that the library's own imports are not linked ---- */

#define ABSENT(name, ...)                 \
    __wasi_errno_t __wasi_##name(__VA_ARGS__) \
    {                                     \
        return ENOSYS;                    \
    }
#pragma clang diagnostic ignored "-Wunused-parameter"
ABSENT(args_get, uint8_t **list, uint8_t *text)
ABSENT(args_sizes_get, __wasi_size_t *count, __wasi_size_t *size)
ABSENT(clock_res_get, __wasi_clockid_t id, __wasi_timestamp_t *resolution)
ABSENT(fd_advise, __wasi_fd_t fd, __wasi_filesize_t offset, __wasi_filesize_t length, __wasi_advice_t advice)
ABSENT(fd_allocate, __wasi_fd_t fd, __wasi_filesize_t offset, __wasi_filesize_t length)
ABSENT(fd_fdstat_set_rights, __wasi_fd_t fd, __wasi_rights_t base, __wasi_rights_t inherited)
ABSENT(fd_filestat_set_times, __wasi_fd_t fd, __wasi_timestamp_t read, __wasi_timestamp_t written, __wasi_fstflags_t flags)
ABSENT(fd_readdir, __wasi_fd_t fd, uint8_t *entries, __wasi_size_t size, __wasi_dircookie_t from, __wasi_size_t *used)
ABSENT(fd_renumber, __wasi_fd_t fd, __wasi_fd_t to)
ABSENT(path_filestat_set_times, __wasi_fd_t fd, __wasi_lookupflags_t links, const char *path, __wasi_timestamp_t read,
       __wasi_timestamp_t written, __wasi_fstflags_t flags)
ABSENT(path_link, __wasi_fd_t fd, __wasi_lookupflags_t links, const char *path, __wasi_fd_t to_fd, const char *to)
ABSENT(path_readlink, __wasi_fd_t fd, const char *path, uint8_t *text, __wasi_size_t size, __wasi_size_t *used)
ABSENT(path_symlink, const char *text, __wasi_fd_t fd, const char *path)
ABSENT(sock_accept, __wasi_fd_t fd, __wasi_fdflags_t flags, __wasi_fd_t *made)
ABSENT(sock_recv, __wasi_fd_t fd, const __wasi_iovec_t *list, size_t count, __wasi_riflags_t flags, __wasi_size_t *done,
       __wasi_roflags_t *kind)
ABSENT(sock_send, __wasi_fd_t fd, const __wasi_ciovec_t *list, size_t count, __wasi_siflags_t flags, __wasi_size_t *done)
ABSENT(sock_shutdown, __wasi_fd_t fd, __wasi_sdflags_t how)
