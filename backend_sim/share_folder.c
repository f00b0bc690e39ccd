#include "share_folder.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "share_token.h"

enum { MACHINES = 1000, MAKES = 30 };

const char *share_folder_file(const struct share_folder *folder, const char *kind, uint64_t number,
                              char path[OS_PATH_MAX])
{
    snprintf(path, OS_PATH_MAX, "%.300s/%s.%" PRIu64, folder->path, kind, number);
    return path;
}

static const char *state_of(const char *path, char state[OS_PATH_MAX])
{
    snprintf(state, OS_PATH_MAX, "%.300s/state", path);
    return state;
}

/* ROOT/t-1234567890 */
static bool random_path(const char *root, char kind, char path[OS_PATH_MAX])
{
    uint64_t number;
    if (!os_random(&number, sizeof number))
        return false;
    snprintf(path, OS_PATH_MAX, "%.250s/%c-%016" PRIx64, root, kind, number);
    return true;
}

bool share_folder_sound(const struct share_folder *folder)
{
    struct os_file_is is;
    if (!os_file_look(folder->file, &is)) /* what the system does not tell has not become shorter for that */
        return folder->state && os_file_is_open(folder->file);
    return is.size >= sizeof(struct share_state);
}

/* Out of everybody's way first, so that nobody finds half of it. */
static void take_away(const char *root, const char *path)
{
    char aside[OS_PATH_MAX];
    if (random_path(root, 't', aside) && os_rename(path, aside))
        os_folder_remove(aside);
}

/* ---- what others left ---- */

