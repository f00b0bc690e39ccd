/* SPDX-License-Identifier: Apache-2.0 */
/* rt_absent.h - entry points of libcudart that are not implemented. The first call of each is reported on standard error, because
 * a program might ignore the result.
 *
 *     cudaCreateTextureObject(...)  ->  "cuvmm: libcudart.so.13: cudaCreateTextureObject is not implemented ..." (once), cudaErrorNotSupported
 */
#ifndef SIM_RUNTIME_RT_ABSENT_H
#define SIM_RUNTIME_RT_ABSENT_H

#include <stdatomic.h>

/* Returns the code for the caller. *said: the entry point has been reported before. */
int rt_absent(const char *symbol, atomic_flag *said);

#endif
