/* SPDX-License-Identifier: Apache-2.0 */
#include "share_folder.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "share_remove.h"
#include "share_token.h"

enum { MAKES = 30, FILE_NAME = 40 };

static void name_of(char name[FILE_NAME], const char *kind, uint64_t number)
{
    snprintf(name, FILE_NAME, "%.10s.%" PRIu64, kind, number);
}

const char *share_folder_file(const struct share_folder *folder, const char *kind, uint64_t number,
                              char path[OS_PATH_MAX])
{
    char name[FILE_NAME];
    name_of(name, kind, number);
    snprintf(path, OS_PATH_MAX, "%.300s/%s", folder->path, name);
    return path;
}

/* Opens the folder itself; -1 if the path leads to something else by now. */
static int folder_of(const struct share_folder *folder)
{
    int at = os_folder_open(OS_NOWHERE, folder->path);
    if (at < 0 || os_file_is_at(folder->file, at, "state"))
        return at;
    os_file_close(at);
    return -1;
}

int share_folder_open_file(const struct share_folder *folder, const char *kind, uint64_t number, enum os_open how)
{
    char name[FILE_NAME];
    int at = folder_of(folder);
    if (at < 0)
        return -1;
    name_of(name, kind, number);
    int file = os_file_open_in(at, name, how);
    os_file_close(at);
    return file;
}

void share_folder_remove_file(const struct share_folder *folder, const char *kind, uint64_t number)
{
    char name[FILE_NAME];
    int at = folder_of(folder);
    if (at < 0)
        return;
    name_of(name, kind, number);
    os_file_remove(at, name);
    os_file_close(at);
}

bool share_folder_sound(const struct share_folder *folder)
{
    struct os_file_is is;
    if (!os_file_look(folder->file, &is)) /* if the system reports no size, assume that the file is unchanged */
        return folder->state && os_file_is_open(folder->file);
    if (is.size < sizeof(struct share_state))
        return false;
    return !folder->state || (is.device == folder->device && is.number == folder->number && folder->state->magic == SHARE_MAGIC);
}

/* ---- what other processes left behind ---- */

struct leftover {
    const char *path;
    bool out;
};

static void look_for_descriptors(void *user, const char *name)
{
    struct leftover *left = user;
    char path[OS_PATH_MAX];
    snprintf(path, sizeof path, "%.300s/%.60s", left->path, name);
    if (!left->out && strncmp(name, "token.", 6) == 0)
        left->out = share_token_is_out(path);
}

/* A machine without a name cannot be opened again, whether or not a descriptor is left. */
static bool has_descriptors(const char *path, const char *entry, int folder)
{
    struct leftover left = {path, false};
    return entry[0] == 'm' && (!os_folder_each_in(folder, look_for_descriptors, &left) || left.out);
}

/* The folder belongs to cuvmm, and is open. */
static void remove_leftover(const char *path, int root, const char *entry, int folder)
{
    struct os_file_is is;
    int state = os_file_open_in(folder, "state", OS_OPEN_READ);
    bool unused = state >= 0 ? os_lock_exclusive(state) : !os_file_look_in(folder, "state", &is) && errno == ENOENT;
    if (unused && !has_descriptors(path, entry, folder))
        share_remove(root, entry, folder);
    if (state >= 0)
        os_file_close(state);
}

struct place {
    const char *path;
    int root; /* the root folder, open */
};

static void look_at(void *user, const char *name)
{
    const struct place *place = user;
    char path[OS_PATH_MAX];
    if (!strchr("mut", name[0]) || name[1] != '-')
        return;
    int folder = os_folder_open(place->root, name);
    snprintf(path, sizeof path, "%.250s/%.60s", place->path, name);
    if (folder >= 0 && share_is_ours(place->root, name, folder))
        remove_leftover(path, place->root, name, folder);
    if (folder >= 0)
        os_file_close(folder);
}

/* Calls visit for each entry of the place, which stays open meanwhile. */
static bool each_entry(struct place *place, void (*visit)(void *user, const char *name), void *user)
{
    place->root = os_folder_open(OS_NOWHERE, place->path);
    bool seen = place->root >= 0 && os_folder_each_in(place->root, visit, user);
    if (place->root >= 0)
        os_file_close(place->root);
    return seen;
}

/* ---- opening ---- */

static bool fail(char why[SHARE_WHY], const char *what, const char *path)
{
    snprintf(why, SHARE_WHY, "%.80s: %.90s", what, path);
    return false;
}

