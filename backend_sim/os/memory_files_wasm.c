/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_files_wasm.h"

#include <errno.h>
#include <string.h>

#include "checks.h"
#include "heap.h"

/* A folder has entries, a file has contents. */
struct memory_file {
    bool folder;
    uint64_t size, number;
    uint32_t openings, mappings;
    struct memory_chunks chunks;
    char *name; /* its name in parent; NULL: it has none, or is the root */
    struct memory_file *parent;
    struct memory_file **entry; /* in the order of their creation */
    size_t entries, room;
};

struct memory_mapping {
    struct memory_file *file;
    void *memory;
    uint64_t offset, size;
    struct memory_mapping *next;
};

/* ---- files ---- */

static struct memory_file *new_file(struct memory_files *files, bool folder)
{
    struct memory_file *file = heap.calloc(1, sizeof *file);
    if (file) {
        file->folder = folder;
        file->number = ++files->numbers;
    }
    return file;
}

static void free_unused(struct memory_file *file)
{
    if (file->openings || file->mappings || file->parent)
        return;
    memory_chunks_clear(&file->chunks);
    heap.free(file->entry);
    heap.free(file->name);
    heap.free(file);
}

static struct memory_file *child(const struct memory_file *folder, const char *name, size_t length)
{
    for (size_t i = 0; i < folder->entries; i++)
        if (strlen(folder->entry[i]->name) == length && memcmp(folder->entry[i]->name, name, length) == 0)
            return folder->entry[i];
    return NULL;
}

static bool has_room(struct memory_file *folder)
{
    if (folder->entries < folder->room)
        return true;
    size_t more = folder->room ? 2 * folder->room : 8;
    struct memory_file **list = heap.realloc(folder->entry, more * sizeof(struct memory_file *));
    if (!list)
        return false;
    folder->entry = list;
    folder->room = more;
    return true;
}

/* Gives a file a name. 0 or an errno. */
static int enter(struct memory_file *folder, struct memory_file *file, const char *name, size_t length)
{
    char *copy = has_room(folder) ? heap.strndup(name, length) : NULL;
    if (!copy)
        return ENOSPC;
    heap.free(file->name);
    file->name = copy;
    file->parent = folder;
    folder->entry[folder->entries++] = file;
    return 0;
}

/* Removes a file's name, which may free the file. */
static void leave(struct memory_file *file)
{
    struct memory_file *folder = file->parent;
    size_t i = 0;
    while (folder->entry[i] != file)
        i++;
    memmove(&folder->entry[i], &folder->entry[i + 1], (folder->entries - i - 1) * sizeof(struct memory_file *));
    folder->entries--;
    file->parent = NULL;
}

/* ---- paths ---- */

/* The result of resolving a path: the folder, the last name, and the file with that name (NULL: none). For a folder
 * itself, as "/" or ".", name is NULL and file is the folder. */
struct place {
    struct memory_file *folder, *file;
    const char *name;
    size_t length;
};

/* The next name of a path; *length is 0 at its end. */
static const char *next_name(const char *path, size_t *length)
{
    do {
        path += strspn(path, "/");
        *length = strcspn(path, "/");
    } while (*length == 1 && path[0] == '.' && (path += 1));
    return path;
}

static struct memory_file *begin_at(const struct memory_files *files, int in, const char *path)
{
    const struct memory_opening *opening = memory_files_at(files, in);
    if (path[0] == '/' || in == MEMORY_ROOT)
        return files->root;
    return opening && opening->file->folder ? opening->file : NULL;
}

/* 0, ENOENT if a folder of the path is missing, or another errno. */
static int walk(const struct memory_files *files, int in, const char *path, struct place *place)
{
    size_t length;
    const char *name = next_name(path, &length);
    *place = (struct place){.file = begin_at(files, in, path)};
    if (!place->file)
        return EBADF;
    if (!path[0])
        return ENOENT;
    for (; length; name = next_name(name + length, &length)) {
        if (length >= MEMORY_NAME)
            return ENAMETOOLONG;
        if (!place->file)
            return ENOENT;
        if (!place->file->folder || (length == 2 && memcmp(name, "..", 2) == 0))
            return place->file->folder ? ENOENT : ENOTDIR;
        *place = (struct place){place->file, child(place->file, name, length), name, length};
    }
    return 0;
}

static int make_at(struct memory_files *files, const struct place *place, bool folder, struct memory_file **made)
{
    struct memory_file *file = new_file(files, folder);
    int error = file ? enter(place->folder, file, place->name, place->length) : ENOSPC;
    if (file && error)
        free_unused(file);
    *made = error ? NULL : file;
    return error;
}

