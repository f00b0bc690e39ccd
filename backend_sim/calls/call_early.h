/* SPDX-License-Identifier: Apache-2.0 */
/* call_early.h - the calls that look at their arguments before they look whether cuInit was called.
 *
 *     cuStreamDestroy(NULL)                   before cuInit      INVALID_HANDLE
 *     cuArray3DGetDescriptor(&d, NULL)                           INVALID_HANDLE
 *     cuMemMapArrayAsync(list, 0, NULL)                          INVALID_VALUE
 *     cuMemMapArrayAsync(list, 1, NULL)                          NOT_INITIALIZED
 *
 * Source: what driver 580.159.04 answered (conformance/recorded/facts; of arrays and managed memory group B).
 */
#ifndef CALL_EARLY_H
#define CALL_EARLY_H

#include <stdbool.h>

#include "call.h"

/* May the call check its arguments even though cuInit was not called? forked: it was called in the parent process. */
bool call_goes_first(const struct vmm_call *call, bool forked);

#endif
