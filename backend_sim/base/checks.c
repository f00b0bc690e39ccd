/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CUVMM_DEBUG
atomic_uint checks_on = CHECKS_ALL;
#else
atomic_uint checks_on = CHECKS_OFF;
#endif
void (*checks_report)(const char *said);

static _Thread_local char text[CHECK_ROOM];

const char *check_say(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return text;
}

const char *check_in(const char *said, const char *name, ...)
{
    char whole[CHECK_ROOM];
    va_list values;
    if (!said)
        return NULL;
    va_start(values, name);
    int length = vsnprintf(whole, sizeof whole, name, values);
    va_end(values);
    if ((unsigned)length < CHECK_ROOM)
        snprintf(whole + length, sizeof whole - (size_t)length, ": %s", said);
    return check_say("%s", whole);
}

void checks_failed(const char *said)
{
    if (!said)
        return;
    if (checks_report) { /* LCOV_EXCL_BR_LINE: otherwise the process aborts, and counts no branches */
        checks_report(said);
        return;
    }
    fprintf(stderr, "cuvmm: a broken invariant: %s\n", said);
    abort();
}
