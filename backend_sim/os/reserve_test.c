/* SPDX-License-Identifier: Apache-2.0 */
/* The largest single reservation under a tool that keeps a record for each page; the test imitates such a tool by
 * taking memory between the two measurements. Each case in a child, which measures once. */
#define _GNU_SOURCE /* for inject_rig.h */
#include "inject_rig.h"

#include <sys/wait.h>

#include "os.h"

#define MIB ((size_t)1 << 20)
#define GIB (UINT64_C(1) << 30)

static const size_t *costs; /* of each sample, in MiB; 0 ends them */

static void take_memory(void)
{
    const size_t size = *costs++ * MIB;
    void *memory = size ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;
    if (memory == MAP_FAILED)
        _exit(100);
    if (!memory)
        return;
    memset(memory, 1, size);
    inject_meanwhile("read", 2, take_memory); /* of the second measurement of each sample */
}

static bool reserves(uint64_t size)
{
    uint64_t at = 0;
    bool done = os_reserve_anywhere(size, 4096, &at);
    if (done)
        os_unreserve(at, size);
    return done;
}

/* Bits: of 512 MiB, 4 GiB and 40 GiB those that are reserved. */
static int reserved_beside(const size_t of_samples[])
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        costs = of_samples;
        inject_meanwhile("read", 2, take_memory);
        int known = reserves(2 * GIB); /* more than a sample: what it costs is measured */
        inject_disarm();
        known = reserves(GIB / 2) | reserves(4 * GIB) << 1 | reserves(40 * GIB) << 2;
        _exit(known);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    static const size_t free_of_cost[] = {0}, one_is_little[] = {2, 40, 40, 0}, all_is_much[] = {70, 80, 70, 0}, last_is_little[] = {40, 40, 2, 0};
#ifdef __linux__
    const bool looks = true;
#else
    const bool looks = false;
#endif
    if (!looks || reserved_beside(free_of_cost) != 7) { /* a tool, or a limit of addresses */
        tap_skip("this process cannot reserve 40 GiB, or looks elsewhere for what it occupies", "what is reserved beside a tool");
        return tap_done();
    }
    tap_ok(reserved_beside(one_is_little) == 3, "the least of three samples counts: 64 MiB pay for 4 GiB, and not for 40");
    tap_ok(reserved_beside(last_is_little) == 3, "whichever it is");
    tap_ok(reserved_beside(all_is_much) == 1, "and where one costs more than that, only less than a sample is reserved");
    return tap_done();
}
