/* holes.h - the free parts of an address space.
 *
 *   take [b, c):   before  [a ........ free ........ d)      after  [a .. b)        [c .. d)
 *   give [b, c):   before  [a .. b)        [c .. d)          after  [a ........ free ........ d)
 *
 * Holes never touch: neighbours are merged. The choice of an address depends on the set of holes alone (the lowest
 * that fits), so the same calls give the same addresses, and what was given back is what an equal request gets next.
 * Kept as a tree ordered by address that knows the largest hole below each node. All locking is up to the caller.
 */
#ifndef SIM_HOLES_H
#define SIM_HOLES_H

#include <stdbool.h>
#include <stdint.h>

struct hole;

struct holes {
    struct hole *root;
    struct hole *spare; /* nodes set aside by takes, so that giving back never needs memory */
    uint64_t start, end;
    uint64_t seed; /* of the tree's shape */
};

/* All of [start, end) free. False when memory is out. */
bool holes_init(struct holes *holes, uint64_t start, uint64_t end);
void holes_clear(struct holes *holes);

/* The lowest multiple of alignment (a power of two) in a hole with size bytes after it; false when there is none. */
bool holes_find(const struct holes *holes, uint64_t size, uint64_t alignment, uint64_t *address);

/* Is all of [address, address + size) free? */
bool holes_contain(const struct holes *holes, uint64_t address, uint64_t size);

/* Takes [address, address + size), which must be free. False when memory is out: nothing has changed. */
bool holes_take(struct holes *holes, uint64_t address, uint64_t size);
/* Gives back a range that was taken; size 0 does nothing. Ranges taken one by one may be given back as one. */
void holes_give(struct holes *holes, uint64_t address, uint64_t size);

#endif
