/* SPDX-License-Identifier: Apache-2.0 */
/* script_state.h, and that a failure is false. */
#ifndef CUVMM_CI_ANALYSED_SCRIPT_STATE_H
#define CUVMM_CI_ANALYSED_SCRIPT_STATE_H

#include <script_state.h>

#ifndef CUVMM_DEFINES_script_failed
#define script_failed(...) ((void)script_failed(__VA_ARGS__), false)
#endif
#ifndef CUVMM_DEFINES_script_wrong
#define script_wrong(...) ((void)script_wrong(__VA_ARGS__), false)
#endif
#ifndef CUVMM_DEFINES_script_wrong_at
#define script_wrong_at(...) ((void)script_wrong_at(__VA_ARGS__), false)
#endif

#endif
