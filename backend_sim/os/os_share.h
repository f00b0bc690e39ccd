/* SPDX-License-Identifier: Apache-2.0 */
/* os_share.h - what shared machines need from the operating system: files with names, locks that end with their holder, and which
 * processes are alive. A part of os.h, separate because only shared machines need it.
 *
 *   hold        a lock on an open file; duplicates, forks and messages in flight keep it; it ends when the last of them is closed
 *   life        an exclusive lock on a file that no child inherits (os_own.h): it ends with its process
 *
 * Paths are absolute. A function that returns false, or -1 for a file, has changed nothing.
 */
#ifndef SIM_OS_SHARE_H
#define SIM_OS_SHARE_H

#include "os.h"

#define OS_PATH_MAX 400

/* A number that identifies this process: no other process has it, not even a forked child. 0: the system provides no
 * random numbers. */
uint64_t os_process_id(void);
bool os_random(void *bytes, size_t size);

/* ---- folders ---- */

/* The folder of this user's shared machines, created if necessary; no other user has access to it. Returns NULL, or the reason
 * for a failure, with the folder in path. */
const char *os_share_root(char path[OS_PATH_MAX]);
/* Pass this as the folder with an absolute path. */
enum { OS_NOWHERE = -1 };

/* Opens a folder, never through a link; names are resolved in the open folder, even when its path changes. -1, with the system's
 * error, on failure. */
int os_folder_open(int in, const char *name);
bool os_folder_new(int in, const char *name);
/* Never replaces an existing entry. */
bool os_rename(int folder, const char *from, const char *to);
/* Calls visit with the name of each entry of the folder, at most limit times. False when the folder cannot be read. */
bool os_folder_each(const char *path, unsigned limit, void (*visit)(void *user, const char *name), void *user);
/* Does the same for an open folder, without a limit. */
bool os_folder_each_in(int folder, void (*visit)(void *user, const char *name), void *user);
/* Removes an empty folder. */
void os_folder_remove(int folder, const char *name);
void os_file_remove(int folder, const char *name);

struct os_file_is;
/* What a path leads to, following links. False, with the system's error, when nothing is there. */
bool os_path_look(const char *path, struct os_file_is *is);
/* False when the path is not a folder. */
bool os_folder_look(const char *path, struct os_file_is *is);
/* Does this process have read and write access to the file now? */
bool os_file_may_be_used(const char *path);

/* ---- files with names ---- */

enum os_open {
    OS_OPEN_READ,  /* an existing file, to read */
    OS_OPEN_WRITE, /* an existing file, to read and write */
    OS_OPEN_MAKE,  /* the same, created if it does not exist */
    OS_OPEN_NEW    /* the same, which must not exist yet */
};

/* Opens a file, close-on-exec, never through a link. Opens regular files only, because opening a pipe has side effects. */
int os_file_open(const char *path, enum os_open how);
int os_file_open_in(int folder, const char *name, enum os_open how);
bool os_file_exists(const char *path);

struct os_file_is {
    bool regular, folder, pipe;
    uint64_t owner; /* the user's number; see os_file_is_own */
    uint64_t size, device, number; /* device and number together identify a file */
};

/* Does the file belong to the effective user of this process? Queries the system for the user, so os_file_look does not include
 * it. */
bool os_file_is_own(const struct os_file_is *is);
bool os_file_is_open(int file);
/* Was the descriptor opened for reading? True also when the system does not report it. */
bool os_file_is_readable(int file);
/* Marks the opening that a descriptor leads to, whatever kind of file it is; duplicates and received descriptors lead to it
 * too. A descriptor of the same number that is opened later has no tag. tag is from 1 to 64. False where the system marks
 * nothing. */
bool os_file_tag(int file, int tag);
bool os_file_has_tag(int file, int tag);
/* False when the descriptor is not open, or the system does not report it. */
bool os_file_look(int file, struct os_file_is *is);
/* Looks at the entry of that name, without following a link. False, with the system's error, when there is none. */
bool os_file_look_in(int folder, const char *name, struct os_file_is *is);
/* Does that name lead to this file? */
bool os_file_is_at(int file, int folder, const char *name);
/* Reads exactly size bytes from offset on; false when there are fewer. */
bool os_file_read(int file, uint64_t offset, void *bytes, uint64_t size);
/* Makes sure that later writes to the range, also through a mapping, find space. */
bool os_file_room(int file, uint64_t offset, uint64_t size);

/* ---- locks that end with their holder; none of these calls waits ---- */

bool os_lock(int file);       /* shared with others */
bool os_lock_exclusive(int file); /* false while another open file holds a lock */
void os_unlock(int file);

bool os_mark_alive(int file);          /* marks the opener's process as alive; false while another process is */
bool os_process_alive(const char *path); /* is any process marked alive there, this one included? */

/* A monotonic time, at least 1; and a sleep of one millisecond, for callers that wait for other processes. */
uint64_t os_milliseconds(void);
uint64_t os_nanoseconds(void); /* the same clock */
void os_sleep(void);

/* Yields to other processes between two attempts; reports whether the attempts have lasted 1.5 s since *began was 0. */
void os_yield(void);
bool os_too_long(uint64_t *began);

#endif
