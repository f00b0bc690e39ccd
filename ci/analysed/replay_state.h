/* SPDX-License-Identifier: Apache-2.0 */
/* replay_state.h, where there is jansson, and that a failure is false. */
#ifndef CUVMM_CI_ANALYSED_REPLAY_STATE_H
#define CUVMM_CI_ANALYSED_REPLAY_STATE_H

#ifdef CUVMM_HAVE_JANSSON
#include <replay_state.h>

#ifndef CUVMM_DEFINES_replay_malformed
#define replay_malformed(...) ((void)replay_malformed(__VA_ARGS__), false)
#endif
#endif

#endif
