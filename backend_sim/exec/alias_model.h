/* SPDX-License-Identifier: Apache-2.0 */
/* alias_model.h - a launch in which an address may show old bytes after the memory was written through another one.
 *
 *     mappings    M1 and M2 of H1, which holds 0
 *     one launch  write 1 at M1    read at M2    read at M1    fence    read at M2
 *     finds                        0 or 1        1                      1
 *     after it    1 at both
 *
 * Each mapping of memory that is mapped more than once has a view of its own (alias_views.h), which starts as the memory is
 * when the launch begins. A write goes to the memory and to the view of its own mapping; a read finds the one or the
 * other, word by word (8 bytes, aligned) as the seed says; a fence for aliases makes all views what the memory is. So
 * nothing is found that was not there, what an address wrote last is never older than that at this address, and the
 * memory ends as it would without views, unless the kernel computes from what it read. An atomic addition is made in the
 * memory: it adds to the newest value, and nothing that is added is lost.
 *
 * The answer for a word depends on the seed, the number of the call that launched, the fences before, the mapping's
 * number and the place in the memory: not on when the work is done.
 */
#ifndef SIM_ALIAS_MODEL_H
#define SIM_ALIAS_MODEL_H

#include "process.h"
#include "twin.h"
#include "alias_views.h"

/* An accessor over another one. */
struct alias_model {
    struct twin_memory memory; /* first: the twin hands this back */
    struct twin_memory *under;
    const struct sim_process *process;
    uint64_t chance; /* of this launch */
    struct alias_views views;
    struct {
        struct view *view; /* of the mapping that writes; NULL: none is waiting */
        uint64_t at, size;
        const unsigned char *bytes;
    } granted; /* for writing by the last question: the bytes are there at the next one */
    bool out_of_memory;
    unsigned char mixed[VIEW_UNIT]; /* handed out */
};

/* Begins a launch, which is to go through stale->memory, over an accessor of the process's addresses. */
void alias_model_open(struct alias_model *stale, const struct sim_process *process, struct twin_memory *under, uint64_t launch);
/* Ends it. False when there was no memory for the views: from there on the newest bytes were found everywhere. */
bool alias_model_close(struct alias_model *stale);

#endif
