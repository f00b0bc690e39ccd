/* SPDX-License-Identifier: Apache-2.0 */
/* kvcache.h - many growing sequences in little memory: pages are mapped when needed, shared between sequences with
 * the same beginning, and reused. Exercise 3; task.md says what to do.
 *
 *     open, 3 sequences of up to 4 pages, budget 5 pages
 *                        seq 0 [ .  .  .  . ]   seq 1 [ .  .  .  . ]   seq 2 [ .  .  .  . ]      memory: none
 *     grow 0, 2 pages    seq 0 [ a  b  .  . ]   seq 1 [ .  .  .  . ]   seq 2 [ .  .  .  . ]      a b
 *     share 0 -> 1, 2    seq 0 [ a  b  .  . ]   seq 1 [ a' b' .  . ]   seq 2 [ .  .  .  . ]      a b      ' may only be read
 *     grow 1, 3 pages    seq 0 [ a  b  .  . ]   seq 1 [ a' b' c  . ]   seq 2 [ .  .  .  . ]      a b c
 *     drop 0             seq 0 [ .  .  .  . ]   seq 1 [ a' b' c  . ]   seq 2 [ .  .  .  . ]      a b c    a and b are still used
 *     drop 1, grow 2     seq 0 [ .  .  .  . ]   seq 1 [ .  .  .  . ]   seq 2 [ a  .  .  . ]      a b c    b and c are free
 *     trim               seq 0 [ .  .  .  . ]   seq 1 [ .  .  .  . ]   seq 2 [ a  .  .  . ]      a
 */
#ifndef EXERCISE_KVCACHE_H
#define EXERCISE_KVCACHE_H

#include <cuvmm/vmm.h>

struct kvcache_state; /* yours */

struct kvcache {
    vmm_system *sys;
    vmm_device device;
    vmm_deviceptr at;      /* sequence s begins at at + s * most * unit, for as long as the cache is open */
    uint64_t unit;         /* bytes of a page: the minimum granularity */
    unsigned sequences;    /* how many there are */
    unsigned most;         /* the maximum number of pages of a sequence */
    unsigned budget;       /* the maximum number of pages at a time, used or free */
    struct kvcache_state *state; /* yours, on the host */
};

/* Creates empty sequences on device: addresses but no memory. sequences, most and budget are above 0. On failure: the driver's
 * result, or VMM_ERROR_OUT_OF_MEMORY if the host has no memory; nothing is left behind. */
vmm_result kvcache_open(struct kvcache *k, vmm_system *sys, vmm_device device, unsigned sequences, unsigned most,
                        unsigned budget);

/* Makes at least the first `bytes` bytes of the sequence usable: missing pages are mapped after the existing ones, free ones
 * first, then new ones. Only device has access to them, read and write. Never makes a sequence shorter.
 * VMM_ERROR_INVALID_VALUE: no such sequence, or more than its most pages. VMM_ERROR_OUT_OF_MEMORY: more than the budget. On
 * failure: these or the driver's result; the sequence is as it was. Newly created pages may remain as free ones. */
vmm_result kvcache_grow(struct kvcache *k, unsigned sequence, uint64_t bytes);

/* The first `pages` pages of from also become the first ones of to, read-only for device there; nothing is copied, and from
 * keeps its rights. VMM_ERROR_INVALID_VALUE: no such sequence, from has fewer pages, to is not empty, or both are the same. On
 * failure: that or the driver's result, and both are as they were. */
vmm_result kvcache_share(struct kvcache *k, unsigned from, unsigned to, unsigned pages);

/* Empties the sequence, once work in flight of the current context is done. Its pages become free unless another
 * sequence uses them, too. VMM_ERROR_INVALID_VALUE: no such sequence. On failure: that or the driver's result, the
 * sequence is as it was. */
vmm_result kvcache_drop(struct kvcache *k, unsigned sequence);

/* Frees the memory of free pages. On failure: the driver's result; what was freed until then stays free. */
vmm_result kvcache_trim(struct kvcache *k);

/* Waits for work in flight and frees everything, including host memory, even if waiting fails. Returns the first
 * result that is not VMM_SUCCESS. */
vmm_result kvcache_close(struct kvcache *k);

#endif