/* Opens the state's file for this process alone. */
static bool open_state(struct share_folder *folder, int at, enum os_open how)
{
    folder->own = (struct os_own){.file = &folder->file};
    if (!os_own_add(&folder->own))
        return false;
    folder->file = os_file_open_in(at, "state", how);
    if (folder->file < 0)
        os_own_remove(&folder->own);
    return folder->file >= 0;
}

static bool map(struct share_folder *folder)
{
    struct os_file_is is;
    uint64_t page = os_page_size(), size = (sizeof(struct share_state) + page - 1) / page * page;
    void *state = share_folder_sound(folder) && os_file_look(folder->file, &is) ? os_map(folder->file, 0, size) : NULL;
    if (!state)
        return false;
    folder->own.size = size;
    folder->own.memory = folder->state = state;
    folder->device = is.device;
    folder->number = is.number;
    return true;
}

static void unmap(struct share_folder *folder)
{
    os_own_remove(&folder->own);
    if (folder->state)
        os_unmap(folder->state, folder->own.size);
    if (folder->file >= 0)
        os_file_close(folder->file);
    folder->state = NULL;
    folder->file = -1;
}

#define NOT_MADE "no machine can be created, for lack of space or rights, in"
#define NO_VIEW "the machine's state cannot be mapped (ulimit -v?)"

/* A block gets space when it is first exported (share_mark_block): most machines export few, and these are most of the bytes. */
static bool room_for_all_but_blocks(int file)
{
    const uint64_t behind = offsetof(struct share_state, team);
    return os_file_room(file, 0, offsetof(struct share_state, block)) &&
           os_file_room(file, behind, offsetof(struct share_state, mark) - behind);
}

/* Creates the state in a new, open folder. Returns NULL, or the reason for a failure. */
static const char *make_state(struct share_folder *folder, int at, const struct sim_profile *profile)
{
    uint64_t id, page = os_page_size(), size = (sizeof(struct share_state) + page - 1) / page * page;
    bool there = share_mark_folder(at) && open_state(folder, at, OS_OPEN_NEW);
    if (!there && (errno == EMFILE || errno == ENFILE))
        return "no machine can be created, because this process may open no more files, in";
    if (!there || !os_lock(folder->file) || !os_random(&id, sizeof id))
        return NOT_MADE;
    if (!os_file_grow(folder->file, size))
        return "a machine's state exceeds the limit on file sizes (ulimit -f?), in";
    if (!room_for_all_but_blocks(folder->file))
        return "there is no space for a machine's state in";
    if (!map(folder))
        return NO_VIEW;
    share_state_init(folder->state, profile, id);
    return NULL;
}

static const char *entry_of(const struct share_folder *folder)
{
    return strrchr(folder->path, '/') + 1;
}

/* Creates a complete machine in a folder of that name, then renames it to its final name. Returns NULL also when another process
 * was faster. */
static const char *make_as(struct share_folder *folder, const struct sim_profile *profile, int root, const char *spare,
                           bool *there)
{
    if (!os_folder_new(root, spare))
        return NOT_MADE;
    int at = os_folder_open(root, spare);
    const char *wrong = at >= 0 ? make_state(folder, at, profile) : NOT_MADE;
    *there = !wrong && os_rename(root, spare, entry_of(folder));
    if (!*there) {
        unmap(folder);
        share_unmake(root, spare, at);
    }
    if (at >= 0)
        os_file_close(at);
    return wrong;
}

/* Creates the machine under another name and renames it when it is complete, so that a process that mistakes a half-made folder
 * for a leftover never removes one with a final name. This can fail although no resource is missing, when another process takes
 * the folder for a leftover before this one holds it. Returns false also when another process was faster; then *wrong is NULL. */
static bool make_placed(struct share_folder *folder, const struct sim_profile *profile, const char **wrong)
{
    char spare[SHARE_ENTRY_MAX];
    bool there = false;
    int root = os_folder_open(OS_NOWHERE, folder->root);
    *wrong = root >= 0 && share_spare_name(root, spare) ? make_as(folder, profile, root, spare, &there) : NOT_MADE;
    if (root >= 0)
        os_file_close(root);
    return there;
}

static bool is_machine(const struct share_folder *folder, char why[SHARE_WHY])
{
    const struct share_state *state = folder->state;
    if (!state && share_folder_sound(folder))
        return fail(why, NO_VIEW, folder->path);
    if (!state || state->magic != SHARE_MAGIC || state->version != SHARE_VERSION || state->bytes != sizeof *state)
        return fail(why, "not a machine of this version; choose another name", folder->path);
    return true;
}