/* ---- descriptors ---- */

static bool has_descriptors(struct memory_files *files, int descriptor)
{
    if (descriptor < files->room)
        return true;
    int more = files->room ? 2 * files->room : 16;
    struct memory_opening **list =
        more <= MEMORY_DESCRIPTORS ? heap.realloc(files->opening, (size_t)more * sizeof(struct memory_opening *)) : NULL;
    if (!list)
        return false;
    memset(list + files->room, 0, (size_t)(more - files->room) * sizeof(struct memory_opening *));
    files->opening = list;
    files->room = more;
    return true;
}

/* The lowest free one, as in POSIX. */
static int open_file(struct memory_files *files, struct memory_file *file, unsigned how, int *descriptor)
{
    int free = MEMORY_ROOT;
    while (free < files->room && files->opening[free])
        free++;
    struct memory_opening *opening = has_descriptors(files, free) ? heap.calloc(1, sizeof *opening) : NULL;
    if (!opening)
        return EMFILE;
    *opening = (struct memory_opening){.file = file, .how = how};
    files->opening[free] = opening;
    file->openings++;
    *descriptor = free;
    return 0;
}

int memory_files_init(struct memory_files *files)
{
    int descriptor;
    *files = (struct memory_files){0};
    files->root = new_file(files, true);
    if (!files->root)
        return ENOSPC;
    int error = open_file(files, files->root, MEMORY_READ | MEMORY_FOLDER, &descriptor);
    if (error) {
        heap.free(files->opening);
        free_unused(files->root);
    }
    return error;
}

static void clear_tree(struct memory_file *file)
{
    while (file->entries)
        clear_tree(file->entry[file->entries - 1]);
    if (file->parent)
        leave(file);
    free_unused(file);
}

void memory_files_clear(struct memory_files *files)
{
    while (files->mapping)
        memory_files_unmap(files, files->mapping->memory);
    for (int i = MEMORY_ROOT + 1; i < files->room; i++)
        memory_files_close(files, i);
    files->root->openings--;
    heap.free(files->opening[MEMORY_ROOT]);
    heap.free(files->opening);
    clear_tree(files->root);
    *files = (struct memory_files){0};
}

/* The error for opening the existing place->file, or 0. */
static int refused(const struct place *place, unsigned how)
{
    if (how & MEMORY_NEW)
        return EEXIST;
    if (place->file->folder && how & (MEMORY_WRITE | MEMORY_EMPTY))
        return EISDIR;
    return (how & MEMORY_FOLDER) && !place->file->folder ? ENOTDIR : 0;
}

int memory_files_open(struct memory_files *files, int in, const char *path, unsigned how, int *descriptor)
{
    struct place place;
    struct memory_file *made = NULL;
    int error = walk(files, in, path, &place);
    if (!error)
        error = place.file ? refused(&place, how) : how & MEMORY_MAKE ? make_at(files, &place, false, &made) : ENOENT;
    if (!error)
        error = open_file(files, made ? made : place.file, how, descriptor);
    if (error && made) {
        leave(made);
        free_unused(made);
    }
    if (!error && how & MEMORY_EMPTY)
        memory_files_resize(files->opening[*descriptor], 0);
    return error;
}

int memory_files_unnamed(struct memory_files *files, int *descriptor)
{
    struct memory_file *file = new_file(files, false);
    int error = file ? open_file(files, file, MEMORY_READ | MEMORY_WRITE, descriptor) : ENOSPC;
    if (file && error)
        free_unused(file);
    return error;
}

struct memory_opening *memory_files_at(const struct memory_files *files, int descriptor)
{
    return descriptor >= MEMORY_ROOT && descriptor < files->room ? files->opening[descriptor] : NULL;
}

int memory_files_close(struct memory_files *files, int descriptor)
{
    struct memory_opening *opening = memory_files_at(files, descriptor);
    if (!opening || descriptor == MEMORY_ROOT)
        return EBADF;
    opening->file->openings--;
    free_unused(opening->file);
    heap.free(opening);
    files->opening[descriptor] = NULL;
    return 0;
}

/* ---- names ---- */

static void info_of(const struct memory_file *file, struct memory_info *info)
{
    *info = (struct memory_info){file->folder, file->size, file->number};
}

