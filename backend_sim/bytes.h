/* bytes.h - the contents of physical memory, sparse: what was never written reads as zero and takes no room.
 *
 * All locking is up to the caller.
 */
#ifndef SIM_BYTES_H
#define SIM_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#define BYTES_CHUNK UINT64_C(65536)

struct bytes {
    uint64_t size;
    unsigned char **chunk; /* NULL until the first write; then one pointer per BYTES_CHUNK, NULL where all is zero */
};

void bytes_init(struct bytes *bytes, uint64_t size);
void bytes_clear(struct bytes *bytes);

/* Makes sure that writing [offset, offset + length) needs no more memory. False when memory is out: contents and later
 * calls are unharmed. */
bool bytes_touch(struct bytes *bytes, uint64_t offset, uint64_t length);

/* The longest run from offset, at most *length bytes, that lies together: its address (NULL: all zero, never written)
 * and in *length how long it is. */
unsigned char *bytes_run(const struct bytes *bytes, uint64_t offset, uint64_t *length);

#endif
