/* SPDX-License-Identifier: Apache-2.0 */
/* analysed.h - what analysers cannot see from one file: a refusal is never a success. ci/analyze includes it before each
 * file; nothing is built with it.
 *
 *   result = find_event(process, value, &event);     refused in there: result is not VMM_SUCCESS,
 *   if (result != VMM_SUCCESS) return result;        so behind this line event is there
 *
 * CUVMM_DEFINES_x is set for the file that defines x, CUVMM_ANALYSED_SIM, _ABI, _VALUES, _SCRIPT and _REPLAY for
 * those that may include its header.
 */
#ifndef CUVMM_CI_ANALYSED_H
#define CUVMM_CI_ANALYSED_H

#include "detail.h"

#ifndef CUVMM_DEFINES_vmm_detail_refuse
#define vmm_detail_refuse(...) ((void)vmm_detail_refuse(__VA_ARGS__), VMM_ERROR_INVALID_VALUE)
#endif
#ifndef CUVMM_DEFINES_vmm_detail_fail
#define vmm_detail_fail(...) ((void)vmm_detail_fail(__VA_ARGS__), VMM_ERROR_INVALID_VALUE)
#endif

#ifdef CUVMM_ANALYSED_SIM
#include "sim.h"
#ifndef CUVMM_DEFINES_sim_out_of_host_memory
#define sim_out_of_host_memory() ((void)sim_out_of_host_memory(), VMM_ERROR_OUT_OF_MEMORY)
#endif
#endif

#if defined CUVMM_ANALYSED_SIM && !defined CUVMM_DEFINES_sim_no_context
#define sim_no_context(...) ((void)sim_no_context(__VA_ARGS__), VMM_ERROR_INVALID_CONTEXT)
#endif

/* In the command a failure is told and is false. */
#ifdef CUVMM_ANALYSED_VALUES
#include "values.h"
#ifndef CUVMM_DEFINES_value_fail
#define value_fail(...) ((void)value_fail(__VA_ARGS__), false)
#endif
#endif
#ifdef CUVMM_ANALYSED_SCRIPT
#include "script_state.h"
#ifndef CUVMM_DEFINES_script_failed
#define script_failed(...) ((void)script_failed(__VA_ARGS__), false)
#endif
#ifndef CUVMM_DEFINES_script_wrong
#define script_wrong(...) ((void)script_wrong(__VA_ARGS__), false)
#define script_wrong_at(...) ((void)script_wrong_at(__VA_ARGS__), false)
#endif
#endif
#if defined CUVMM_ANALYSED_REPLAY && defined CUVMM_HAVE_JANSSON && !defined CUVMM_DEFINES_replay_malformed
#include "replay_state.h"
#define replay_malformed(...) ((void)replay_malformed(__VA_ARGS__), false)
#endif

#ifdef CUVMM_ANALYSED_ABI
#include "abi.h"
#ifndef CUVMM_DEFINES_abi_refuse
#define abi_refuse(...) ((void)abi_refuse(__VA_ARGS__), CUDA_ERROR_INVALID_VALUE)
#endif
#ifndef CUVMM_DEFINES_abi_null
#define abi_null(...) ((void)abi_null(__VA_ARGS__), CUDA_ERROR_INVALID_VALUE)
#endif
#endif

#endif
