/* SPDX-License-Identifier: Apache-2.0 */
/* result.h - names and texts of all driver codes, equal to those that the driver's cuGetErrorName and cuGetErrorString return.
 *
 *     driver_result_name(215)   "CUDA_ERROR_UNSUPPORTED_LIMIT"
 *     driver_result_text(215)   "limit is not supported on this architecture"
 *     driver_result_text(10)    NULL: not a code
 */
#ifndef CUVMM_RESULT_H
#define CUVMM_RESULT_H

#include "vmm.h"

const char *driver_result_name(int result);
const char *driver_result_text(int result);

#endif
