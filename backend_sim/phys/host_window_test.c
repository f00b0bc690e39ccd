/* SPDX-License-Identifier: Apache-2.0 */
/* host_window: the profile's addresses where they are free, others where not, fewer where the process has a limit. */
#include "host_window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os.h"
#include "tap.h"
#include "vmm.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TOOL 1
#else
#define TOOL 0
#endif

/* A process that may only have this much more; what it finds is its exit status. */
static int in_a_small_process(int (*body)(const struct sim_profile *), const struct sim_profile *profile, rlim_t room)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {room, room};
        exit(setrlimit(RLIMIT_AS, &limit) ? 99 : body(profile)); /* coverage is counted at exit */
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        tap_bail("no child process");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

static int finds_less(const struct sim_profile *profile)
{
    struct host_window window;
    host_window_open(&window, profile, HOST_WINDOW_AUTO);
    uint64_t backed = window.backed - window.start;
    if (window.end - window.start != profile->va_end - profile->va_start)
        return 2;
    host_window_close(&window);
    return backed >= UINT64_C(1) << 30 && backed <= UINT64_C(8) << 30 ? 0 : 1;
}

static int finds_nothing(const struct sim_profile *profile)
{
    struct host_window window;
    host_window_open(&window, profile, HOST_WINDOW_AUTO);
    int bad = window.backed != window.start || window.start != profile->va_start || host_window_holds(&window, window.start, 1);
    host_window_close(&window);
    return bad;
}

/* How often it is said, on standard error, that addresses are few. */
static int says_once(const struct sim_profile *profile)
{
    int ends[2], reported = 0;
    char text[2000];
    vmm_system *sys;
    (void)profile;
    if (pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0)
        return 90;
    for (int i = 0; i < 3; i++) {
        if (vmm_open("sim:h100", &sys))
            return 91;
        vmm_close(sys);
    }
    close(ends[1]);
    close(STDERR_FILENO);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    for (ssize_t i = 0; i < n; i++)
        reported += text[i] == '\n';
    return reported;
}

static void in_place(const struct sim_profile *profile)
{
    struct host_window window, second, third;
    host_window_open(&window, profile, HOST_WINDOW_PROFILE);
    tap_note("%s: of the addresses from 0x%llx on the host has 0x%llx free", profile->name,
             (unsigned long long)profile->va_start, (unsigned long long)(window.backed - window.start));
    tap_ok(window.start == profile->va_start && window.end == profile->va_end, "the profile's addresses");
    if (window.backed == window.start) {
        tap_skip("this host has none of these addresses free", "the profile's addresses are taken once");
    } else {
        uint64_t page = os_page_size();
        tap_ok(!os_reserve(window.start, page) && !os_reserve(window.backed - page, page), "nobody else gets them");
        tap_ok(host_window_holds(&window, window.start, window.backed - window.start), "it holds all of them");
        tap_ok(!host_window_holds(&window, window.backed - page, 2 * page) && !host_window_holds(&window, window.start - 1, 1),
               "and no more");
    }
    host_window_open(&second, profile, HOST_WINDOW_PROFILE);
    tap_ok(second.start == profile->va_start || second.backed == second.start, "a second one in place is not backed");
    host_window_open(&third, profile, HOST_WINDOW_AUTO);
    tap_ok(third.backed > third.start, "elsewhere it is");
    tap_ok(third.backed - third.start <= UINT64_C(1) << 40, "with 1 TiB at most, since others may come");
    tap_u64(third.end - third.start, profile->va_end - profile->va_start, "with as many addresses");
    host_window_close(&third);
    host_window_close(&second);
    uint64_t start = window.start, held = window.backed - window.start;
    host_window_close(&window);
    tap_ok(!host_window_holds(&window, start, 1), "closed, it holds none");
    tap_ok(!held || os_reserve(start, held), "closed, the addresses are free again");
    if (held)
        os_unreserve(start, held);
}

/* All of a few addresses, of which there is no power of two. */
static void all_of_few(const struct sim_profile *profile)
{
    struct host_window window;
    struct sim_profile few = *profile;
    few.va_end = few.va_start + (UINT64_C(3) << 30);
    few.va_context = 0;
    memset(few.va_taken, 0, sizeof few.va_taken);
    if (!os_reserve(few.va_start, UINT64_C(3) << 30)) {
        tap_skip("this host has none of these addresses free", "all of a few addresses are held");
        return;
    }
    os_unreserve(few.va_start, UINT64_C(3) << 30);
    host_window_open(&window, &few, HOST_WINDOW_PROFILE);
    tap_u64(window.backed - window.start, UINT64_C(3) << 30, "all of a few addresses are held");
    host_window_close(&window);
}

#define LOW (UINT64_C(1) << 30) /* the smallest window, and less than valgrind lets a program have (os_posix.c) */

