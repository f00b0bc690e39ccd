/* SPDX-License-Identifier: Apache-2.0 */
/* twin.h - the kernels as host code, which the simulator runs in place of device code.
 *
 *     twin  ->  twin_run(address, size, use)  ->  the simulator: translation and the launching device's rights
 *           <-  host bytes, as many as are contiguous        one query per run, not one per byte
 *
 * A twin accesses memory only through its accessor, and leaves the same bytes as the device's kernel for every grid:
 * a kernel's threads divide its loop among themselves, a twin runs it in order. At the first inaccessible byte the
 * accessor records a fault and the twin returns at once. What it wrote before stays, as on a device, where it is
 * undefined how far each thread got.
 */
#ifndef KERNELS_TWIN_H
#define KERNELS_TWIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vmm.h"

enum twin_use { TWIN_READ, TWIN_WRITE, TWIN_ATOMIC };

/* Readable bytes, at least 8 of them; zeros if at is NULL. */
struct twin_known {
    uint64_t start, size;
    const unsigned char *at;
    uint64_t writes; /* for zeros: 1 + the number of writes when they were granted; valid until the next write */
};

enum { TWIN_KNOWN = 64, TWIN_KNOWN_SHIFT = 21, TWIN_REPLICAS = 64 };

/* How an interpreted kernel ended before its last thread was done. */
enum twin_failure {
    TWIN_NO_ACCESS, /* the accessor refused and has recorded the access; only the source position is new */
    TWIN_NO_MEMORY, /* the host's */
    TWIN_MISALIGNED,
    TWIN_ASSERT,
    TWIN_TIMEOUT,
    TWIN_FAILED,
    TWIN_STRAYED /* it left its own memory or its code */
};

struct twin_end {
    enum twin_failure failure;
    uint64_t address; /* of TWIN_MISALIGNED */
    unsigned width;
    enum twin_use use;
    const char *why;   /* "the address is not a multiple of 4" */
    const char *where; /* "thread (3,0,0) of block (1,0,0), fill.cu:12" */
};

struct twin_memory {
    /* The host's bytes for [address, address + *size), shortened to the first *size: at least one element of width if
     * the address is a multiple of it. NULL in *bytes, for TWIN_READ only: all of them are zero. False: the kernel
     * ends here. width is what one access of the kernel moves, for the report. */
    bool (*run)(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                unsigned char **bytes);
    /* The same for the replicas of one element behind a multicast address, which multimem instructions reach: *count of
     * them, none on a dry run. */
    bool (*replicas)(struct twin_memory *memory, uint64_t address, unsigned width, enum twin_use use,
                     unsigned char *bytes[TWIN_REPLICAS], unsigned *count);
    /* A dry run: *bytes is NULL whatever the use, reads yield zero, and comparisons fail. The kernel takes every path
     * that it could take, and each access is a query of its own. */
    bool dry;
    /* The bytes are valid only until the next query, so the twin caches nothing. */
    bool fleeting;
    /* A fence for aliases: from here on every address shows what was written. NULL: it always does. */
    void (*fence)(struct twin_memory *memory);
    /* Lets time pass for other threads, as long as the kernel would take on a device. False: the kernel ends here.
     * What was handed out before holds no longer. NULL: no time passes. */
    bool (*pause)(struct twin_memory *memory, uint64_t nanoseconds);
    /* A registered kernel is about to write memory of the host that is not part of the machine. */
    void (*show)(struct twin_memory *memory);
    /* A registered kernel ended early. */
    void (*ended)(struct twin_memory *memory, const struct twin_end *end);
    /* For a kernel that is interpreted: how many steps of its warps it may make, 0: no limit; the device's multiprocessors; the
     * context, which has its own copy of a program's variables, and the process, which is another one than those before it. */
    uint64_t steps, context, process;
    uint32_t multiprocessors;
    uint64_t made; /* the number of steps that it made */
    unsigned threads; /* host threads over which the kernel may spread its blocks; 0 and 1: only the caller */
    struct twin_known known[TWIN_KNOWN]; /* grants to twin_load, by slot; initially zero */
    uint64_t writes;                     /* by twin_store and twin_add */
};

typedef bool (*twin_kernel)(struct twin_memory *memory, const uint64_t *args);

/* The twin of a kernel that exists. Returns false if the accessor did. */
twin_kernel twin_of(vmm_kernel kernel);

/* One element of 1, 4 or 8 bytes at a multiple of its width. twin_load is inline, because kernels that touch single
 * elements spend their time in it; twin_ask is its slow path. */
bool twin_ask(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *value);
bool twin_store(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t value);
bool twin_add(struct twin_memory *memory, uint64_t address, uint64_t value); /* 8 bytes */

/* One word of 8 bytes in every replica behind a multicast address. */
bool twin_store_all(struct twin_memory *memory, uint64_t address, uint64_t value);

static inline uint64_t twin_taken(const unsigned char *at, unsigned width)
{
    uint32_t four;
    uint64_t eight;
    switch (width) { /* copying that few bytes would cost more as a call */
    case 1:
        return *at;
    case 4:
        memcpy(&four, at, sizeof four);
        return four;
    default:
        memcpy(&eight, at, sizeof eight);
        return eight;
    }
}

static inline bool twin_load(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *value)
{
    const struct twin_known *known = &memory->known[(address >> TWIN_KNOWN_SHIFT) % TWIN_KNOWN];
    uint64_t offset = address - known->start;
    if (!known->at || offset > known->size - width)
        return twin_ask(memory, address, width, value);
    *value = twin_taken(known->at + offset, width);
    return true;
}

/* Where twin_load would find the address without a query, and the number of bytes from there on; NULL if it would query. */
static inline const unsigned char *twin_granted(const struct twin_memory *memory, uint64_t address, uint64_t *size)
{
    const struct twin_known *known = &memory->known[(address >> TWIN_KNOWN_SHIFT) % TWIN_KNOWN];
    uint64_t offset = address - known->start;
    if (!known->at || offset >= known->size)
        return NULL;
    *size = known->size - offset;
    return known->at + offset;
}

/* Atomic even if another process adds to the same word; `at` is a multiple of 8. */
static inline void twin_add_word(unsigned char *at, uint64_t value)
{
    atomic_fetch_add((_Atomic uint64_t *)(void *)at, value);
}

static inline void twin_fence(struct twin_memory *memory)
{
    if (memory->fence)
        memory->fence(memory);
}

/* The twins, for the table. */
#define VMM_KERNEL(name, NUMBER) bool twin_##name(struct twin_memory *memory, const uint64_t *args);
#include "kernels.def"

#endif
