/* SPDX-License-Identifier: Apache-2.0 */
#include "share_remove.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* A number derived from two others, which no program produces by accident. */
static uint64_t check_of(uint64_t number, uint64_t of)
{
    uint64_t check = number ^ (of + UINT64_C(0x6375766d6d2d6d6b)) * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 3; i++) {
        check = (check ^ check >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
        check ^= check >> 29;
    }
    return check;
}

/* ---- names ---- */

static bool spare_name(int root, uint64_t random, char entry[SHARE_ENTRY_MAX])
{
    struct os_file_is is;
    if (!os_file_look(root, &is))
        return false;
    snprintf(entry, SHARE_ENTRY_MAX, "t-%016" PRIx64 "-%016" PRIx64, random, check_of(random, is.number));
    return true;
}

bool share_spare_name(int root, char entry[SHARE_ENTRY_MAX])
{
    uint64_t random;
    return os_random(&random, sizeof random) && spare_name(root, random, entry);
}

static bool is_spare(int root, const char *entry)
{
    uint64_t random;
    char right[SHARE_ENTRY_MAX];
    return sscanf(entry, "t-%16" SCNx64, &random) == 1 && spare_name(root, random, right) && strcmp(entry, right) == 0;
}

static bool mark_of(int folder, char name[SHARE_ENTRY_MAX])
{
    struct os_file_is is;
    if (!os_file_look(folder, &is))
        return false;
    snprintf(name, SHARE_ENTRY_MAX, "cuvmm-%016" PRIx64, check_of(is.number, 0));
    return true;
}

bool share_mark_folder(int folder)
{
    char mark[SHARE_ENTRY_MAX];
    int file = mark_of(folder, mark) ? os_file_open_in(folder, mark, OS_OPEN_NEW) : -1;
    if (file >= 0)
        os_file_close(file);
    return file >= 0;
}

static bool is_marked(int folder)
{
    char mark[SHARE_ENTRY_MAX];
    struct os_file_is is;
    return mark_of(folder, mark) && os_file_look_in(folder, mark, &is) && is.regular;
}

bool share_is_ours(int root, const char *entry, int folder)
{
    struct os_file_is is;
    return os_file_look(folder, &is) && os_file_is_own(&is) && (is_spare(root, entry) || is_marked(folder));
}

/* ---- contents of a folder ---- */

/* Is it a name such as "slot.7", of the kind "slot."? */
static bool is_numbered(const char *name, const char *kind)
{
    size_t length = strlen(kind);
    return strncmp(name, kind, length) == 0 && name[length] && !name[length + strspn(name + length, "0123456789")];
}

static bool is_known(int folder, const char *name)
{
    char mark[SHARE_ENTRY_MAX];
    struct os_file_is is;
    bool named = !strcmp(name, "state") || is_numbered(name, "slot.") || is_numbered(name, "mem.") ||
        is_numbered(name, "token.") ||
                 (mark_of(folder, mark) && !strcmp(name, mark));
    return named && os_file_look_in(folder, name, &is) && is.regular && os_file_is_own(&is);
}

struct content {
    int folder;
    bool unknown;
};

static void look_at(void *user, const char *name)
{
    struct content *content = user;
    content->unknown = content->unknown || !is_known(content->folder, name);
}

static void remove_known(void *user, const char *name)
{
    const struct content *content = user;
    if (is_known(content->folder, name))
        os_file_remove(content->folder, name);
}

/* ---- removal ---- */

static bool same(const struct os_file_is *a, const struct os_file_is *b)
{
    return a->device == b->device && a->number == b->number;
}

/* Renames the folder to a name that identifies it as cuvmm's, even if this process is killed afterwards. */
static bool move_aside(int root, const char *entry, int folder, char aside[SHARE_ENTRY_MAX])
{
    struct os_file_is is, moved;
    if (!os_file_look(folder, &is) || !share_spare_name(root, aside) || !os_rename(root, entry, aside))
        return false;
    if (os_file_look_in(root, aside, &moved) && same(&is, &moved))
        return true;
    os_rename(root, aside, entry); /* another process has replaced the folder meanwhile */
    return false;
}

/* Works even when no descriptor is free to look into the folder. */
void share_unmake(int root, const char *spare, int folder)
{
    char mark[SHARE_ENTRY_MAX];
    if (folder >= 0) {
        os_file_remove(folder, "state");
        if (mark_of(folder, mark))
            os_file_remove(folder, mark);
    }
    os_folder_remove(root, spare);
}

void share_remove(int root, const char *entry, int folder)
{
    struct content content = {.folder = folder};
    char aside[SHARE_ENTRY_MAX];
    if (!share_is_ours(root, entry, folder) || !os_folder_each_in(folder, look_at, &content) || content.unknown ||
        !move_aside(root, entry, folder, aside))
        return;
    os_folder_each_in(folder, remove_known, &content);
    os_folder_remove(root, aside);
}
