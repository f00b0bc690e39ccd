/* SPDX-License-Identifier: Apache-2.0 */
/* A refusal by a rule carries the number of the program's call that it belongs to, and none outside of every entry point. */
#include <stdlib.h>

#include "abi.h"
#include "detail.h"
#include "tap.h"
#include "thread.h"

static const vmm_detail *refused(const vmm_system *sys)
{
    CUresult result = abi_refuse_by(sys, VMM_RULE_ALLOC_FREE_UNKNOWN, "cuMemFreeHost", 0x1234);
    const vmm_detail *detail = vmm_last_detail();
    tap_u64(result, CUDA_ERROR_INVALID_VALUE, "the result is that of the rule");
    tap_text(detail->rule, "VMM-ALLOC-FREE-UNKNOWN", "the rule is named");
    tap_text(detail->function, "cuMemFreeHost", "and the program's function");
    return detail;
}

int main(void)
{
    vmm_system *sys = NULL;
    int devices = 0;
    setenv("CUVMM_EXPLAIN", "0", 1);
    tap_ok(vmm_open("sim:h100", &sys) == VMM_SUCCESS && vmm_init(sys, 0) == VMM_SUCCESS, "a machine");
    vmm_device_get_count(sys, &devices);
    tap_u64(refused(sys)->call, 0, "outside of an entry point it is of no call, not of the one before");

    static struct vmm_entry_point entry = {.name = "cuMemFreeHost"};
    vmm_within_begin(&vmm_this_thread()->within, &entry);
    tap_u64(refused(sys)->call, 0, "so it is before the first part of a call");
    vmm_device_get_count(sys, &devices);
    uint64_t part = vmm_last_detail()->call;
    tap_ok(part > 0 && refused(sys)->call == part, "after that it has the number of the call's parts");
    vmm_within_end(&vmm_this_thread()->within);
    vmm_close(sys);
    return tap_done();
}
