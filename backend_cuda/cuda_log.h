/* cuda_log.h - what the driver itself says about a call that it refuses (cuLogsRegisterCallback, CUDA 12.9).
 *
 *     cuda_log_listen(log)              this thread's record hears, until the call is over
 *     driver refuses -> callback        "Size not aligned to ..." goes into the record's note
 *     cuda_log_stop()
 *
 * The driver calls back on errors only, so a call that succeeds pays for two stores. Lines for other threads' calls,
 * for other systems' and for calls that the program makes itself are not taken. CUVMM_DRIVER_LOG=0 turns it off.
 */
#ifndef CUVMM_CUDA_LOG_H
#define CUVMM_CUDA_LOG_H

#include "cuda_library.h"

struct cuda_log {
    void *entry; /* the driver's, NULL when nothing is registered */
    vmm_result (*unregister)(void *entry);
};

/* log must stay where it is until cuda_log_close. A driver that has no log is not an error. */
void cuda_log_open(struct cuda_log *log, const struct cuda_library *library);
void cuda_log_close(struct cuda_log *log);

void cuda_log_listen(const struct cuda_log *log);
void cuda_log_stop(void);

#endif
