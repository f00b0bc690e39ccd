/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that begin and end a profile. There is no profiler, as on a driver without a profiling tool: the calls check for
 * a context and change nothing. */
#include "abi.h"
#include "abi_capture.h"

static CUresult need_context(const vmm_system *sys, const char *function)
{
    uint64_t value;
    struct abi_query_context context;
    return abi_current(sys, function, &value, &context);
}

CUresult cuProfilerStart(void)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(need_context(sys, __func__));
}

CUresult cuProfilerStop(void)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(need_context(sys, __func__));
}

/* Drivers no longer support it, and return that before they check anything else. The toolkit's header no longer declares it. */
CUresult cuProfilerInitialize(const char *configFile, const char *outputFile, int outputMode)
{
    (void)configFile, (void)outputFile, (void)outputMode;
    return abi_refuse(VMM_RULE_ENTRY_ABSENT, __func__, "the call is no longer supported, not even by drivers");
}
