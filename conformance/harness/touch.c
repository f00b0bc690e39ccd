/* SPDX-License-Identifier: Apache-2.0 */
#include "touch.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "os_system.h"

static sigjmp_buf out;
static enum os_touch kind;
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

static void stop_and_look(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    kind = os_touch_of(context);
    siglongjmp(out, 1);
}

/* What the system says of a read where nothing may be read. */
static bool kinds_are_reported(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO}, before;
    unsigned char value;
    uint64_t page = os_page_size(), at;
    kind = OS_TOUCHED;
    if (!os_reserve_anywhere(page, page, &at))
        return true;
    action.sa_sigaction = stop_and_look;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before);
    touch_read(at, &value);
    sigaction(SIGSEGV, &before, NULL);
    os_unreserve(at, page);
    return kind != OS_TOUCHED;
}

bool touch_is_named(const char *text, bool write)
{
    return strstr(text, write ? "host write" : "host read") || (strstr(text, "host access") && !kinds_are_reported());
}
