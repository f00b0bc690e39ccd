/* SPDX-License-Identifier: Apache-2.0 */
/* alias_model.h - models a launch in which an address may show old bytes after a write through another address.
 *
 *     mappings    M1 and M2 of H1, which holds 0
 *     one launch  write 1 at M1    read at M2    read at M1    fence    read at M2
 *     finds                        0 or 1        1                      1
 *     after it    1 at both
 *
 * Each mapping of memory that is mapped more than once has its own view (alias_views.h), which equals the memory when the
 * launch begins. A write goes to the memory and to the view of its own mapping; a read returns either the memory or the view,
 * chosen by the seed for each aligned word of 8 bytes; a fence for aliases makes all views equal to the memory. So every
 * value read was once in memory, an address never shows data older than its own last write, and the memory ends as it would
 * without views, unless the kernel computes from what it read. An atomic addition works on the memory: it adds to the newest
 * value, and no addition is lost.
 *
 * The value of a word depends on the seed, the number of the launching call, the preceding fences, the mapping's number and
 * the offset in the memory; it does not depend on when the work is done.
 */
#ifndef SIM_ALIAS_MODEL_H
#define SIM_ALIAS_MODEL_H

#include "process.h"
#include "twin.h"
#include "alias_views.h"

/* An accessor over another one. */
struct alias_model {
    struct twin_memory memory; /* first: the twin passes this pointer back */
    struct twin_memory *inner;
    const struct sim_process *process;
    uint64_t chance; /* of this launch: selects the words that reads return old */
    struct alias_views views;
    struct {
        struct view *view; /* of the writing mapping; NULL: no write is pending */
        uint64_t at, size;
        const unsigned char *bytes;
    } granted; /* the range that the last request may write; the twin has written it before its next request */
    bool out_of_memory;
    unsigned char mixed[VIEW_UNIT]; /* the bytes that a read returns */
};

/* Begins a launch that accesses memory through model->memory; inner is an accessor of the process's addresses. */
void alias_model_open(struct alias_model *model, const struct sim_process *process, struct twin_memory *inner, uint64_t launch);
/* Ends the launch. Returns false if memory for the views ran out: from that point on every read returned the newest bytes. */
bool alias_model_close(struct alias_model *model);

#endif
