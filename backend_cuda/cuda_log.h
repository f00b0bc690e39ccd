/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_log.h - the driver's own message about a call that it refuses (cuLogsRegisterCallback, CUDA 12.9).
 *
 *     ear = cuda_log_listen(log)        this thread receives lines until the call is over
 *     driver refuses -> callback        "Size not aligned to ..." is added to the note of the thread's record
 *     ear->log = NULL
 *
 * The driver calls back on errors only, so a successful call pays for three stores. Lines about calls of other threads, of other
 * systems and of the program itself are ignored. CUVMM_DRIVER_LOG=0 turns it off.
 */
#ifndef CUVMM_CUDA_LOG_H
#define CUVMM_CUDA_LOG_H

#include <stdbool.h>

#include "cuda_library.h"

/* Per thread: the log of the call in progress, NULL between calls; and whether a line has arrived. */
struct cuda_ear {
    const struct cuda_log *log;
    bool heard;
};

struct cuda_log {
    void *entry; /* the driver's handle, NULL when nothing is registered */
    vmm_result (*unregister)(void *entry);
};

/* log must not move until cuda_log_close. A driver without a log is not an error. */
void cuda_log_open(struct cuda_log *log, const struct cuda_library *library);
void cuda_log_close(struct cuda_log *log);

struct cuda_ear *cuda_log_listen(const struct cuda_log *log);

#endif
