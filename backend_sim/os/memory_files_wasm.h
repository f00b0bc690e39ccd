/* SPDX-License-Identifier: Apache-2.0 */
/* memory_files_wasm.h - folders, files and descriptors in memory, for a system that has none: a browser.
 *
 *   /             [machines] [my.profile] [mine.vmm]             a folder lists its entries
 *   my.profile    [chunk 0: 64 KiB][  none  ][chunk 2] . . .     only written chunks take memory
 *   mapped        chunk 0 -------------> the same bytes, at the mapping's address
 *   descriptor 5  -> opening (offset, lock, tag) -> my.profile   a file exists while it has a name, an opening or a mapping
 *
 * For a single thread: there is no locking. Functions return 0 or an errno; on failure nothing has changed, except
 * that a write may be partial when memory runs out.
 *
 * Invariants (memory_files_check):
 *     a file      counts its openings and mappings; without these it has a name, in exactly one folder
 *     a lock      exclusive on one opening of a file -> on no other, of either kind
 *     contents    memory_chunks_check
 */
#ifndef SIM_MEMORY_FILES_WASM_H
#define SIM_MEMORY_FILES_WASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory_chunks_wasm.h"

enum { MEMORY_NAME = 256, MEMORY_ROOT = 3, MEMORY_DESCRIPTORS = 4096 }; /* MEMORY_ROOT: the descriptor of the folder / */

enum memory_open {
    MEMORY_READ = 1,
    MEMORY_WRITE = 2,
    MEMORY_MAKE = 4,    /* create it if it does not exist */
    MEMORY_NEW = 8,     /* with MAKE: it must not exist */
    MEMORY_EMPTY = 16,  /* drop its contents */
    MEMORY_FOLDER = 32, /* it must be a folder */
    MEMORY_APPEND = 64  /* each write goes to the end */
};

enum memory_lock { MEMORY_UNLOCKED, MEMORY_SHARED, MEMORY_EXCLUSIVE };

struct memory_file;

/* What a descriptor leads to. */
struct memory_opening {
    struct memory_file *file;
    unsigned how; /* enum memory_open */
    uint64_t at;  /* the offset of the next read or write */
    enum memory_lock lock;
    int tag;
};

struct memory_info {
    bool folder;
    uint64_t size, number;
};

struct memory_mapping;

struct memory_files {
    struct memory_file *root;
    struct memory_opening **opening; /* by descriptor; NULL: not open */
    int room;
    uint64_t numbers; /* of files, never reused */
    struct memory_mapping *mapping;
};

/* Descriptors 0 to 2 are never assigned: they are the console. */
int memory_files_init(struct memory_files *files);
void memory_files_clear(struct memory_files *files);

/* ---- names: a path begins in the folder of the descriptor in, and with / in the folder / ---- */

int memory_files_open(struct memory_files *files, int in, const char *path, unsigned how, int *descriptor);
int memory_files_look(const struct memory_files *files, int in, const char *path, struct memory_info *info);
int memory_files_new_folder(struct memory_files *files, int in, const char *path);
/* folder: whether it must be a folder or a file. A folder must be empty. */
int memory_files_remove(struct memory_files *files, int in, const char *path, bool folder);
/* replace: an existing file is replaced; otherwise it must not exist. */
int memory_files_rename(struct memory_files *files, int in, const char *from, int to_in, const char *to, bool replace);
/* The index-th name in a folder, in the order of creation; NULL after the last. */
const char *memory_files_entry(const struct memory_files *files, int folder, size_t index);

/* ---- descriptors ---- */

/* A file without a name, to read and write. */
int memory_files_unnamed(struct memory_files *files, int *descriptor);
/* NULL if the descriptor is not open. */
struct memory_opening *memory_files_at(const struct memory_files *files, int descriptor);
int memory_files_close(struct memory_files *files, int descriptor);
void memory_files_info(const struct memory_opening *opening, struct memory_info *info);
/* The name of its file in its folder; "" if it has none. */
const char *memory_files_name(const struct memory_opening *opening);

/* *done: bytes read, fewer than size at the end of the file. */
int memory_files_read(const struct memory_opening *opening, uint64_t offset, void *bytes, size_t size, size_t *done);
int memory_files_write(struct memory_opening *opening, uint64_t offset, const void *bytes, size_t size);
int memory_files_resize(struct memory_opening *opening, uint64_t size);
/* Zeroes the range, and frees the memory of its unmapped chunks. */
void memory_files_clear_range(struct memory_opening *opening, uint64_t offset, uint64_t size);
/* Does the file have memory at offset? *length: the maximum number of bytes to examine; on return the number of bytes
 * with the same answer. */
bool memory_files_has_data(const struct memory_opening *opening, uint64_t offset, uint64_t *length);
/* False while another opening has a lock that excludes it. */
bool memory_files_lock(struct memory_files *files, int descriptor, enum memory_lock lock);

/* ---- mappings ---- */

/* offset is a multiple of MEMORY_CHUNK. NULL if memory is exhausted, or part of the range is mapped elsewhere
 * (memory_chunks_wasm.h). */
void *memory_files_map(struct memory_files *files, int descriptor, uint64_t offset, uint64_t size);
/* Undoes memory_files_map; false if the range is not mapped. */
bool memory_files_unmap(struct memory_files *files, const void *memory);

/* The byte at that offset, valid until the file ends or the range is cleared or mapped again. NULL when memory is out. */
unsigned char *memory_files_byte(struct memory_opening *opening, uint64_t offset);

const char *memory_files_check(const struct memory_files *files);

#endif
