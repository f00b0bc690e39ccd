/* SPDX-License-Identifier: Apache-2.0 */
/* abi_jit.h - the outputs of the device-code compiler in the caller's options. Only errors are logged; the logs are written
 * nevertheless, because a caller that passed a log buffer prints it.
 *
 *     LOG_BUFFER_SIZE_BYTES 1024, LOG_BUFFER -> [?????...]      before
 *     LOG_BUFFER_SIZE_BYTES    0, LOG_BUFFER -> ["" ????]       after: an empty text
 *     LOG_BUFFER_SIZE_BYTES   46, LOG_BUFFER -> ["error: line 3, ..."]   in the error log, after INVALID_PTX
 */
#ifndef SIM_ABI_JIT_H
#define SIM_ABI_JIT_H

#include "abi.h"

/* Writes the output options of a load that ended with result, and returns result. A load that was refused for a reason other
 * than its PTX leaves the options unchanged. log: what is wrong with the PTX. */
CUresult abi_jit_answered(CUresult result, const char *log, const CUjit_option *options, void **values, unsigned count);

#endif
