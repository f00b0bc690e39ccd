/* SPDX-License-Identifier: Apache-2.0 */
/* store_rig.h - for tests: a child that is killed or stopped just before its Nth store to shared memory.
 *
 *   state, read only    store -> SIGSEGV: count it; the Nth: kill or stop; writable, one step -> SIGTRAP: read only again
 *
 * Every store counts, from any code and in any order, so no list of stores has to be maintained.
 */
#ifndef SIM_STORE_RIG_H
#define SIM_STORE_RIG_H

#if defined(__linux__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_STEP 1
#else
#define CAN_STEP 0
#endif

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

/* Can stores be counted in this environment? If not, skips those test points. */
static inline bool rig_can_step(const char *what)
{
    const char *built = getenv("CUVMM_SAN"); /* "1": built with coverage counters, which are stores as well */
    bool can = CAN_STEP && !getenv("CUVMM_RUN") && (!built || strcmp(built, "1") != 0);
    if (!can)
        tap_skip("stores cannot be counted on this machine, under this tool or in this build", "%s", what);
    return can;
}

#if CAN_STEP
#include <ucontext.h>

enum { STORE_TRAP = 0x100 }; /* the processor's flag: a trap after the next instruction */

static struct {
    char *start;
    size_t size;
    uint64_t made, target; /* target 0: none */
    int signal;
} store;

static void store_protect(int rights)
{
    if (mprotect(store.start, store.size, rights))
        _exit(99);
}

static void store_faulted(int number, siginfo_t *info, void *context)
{
    ucontext_t *registers = context;
    char *at = info->si_addr;
    if (at < store.start || at >= store.start + store.size) {
        signal(number, SIG_DFL);
        return;
    }
    if (++store.made == store.target)
        kill(getpid(), store.signal);
    store_protect(PROT_READ | PROT_WRITE);
    registers->uc_mcontext.gregs[REG_EFL] |= STORE_TRAP;
}

static void store_made(int number, siginfo_t *info, void *context)
{
    ucontext_t *registers = context;
    (void)number;
    (void)info;
    registers->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)STORE_TRAP;
    store_protect(PROT_READ);
}

/* The address where this process has mapped that file; it is mapped once. */
static bool store_find(const char *path)
{
    char line[512];
    unsigned long start, end;
    bool found = false;
    FILE *file = fopen("/proc/self/maps", "r");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, path) && sscanf(line, "%lx-%lx", &start, &end) == 2;
    if (file)
        fclose(file);
    if (found) {
        store.start = (char *)(uintptr_t)start;
        store.size = end - start;
    }
    return found;
}

/* From now on the process gets that signal just before the store with that number to that file's memory. */
static void store_watch(const char *path, uint64_t target, int number)
{
    struct sigaction fault = {.sa_sigaction = store_faulted, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction step = {.sa_sigaction = store_made, .sa_flags = SA_SIGINFO};
    if (!store_find(path))
        _exit(98);
    store.made = 0;
    store.target = target;
    store.signal = number;
    sigaction(SIGSEGV, &fault, NULL);
    sigaction(SIGTRAP, &step, NULL);
    store_protect(PROT_READ);
}
#endif

#endif
