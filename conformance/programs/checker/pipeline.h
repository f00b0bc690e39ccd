/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.h - stages on separate streams that pass batches on.
 *
 *     stage A    [ batch_make b0 ][ batch_make b1 ]
 *     stage B                     [ batch_take b0 ][ batch_take b1 ]     each after the event `ready` of its batch
 */
#ifndef CHECKER_PIPELINE_H
#define CHECKER_PIPELINE_H

#include "buffer.h"

struct batch {
    CUdeviceptr input, output;
    CUevent ready;
};

enum batch_mistake { BATCH_RIGHT, BATCH_EVENT_FIRST, BATCH_WRONG_STREAM };

void batch_open(struct batch *b);
void batch_make(struct batch *b, CUstream stage, unsigned int value, enum batch_mistake mistake);
void batch_take(struct batch *b, CUstream stage, CUstream earlier, enum batch_mistake mistake);
void batch_close(struct batch *b);

/* A graph of one kernel that adds value to n words at p. */
CUgraphExec step_graph(CUdeviceptr p, unsigned long long n, unsigned int value);
/* A graph that clears n words at p and then copies them to q; `ordered`: the copy depends on the clearing. */
CUgraphExec reset_graph(CUdeviceptr p, CUdeviceptr q, unsigned long long n, bool ordered);

#endif
