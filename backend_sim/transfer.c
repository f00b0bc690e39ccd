#include "transfer.h"

#include <string.h>

#include "reach.h"

/* Room for every byte that will be written, so that moving them cannot fail half-way. */
static bool touch(const struct sim_process *process, uint64_t address, uint64_t size)
{
    struct reach_run run;
    for (; size; address += run.length, size -= run.length)
        if (!reach_run(process, address, size, &run) || !bytes_touch(&run.block->bytes, run.offset, run.length))
            return false;
    return true;
}

/* The bytes that lie together at address, at most *length, whatever mappings they belong to; NULL when they are zeros that
 * were never written. */
static unsigned char *together(const struct sim_process *process, uint64_t address, uint64_t *length)
{
    unsigned char *first = NULL;
    struct reach_run run;
    uint64_t done = 0;
    while (done < *length && reach_run(process, address + done, *length - done, &run)) {
        unsigned char *at = bytes_run(&run.block->bytes, run.offset, &run.length);
        if (!done)
            first = at;
        else if (first ? at != first + done : at != NULL)
            break;
        done += run.length;
    }
    *length = done;
    return first;
}

static void store(const struct sim_process *process, uint64_t address, const unsigned char *from, uint64_t size)
{
    uint64_t length;
    for (; size; address += length, from += length, size -= length) {
        length = size;
        unsigned char *to = together(process, address, &length);
        /* analysers: null-argument is wrong: what is written was touched before, so it is there */
        memcpy(to, from, length);
    }
}

static void load(const struct sim_process *process, unsigned char *to, uint64_t address, uint64_t size)
{
    uint64_t length;
    for (; size; address += length, to += length, size -= length) {
        length = size;
        const unsigned char *from = together(process, address, &length);
        if (from)
            memcpy(to, from, length);
        else
            memset(to, 0, length);
    }
}

/* Both sides lie together for length bytes, at most. */
static void move_run(const struct sim_process *process, uint64_t dst, uint64_t src, uint64_t *length)
{
    const unsigned char *from = together(process, src, length);
    unsigned char *to = together(process, dst, length);
    /* analysers: null-argument is wrong: what is written was touched before, so it is there */
    if (from)
        memmove(to, from, *length);
    else /* analysers: null-argument is wrong, likewise */
        memset(to, 0, *length);
}

/* How many bytes before end, at most size, lie together. Never more than they would forwards. */
static uint64_t together_before(const struct sim_process *process, uint64_t end, uint64_t size)
{
    uint64_t step = size < BYTES_CHUNK ? size : BYTES_CHUNK, length = step;
    while (together(process, end - step, &length), length < step)
        length = step -= length;
    return step;
}

/* Backwards when the destination lies inside the source, so that every byte is read before it is written. */
static void move(const struct sim_process *process, uint64_t dst, uint64_t src, uint64_t size)
{
    bool backwards = dst - src < size; /* below the source it is 2^64 less the distance */
    while (size) {
        uint64_t length = size, at = 0;
        if (backwards) {
            length = together_before(process, src + size, size);
            length = together_before(process, dst + size, length);
            at = size - length;
        }
        move_run(process, dst + at, src + at, &length);
        if (!backwards) {
            dst += length;
            src += length;
        }
        size -= length;
    }
}

/* Fills a run with a pattern of width bytes; run starts at a multiple of width in the pattern. */
static void fill_run(unsigned char *to, uint64_t length, const unsigned char *pattern, unsigned width)
{
    if (width == 1) {
        /* analysers: null-argument is wrong: what is written was touched before, so it is there */
        memset(to, pattern[0], length);
        return;
    }
    for (uint64_t i = 0; i < length; i += width)
        memcpy(to + i, pattern, width);
}

static void fill(const struct sim_process *process, const struct transfer *t)
{
    uint64_t dst = t->dst, length;
    for (uint64_t left = t->size; left; dst += length, left -= length) {
        length = left;
        unsigned char *to = together(process, dst, &length);
        fill_run(to, length, t->from, t->width);
    }
}

bool transfer_make(const struct sim_process *process, const struct transfer *t)
{
    if (!t->size || !process->machine->bytes)
        return true;
    if (t->direction != TO_HOST && !touch(process, t->dst, t->size))
        return false;
    switch (t->direction) { /* LCOV_EXCL_BR_LINE: there are no others */
    case FROM_HOST: store(process, t->dst, t->from, t->size); break;
    case TO_HOST: load(process, t->to, t->src, t->size); break;
    case BETWEEN: move(process, t->dst, t->src, t->size); break;
    case FILL: fill(process, t); break;
    }
    return true;
}