struct leftover {
    const char *root, *path;
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

static void look_at(void *user, const char *name)
{
    char path[OS_PATH_MAX], state[OS_PATH_MAX];
    struct leftover left = {user, path, false};
    if (!strchr("mut", name[0]) || name[1] != '-' || strlen(name) > SHARE_NAME_MAX + 2)
        return;
    snprintf(path, sizeof path, "%.250s/%.60s", left.root, name);
    int file = os_file_open(state_of(path, state), OS_OPEN_READ);
    bool nobody = file >= 0 ? os_hold_alone(file) : !os_file_exists(state);
    if (nobody && name[0] != 'u') /* what has no name cannot be found again, with a descriptor or without */
        os_folder_each(path, SHARE_BLOCKS + 3 * SHARE_PROCESSES, look_for_descriptors, &left);
    if (nobody && !left.out)
        take_away(left.root, path);
    if (file >= 0)
        os_file_close(file);
}

/* ---- opening ---- */

static bool fail(char why[SHARE_WHY], const char *what, const char *path)
{
    snprintf(why, SHARE_WHY, "%.80s: %.90s", what, path);
    return false;
}

static bool map(struct share_folder *folder)
{
    uint64_t page = os_page_size(), size = (sizeof(struct share_state) + page - 1) / page * page;
    folder->state = share_folder_sound(folder) ? os_map(folder->file, 0, size) : NULL;
    return folder->state != NULL;
}

static void unmap(struct share_folder *folder)
{
    uint64_t page = os_page_size(), size = (sizeof(struct share_state) + page - 1) / page * page;
    if (folder->state)
        os_unmap(folder->state, size);
    if (folder->file >= 0)
        os_file_close(folder->file);
    folder->state = NULL;
    folder->file = -1;
}

/* A whole machine in folder->path, which is not there yet. It may fail although there is all that it needs, where another
 * process takes it for a leftover before it is held. */
static bool make(struct share_folder *folder, const struct sim_profile *profile)
{
    char state[OS_PATH_MAX];
    uint64_t id, page = os_page_size(), size = (sizeof(struct share_state) + page - 1) / page * page;
    if (!os_random(&id, sizeof id) || !os_folder_new(folder->path))
        return false;
    folder->file = os_file_open(state_of(folder->path, state), OS_OPEN_NEW);
    if (folder->file >= 0 && os_hold(folder->file) && os_file_grow(folder->file, size) &&
        os_file_room(folder->file, 0, offsetof(struct share_state, mark)) && map(folder) && share_state_init(folder->state, profile, id))
        return true;
    unmap(folder);
    os_folder_remove(folder->path);
    return false;
}

/* Made aside and put in its place whole, so that who takes what is half made for a leftover never takes what is in its place.
 * False also when another was faster; *made tells. */
static bool make_placed(struct share_folder *folder, const struct sim_profile *profile, bool *made)
{
    char path[OS_PATH_MAX];
    memcpy(path, folder->path, sizeof path);
    *made = random_path(folder->root, 't', folder->path) && make(folder, profile);
    bool there = *made && os_rename(folder->path, path);
    if (*made && !there) {
        unmap(folder);
        os_folder_remove(folder->path);
    }
    /* analysers: use-of-uninitialized-value is wrong: all of it was copied from there */
    memcpy(folder->path, path, sizeof path);
    return there;
}

static bool is_machine(const struct share_folder *folder, char why[SHARE_WHY])
{
    const struct share_state *state = folder->state;
    if (!state && share_folder_sound(folder))
        return fail(why, "there is no memory to see the machine", folder->path);
    if (!state || state->magic != SHARE_MAGIC || state->version != SHARE_VERSION || state->bytes != sizeof *state)
        return fail(why, "what is there is not a machine of this version; remove the folder", folder->path);
    return true;
}

static bool fits(const struct share_folder *folder, const struct sim_profile *profile, char why[SHARE_WHY])
{
    const struct share_state *state = folder->state;
    if (!is_machine(folder, why))
        return false;
    if (state->profile == share_profile_number(profile))
        return true;
    snprintf(why, SHARE_WHY, "that machine is open with another profile, \"%.40s\"; this is \"%.40s\"",
             state->profile_name, profile->name);
    return false;
}

enum found { FOUND, ABSENT, MOVING, UNTOLD /* by the system */ };

/* The machine that is there: held, and still in its place. */
static enum found find(struct share_folder *folder)
{
    char state[OS_PATH_MAX];
    folder->file = os_file_open(state_of(folder->path, state), OS_OPEN_WRITE);
    if (folder->file < 0)
        return os_file_exists(state) ? UNTOLD : ABSENT;
    errno = 0;
    if (os_hold(folder->file) && os_file_is_at(folder->file, state))
        return FOUND;
    bool told = !errno || errno == EWOULDBLOCK || errno == ENOENT;
    unmap(folder);
    return told ? MOVING : UNTOLD;
}

static bool open_named(struct share_folder *folder, const struct sim_profile *profile, char why[SHARE_WHY])
{
    uint64_t began = 0;
    for (int failures = 0; !os_too_long(&began);) {
        bool made = true;
        enum found found = find(folder);
        if (found == FOUND) {
            map(folder);
            if (fits(folder, profile, why))
                return true;
            unmap(folder);
            return false;
        }
        if (found == ABSENT && make_placed(folder, profile, &made))
            return true;
        if (!made && ++failures == MAKES)
            return fail(why, "no machine can be made, for want of room or of rights, in", folder->root);
        os_yield();
    }
    return fail(why, "what is there cannot be opened; remove the folder", folder->path);
}

bool share_folder_open(struct share_folder *folder, const char *name, const struct sim_profile *profile,
                       char why[SHARE_WHY])
{
    *folder = (struct share_folder){.file = -1};
    if (!os_share_root(folder->root))
        return fail(why, "the folder of machines cannot be had, or is not this user's alone", folder->root);
    os_folder_each(folder->root, MACHINES, look_at, folder->root);
    if (name) {
        snprintf(folder->path, sizeof folder->path, "%.250s/m-%.40s", folder->root, name);
        return open_named(folder, profile, why);
    }
    for (int i = 0; i < MAKES; i++) {
        bool made;
        if (random_path(folder->root, 'u', folder->path) && make_placed(folder, profile, &made))
            return true;
    }
    return fail(why, "no machine can be made, for want of room or of rights, in", folder->root);
}

/* ---- another machine ---- */

struct wanted {
    struct share_folder *folder;
    uint64_t id;
    bool untold; /* the system did not let one be looked at */
};

static void look_for(void *user, const char *name)
{
    struct wanted *wanted = user;
    char path[OS_PATH_MAX], state[OS_PATH_MAX];
    uint64_t head[4]; /* magic, version, size, id */
    if (wanted->folder->path[0] || (name[0] != 'm' && name[0] != 'u') || name[1] != '-' ||
        strlen(name) > SHARE_NAME_MAX + 2)
        return;
    snprintf(path, sizeof path, "%.250s/%.60s", wanted->folder->root, name);
    int file = os_file_open(state_of(path, state), OS_OPEN_READ);
    if (file < 0) {
        wanted->untold |= os_file_exists(state);
        return;
    }
    errno = 0;
    bool read = os_file_read(file, 0, head, sizeof head);
    wanted->untold |= !read && errno;
    if (read && head[0] == SHARE_MAGIC && head[1] == SHARE_VERSION && head[3] == wanted->id)
        memcpy(wanted->folder->path, path, sizeof path);
    os_file_close(file);
}

/* Whoever has exported keeps its machine where it is; one that is on the move is nobody's. */
bool share_folder_open_other(struct share_folder *folder, uint64_t id, const struct sim_profile *profile,
                             char why[SHARE_WHY])
{
    struct wanted wanted = {folder, id, false};
    enum found found = ABSENT;
    *folder = (struct share_folder){.file = -1};
    if (!os_share_root(folder->root))
        return fail(why, "the folder of machines cannot be had, or is not this user's alone", folder->root);
    why[0] = '\0';
    if (!os_folder_each(folder->root, MACHINES, look_for, &wanted))
        wanted.untold = true;
    if (folder->path[0])
        found = find(folder);
    if (found == UNTOLD || (!folder->path[0] && wanted.untold))
        return fail(why, "the system does not let the machines be looked at in", folder->root);
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

/* Not at this machine's own: where its mutex is a lock on the file, to close the file would end it. */
static void look_beside(void *user, const char *name)
{
    struct another *another = user;
    const char *own = strrchr(another->self->path, '/');
    if (strcmp(own + 1, name) == 0)
        return;
    look_at(another->wanted.folder->root, name); /* one that all processes left is gone for everybody */
    look_for(&another->wanted, name);
}

bool share_folder_other_has(const struct share_folder *folder, uint64_t id, const char *kind, uint64_t number)
{
    struct share_folder other = {.file = -1};
    struct another another = {folder, {&other, id, false}};
    char path[OS_PATH_MAX];
    memcpy(other.root, folder->root, sizeof other.root);
    os_folder_each(other.root, MACHINES, look_beside, &another);
    return other.path[0] && os_file_exists(share_folder_file(&other, kind, number, path));
}

bool share_folder_open_there(struct share_folder *folder, const char *entry, char why[SHARE_WHY])
{
    *folder = (struct share_folder){.file = -1};
    why[0] = '\0';
    if (!os_share_root(folder->root))
        return fail(why, "the folder of machines cannot be had, or is not this user's alone", folder->root);
    snprintf(folder->path, sizeof folder->path, "%.250s/%.60s", folder->root, entry);
    enum found found = find(folder);
    for (int i = 0; found > ABSENT && i < MAKES; i++) {
        os_yield();
        found = find(folder);
    }
    if (found == ABSENT)
        return false;
    if (found != FOUND)
        return fail(why, "what is there cannot be opened; remove the folder", folder->path);
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
    if ((name[0] == 'm' || name[0] == 'u') && name[1] == '-' && strlen(name) <= SHARE_NAME_MAX + 2 && share_name_ok(name + 2))
        list->visit(list->user, name);
}

bool share_folder_each(void (*visit)(void *user, const char *entry), void *user, char why[SHARE_WHY])
{
    char root[OS_PATH_MAX];
    struct list list = {visit, user};
    if (!os_share_root(root))
        return fail(why, "the folder of machines cannot be had, or is not this user's alone", root);
    os_folder_each(root, MACHINES, look_for_machine, &list);
    return true;
}

const char *share_folder_name(const struct share_folder *folder)
{
    const char *entry = strrchr(folder->path, '/') + 1;
    return entry[0] == 'm' ? entry + 2 : "";
}

void share_folder_close(struct share_folder *folder, bool may_go)
{
    if (may_go && os_hold_alone(folder->file))
        take_away(folder->root, folder->path);
    unmap(folder);
}