static bool fits(const struct share_folder *folder, const struct sim_profile *profile, char why[SHARE_WHY])
{
    const struct share_state *state = folder->state;
    if (!is_machine(folder, why))
        return false;
    if (state->profile == share_profile_number(profile))
        return true;
    snprintf(why, SHARE_WHY, "the machine is already open with another profile, \"%.40s\"; this is \"%.40s\"",
             state->profile_name, profile->name);
    return false;
}

enum found { FOUND, ABSENT, FOREIGN /* not a machine of cuvmm */, MOVING, UNTOLD /* not reported by the system */ };

/* Determines why an open folder has no state. A folder of cuvmm gets its state before it is renamed to its final name, and loses
 * it only together with the folder. */
static enum found without_state(const struct share_folder *folder, int at)
{
    struct os_file_is is;
    if (os_file_look_in(at, "state", &is))
        return is.regular ? UNTOLD : FOREIGN;
    if (errno != ENOENT)
        return UNTOLD;
    return os_file_is_at(at, OS_NOWHERE, folder->path) ? FOREIGN : MOVING;
}

/* Opens the state, and holds it, if the folder is still in its place. */
static enum found find_state(struct share_folder *folder, int at)
{
    if (!open_state(folder, at, OS_OPEN_WRITE))
        return without_state(folder, at);
    errno = 0;
    if (os_lock(folder->file) && os_file_is_at(folder->file, at, "state") && os_file_is_at(at, OS_NOWHERE, folder->path))
        return FOUND;
    bool reported = !errno || errno == EWOULDBLOCK || errno == ENOENT;
    unmap(folder);
    return reported ? MOVING : UNTOLD;
}

/* Opens an existing machine. */
static enum found find(struct share_folder *folder)
{
    int at = os_folder_open(OS_NOWHERE, folder->path);
    if (at < 0)
        return errno == ENOENT ? ABSENT : errno == ENOTDIR || errno == ELOOP ? FOREIGN : UNTOLD;
    enum found found = find_state(folder, at);
    os_file_close(at);
    return found;
}

static bool open_named(struct share_folder *folder, const struct sim_profile *profile, char why[SHARE_WHY])
{
    uint64_t began = 0;
    for (int failures = 0; !os_too_long(&began);) {
        const char *wrong = NULL;
        enum found found = find(folder);
        if (found == FOUND) {
            map(folder);
            if (fits(folder, profile, why))
                return true;
            unmap(folder);
            return false;
        }
        if (found == FOREIGN)
            return fail(why, "not a machine; choose another name, or another CUVMM_MACHINES", folder->path);
        if (found == ABSENT && make_placed(folder, profile, &wrong))
            return true;
        if (wrong && ++failures == MAKES)
            return fail(why, wrong, folder->root);
        os_yield();
    }
    return fail(why, "the machine cannot be opened now; try again, or choose another name", folder->path);
}

bool share_folder_open(struct share_folder *folder, const char *name, const struct sim_profile *profile,
                       char why[SHARE_WHY])
{
    *folder = (struct share_folder){.file = -1};
    const char *wrong = os_share_root(folder->root);
    if (wrong)
        return fail(why, wrong, folder->root);
    struct place place = {.path = folder->root};
    each_entry(&place, look_at, &place);
    if (name) {
        snprintf(folder->path, sizeof folder->path, "%.250s/m-%.40s", folder->root, name);
        return open_named(folder, profile, why);
    }
    for (int i = 0; i < MAKES; i++) {
        uint64_t number;
        if (!os_random(&number, sizeof number))
            continue;
        snprintf(folder->path, sizeof folder->path, "%.250s/u-%016" PRIx64, folder->root, number);
        if (make_placed(folder, profile, &wrong))
            return true;
    }
    return fail(why, wrong ? wrong : NOT_MADE, folder->root);
}

/* ---- another machine ---- */

struct wanted {
    struct place place;
    struct share_folder *folder;
    uint64_t id;
    bool unreported; /* the system refused to report on one of them */
};

/* Is it the name of a machine's folder? */
static bool is_entry(const char *name)
{
    return (name[0] == 'm' || name[0] == 'u') && name[1] == '-' && share_name_ok(name + 2);
}

static void look_into(struct wanted *wanted, int at, const char *name)
{
    uint64_t head[4]; /* magic, version, size, id */
    struct os_file_is is;
    int file = os_file_open_in(at, "state", OS_OPEN_READ);
    if (file < 0) {
        wanted->unreported |= os_file_look_in(at, "state", &is) ? is.regular : errno != ENOENT;
        return;
    }
    errno = 0;
    bool read = os_file_read(file, 0, head, sizeof head);
    wanted->unreported |= !read && errno;
    if (read && head[0] == SHARE_MAGIC && head[1] == SHARE_VERSION && head[3] == wanted->id)
        snprintf(wanted->folder->path, sizeof wanted->folder->path, "%.250s/%.60s", wanted->place.path, name);
    os_file_close(file);
}

