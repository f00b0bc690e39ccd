/* os_share.h - what machines that several processes share ask of the operating system: files with names, locks that end
 * with their holder, and who is alive. A part of os.h, apart because only such machines need it.
 *
 *   hold        on an open file; duplicates, forks and messages in flight keep it; ends when the last of them is closed
 *   life        on a file, by a process; ends with the process, forked children do not have it
 *   mutex       in memory that processes share; ends with its holder, and the next to take it is told
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

/* The folder where this user's shared machines are kept, made if need be; nobody else may look into it. What is wrong, with
 * which folder, stands in path when it cannot be had. */
bool os_share_root(char path[OS_PATH_MAX]);
bool os_folder_new(const char *path);
/* Takes the place of nothing but an empty folder. */
bool os_rename(const char *from, const char *to);
/* Calls visit with the name of everything in the folder, at most limit things. False when it cannot be looked into. */
bool os_folder_each(const char *path, unsigned limit, void (*visit)(void *user, const char *name), void *user);
/* A folder of files, with them. */
void os_folder_remove(const char *path);
void os_file_remove(const char *path);

struct os_file_is;
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

/* A new open file, close-on-exec, never through a link. */
int os_file_open(const char *path, enum os_open how);
bool os_file_exists(const char *path);

struct os_file_is {
    bool regular;
    uint64_t size, device, number; /* the last two together are one file */
};

bool os_file_is_open(int file);
/* Was it opened to be read, too? True also where the system does not tell. */
bool os_file_is_readable(int file);
/* False when the descriptor is not open, or the system does not tell. */
bool os_file_look(int file, struct os_file_is *is);
/* Is the file of that path this one? */
bool os_file_is_at(int file, const char *path);
/* Exactly size bytes from offset on; false when there are fewer. */
bool os_file_read(int file, uint64_t offset, void *bytes, uint64_t size);
/* Makes sure that writing there, also through a mapping, will find room. */
bool os_file_room(int file, uint64_t offset, uint64_t size);

/* ---- locks that end with their holder; none of these waits ---- */

bool os_hold(int file);       /* together with others */
bool os_hold_alone(int file); /* false while another open file holds it */
void os_let_go(int file);

bool os_live(int file);               /* from now on this process lives there */
bool os_lives(const char *path);      /* does another process live there? Never to be asked of one's own */

/* ---- a mutex between processes ---- */

typedef union os_mutex {
    unsigned char room[128];
    uint64_t align;
} os_mutex;

bool os_mutex_init(os_mutex *mutex);
/* False when it is not to be had within some seconds. The file is the one that holds the mutex. */
bool os_mutex_lock(os_mutex *mutex, int file);
/* The same with so much patience, for those who only want to look. */
bool os_mutex_lock_within(os_mutex *mutex, int file, unsigned seconds);
void os_mutex_unlock(os_mutex *mutex, int file);

/* A time that never goes back, from 1 on; and a millisecond of doing nothing, for those who wait for what others do. */
uint64_t os_milliseconds(void);
void os_nap(void);

/* Lets others run, between two tries; and whether those have gone on for too long since the time that began as 0. */
void os_yield(void);
bool os_too_long(uint64_t *began);

#endif
