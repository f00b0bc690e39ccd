/* SPDX-License-Identifier: Apache-2.0 */
/* detail.h, and that a refusal is never a success. */
#ifndef CUVMM_CI_ANALYSED_DETAIL_H
#define CUVMM_CI_ANALYSED_DETAIL_H

#include <detail.h>

#ifndef CUVMM_DEFINES_vmm_detail_refuse
#define vmm_detail_refuse(...) ((void)vmm_detail_refuse(__VA_ARGS__), VMM_ERROR_INVALID_VALUE)
#endif
#ifndef CUVMM_DEFINES_vmm_detail_fail
#define vmm_detail_fail(...) ((void)vmm_detail_fail(__VA_ARGS__), VMM_ERROR_INVALID_VALUE)
#endif
#ifndef CUVMM_DEFINES_vmm_refuse_open
#define vmm_refuse_open(...) ((void)vmm_refuse_open(__VA_ARGS__), VMM_ERROR_INVALID_VALUE)
#endif

#endif
