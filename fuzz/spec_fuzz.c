/* SPDX-License-Identifier: Apache-2.0 */
/* Specs: a refused one names the place and leaves the output alone; one that opens can be used and closed.
 *
 * An input is one spec. Its files lie in the input's folder: a spec with '/' is not opened, and the program has no
 * driver backend, so none is loaded. Options that wait for other processes are left out. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 400 };

static void use(vmm_system *sys)
{
    vmm_deviceptr at = 0;
    int devices = 0;
    vmm_context ctx = NULL;
    vmm_init(sys, 0);
    vmm_device_get_count(sys, &devices);
    if (vmm_ctx_create(sys, &ctx, 0, 0) == VMM_SUCCESS && vmm_mem_alloc(sys, &at, 4096) == VMM_SUCCESS) {
        vmm_memset_d8(sys, at, 7, 4096);
        vmm_mem_free(sys, at);
    }
    vmm_mem_address_reserve(sys, &at, 1, 3, 5, 7);
    vmm_leaks(sys, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int nothing;
    vmm_system *sys = (vmm_system *)(void *)&nothing;
    fuzz_room();
    if (size > MOST || (size && memchr(data, '/', size)))
        return 0;
    char *spec = fuzz_text(data, size);
    vmm_result result = vmm_open(spec, &sys);
    if (result == VMM_SUCCESS) {
        use(sys);
        vmm_close(sys);
    } else if (sys != (vmm_system *)(void *)&nothing || !vmm_last_detail()->note[0] || vmm_last_detail()->result != result) {
        fuzz_finding("\"%s\": %s: \"%s\"", spec, vmm_result_name(result), vmm_last_detail()->note);
    }
    free(spec);
    fuzz_sweep();
    return 0;
}
