/* SPDX-License-Identifier: Apache-2.0 */
/* written.h - tracks the bytes of a memory that have not been written since its creation.
 *
 *     begin 7, 1000 bytes    [ unwritten ................................. ]
 *     write [100, 299]       [ unwritten |  written  | unwritten ......... ]
 *     read [250, 349]        the first unwritten byte is 300
 *
 * Memory that was not passed to written_begin counts as written: it is older than the check, was imported, or is host
 * memory. The caller does all locking. When host memory runs out, all of a memory counts as written.
 */
#ifndef SIM_WRITTEN_H
#define SIM_WRITTEN_H

#include "addrmap.h"

struct written {
    struct addrmap memories;
    struct pool gaps;
};

void written_open(struct written *written);
void written_close(struct written *written);

/* Memory with that number was created. */
void written_begin(struct written *written, uint64_t memory, uint64_t size);
/* All of it counts as written, or it is freed. */
void written_end(struct written *written, uint64_t memory);
/* Something writes the bytes. */
void written_note(struct written *written, uint64_t memory, uint64_t first, uint64_t last);
/* The first byte of the range that nothing wrote; false: all are written. */
bool written_gap(const struct written *written, uint64_t memory, uint64_t first, uint64_t last, uint64_t *at);
/* A copy of size bytes also copies which of them are written. */
void written_copy(struct written *written, uint64_t to, uint64_t at, uint64_t from, uint64_t start, uint64_t size);

const char *written_check(const struct written *written);

#endif
