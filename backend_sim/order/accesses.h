/* SPDX-License-Identifier: Apache-2.0 */
/* accesses.h - the last accesses of each byte: by which work it was written, and what else accessed it since.
 *
 *     memory 7     0        100        200       300
 *     write        [   A     |    A     |         ]          A wrote [0, 199]
 *     others       [         | B        | B       ]          B read [100, 299]
 *
 *     accesses_note(C writes [150, 249])  ->  A against C at 150, B against C at 150; then C is the write there
 *
 * Memory is a number and an offset, so that aliases of one memory meet; the number 0 is the host's addresses. Accesses that
 * everything to come is after are forgotten on the way, and those before a later access of the same work's order, unless work that
 * was issued earlier may still show accesses. Of many accesses of one byte the first ones may be forgotten, and above a number of
 * parts all of them: less is found then, and nothing wrong. The caller does all locking.
 *
 * Invariant (accesses_check): the parts of a memory do not overlap, and each has an access.
 */
#ifndef SIM_ACCESSES_H
#define SIM_ACCESSES_H

#include "addrmap.h"

struct order_work;

enum { ACCESSES_OTHERS = 7, ACCESSES_PARTS_MOST = 1 << 18, ACCESSES_PARTS_FEW = 4096 };

enum order_use { ORDER_READ, ORDER_WRITE, ORDER_ADD };

struct order_part {
    uint64_t first, last;
    struct order_work *write; /* NULL: none that counts any more */
    struct order_work *other[ACCESSES_OTHERS];
    uint8_t use[ACCESSES_OTHERS], wrote; /* enum order_use: of the others, and of the write */
    unsigned others;
};

struct order_memory {
    uint64_t number;
    struct addrmap parts;
};

struct accesses {
    struct addrmap memories;
    struct pool parts;
    size_t count, sweep_at;
    bool exhausted; /* the host's memory is: nothing here holds any more */
};

struct accesses_range {
    uint64_t memory, first, last;
};

/* What the owner of the work answers, and does when two accesses meet that nothing orders. */
struct accesses_owner {
    bool (*settled)(void *user, const struct order_work *work);  /* does everything to come come after it? */
    bool (*before)(void *user, const struct order_work *work, const struct order_work *other);
    bool (*late)(void *user); /* may work that was issued earlier still show accesses? */
    void (*found)(void *user, struct order_work *before, enum order_use use, struct order_work *now, enum order_use uses,
                  const struct accesses_range *range);
    void (*hold)(struct order_work *work);
    void (*drop)(struct order_work *work);
    void *user;
};

void accesses_open(struct accesses *accesses);
void accesses_close(struct accesses *accesses, const struct accesses_owner *owner);

/* The work accesses the range. */
void accesses_note(struct accesses *accesses, const struct accesses_owner *owner, struct order_work *work, enum order_use use,
                   const struct accesses_range *range);

/* Nothing that accessed the range counts any more: it is another object's now. */
void accesses_forget(struct accesses *accesses, const struct accesses_owner *owner, const struct accesses_range *range);

/* The work that wrote the byte last, or NULL. */
struct order_work *accesses_writer(const struct accesses *accesses, uint64_t memory, uint64_t offset);

const char *accesses_check(const struct accesses *accesses);

#endif