/* Where somebody sits a little above the start there would be little in place. */
static void between(const struct sim_profile *profile)
{
    struct host_window window;
    uint64_t at = profile->va_start + LOW, page = os_page_size();
    if (!os_reserve(at, page)) {
        tap_skip("this host has none of these addresses free", "more elsewhere than in place");
        return;
    }
    host_window_open(&window, profile, HOST_WINDOW_AUTO);
    tap_ok(window.start != profile->va_start && window.backed - window.start > LOW, "more elsewhere than in place");
    host_window_close(&window);
    struct sim_profile wide = *profile;
    wide.va_chunk = UINT64_C(1) << 30;
    wide.va_context = 0;
    host_window_open(&window, &wide, HOST_WINDOW_AUTO);
    tap_ok(window.start != profile->va_start && window.start % wide.va_chunk == 0, "which begins as chunks do");
    host_window_close(&window);
    host_window_open(&window, profile, HOST_WINDOW_PROFILE);
    tap_ok(window.start == profile->va_start && window.backed - window.start <= LOW, "unless it must be there");
    host_window_close(&window);
    os_unreserve(at, page);
}

/* The addresses of a context's own memory are backed with the others, or not at all. */
static void of_the_context(const struct sim_profile *profile)
{
    struct host_window window;
    uint64_t page = os_page_size(), at = profile->va_context, size = 2 * profile->va_chunk;
    if (!os_reserve(profile->va_start, page) || !os_reserve(at, size)) {
        tap_skip("this host has none of these addresses free", "a context's addresses are backed with the others");
        return;
    }
    os_unreserve(at, size);
    host_window_open(&window, profile, HOST_WINDOW_PROFILE);
    tap_ok(window.backed == window.start && !window.context_backed && !host_window_holds(&window, at, 1),
           "where others have none a context has none");
    host_window_close(&window);
    os_unreserve(profile->va_start, page);
    host_window_open(&window, profile, HOST_WINDOW_PROFILE);
    tap_ok(window.backed > window.start && window.context == at && host_window_holds(&window, at, size) && !os_reserve(at, size),
           "where they have some it has its own");
    tap_ok(host_window_holds(&window, at, 1) && host_window_holds(&window, at + size - 1, 1) && !host_window_holds(&window, at - 1, 1) &&
               !host_window_holds(&window, at + size, 1) && !host_window_holds(&window, at + 1, size),
           "from end to end");
    host_window_close(&window);
    tap_ok(!window.context_backed && !host_window_holds(&window, at, 1) && os_reserve(at, size), "closed, those are free as well");
    os_unreserve(at, size);
}

/* The machine's own program sits at 3 GiB: up to there is more than the power of two below. */
static void below_what_is_taken(const struct sim_profile *machine)
{
    struct sim_profile profile = *machine;
    struct host_window window;
    uint64_t page = os_page_size(), room = UINT64_C(3) << 30, at = profile.va_start + room;
    memset(profile.va_taken, 0, sizeof profile.va_taken);
    profile.va_taken[0] = (struct sim_range){at, at + (UINT64_C(2) << 20)};
    profile.va_end = profile.va_start + (UINT64_C(4) << 30);
    if (!os_reserve(at, page)) {
        tap_skip("this host has none of these addresses free", "as many as there are below what is taken");
        return;
    }
    host_window_open(&window, &profile, HOST_WINDOW_PROFILE);
    tap_ok(window.backed == at || window.backed == window.start, "as many as there are below what is taken");
    host_window_close(&window);
    os_unreserve(at, page);
}

int main(void)
{
    struct sim_profile h100, odd;
    struct host_window window;
    if (!sim_profile_builtin("h100", &h100) || !sim_profile_builtin("odd", &odd))
        tap_bail("no built-in profiles");
    in_place(&h100);
    in_place(&odd);
    all_of_few(&h100);
    between(&h100);
    below_what_is_taken(&h100);
    of_the_context(&h100);
    host_window_open(&window, &h100, HOST_WINDOW_NONE);
    tap_ok(window.start == h100.va_start && !host_window_holds(&window, window.start, 1), "none: addresses without a backing");
    host_window_close(&window);
    if (TOOL || getenv("CUVMM_RUN")) {
        tap_skip("the tool's own memory does not fit", "a process with a limit");
    } else {
        tap_u64((uint64_t)in_a_small_process(finds_less, &h100, (rlim_t)8 << 30), 0, "8 GiB to have: fewer are backed");
        tap_u64((uint64_t)in_a_small_process(finds_nothing, &h100, (rlim_t)512 << 20), 0, "512 MiB: none, and none moves");
        tap_u64((uint64_t)in_a_small_process(says_once, &h100, (rlim_t)8 << 30), 1, "which is said once");
        tap_u64((uint64_t)in_a_small_process(says_once, &h100, (rlim_t)16 << 40), 0, "and not where there is enough");
    }
    return tap_done();
}
