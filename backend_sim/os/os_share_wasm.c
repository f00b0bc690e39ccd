/* SPDX-License-Identifier: Apache-2.0 */
/* os_share.h on files in memory. The processes of a machine are those of one script, in one module. */
#include "os_share.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "os_wasm.h"

static bool good(int error)
{
    if (error)
        errno = error;
    return !error;
}

/* ---- this process ---- */

uint64_t os_process_id(void)
{
    return 1;
}

bool os_random(void *bytes, size_t size)
{
    os_import_random(bytes, size);
    return true;
}

/* Nothing else runs here, so a wait could never succeed, and waiting takes no time. */
void os_yield(void)
{
}

void os_sleep(void)
{
}

uint64_t os_nanoseconds(void)
{
    return 1 + (uint64_t)os_import_clock(0);
}

uint64_t os_milliseconds(void)
{
    return 1 + os_nanoseconds() / 1000000;
}

bool os_too_long(uint64_t *began)
{
    bool first = !*began;
    *began = 1;
    return !first;
}

/* ---- folders ---- */

const char *os_share_root(char path[OS_PATH_MAX])
{
    strcpy(path, "/machines");
    int error = memory_files_new_folder(os_files(), MEMORY_ROOT, path);
    return good(error == EEXIST ? 0 : error) ? NULL : "the folder of machines cannot be created";
}

static int folder_of(int in)
{
    return in == OS_NOWHERE ? MEMORY_ROOT : in;
}

int os_folder_open(int in, const char *name)
{
    int folder;
    return good(memory_files_open(os_files(), folder_of(in), name, MEMORY_READ | MEMORY_FOLDER, &folder)) ? folder : -1;
}

bool os_folder_new(int in, const char *name)
{
    return good(memory_files_new_folder(os_files(), folder_of(in), name));
}

bool os_rename(int folder, const char *from, const char *to)
{
    return good(memory_files_rename(os_files(), folder, from, folder, to, false));
}

/* visit may remove the entry that it gets; those after it then move up. */
static bool each(int folder, unsigned limit, void (*visit)(void *user, const char *name), void *user)
{
    char name[MEMORY_NAME];
    const char *next;
    for (size_t i = 0; limit && (next = memory_files_entry(os_files(), folder, i)); limit--) {
        snprintf(name, sizeof name, "%s", next);
        visit(user, name);
        next = memory_files_entry(os_files(), folder, i);
        i += next && strcmp(next, name) == 0;
    }
    return true;
}

bool os_folder_each(const char *path, unsigned limit, void (*visit)(void *user, const char *name), void *user)
{
    int folder = os_folder_open(OS_NOWHERE, path);
    if (folder < 0)
        return false;
    each(folder, limit, visit, user);
    os_file_close(folder);
    return true;
}

bool os_folder_each_in(int folder, void (*visit)(void *user, const char *name), void *user)
{
    return each(folder, UINT_MAX, visit, user);
}

void os_folder_remove(int folder, const char *name)
{
    memory_files_remove(os_files(), folder_of(folder), name, true);
}

void os_file_remove(int folder, const char *name)
{
    memory_files_remove(os_files(), folder_of(folder), name, false);
}

/* ---- files with names ---- */

static void look(const struct memory_info *info, struct os_file_is *is)
{
    *is = (struct os_file_is){.regular = !info->folder, .folder = info->folder, .size = info->size, .device = 1, .number = info->number};
}

int os_file_open_in(int folder, const char *name, enum os_open how)
{
    static const unsigned hows[] = {[OS_OPEN_READ] = MEMORY_READ,
                                    [OS_OPEN_WRITE] = MEMORY_READ | MEMORY_WRITE,
                                    [OS_OPEN_MAKE] = MEMORY_READ | MEMORY_WRITE | MEMORY_MAKE,
                                    [OS_OPEN_NEW] = MEMORY_READ | MEMORY_WRITE | MEMORY_MAKE | MEMORY_NEW};
    struct os_file_is is;
    int file;
    if (os_file_look_in(folder, name, &is) && !is.regular) {
        errno = EINVAL;
        return -1;
    }
    return good(memory_files_open(os_files(), folder_of(folder), name, hows[how], &file)) ? file : -1;
}

