/* SPDX-License-Identifier: Apache-2.0 */
/* refusal.h, and that what it refuses is not a success. */
#ifndef CUVMM_CI_ANALYSED_REFUSAL_H
#define CUVMM_CI_ANALYSED_REFUSAL_H

#include <refusal.h>

#ifndef CUVMM_DEFINES_sim_out_of_host_memory
#define sim_out_of_host_memory() ((void)sim_out_of_host_memory(), VMM_ERROR_OUT_OF_MEMORY)
#endif
#ifndef CUVMM_DEFINES_sim_no_context
#define sim_no_context(...) ((void)sim_no_context(__VA_ARGS__), VMM_ERROR_INVALID_CONTEXT)
#endif

#endif
