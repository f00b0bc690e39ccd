/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - what the programs of this folder share: a table of them, and calls that must succeed.
 *
 *     PROGRAM(copy_without_event, .group = "order")          compiled twice: -DBUG=1 and -DBUG=0
 *     {
 *         FILL(produce, x, WORDS, 7);                         other: copy_without_event
 *         if (!BUG)
 *             stream_follow(consume, produce);
 *         DO(cuMemcpyDtoDAsync(y, x, BYTES, consume));        finding: copy_without_event VMM-ORDER-STREAMS
 *     }
 *
 * One executable holds all programs; its argument says which to run, `--list` prints the table.
 */
#ifndef CHECKER_PROGRAM_H
#define CHECKER_PROGRAM_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BUG
#error "compile with -DBUG=1 or -DBUG=0"
#endif

struct program {
    const char *name, *group;
    void (*run)(void);
    int devices;       /* how many it needs, 0: one */
    bool polls;        /* the correct form asks again and again instead of waiting: schedule=late does nothing meanwhile */
    bool spins;        /* it only reads memory: only eager and device do work without a call */
    bool shares;       /* its processes need a machine with a name on the simulator */
    bool sim;          /* a driver does not survive the mistake, or is not known to */
    const char *fault; /* NULL, or the fault that the machine injects */
    struct program *next;
};

void program_add(struct program *program);

#define PROGRAM(title, ...)                                                                     \
    static void run_##title(void);                                                              \
    static struct program program_##title = {.name = #title, .run = run_##title, __VA_ARGS__};  \
    __attribute__((constructor)) static void add_##title(void) { program_add(&program_##title); } \
    static void run_##title(void)

/* The call must succeed, or the program has another mistake than intended. */
#define DO(call) program_do(__FILE__, __LINE__, #call, (call))
void program_do(const char *file, int line, const char *call, CUresult result);
/* A call that fails because of the mistake: the program reports it and continues, as programs do. */
#define TRY(call) program_try(#call, (call))
bool program_try(const char *call, CUresult result);

/* Kernels on words of 32 bits, loaded by begin(). */
struct code {
    CUmodule module;
    CUfunction fill, add, copy, sum;
};
extern struct code code;
extern const char kernels_ptx[];

#define RUN(function, stream, ...)                                                                   \
    do {                                                                                             \
        void *params_[] = {__VA_ARGS__};                                                             \
        DO(cuLaunchKernel(code.function, 4, 1, 1, 64, 1, 1, 0, (stream), params_, NULL));            \
    } while (0)
/* n words at p become value; grow by value; come from q; are added up at q. */
#define FILL(stream, p, n, value) \
    RUN(fill, stream, &(CUdeviceptr){p}, &(unsigned long long){n}, &(unsigned int){value})
#define ADD(stream, p, n, value) \
    RUN(add, stream, &(CUdeviceptr){p}, &(unsigned long long){n}, &(unsigned int){value})
#define COPY(stream, p, q, n) RUN(copy, stream, &(CUdeviceptr){p}, &(CUdeviceptr){q}, &(unsigned long long){n})
#define SUM(stream, p, n, q) RUN(sum, stream, &(CUdeviceptr){p}, &(unsigned long long){n}, &(CUdeviceptr){q})

enum { WORDS = 4096, BYTES = 4 * WORDS };

/* The primary context of device 0, which stays until the process ends, current; and the kernels. */
void begin(void);
/* The same for another device; its context is current then. */
CUcontext also_device(CUdevice device);

/* Work of `later` that is issued from now on comes after what `earlier` has been given so far. */
void stream_follow(CUstream later, CUstream earlier);
CUstream stream_new(unsigned int flags);
void stream_end(CUstream stream);
CUevent event_new(void);

#endif
