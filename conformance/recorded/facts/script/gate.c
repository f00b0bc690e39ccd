/* SPDX-License-Identifier: Apache-2.0 */
/* A gate at the head of a stream: a host function that waits until it is opened, or for some time. Part of the recording programs
 * that include it. */
#include <stdatomic.h>

static int gate_patience = 250; /* milliseconds */
static int settle_patience = 50000; /* looks */
enum { LONG_PATIENCE = 3000 };

static atomic_int gate_open, gate_gave_up;

static void CUDA_CB gate_wait(void *unused)
{
    (void)unused;
    struct timespec step = {0, 1000000};
    for (int waited = 0; !gate_open && waited < gate_patience * (int)slowly(); waited++)
        nanosleep(&step, NULL);
    if (!gate_open)
        gate_gave_up = 1;
}

static void gate_reset(void)
{
    gate_open = gate_gave_up = 0;
}

static inline CUresult gate_in(CUstream s)
{
    gate_reset();
    return cuLaunchHostFunc(s, gate_wait, NULL);
}

/* Opens the gate, and tells whether a call before waited for it. */
static const char *gate_opened(void)
{
    const char *text = gate_gave_up ? " waited" : "";
    gate_open = 1;
    return text;
}

/* Waits until the stream is idle, without a call that synchronises. */
static inline CUresult settle(CUstream s)
{
    struct timespec step = {0, 20000};
    CUresult r = cuStreamQuery(s);
    for (int i = 0; i < settle_patience && r == CUDA_ERROR_NOT_READY; i++) {
        nanosleep(&step, NULL);
        r = cuStreamQuery(s);
    }
    return r;
}
