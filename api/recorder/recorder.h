/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.h - the layer that keeps the last calls of a process in a file that outlives it, and the form of that file.
 *
 *   recorder=FOLDER      each process makes FOLDER/NUMBER.0, after an exec NUMBER.1, ...
 *
 *   program -> dispatch -> [recorder] -> sim, or shadow -> driver        FOLDER/4711.0, mapped
 *                              |  before: what is called                 head | entry 0 | entry 1 | ... | entry 4095
 *                              |  after: result and what it made
 *                              '--> entry (call number % 4096)           SIGKILL, SIGSEGV: the entries are there
 *                                                                        the last one has no result: the process died in it
 *
 * No handler of a signal is needed: the kernel keeps the pages of a mapped file, whatever ends the process, and the parent reads
 * them (tools/recorder). When a call returns ILLEGAL_ADDRESS for the first time, all entries are copied, because later calls
 * would overwrite them.
 *
 * Threads take entries from an atomic counter and hold no lock; an entry's sequence number tells its reader whether it is
 * complete. A thread that stops between the two while others make 4,096 calls leaves the entry to the later call; one that stops
 * while writing keeps the entry, and the later call is not kept. A forked child writes a file of its own from its first call on.
 * Without a file (no space, no folder) the layer only passes calls on.
 *
 * The stack of a call (stacks.h) is written into the file when it is seen for the first time, as text that can be read
 * without the process; if there is no room, an older one makes room.
 */
#ifndef CUVMM_RECORDER_H
#define CUVMM_RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define RECORDER_MAGIC UINT64_C(0x31304d4d56554352) /* "RCUVMM01" */
enum { RECORDER_CALLS = 4096, RECORDER_ARGUMENTS = 10, RECORDER_STACKS = 2048, RECORDER_STACK_TEXT = 768, RECORDER_VERSION = 1 };

enum { RECORDER_PENDING = -1 }; /* the result of a call that has not returned */
#define RECORDER_BUSY UINT32_MAX

/* 128 bytes, written and read word by word. It is complete if seq is 2 * (1 + its position in the order of calls) both before
 * and after it is read; seq is odd while it is being written. */
struct recorder_entry {
    uint64_t seq;
    uint64_t number;                        /* the call's ordinal, as in findings */
    uint64_t time;                          /* recorder_ticks.h */
    uint32_t thread;                        /* as the system numbers it */
    uint32_t stack;                         /* 0: none */
    int32_t result;
    uint16_t call, arguments;               /* enum vmm_call_id; how many are kept */
    uint64_t took;                          /* the same clock; 0 while the call is pending */
    uint64_t argument[RECORDER_ARGUMENTS];  /* in the driver's order; after success, an output's value in place of its address,
                                               and the first element of a list of rights (recorder_rights) */
};
_Static_assert(sizeof(struct recorder_entry) == 128, "two cache lines");

/* The same as stored in the file: other threads and the reader may look at it while it is being written. */
enum { RECORDER_WORDS = sizeof(struct recorder_entry) / sizeof(uint64_t) };
struct recorder_words {
    _Atomic uint64_t word[RECORDER_WORDS]; /* the first is seq */
};

/* Copies an entry; returns false if it was being written. */
static inline bool recorder_read(const struct recorder_words *words, struct recorder_entry *entry)
{
    uint64_t copy[RECORDER_WORDS];
    struct recorder_words *from = (struct recorder_words *)(uintptr_t)words; /* C11 loads from no constant */
    uint64_t seq = atomic_load_explicit(&from->word[0], memory_order_acquire);
    for (int i = 0; i < RECORDER_WORDS; i++)
        copy[i] = atomic_load_explicit(&from->word[i], memory_order_acquire); /* seq is reread after each of them */
    memcpy(entry, copy, sizeof *entry); /* analysers: uninitvar is wrong: the loop has written all of it */
    return seq && seq % 2 == 0 && seq == atomic_load_explicit(&from->word[0], memory_order_relaxed);
}

/* bits 0 to 7 rights, 8 to 15 kind of the place, from 16 on its number; bit 63 distinguishes it from an address */
static inline uint64_t recorder_rights(uint32_t type, uint32_t id, uint32_t flags)
{
    return UINT64_C(1) << 63 | (uint64_t)(id & 0xffff) << 16 | (type & 0xff) << 8 | (flags & 0xff);
}

struct recorder_file {
    _Atomic uint64_t magic;      /* written last */
    uint32_t version, calls;     /* of this library's table: another cuvmm cannot read the ids */
    int64_t process, parent;
    uint64_t ticks, clock;       /* both clocks when it was made, CLOCK_MONOTONIC in nanoseconds */
    char program[256];
    _Atomic uint64_t head;       /* calls so far */
    _Atomic uint32_t closed;     /* the process exited cleanly */
    _Atomic uint32_t faulted;    /* 1: the first fault is being copied, 2: it is in at_fault */
    uint64_t fault_head;         /* head at that time */
    uint64_t fault_address;      /* 0: not known */
    struct {
        _Atomic uint32_t id;     /* 0: free; RECORDER_BUSY: being written */
        char text[RECORDER_STACK_TEXT - 4]; /* a frame a line, nearest first */
    } stack[RECORDER_STACKS];
    struct recorder_words entry[RECORDER_CALLS];
    struct recorder_words at_fault[RECORDER_CALLS];
};

/* Records a clean exit; for a system that is not closed, because threads may still run. backend is a recorder. */
struct vmm_backend;
void recorder_ended(struct vmm_backend *backend);

#endif
