/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's log of refused calls and warnings: passed to callbacks, and kept in a ring.
 *
 *     call is refused -> abi_log(level, text) -> each callback, then the ring      [oldest ... newest] <- iterator
 */
#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "abi_parts.h"
#include "lifecycle.h"
#include "posix.h"

enum { CALLBACKS = 32, LINES = 100, LINE = 512 };

struct CUlogsCallbackEntry_st {
    CUlogsCallback call;
    void *data;
};

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct CUlogsCallbackEntry_st callbacks[CALLBACKS];
static char lines[LINES][LINE];
static unsigned written; /* lines so far; the ring keeps the last LINES of them */

/* Runs outside the lock, because a callback may make calls. */
static void tell(CUlogLevel level, const char *text)
{
    struct CUlogsCallbackEntry_st now[CALLBACKS];
    life_take(&lock);
    memcpy(now, callbacks, sizeof now);
    life_give(&lock);
    for (int i = 0; i < CALLBACKS; i++)
        if (now[i].call) {
            char copy[LINE];
            snprintf(copy, sizeof copy, "%s", text);
            now[i].call(now[i].data, level, copy, strlen(copy));
        }
}

void abi_log(CUlogLevel level, const char *text)
{
    life_take(&lock);
    snprintf(lines[written % LINES], LINE, "%s: %s", level == CU_LOG_LEVEL_ERROR ? "error" : "warning", text);
    written++;
    life_give(&lock);
    tell(level, text);
}

void abi_logs_close(void)
{
    memset(callbacks, 0, sizeof callbacks);
}

CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData, CUlogsCallbackHandle *callback_out)
{
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!callbackFunc || !callback_out)
        return CUDA_ERROR_INVALID_VALUE;
    life_take(&lock);
    for (int i = 0; i < CALLBACKS && result != CUDA_SUCCESS; i++)
        if (!callbacks[i].call) {
            callbacks[i] = (struct CUlogsCallbackEntry_st){callbackFunc, userData};
            *callback_out = &callbacks[i];
            result = CUDA_SUCCESS;
        }
    life_give(&lock);
    return result;
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    life_take(&lock);
    for (int i = 0; i < CALLBACKS; i++)
        if (&callbacks[i] == callback && callbacks[i].call) {
            callbacks[i].call = NULL;
            result = CUDA_SUCCESS;
        }
    life_give(&lock);
    return result;
}

CUresult cuLogsCurrent(CUlogIterator *iterator_out, unsigned int flags)
{
    if (!iterator_out || flags)
        return CUDA_ERROR_INVALID_VALUE;
    life_take(&lock);
    *iterator_out = written;
    life_give(&lock);
    return CUDA_SUCCESS;
}

/* The first line after an iterator that the ring still has; without an iterator the oldest. */
static unsigned first_line(const CUlogIterator *iterator)
{
    unsigned oldest = written > LINES ? written - LINES : 0;
    return iterator && *iterator > oldest ? *iterator : oldest;
}

static CUresult dump(CUlogIterator *iterator, const char *pathToFile, unsigned int flags)
{
    FILE *file = pathToFile && !flags ? posix.fopen(pathToFile, "a") : NULL;
    if (!file)
        return CUDA_ERROR_INVALID_VALUE;
    life_take(&lock);
    for (unsigned i = first_line(iterator); i < written; i++)
        fprintf(file, "%s\n", lines[i % LINES]);
    if (iterator)
        *iterator = written;
    life_give(&lock);
    return fclose(file) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile, unsigned int flags)
{
    int cancel = life_no_cancel();
    CUresult result = dump(iterator, pathToFile, flags);
    life_may_cancel(cancel);
    return result;
}

/* Copies the newest whole lines that fit, with a terminating 0 that does not count in *size. */
CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size, unsigned int flags)
{
    size_t at = 0, need = 1;
    if (!buffer || !size || !*size || flags)
        return CUDA_ERROR_INVALID_VALUE;
    life_take(&lock);
    unsigned first = written, from = first_line(iterator);
    while (first > from && need + strlen(lines[(first - 1) % LINES]) + 1 <= *size)
        need += strlen(lines[--first % LINES]) + 1;
    for (; first < written; first++) {
        size_t length = strlen(lines[first % LINES]);
        memcpy(buffer + at, lines[first % LINES], length);
        buffer[at + length] = '\n';
        at += length + 1;
    }
    if (iterator)
        *iterator = written;
    life_give(&lock);
    buffer[at] = '\0';
    *size = at;
    return CUDA_SUCCESS;
}
