/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - small programs of the driver API, with or without a mistake for `cuvmm check` to find.
 *
 *     PROGRAM(map_twice, "VMM-MAP-OVERLAP", SAME, DEVICE) { ... }
 *             name        rules on a driver  on the simulator
 *
 * One executable holds them; its argument says which to run, `--list` prints the table. Rules are separated by spaces, "" is
 * a correct program. Each is a separate program like those of users, and knows nothing about this project.
 */
#ifndef CHECK_PROGRAM_H
#define CHECK_PROGRAM_H

#include <cuda.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where it may run: SIM alone where a real driver is known to crash or the machine must be simulated; UNASKED on a
 * device and where work runs without a call as there, for it waits without a call. */
enum where { DEVICE, SIM, UNASKED };

struct program {
    const char *name, *driver, *simulator;
    enum where where;
    void (*run)(void);
    struct program *next;
};

#define SAME NULL

void program_add(struct program *program);

#define PROGRAM(title, on_driver, on_simulator, place)                                                     \
    static void run_##title(void);                                                                         \
    static struct program program_##title = {#title, on_driver, on_simulator, place, run_##title, NULL};   \
    __attribute__((constructor)) static void add_##title(void) { program_add(&program_##title); }          \
    static void run_##title(void)

/* The call must succeed, else the program has another fault than intended. */
#define DO(call) program_do(__LINE__, #call, (call), true)
/* The call must be refused. */
#define NO(call) program_do(__LINE__, #call, (call), false)
void program_do(int line, const char *call, CUresult result, bool succeeds);

/* cuInit and a context of device 0. */
void begin(void);

/* The granularity of device 0. */
size_t granule(void);
CUmemAllocationProp pinned(void);
CUdeviceptr reserve(size_t size);
CUmemGenericAllocationHandle create(size_t size);
void allow(CUdeviceptr at, size_t size, CUmemAccess_flags flags);
/* Reserved, mapped, readable and writable, the handle released. */
CUdeviceptr whole(size_t size);
void drop(CUdeviceptr at, size_t size);

#endif
