/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_log.h"

#include <stdlib.h>
#include <string.h>

#include "detail.h"
#include "os_environment.h"

/* The call that this thread is in; lines at other times do not concern it. */
static _Thread_local struct cuda_ear ear;

typedef void (*log_callback)(void *data, int level, char *message, size_t length);
typedef vmm_result (*log_register)(log_callback callback, void *data, void **entry);

/* Does the line only repeat the call's result, as "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemMap"? */
static bool repeats_the_code(const char *line, size_t length)
{
    static const char start[] = "Returning ";
    return length >= sizeof start - 1 && memcmp(line, start, sizeof start - 1) == 0;
}

/* Appends to earlier lines, truncated to fit; the note is always a single line. */
static void append(char *note, size_t room, const char *line, size_t length)
{
    size_t at = strlen(note);
    if (at && at + 2 < room) {
        memcpy(note + at, "; ", 2);
        at += 2;
    }
    for (size_t i = 0; i < length && at + 1 < room; i++)
        note[at++] = (unsigned char)line[i] < ' ' ? ' ' : line[i];
    while (at && note[at - 1] == ' ')
        at--;
    note[at] = '\0';
}

static void hear(void *data, int level, char *message, size_t length)
{
    (void)level;
    if (!ear.log || ear.log != data || !message || repeats_the_code(message, length))
        return;
    ear.heard = true;
    append(vmm_detail_here()->note, sizeof vmm_detail_here()->note, message, length);
}

static bool wanted(void)
{
    const char *setting = os_environment("CUVMM_DRIVER_LOG");
    return !setting || strcmp(setting, "0") != 0;
}

void cuda_log_open(struct cuda_log *log, const struct cuda_library *library)
{
    log_register enter;
    log->entry = NULL;
    if (!wanted())
        return;
    cuda_function on = CUDA_FIND(library, cuLogsRegisterCallback);
    cuda_function off = CUDA_FIND(library, cuLogsUnregisterCallback);
    if (!on || !off)
        return;
    memcpy(&enter, &on, sizeof enter);
    memcpy(&log->unregister, &off, sizeof log->unregister);
    if (enter(hear, log, &log->entry) != VMM_SUCCESS)
        log->entry = NULL;
}

void cuda_log_close(struct cuda_log *log)
{
    if (log->entry)
        log->unregister(log->entry);
    log->entry = NULL;
}

struct cuda_ear *cuda_log_listen(const struct cuda_log *log)
{
    ear.log = log;
    ear.heard = false;
    return &ear;
}
