/* SPDX-License-Identifier: Apache-2.0 */
#include "touch.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static sigjmp_buf out;
static struct sigaction segv, bus;

static void stop(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

void touch_begin(void)
{
    struct sigaction action = {.sa_handler = stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &segv);
    sigaction(SIGBUS, &action, &bus);
}

void touch_end(void)
{
    sigaction(SIGSEGV, &segv, NULL);
    sigaction(SIGBUS, &bus, NULL);
}

/* Separate functions, so that suppressions can name the intended faults (ci/valgrind.supp). */
__attribute__((noinline)) static void touch_may_stop_reading(volatile const unsigned char *at, unsigned char *value)
{
    *value = *at;
}

__attribute__((noinline)) static void touch_may_stop_writing(volatile unsigned char *at, unsigned char value)
{
    *at = value;
}

bool touch_read(uint64_t address, unsigned char *value)
{
    if (sigsetjmp(out, 1))
        return false;
    touch_may_stop_reading((volatile const unsigned char *)(uintptr_t)address, value);
    return true;
}

bool touch_write(uint64_t address, unsigned char value)
{
    if (sigsetjmp(out, 1))
        return false;
    touch_may_stop_writing((volatile unsigned char *)(uintptr_t)address, value);
    return true;
}