int os_file_open(const char *path, enum os_open how)
{
    return os_file_open_in(OS_NOWHERE, path, how);
}

bool os_file_exists(const char *path)
{
    struct memory_info info;
    return memory_files_look(os_files(), MEMORY_ROOT, path, &info) != ENOENT;
}

bool os_file_is_own(const struct os_file_is *is)
{
    (void)is;
    return true;
}

bool os_file_look_in(int folder, const char *name, struct os_file_is *is)
{
    struct memory_info info;
    if (!good(memory_files_look(os_files(), folder_of(folder), name, &info)))
        return false;
    look(&info, is);
    return true;
}

bool os_path_look(const char *path, struct os_file_is *is)
{
    return os_file_look_in(OS_NOWHERE, path, is);
}

bool os_folder_look(const char *path, struct os_file_is *is)
{
    return os_path_look(path, is) && is->folder;
}

bool os_file_may_be_used(const char *path)
{
    return os_file_exists(path);
}

/* The console is open. */
bool os_file_is_open(int file)
{
    return (file >= 0 && file < MEMORY_ROOT) || memory_files_at(os_files(), file);
}

bool os_file_is_readable(int file)
{
    const struct memory_opening *opening = memory_files_at(os_files(), file);
    return !opening || opening->how & MEMORY_READ;
}

bool os_file_tag(int file, int tag)
{
    struct memory_opening *opening = memory_files_at(os_files(), file);
    if (opening)
        opening->tag = tag;
    return opening != NULL;
}

bool os_file_has_tag(int file, int tag)
{
    const struct memory_opening *opening = memory_files_at(os_files(), file);
    return opening && opening->tag == tag;
}

/* The console is not a regular file. */
bool os_file_look(int file, struct os_file_is *is)
{
    const struct memory_opening *opening = memory_files_at(os_files(), file);
    struct memory_info info;
    *is = (struct os_file_is){.device = 2};
    if (!opening)
        return os_file_is_open(file);
    memory_files_info(opening, &info);
    look(&info, is);
    return true;
}

bool os_file_is_at(int file, int folder, const char *name)
{
    struct os_file_is here, there;
    return os_file_look(file, &here) && os_file_look_in(folder, name, &there) && here.device == there.device &&
           here.number == there.number;
}

bool os_file_read(int file, uint64_t offset, void *bytes, uint64_t size)
{
    const struct memory_opening *opening = memory_files_at(os_files(), file);
    size_t done;
    return opening && size <= SIZE_MAX && good(memory_files_read(opening, offset, bytes, (size_t)size, &done)) && done == size;
}

/* A mapping allocates all its chunks, so writes through it need no further memory. */
bool os_file_room(int file, uint64_t offset, uint64_t size)
{
    (void)offset, (void)size;
    return memory_files_at(os_files(), file) != NULL;
}

/* ---- locks that end with their holder ---- */

bool os_lock(int file)
{
    return memory_files_lock(os_files(), file, MEMORY_SHARED);
}

bool os_lock_exclusive(int file)
{
    return memory_files_lock(os_files(), file, MEMORY_EXCLUSIVE);
}

void os_unlock(int file)
{
    memory_files_lock(os_files(), file, MEMORY_UNLOCKED);
}

bool os_mark_alive(int file)
{
    return os_lock_exclusive(file);
}

bool os_process_alive(const char *path)
{
    int file = os_file_open(path, OS_OPEN_READ);
    if (file < 0)
        return errno != ENOENT;
    bool lives = !os_lock(file);
    os_file_close(file);
    return lives;
}