static void look_for(void *user, const char *name)
{
    struct wanted *wanted = user;
    if (wanted->folder->path[0] || !is_entry(name))
        return;
    int at = os_folder_open(wanted->place.root, name);
    if (at < 0) {
        wanted->unreported |= errno != ENOENT && errno != ENOTDIR && errno != ELOOP;
        return;
    }
    look_into(wanted, at, name);
    os_file_close(at);
}

/* A process that has exported keeps its machine in its place; a machine that is being moved is unused. */
bool share_folder_open_other(struct share_folder *folder, uint64_t id, const struct sim_profile *profile,
                             char why[SHARE_WHY])
{
    struct wanted wanted = {{.path = folder->root}, folder, id, false};
    enum found found = ABSENT;
    *folder = (struct share_folder){.file = -1};
    const char *wrong = os_share_root(folder->root);
    if (wrong)
        return fail(why, wrong, folder->root);
    why[0] = '\0';
    if (!each_entry(&wanted.place, look_for, &wanted))
        wanted.unreported = true;
    if (folder->path[0])
        found = find(folder);
    if (found == UNTOLD || (!folder->path[0] && wanted.unreported))
        return fail(why, "the system refuses access to the machines in", folder->root);
    if (found != FOUND)
        return false;
    map(folder);
    if (fits(folder, profile, why) && folder->state->id == id)
        return true;
    unmap(folder);
    return false;
}

struct another {
    const struct share_folder *self;
    struct wanted wanted;
};

/* Never opens this machine's own state: where its mutex is a lock on the file, closing the file would release that lock. */
static void look_beside(void *user, const char *name)
{
    struct another *another = user;
    const char *own = strrchr(another->self->path, '/');
    if (strcmp(own + 1, name) == 0)
        return;
    look_at(&another->wanted.place, name); /* a machine without processes is gone for all of them */
    look_for(&another->wanted, name);
}

bool share_folder_other_has(const struct share_folder *folder, uint64_t id, const char *kind, uint64_t number)
{
    struct share_folder other = {.file = -1};
    struct another another = {folder, {{.path = folder->root}, &other, id, false}};
    char path[OS_PATH_MAX];
    each_entry(&another.wanted.place, look_beside, &another);
    return other.path[0] && os_file_exists(share_folder_file(&other, kind, number, path));
}

bool share_folder_open_there(struct share_folder *folder, const char *entry, char why[SHARE_WHY])
{
    *folder = (struct share_folder){.file = -1};
    why[0] = '\0';
    const char *wrong = os_share_root(folder->root);
    if (wrong)
        return fail(why, wrong, folder->root);
    snprintf(folder->path, sizeof folder->path, "%.250s/%.60s", folder->root, entry);
    enum found found = find(folder);
    for (int i = 0; found > FOREIGN && i < MAKES; i++) {
        os_yield();
        found = find(folder);
    }
    if (found == ABSENT || found == FOREIGN)
        return false;
    if (found != FOUND)
        return fail(why, "the machine cannot be opened now; try again, or choose another name", folder->path);
    map(folder);
    if (is_machine(folder, why))
        return true;
    unmap(folder);
    return false;
}

/* ---- the list of machines ---- */

struct list {
    void (*visit)(void *user, const char *entry);
    void *user;
};

static void look_for_machine(void *user, const char *name)
{
    const struct list *list = user;
    if (is_entry(name))
        list->visit(list->user, name);
}

bool share_folder_each(void (*visit)(void *user, const char *entry), void *user, char why[SHARE_WHY])
{
    char root[OS_PATH_MAX];
    struct list list = {visit, user};
    struct place place = {.path = root};
    const char *wrong = os_share_root(root);
    if (wrong)
        return fail(why, wrong, root);
    each_entry(&place, look_for_machine, &list);
    return true;
}

const char *share_folder_name(const struct share_folder *folder)
{
    const char *entry = entry_of(folder);
    return entry[0] == 'm' ? entry + 2 : "";
}

static void go(const struct share_folder *folder)
{
    int at = folder_of(folder), root = os_folder_open(OS_NOWHERE, folder->root);
    if (at >= 0 && root >= 0)
        share_remove(root, entry_of(folder), at);
    if (at >= 0)
        os_file_close(at);
    if (root >= 0)
        os_file_close(root);
}

void share_folder_close(struct share_folder *folder, bool may_go)
{
    if (may_go && os_lock_exclusive(folder->file))
        go(folder);
    unmap(folder);
}