int memory_files_look(const struct memory_files *files, int in, const char *path, struct memory_info *info)
{
    struct place place;
    int error = walk(files, in, path, &place);
    if (!error && !place.file)
        error = ENOENT;
    if (!error)
        info_of(place.file, info);
    return error;
}

int memory_files_new_folder(struct memory_files *files, int in, const char *path)
{
    struct place place;
    struct memory_file *made;
    int error = walk(files, in, path, &place);
    return error ? error : place.file ? EEXIST : make_at(files, &place, true, &made);
}

int memory_files_remove(struct memory_files *files, int in, const char *path, bool folder)
{
    struct place place;
    int error = walk(files, in, path, &place);
    if (error || !place.file)
        return error ? error : ENOENT;
    if (!place.folder)
        return EBUSY;
    if (place.file->folder != folder)
        return folder ? ENOTDIR : EISDIR;
    if (place.file->entries)
        return ENOTEMPTY;
    leave(place.file);
    free_unused(place.file);
    return 0;
}

/* A folder cannot be moved into itself. */
static bool is_inside(const struct memory_file *file, const struct memory_file *folder)
{
    while (file && file != folder)
        file = file->parent;
    return file != NULL;
}

static int may_replace(const struct place *from, const struct place *to, bool replace)
{
    if (!from->folder || !to->folder)
        return EBUSY;
    if (is_inside(to->folder, from->file))
        return EINVAL;
    if (!to->file || to->file == from->file)
        return 0;
    if (!replace)
        return EEXIST;
    return to->file->folder || from->file->folder ? EISDIR : 0;
}

int memory_files_rename(struct memory_files *files, int in, const char *from, int to_in, const char *to, bool replace)
{
    struct place here, there;
    int error = walk(files, in, from, &here);
    if (error || !here.file)
        return error ? error : ENOENT;
    error = walk(files, to_in, to, &there);
    if (!error)
        error = may_replace(&here, &there, replace);
    if (error || there.file == here.file)
        return error;
    struct memory_file *folder = here.folder;
    error = enter(there.folder, here.file, there.name, there.length); /* twice in the tree, until the next lines */
    if (error)
        return error;
    size_t i = 0;
    while (folder->entry[i] != here.file)
        i++;
    memmove(&folder->entry[i], &folder->entry[i + 1], (folder->entries - i - 1) * sizeof(struct memory_file *));
    folder->entries--;
    if (there.file) {
        leave(there.file);
        free_unused(there.file);
    }
    return 0;
}

const char *memory_files_entry(const struct memory_files *files, int folder, size_t index)
{
    const struct memory_opening *opening = memory_files_at(files, folder);
    return opening && index < opening->file->entries ? opening->file->entry[index]->name : NULL;
}

/* ---- contents ---- */

void memory_files_info(const struct memory_opening *opening, struct memory_info *info)
{
    info_of(opening->file, info);
}

const char *memory_files_name(const struct memory_opening *opening)
{
    return opening->file->parent ? opening->file->name : "";
}

int memory_files_read(const struct memory_opening *opening, uint64_t offset, void *bytes, size_t size, size_t *done)
{
    struct memory_file *file = opening->file;
    *done = 0;
    if (file->folder)
        return EISDIR;
    if (!(opening->how & MEMORY_READ))
        return EBADF;
    uint64_t left = offset < file->size ? file->size - offset : 0, all = size < left ? size : left;
    for (uint64_t n; *done < all; *done += (size_t)n) {
        n = MEMORY_CHUNK - (offset + *done) % MEMORY_CHUNK;
        if (n > all - *done)
            n = all - *done;
        const unsigned char *from = memory_chunks_byte(&file->chunks, offset + *done, false);
        from ? memcpy((char *)bytes + *done, from, (size_t)n) : memset((char *)bytes + *done, 0, (size_t)n);
    }
    return 0;
}

int memory_files_write(struct memory_opening *opening, uint64_t offset, const void *bytes, size_t size)
{
    struct memory_file *file = opening->file;
    if (!(opening->how & MEMORY_WRITE))
        return EBADF;
    if (size > INT64_MAX - offset)
        return EFBIG;
    for (size_t done = 0, n; done < size; done += n) {
        n = MEMORY_CHUNK - (size_t)((offset + done) % MEMORY_CHUNK);
        if (n > size - done)
            n = size - done;
        unsigned char *to = memory_chunks_byte(&file->chunks, offset + done, true);
        if (!to)
            return ENOSPC;
        memcpy(to, (const char *)bytes + done, n);
        if (offset + done + n > file->size)
            file->size = offset + done + n;
    }
    return 0;
}

