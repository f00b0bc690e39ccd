/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's log of refused calls and warnings: passed to callbacks, and kept in a ring.
 *
 *     call is refused -> abi_log(level, text) -> each callback, then the ring      [oldest ... newest] <- iterator
 */
#include <errno.h>
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

/* Outside the lock: a callback may make calls. Its own refused calls are logged but not passed to callbacks. */
static void tell(CUlogLevel level, const char *text)
{
    static _Thread_local bool inside;
    struct CUlogsCallbackEntry_st now[CALLBACKS];
    if (inside)
        return;
    inside = true;
    life_acquire(&lock);
    memcpy(now, callbacks, sizeof now);
    life_release(&lock);
    for (int i = 0; i < CALLBACKS; i++)
        if (now[i].call) {
            char copy[LINE];
            snprintf(copy, sizeof copy, "%s", text);
            now[i].call(now[i].data, level, copy, strlen(copy));
        }
    inside = false;
}

void abi_log(CUlogLevel level, const char *text)
{
    life_acquire(&lock);
    snprintf(lines[written % LINES], LINE, "%s: %s", level == CU_LOG_LEVEL_ERROR ? "error" : "warning", text);
    written++;
    life_release(&lock);
    tell(level, text);
}

void abi_logs_close(void)
{
    memset(callbacks, 0, sizeof callbacks);
}

CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData, CUlogsCallbackHandle *callback_out)
{
    bool room = false;
    if (!callbackFunc || !callback_out)
        return abi_null("cuLogsRegisterCallback", callbackFunc ? "callback_out" : "callbackFunc");
    life_acquire(&lock);
    for (int i = 0; i < CALLBACKS && !room; i++)
        if (!callbacks[i].call) {
            callbacks[i] = (struct CUlogsCallbackEntry_st){callbackFunc, userData};
            *callback_out = &callbacks[i];
            room = true;
        }
    life_release(&lock);
    return room ? CUDA_SUCCESS
                : abi_refuse(VMM_RULE_LOGS_CALLBACKS, "cuLogsRegisterCallback", "%d callbacks are registered", CALLBACKS);
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback)
{
    bool found = false;
    life_acquire(&lock);
    for (int i = 0; i < CALLBACKS && !found; i++)
        if (&callbacks[i] == callback && callbacks[i].call) {
            callbacks[i].call = NULL;
            found = true;
        }
    life_release(&lock);
    return found ? CUDA_SUCCESS
                 : abi_refuse(VMM_RULE_CALL_VALUE, "cuLogsUnregisterCallback", "%p is not a registered callback",
                              (void *)callback);
}

static CUresult refuse_flags(const char *function, unsigned flags)
{
    return abi_refuse(VMM_RULE_CALL_VALUE, function, "flags is %u: it must be 0", flags);
}

CUresult cuLogsCurrent(CUlogIterator *iterator_out, unsigned int flags)
{
    if (!iterator_out)
        return abi_null("cuLogsCurrent", "iterator_out");
    if (flags)
        return refuse_flags("cuLogsCurrent", flags);
    life_acquire(&lock);
    *iterator_out = written;
    life_release(&lock);
    return CUDA_SUCCESS;
}

/* The first line after an iterator that the ring still has; or the oldest, without an iterator. */
static unsigned first_line(const CUlogIterator *iterator)
{
    unsigned oldest = written > LINES ? written - LINES : 0;
    return iterator && *iterator > oldest ? *iterator : oldest;
}

static CUresult dump(CUlogIterator *iterator, const char *pathToFile, unsigned int flags)
{
    static const char name[] = "cuLogsDumpToFile";
    if (!pathToFile)
        return abi_null(name, "pathToFile");
    if (flags)
        return refuse_flags(name, flags);
    FILE *file = posix.fopen(pathToFile, "a");
    if (!file)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "%.100s cannot be opened for writing: %s", pathToFile, strerror(errno));
    int error = 0;
    life_acquire(&lock);
    const unsigned end = written;
    for (unsigned at = first_line(iterator); at < end && !error; at++)
        error = fprintf(file, "%s\n", lines[at % LINES]) < 0 ? errno : 0;
    life_release(&lock);
    if (fclose(file) != 0 && !error)
        error = errno;
    if (error)
        return abi_refuse(VMM_RULE_LOGS_FILE, name, "%.100s: %s", pathToFile, strerror(error));
    if (iterator)
        *iterator = end;
    return CUDA_SUCCESS;
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
    static const char name[] = "cuLogsDumpToMemory";
    if (!buffer || !size)
        return abi_null(name, buffer ? "size" : "buffer");
    if (flags)
        return refuse_flags(name, flags);
    if (!*size)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "*size is 0: a buffer must have at least one byte");
    life_acquire(&lock);
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
    life_release(&lock);
    buffer[at] = '\0';
    *size = at;
    return CUDA_SUCCESS;
}
