/* SPDX-License-Identifier: Apache-2.0 */
/* frames.h - the machine's physical memory as a file: where each block lies in it, and where the simulator sees it.
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
#ifndef SIM_FRAMES_H
#define SIM_FRAMES_H

#include "holes.h"

#define FRAMES_NOWHERE UINT64_MAX
#ifdef __SANITIZE_THREAD__ /* it clears four times what is mapped, however little of it is used */
#define FRAMES_WINDOW (UINT64_C(2) << 20)
#else
#define FRAMES_WINDOW (UINT64_C(64) << 20)
#endif

struct frames {
    int file; /* -1: not opened yet, or there was none to be had */
    int (*make)(void *user); /* opens it; NULL: a file without a name */
    void *user;
    bool abandoned; /* the file is another process's, whose bytes stay */
    bool scarce; /* it lies where room may be out, so that has to be taken before bytes are touched */
    struct holes free;
    unsigned char **window;
    uint64_t windows;
};

void frames_init(struct frames *frames);
void frames_clear(struct frames *frames);
/* Before the first place is taken: the file is one that make opens. */
void frames_lie_in(struct frames *frames, int (*make)(void *user), void *user);

/* A place for size bytes that read as zero; FRAMES_NOWHERE without a file, or when it may not become so long. */
uint64_t frames_take(struct frames *frames, uint64_t size);
/* In a forked child: the file is the parent's, and giving back places clears nothing any more. */
void frames_abandon(struct frames *frames);
/* Gives a place back: what was written there is gone. Where the system cannot clear it, nobody is given it again. */
void frames_give(struct frames *frames, uint64_t place, uint64_t size);

/* Makes sure that [place, place + size), of a place that was taken, can be seen. False when memory is out. */
bool frames_see(struct frames *frames, uint64_t place, uint64_t size);
/* Makes sure that there is room for what will be written there. */
bool frames_room(struct frames *frames, uint64_t place, uint64_t size);
/* Where a byte that can be seen is, together with all bytes after it up to the next multiple of FRAMES_WINDOW. */
unsigned char *frames_at(const struct frames *frames, uint64_t place);

#endif
