/* SPDX-License-Identifier: Apache-2.0 */
/* backing_file.h - the machine's physical memory as a file: where each block lies in it, and where the simulator sees it.
 *
 *   file      [ block 1 ][ block 2 ]......[ block 5 ]............   only what was written takes room
 *   give 2    [ block 1 ][.................][ block 5 ]............  its room is given back, the next finds zeros
 *   windows   [ window 0, 64 MiB ][ window 1 ]                       each is mapped once, when it is first needed
 *
 * Blocks are laid out when they are first touched, each in one piece: the file may be far larger than the memory that
 * it stands for, so it never matters how scattered the free parts are. Blocks that are touched one after another lie
 * one after another, so that work on all of them goes through them in one piece. Without a file (frames.file -1) there
 * are no places. All locking is up to the caller.
 */
#ifndef SIM_BACKING_FILE_H
#define SIM_BACKING_FILE_H

#include "free_ranges.h"

#define BACKING_FILE_NOWHERE UINT64_MAX
#ifdef __SANITIZE_THREAD__ /* it clears four times what is mapped, however little of it is used */
#define BACKING_FILE_WINDOW (UINT64_C(2) << 20)
#else
#define BACKING_FILE_WINDOW (UINT64_C(64) << 20)
#endif

struct backing_file {
    int file; /* -1: not opened yet, or there was none to be had */
    int (*make)(void *user); /* opens it; NULL: a file without a name */
    void *user;
    bool abandoned; /* the file is another process's, whose bytes stay */
    bool scarce; /* it lies where room may be out, so that has to be taken before bytes are touched */
    struct free_ranges free;
    unsigned char **window;
    uint64_t windows;
};

void backing_file_init(struct backing_file *frames);
void backing_file_clear(struct backing_file *frames);
/* Before the first place is taken: the file is one that make opens. */
void backing_file_lie_in(struct backing_file *frames, int (*make)(void *user), void *user);

/* A place for size bytes that read as zero; BACKING_FILE_NOWHERE without a file, or when it may not become so long. */
uint64_t backing_file_take(struct backing_file *frames, uint64_t size);
/* In a forked child: the file is the parent's, and giving back places clears nothing any more. */
void backing_file_abandon(struct backing_file *frames);
/* Gives a place back: what was written there is gone. Where the system cannot clear it, nobody is given it again. */
void backing_file_free(struct backing_file *frames, uint64_t place, uint64_t size);

/* Makes sure that [place, place + size), of a place that was taken, can be seen. False when memory is out. */
bool backing_file_see(struct backing_file *frames, uint64_t place, uint64_t size);
/* Makes sure that there is room for what will be written there. */
bool backing_file_room(struct backing_file *frames, uint64_t place, uint64_t size);
/* Where a byte that can be seen is, together with all bytes after it up to the next multiple of BACKING_FILE_WINDOW. */
unsigned char *backing_file_at(const struct backing_file *frames, uint64_t place);

#endif
