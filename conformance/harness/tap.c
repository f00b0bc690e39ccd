/* SPDX-License-Identifier: Apache-2.0 */
#include "tap.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned points, failures;

/* '#' would start a directive and a newline would end the line, so names lose both. */
static void print_name(const char *format, va_list args)
{
    char name[512];
    vsnprintf(name, sizeof name, format, args);
    for (char *c = name; *c; c++)
        if (*c == '#' || *c == '\n')
            *c = ' ';
    fputs(name, stdout);
}

static void point(bool ok, const char *format, va_list args)
{
    points++;
    if (!ok)
        failures++;
    printf("%s %u - ", ok ? "ok" : "not ok", points);
    print_name(format, args);
}

static void end(void)
{
    putchar('\n');
    fflush(stdout);
}

#define POINT(ok)                    \
    do {                             \
        va_list args;                \
        va_start(args, format);      \
        point((ok), format, args);   \
        va_end(args);                \
    } while (0)

bool tap_check(const char *file, int line, bool cond, const char *format, ...)
{
    pthread_mutex_lock(&lock);
    POINT(cond);
    end();
    if (!cond)
        printf("#   failed at %s:%d\n", file, line);
    pthread_mutex_unlock(&lock);
    return cond;
}

bool tap_equal_u64(const char *file, int line, uint64_t got, uint64_t want, const char *format, ...)
{
    pthread_mutex_lock(&lock);
    POINT(got == want);
    end();
    if (got != want)
        printf("#   failed at %s:%d\n#   got  0x%" PRIx64 " (%" PRIu64 ")\n#   want 0x%" PRIx64 " (%" PRIu64 ")\n", file,
               line, got, got, want, want);
    pthread_mutex_unlock(&lock);
    return got == want;
}

bool tap_equal_text(const char *file, int line, const char *got, const char *want, const char *format, ...)
{
    bool same = got == want || (got && want && strcmp(got, want) == 0);
    pthread_mutex_lock(&lock);
    POINT(same);
    end();
    if (!same)
        printf("#   failed at %s:%d\n#   got  %s\n#   want %s\n", file, line, got ? got : "(null)",
               want ? want : "(null)");
    pthread_mutex_unlock(&lock);
    return same;
}

bool tap_equal_result(const char *file, int line, vmm_result got, vmm_result want, const char *format, ...)
{
    pthread_mutex_lock(&lock);
    POINT(got == want);
    end();
    if (got != want)
        printf("#   failed at %s:%d\n#   got  %s\n#   want %s\n", file, line, vmm_result_name(got),
               vmm_result_name(want));
    pthread_mutex_unlock(&lock);
    return got == want;
}

void tap_skip(const char *reason, const char *format, ...)
{
    pthread_mutex_lock(&lock);
    POINT(true);
    printf(" # SKIP %s", reason);
    end();
    pthread_mutex_unlock(&lock);
}

void tap_todo(const char *waiver, bool cond, const char *format, ...)
{
    pthread_mutex_lock(&lock);
    /* prove accepts a passing TODO and exits 0, but a stale waiver must fail the run, so it is printed as a failure. */
    POINT(false);
    if (cond) {
        printf(" (stale waiver %s: the rule holds now)", waiver);
    } else {
        failures--;
        printf(" # TODO %s", waiver);
    }
    end();
    pthread_mutex_unlock(&lock);
}

void tap_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&lock);
    fputs("# ", stdout);
    vprintf(format, args);
    end();
    pthread_mutex_unlock(&lock);
    va_end(args);
}

void tap_bail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("Bail out! ", stdout);
    vprintf(format, args);
    end();
    va_end(args);
    exit(255);
}

int tap_done(void)
{
    printf("1..%u\n", points);
    if (failures)
        printf("# %u of %u failed\n", failures, points);
    fflush(stdout);
    return failures || !points;
}
