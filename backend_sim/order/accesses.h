/* SPDX-License-Identifier: Apache-2.0 */
/* accesses.h - the latest accesses of each byte: the work that wrote it last, and all other accesses since.
 *
 *     memory 7     0        100        200       300
 *     write        [   A     |    A     |         ]          A wrote [0, 199]
 *     others       [         | B        | B       ]          B read [100, 299]
 *
 *     accesses_note(C writes [150, 249])  ->  reports A and C at 150, B and C at 150; then C is the write there
 *
 * Memory is identified by a number and an offset, so that conflicts through aliases are found; number 0 stands for host
 * addresses. Accesses that are ordered before everything still to come are dropped along the way, and so are those
 * ordered before a later access, unless work that was issued earlier may still show accesses. If a byte has many
 * accesses, the first ones may be dropped, and beyond a number of parts all of them: this can hide hazards, but never
 * causes a wrong report. The caller provides all locking.
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
    struct order_work *write; /* NULL: none that still matters */
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
    bool exhausted; /* host memory is exhausted: the contents are invalid */
};

struct accesses_range {
    uint64_t memory, first, last;
};

/* Callbacks of the owner of the work: about its order, and for a conflict that nothing orders. */
struct accesses_owner {
    bool (*settled)(void *user, const struct order_work *work);  /* is it ordered before everything still to come? */
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

/* Records that the work accesses the range. */
void accesses_note(struct accesses *accesses, const struct accesses_owner *owner, struct order_work *work, enum order_use use,
                   const struct accesses_range *range);

/* Drops all accesses of the range, because it belongs to another object now. */
void accesses_forget(struct accesses *accesses, const struct accesses_owner *owner, const struct accesses_range *range);

/* The work that wrote the byte last, or NULL. */
struct order_work *accesses_writer(const struct accesses *accesses, uint64_t memory, uint64_t offset);

const char *accesses_check(const struct accesses *accesses);

#endif
