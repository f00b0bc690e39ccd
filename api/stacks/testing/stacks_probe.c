/* SPDX-License-Identifier: Apache-2.0 */
/* A library for tests of programs not written in C: it writes its caller's stack as text. */
#define _GNU_SOURCE
#include <stdio.h>
#include <time.h>

#include "stacks.h"

/* A line a frame: "file<tab>line<tab>function" of Python, "module+offset" of others. Returns the stack's number. */
__attribute__((visibility("default"))) unsigned probe_stack(char *text, size_t size, int mode);
unsigned probe_stack(char *text, size_t size, int mode)
{
    struct stacks_frame frames[STACKS_MOST];
    stacks_set((enum stacks_mode)mode);
    const uint32_t stack = stacks_here();
    const unsigned count = stacks_frames(stack, frames, STACKS_MOST);
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < count && used < size; i++)
        used += (size_t)(frames[i].module ? snprintf(text + used, size - used, "%s+0x%llx\n", frames[i].module,
                                                     (unsigned long long)frames[i].offset)
                                          : snprintf(text + used, size - used, "%s\t%u\t%s\n", frames[i].python, frames[i].line,
                                                     frames[i].function));
    return stack;
}

__attribute__((visibility("default"))) const char *probe_note(void);
const char *probe_note(void)
{
    return stacks_note();
}

/* Nanoseconds that a capture takes here. */
__attribute__((visibility("default"))) double probe_cost(int times, int mode);
double probe_cost(int times, int mode)
{
    struct timespec from, to;
    stacks_set((enum stacks_mode)mode);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < times; i++)
        stacks_here();
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / times;
}
