/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a system: each rule of vmm_open, and beside it the spec that is opened. The system under test is not concerned. */
#include <string.h>

#include "test.h"

/* The spec is refused by the test's rule, and no system is written. */
static void refused(struct fix *f, const char *spec, vmm_result code)
{
    vmm_system *none = (vmm_system *)(void *)f, *sys = none;
    vmm_result result = vmm_open(spec, &sys);
    const vmm_detail *detail = vmm_last_detail();
    CHECK(result == code && detail->result == code && sys == none, "%s: %s", spec, vmm_result_name(result));
    CHECK(detail->rule && !strcmp(detail->rule, f->rule), "%s: by %s", spec, detail->rule ? detail->rule : "no rule");
    CHECK(!strcmp(detail->function, "vmm_open") && detail->note[0], "%s: %s, %s", spec, detail->function, detail->note);
}

static void opened(struct fix *f, const char *spec)
{
    vmm_system *sys = NULL;
    CHECK(vmm_open(spec, &sys) == VMM_SUCCESS && sys, "%s: %s", spec, vmm_last_detail()->note);
    vmm_close(sys);
}

TEST_BREAKS(OPEN_ARGUMENT, open_with_a_wrong_option)
{
    refused(f, "sim:h100,strct", VMM_ERROR_INVALID_VALUE);
    refused(f, "sim:h100,schedule=soon", VMM_ERROR_INVALID_VALUE);
    refused(f, "fault=|sim:h100", VMM_ERROR_INVALID_VALUE);
    refused(f, "", VMM_ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(OPEN_ARGUMENT, open_with_an_option)
{
    opened(f, "sim:h100,strict,schedule=late");
}

TEST_BREAKS(OPEN_NOT_FOUND, open_a_machine_that_nobody_knows)
{
    refused(f, "sim:h1oo", VMM_ERROR_NOT_FOUND);
    refused(f, "sum:h100", VMM_ERROR_NOT_FOUND);
    refused(f, "trase=-|sim:h100", VMM_ERROR_NOT_FOUND);
}

TEST_NEAR_MISS(OPEN_NOT_FOUND, open_a_machine_by_its_name)
{
    opened(f, "sim:h100");
}

TEST_BREAKS(OPEN_UNSUPPORTED, open_what_is_no_driver)
{
    refused(f, "cuda:libm.so.6", VMM_ERROR_NOT_SUPPORTED);
}

TEST_NEAR_MISS(OPEN_UNSUPPORTED, open_a_backend_of_this_version)
{
    opened(f, "sim:h200x2");
}

TEST_BREAKS(OPEN_SYSTEM, open_with_a_trace_that_cannot_be_written)
{
    refused(f, "trace=/no/such/folder/run.jsonl|sim:h100", VMM_ERROR_OPERATING_SYSTEM);
}

TEST_NEAR_MISS(OPEN_SYSTEM, open_with_a_trace)
{
    opened(f, "trace=/dev/null|sim:h100");
}
