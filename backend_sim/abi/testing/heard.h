/* SPDX-License-Identifier: Apache-2.0 */
/* heard.h - for tests of libcuda.so.1: a call is refused with that code, by that rule and in one line of the driver's log.
 *
 *     listen();
 *     REFUSED(cuGraphDestroy(graph), ERROR_INVALID_VALUE, "VMM-GRAPH-UNKNOWN");
 */
#ifndef SIM_ABI_TESTING_HEARD_H
#define SIM_ABI_TESTING_HEARD_H

#include "testing/rig.h"

static char heard[600];
static unsigned heard_lines;

static void CUDA_CB heard_line(void *user, CUlogLevel level, char *message, size_t length)
{
    (void)user, (void)level, (void)length;
    snprintf(heard, sizeof heard, "%s", message);
    heard_lines++;
}

static inline void listen(void)
{
    CUlogsCallbackHandle callback;
    OK(cuLogsRegisterCallback(heard_line, NULL, &callback));
}

static inline bool heard_rule(const char *rule)
{
    char want[120];
    snprintf(want, sizeof want, ": %s: ", rule);
    return heard_lines == 1 && strstr(heard, want) && is_whole_line(heard);
}

#define REFUSED(call, code, rule)                                                                    \
    do {                                                                                             \
        heard_lines = 0;                                                                             \
        IS(call, code);                                                                              \
        if (!tap_ok(heard_rule(rule), "by %s", rule))                                                \
            tap_note("%u lines, the last: %s", heard_lines, heard_lines ? heard : "none");           \
    } while (0)

#endif
