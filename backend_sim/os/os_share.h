/* SPDX-License-Identifier: Apache-2.0 */
/* os_share.h - what machines that several processes share ask of the operating system: files with names, locks that end
 * with their holder, and who is alive. A part of os.h, apart because only such machines need it.
 *
 *   hold        on an open file; duplicates, forks and messages in flight keep it; ends when the last of them is closed
 *   life        on an open file, alone; the same, for a file that no child has (os_own.h): it ends with its process
 *
 * Paths are absolute. A function that returns false, or -1 for a file, has changed nothing.
 */
#ifndef SIM_OS_SHARE_H
#define SIM_OS_SHARE_H

#include "os.h"

#define OS_PATH_MAX 400

/* A number for this process that no other has, not even one that it forked. 0: there is no randomness to be had. */
uint64_t os_process_id(void);
bool os_random(void *bytes, size_t size);

/* ---- folders ---- */

/* The folder where this user's shared machines are kept, made if need be; nobody else may look into it. NULL, or what is wrong,
 * with which folder stands in path. */
const char *os_share_root(char path[OS_PATH_MAX]);
/* For the name of a function that takes a folder and a name: a whole path needs no folder. */
enum { OS_NOWHERE = -1 };

/* A folder that is open, never through a link; what is done in it by name happens there, wherever paths lead meanwhile.
 * -1, with the system's error: it cannot be had. */
int os_folder_open(int in, const char *name);
bool os_folder_new(int in, const char *name);
/* Takes the place of nothing. */
bool os_rename(int folder, const char *from, const char *to);
/* Calls visit with the name of everything in the folder, at most limit things. False when it cannot be looked into. */
bool os_folder_each(const char *path, unsigned limit, void (*visit)(void *user, const char *name), void *user);
/* The same of an open folder, without a limit. */
bool os_folder_each_in(int folder, void (*visit)(void *user, const char *name), void *user);
/* An empty one. */
void os_folder_remove(int folder, const char *name);
void os_file_remove(int folder, const char *name);

struct os_file_is;
/* What a path leads to, through links. False, with the system's error, when that is nothing. */
bool os_path_look(const char *path, struct os_file_is *is);
/* False when there is no folder. */
bool os_folder_look(const char *path, struct os_file_is *is);
/* May this process read and write it, now? */
bool os_file_may_be_used(const char *path);

/* ---- files with names ---- */

enum os_open {
    OS_OPEN_READ,  /* that is there, to read */
    OS_OPEN_WRITE, /* that is there, to read and write */
    OS_OPEN_MAKE,  /* the same, made if it is not there */
    OS_OPEN_NEW    /* the same, which must not be there yet */
};

/* A new open file, close-on-exec, never through a link; of regular files alone, for to open a pipe is to do something. */
int os_file_open(const char *path, enum os_open how);
int os_file_open_in(int folder, const char *name, enum os_open how);
bool os_file_exists(const char *path);

struct os_file_is {
    bool regular, folder, pipe;
    uint64_t owner; /* the user, as a number: os_file_is_own */
    uint64_t size, device, number; /* the last two together are one file */
};

/* Does it belong to the user that this process acts for? The user is asked of the system, so not at every look at a file. */
bool os_file_is_own(const struct os_file_is *is);
bool os_file_is_open(int file);
/* Was it opened to be read, too? True also where the system does not tell. */
bool os_file_is_readable(int file);
/* False when the descriptor is not open, or the system does not tell. */
bool os_file_look(int file, struct os_file_is *is);
/* The same of what has that name, a link itself. False, with the system's error, when there is nothing. */
bool os_file_look_in(int folder, const char *name, struct os_file_is *is);
/* Is the file of that name this one? */
bool os_file_is_at(int file, int folder, const char *name);
/* Exactly size bytes from offset on; false when there are fewer. */
bool os_file_read(int file, uint64_t offset, void *bytes, uint64_t size);
/* Makes sure that writing there, also through a mapping, will find room. */
bool os_file_room(int file, uint64_t offset, uint64_t size);

/* ---- locks that end with their holder; none of these waits ---- */

bool os_lock(int file);       /* together with others */
bool os_lock_exclusive(int file); /* false while another open file holds it */
void os_unlock(int file);

bool os_mark_alive(int file);          /* whoever opened the file lives there from now on; false while another does */
bool os_process_alive(const char *path); /* does anybody live there, this process included? */

/* A time that never goes back, from 1 on; and a millisecond of doing nothing, for those who wait for what others do. */
uint64_t os_milliseconds(void);
void os_sleep(void);

/* Lets others run, between two tries; and whether those have gone on for too long, 1.5 s, since the time that began as 0. */
void os_yield(void);
bool os_too_long(uint64_t *began);

#endif
