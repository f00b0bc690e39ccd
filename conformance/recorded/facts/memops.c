/* SPDX-License-Identifier: Apache-2.0 */
/* The recording program of stream memory operations: cuStreamWriteValue, cuStreamWaitValue, cuStreamBatchMemOp, in both versions.
 *
 * Prints "id<TAB>result" lines as edges.c does. Whether a wait is satisfied is asked by cuStreamQuery: SUCCESS at once, or WAITS
 * when it still is NOT_READY after some milliseconds. A wait that nothing else ends is ended by a host store, so that few cases
 * cost a process. Calls are found by name in the driver's library, because headers of CUDA 13 no longer name the first version.
 *
 * Each group of cases is in a file of memops/. The kinds of addresses are those of answers.c.
 *
 * Build: gcc -std=c11 -Wall -isystem /usr/local/cuda/include memops.c -o memops -lcuda -ldl -pthread
 * Use:   memops [letters of groups | beginning of an id, with a point in it]
 *        A attributes and symbols, F flags, C comparisons, L alignment, X addresses, W what satisfies a wait, T memory that is
 *        taken from pending operations, B batches, S streams, K captures, V what waits for a wait, Z faults, Y pools and managed
 *        memory, N without a context or before cuInit, O two mistakes at once; Q lists of batches, R another context during a wait;
 *        and with two devices: P addresses of the other
 */
#include "recorder.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>

static bool keeps; /* as in answers.c */
#include "answers/ask.c"
#include "answers/places.c"

#include "memops/calls.c"

#include "memops/attributes.c"
#include "memops/flags.c"
#include "memops/compare.c"
#include "memops/alignment.c"
#include "memops/addresses.c"
#include "memops/satisfy.c"
#include "memops/taken.c"
#include "memops/batches.c"
#include "memops/streams.c"
#include "memops/captures.c"
#include "memops/behind.c"
#include "memops/faults.c"
#include "memops/pools.c"
#include "memops/context.c"
#include "memops/questions.c"

static void every_group(void)
{
    static void (*const groups[])(void) = {group_a, group_f, group_c, group_l, group_x, group_p, group_w, group_t,
                                           group_b, group_s, group_k, group_v, group_z, group_y, group_n, group_o,
                                           group_q, group_r};
    for (size_t i = 0; i < COUNT(groups); i++)
        groups[i]();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return 1;
    patience = 2;
    return record("memops.c", every_group);
}
