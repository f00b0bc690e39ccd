/* SPDX-License-Identifier: Apache-2.0 */
/* A hint in the program's memory counts as in use, as on a driver, which reserves addresses of the process.
 *
 *   addresses   [backed by the machine ...... )  ...  [pages of the program, PROT_NONE)  ...
 *   hint                                                   ^ 32 MiB boundary              -> after the pages
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */
#endif
#include <sys/mman.h>

#include "os.h"
#include "process.h"
#include "system.h"
#include "tap.h"
#include "vmm.h"

#define G (UINT64_C(2) << 20)
#define CHUNK (UINT64_C(32) << 20)

static uint64_t pages(uint64_t wish, uint64_t size)
{
    void *at = mmap((void *)(uintptr_t)wish, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        tap_bail("no addresses");
    return (uint64_t)(uintptr_t)at;
}

/* The reservation that the hint leads to, freed again; 0 if there is none. */
static uint64_t reserved(vmm_system *sys, uint64_t size, uint64_t hint)
{
    vmm_deviceptr at = 0;
    if (vmm_mem_address_reserve(sys, &at, size, 0, hint, 0) != VMM_SUCCESS)
        return 0;
    vmm_mem_address_free(sys, at, size);
    return at;
}

static void ignore(void *user, const vmm_detail *detail)
{
    (void)user;
    (void)detail;
}

int main(void)
{
    enum { CHUNKS = 40 };
    const uint64_t size = CHUNKS * CHUNK;
    vmm_system *sys = NULL;
    if (vmm_open("sim:h100", &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS)
        tap_bail("no machine");
    vmm_set_report(sys, ignore, NULL);
    const uint64_t start = pages(0, size), hint = (start + CHUNK - 1) / CHUNK * CHUNK;
    munmap((void *)(uintptr_t)start, size);
    if (reserved(sys, G, hint) != hint || pages(start, size) != start) { /* under a sanitizer they lie elsewhere */
        tap_skip("the machine has other addresses than the program", "hints in memory of the program");
        vmm_close(sys);
        return tap_done();
    }
    tap_ok(os_is_taken(hint, G) && os_is_taken(start - 4096, 8192), "memory of the program is taken, also in part");
    const uint64_t range = reserved(sys, G, 0);
    if (!os_is_taken(range, G)) { /* a tool or a limit leaves the machine without host addresses */
        tap_skip("the machine has no addresses of the host", "hints in memory of the program");
        munmap((void *)(uintptr_t)start, size);
        vmm_close(sys);
        return tap_done();
    }
    tap_u64(reserved(sys, G, range), range, "a hint among the machine's own addresses is taken");
    uint64_t small = reserved(sys, G, hint), large = reserved(sys, 2 * CHUNK, hint);
    tap_ok(small >= start + size && !os_is_taken(small, G), "a hint in the program's memory leads behind it: +0x%llx",
           (unsigned long long)(small - hint));
    const uint64_t steps = (small - hint) / CHUNK + 1;
    tap_ok(!(steps & (steps - 1)), "in steps that double, for such memory may be large");
    tap_ok(large >= start + size && !os_is_taken(large, 2 * CHUNK), "so does one for whole chunks");
    tap_ok(reserved(sys, 2 * CHUNK, hint - CHUNK) != hint - CHUNK,
           "a range that would only end in the program's memory is elsewhere");
    munmap((void *)(uintptr_t)start, size);
    tap_ok(!os_is_taken(hint, G), "once the program's memory is gone");
    tap_u64(reserved(sys, G, hint), hint, "the same hint is taken");
    const uint64_t end = ((struct sim_process *)sys->top)->window.end, last = end - 2 * CHUNK;
    if (pages(last, 2 * CHUNK) != last)
        tap_skip("the last addresses are not free", "a hint in memory of the program at their end");
    else
        tap_u64(reserved(sys, G, last), 0, "a hint in memory of the program up to 0x%llx, the last address, leads nowhere",
                (unsigned long long)end);
    vmm_close(sys);
    return tap_done();
}