int memory_files_resize(struct memory_opening *opening, uint64_t size)
{
    if (!(opening->how & MEMORY_WRITE))
        return EBADF;
    if (size < opening->file->size)
        memory_chunks_clear_range(&opening->file->chunks, size, UINT64_MAX - size); /* with the rest of the last chunk */
    opening->file->size = size;
    return 0;
}

void memory_files_clear_range(struct memory_opening *opening, uint64_t offset, uint64_t size)
{
    memory_chunks_clear_range(&opening->file->chunks, offset, size);
}

bool memory_files_has_data(const struct memory_opening *opening, uint64_t offset, uint64_t *length)
{
    return memory_chunks_has_data(&opening->file->chunks, offset, length);
}

unsigned char *memory_files_byte(struct memory_opening *opening, uint64_t offset)
{
    return memory_chunks_byte(&opening->file->chunks, offset, true);
}

bool memory_files_lock(struct memory_files *files, int descriptor, enum memory_lock lock)
{
    struct memory_opening *own = memory_files_at(files, descriptor);
    if (!own)
        return false;
    for (int i = MEMORY_ROOT; i < files->room; i++) {
        const struct memory_opening *other = files->opening[i];
        if (other && other != own && other->file == own->file && other->lock + lock > MEMORY_EXCLUSIVE && other->lock && lock)
            return false;
    }
    own->lock = lock;
    return true;
}

/* ---- mappings ---- */

void *memory_files_map(struct memory_files *files, int descriptor, uint64_t offset, uint64_t size)
{
    struct memory_opening *opening = memory_files_at(files, descriptor);
    struct memory_mapping *mapping = opening ? heap.calloc(1, sizeof *mapping) : NULL;
    if (!mapping)
        return NULL;
    *mapping = (struct memory_mapping){opening->file, memory_chunks_map(&opening->file->chunks, offset, size), offset, size,
                                       files->mapping};
    if (!mapping->memory) {
        heap.free(mapping);
        return NULL;
    }
    files->mapping = mapping;
    opening->file->mappings++;
    return mapping->memory;
}

bool memory_files_unmap(struct memory_files *files, const void *memory)
{
    struct memory_mapping **link = &files->mapping;
    while (*link && (*link)->memory != memory)
        link = &(*link)->next;
    struct memory_mapping *mapping = *link;
    if (!mapping)
        return false;
    *link = mapping->next;
    memory_chunks_unmap(&mapping->file->chunks, mapping->offset, mapping->size);
    mapping->file->mappings--;
    free_unused(mapping->file);
    heap.free(mapping);
    return true;
}

/* ---- the check ---- */

static const char *check_counts(const struct memory_files *files, const struct memory_file *file)
{
    uint32_t openings = 0, mappings = 0, locks = 0, exclusive = 0;
    for (int i = MEMORY_ROOT; i < files->room; i++)
        if (files->opening[i] && files->opening[i]->file == file) {
            openings++;
            locks += files->opening[i]->lock != MEMORY_UNLOCKED;
            exclusive += files->opening[i]->lock == MEMORY_EXCLUSIVE;
        }
    for (const struct memory_mapping *m = files->mapping; m; m = m->next)
        mappings += m->file == file;
    if (openings != file->openings || mappings != file->mappings)
        return check_say("file %llu counts %u openings and %u mappings, and has %u and %u", (unsigned long long)file->number,
                         file->openings, file->mappings, openings, mappings);
    if (exclusive && locks > 1)
        return check_say("file %llu has an exclusive lock and %u others", (unsigned long long)file->number, locks - 1);
    return check_in(memory_chunks_check(&file->chunks), "file %llu", (unsigned long long)file->number);
}

static const char *check_tree(const struct memory_files *files, const struct memory_file *file)
{
    const char *said = check_counts(files, file);
    for (size_t i = 0; !said && i < file->entries; i++) {
        const struct memory_file *entry = file->entry[i];
        if (entry->parent != file || !entry->name || child(file, entry->name, strlen(entry->name)) != entry)
            return check_say("entry %zu of folder %llu has another folder, no name, or another's", i, (unsigned long long)file->number);
        said = check_tree(files, entry);
    }
    return said;
}

const char *memory_files_check(const struct memory_files *files)
{
    const char *said = check_tree(files, files->root);
    for (int i = MEMORY_ROOT; !said && i < files->room; i++)
        if (files->opening[i])
            said = check_counts(files, files->opening[i]->file);
    return said;
}
