/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_refusal.h - the thread's record of a call that the driver refused.
 *
 *     note = [name of a code that is not in results.def] ; [the driver's message] ; [fix]
 *
 * The fix is present for codes that are unrelated to the call's arguments.
 */
#ifndef CUVMM_CUDA_REFUSAL_H
#define CUVMM_CUDA_REFUSAL_H

#include "cuda_library.h"

struct cuda_words {
    vmm_result (*error_name)(vmm_result result, const char **text);   /* NULL if the driver lacks it */
    vmm_result (*error_string)(vmm_result result, const char **text); /* NULL if the driver lacks it */
};

void cuda_words_open(struct cuda_words *words, const struct cuda_library *library);

/* Completes the record that dispatch began, to which the driver's log may have added a message. Returns result. */
vmm_result cuda_refused(const struct cuda_words *words, vmm_result result);

#endif
