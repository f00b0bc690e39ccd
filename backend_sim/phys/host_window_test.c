/* SPDX-License-Identifier: Apache-2.0 */
/* host_window: the profile's addresses if they are free, other addresses if not, fewer if the process has a limit. */
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

/* Runs body in a child whose address space is limited to room bytes; returns the child's exit status. */
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

/* Counts the warnings on standard error that too few addresses are free. */
static int warns_once(const struct sim_profile *profile)
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
    tap_note("%s: the host has 0x%llx free addresses from 0x%llx on", profile->name,
             (unsigned long long)profile->va_start, (unsigned long long)(window.backed - window.start));
    tap_ok(window.start == profile->va_start && window.end == profile->va_end, "the window uses the profile's addresses");
    if (window.backed == window.start) {
        tap_skip("this host has none of these addresses free", "the profile's addresses are taken once");
    } else {
        uint64_t page = os_page_size();
        tap_ok(!os_reserve(window.start, page) && !os_reserve(window.backed - page, page),
               "no other reservation gets these addresses");
        tap_ok(host_window_holds(&window, window.start, window.backed - window.start), "the window holds all its addresses");
        tap_ok(!host_window_holds(&window, window.backed - page, 2 * page) && !host_window_holds(&window, window.start - 1, 1),
               "the window holds no other address");
    }
    host_window_open(&second, profile, HOST_WINDOW_PROFILE);
    tap_ok(second.start == profile->va_start || second.backed == second.start,
           "a second window at the profile's addresses is not backed");
    host_window_open(&third, profile, HOST_WINDOW_AUTO);
    tap_ok(third.backed > third.start, "a window that may move is backed");
    tap_ok(third.backed - third.start <= UINT64_C(1) << 40, "a window that moved backs at most 1 TiB");
    tap_u64(third.end - third.start, profile->va_end - profile->va_start, "a window that moved has the same span");
    host_window_close(&third);
    host_window_close(&second);
    uint64_t start = window.start, held = window.backed - window.start;
    host_window_close(&window);
    tap_ok(!host_window_holds(&window, start, 1), "a closed window holds no address");
    tap_ok(!held || os_reserve(start, held), "the addresses of a closed window are free again");
    if (held)
        os_unreserve(start, held);
}

/* Profiles whose addresses the host cannot back. */
static void unusual(const struct sim_profile *profile)
{
    struct host_window window;
    struct sim_profile other = *profile;
    uint64_t page = os_page_size();
    memset(other.va_taken, 0, sizeof other.va_taken);
    other.va_granularity = page / 2;
    host_window_open(&window, &other, HOST_WINDOW_AUTO);
    tap_ok(window.backed == window.start && window.end == other.va_end, "half pages are not backed");
    host_window_close(&window);
    other.va_granularity = profile->va_granularity;
    other.va_context = 0;
    other.va_start = (UINT64_C(1) << 47) - (UINT64_C(1) << 30); /* the top of a program's address space, where a stack lies */
    other.va_end = other.va_start + (UINT64_C(4) << 30);
    host_window_open(&window, &other, HOST_WINDOW_PROFILE);
    tap_ok(window.start == other.va_start && window.backed <= UINT64_C(1) << 47, "addresses that no program has are not backed");
    host_window_close(&window);
    host_window_open(&window, &other, HOST_WINDOW_AUTO);
    tap_ok(window.backed == window.start || window.backed <= UINT64_C(1) << 47, "others may be");
    host_window_close(&window);
    other.va_end = other.va_start + (UINT64_C(4) << 30) + page / 2;
    host_window_open(&window, &other, HOST_WINDOW_AUTO);
    tap_ok((window.backed - window.start) % page == 0, "a span that ends inside a page is backed in whole pages");
    host_window_close(&window);
}

/* A context's addresses within the window are backed only once. */
static void inside_of_it(const struct sim_profile *profile)
{
    struct host_window window;
    struct sim_profile same = *profile;
    same.va_context = same.va_start + same.va_chunk;
    host_window_open(&window, &same, HOST_WINDOW_PROFILE);
    if (window.backed == window.start)
        tap_skip("this host has none of these addresses free", "a context inside the window");
    else
        tap_ok(!window.context_backed && host_window_holds(&window, same.va_context, 2 * same.va_chunk), "a context inside the window");
    host_window_close(&window);
}

/* A span that is not a power of two is backed whole. */
static void all_of_few(const struct sim_profile *profile)
{
    struct host_window window;
    struct sim_profile few = *profile;
    few.va_end = few.va_start + (UINT64_C(3) << 30);
    few.va_context = 0;
    memset(few.va_taken, 0, sizeof few.va_taken);
    if (!os_reserve(few.va_start, UINT64_C(3) << 30)) {
        tap_skip("this host has none of these addresses free", "a span of 3 GiB is backed whole");
        return;
    }
    os_unreserve(few.va_start, UINT64_C(3) << 30);
    host_window_open(&window, &few, HOST_WINDOW_PROFILE);
    tap_u64(window.backed - window.start, UINT64_C(3) << 30, "a span of 3 GiB is backed whole");
    host_window_close(&window);
}

#define LOW (UINT64_C(1) << 30) /* the smallest window, and less than valgrind lets a program have (os_posix.c) */

/* Another mapping a little above the start leaves few addresses there, so the window moves. */
static void between(const struct sim_profile *profile)
{
    struct host_window window;
    uint64_t at = profile->va_start + LOW, page = os_page_size();
    if (!os_reserve(at, page)) {
        tap_skip("this host has none of these addresses free", "the window moves to back more addresses");
        return;
    }
    host_window_open(&window, profile, HOST_WINDOW_AUTO);
    tap_ok(window.start != profile->va_start && window.backed - window.start > LOW, "the window moves to back more addresses");
    host_window_close(&window);
    struct sim_profile wide = *profile;
    wide.va_chunk = UINT64_C(1) << 30;
    wide.va_context = 0;
    host_window_open(&window, &wide, HOST_WINDOW_AUTO);
    tap_ok(window.start != profile->va_start && window.start % wide.va_chunk == 0,
           "a window that moved starts at a multiple of the chunk");
    host_window_close(&window);
    host_window_open(&window, profile, HOST_WINDOW_PROFILE);
    tap_ok(window.start == profile->va_start && window.backed - window.start <= LOW,
           "with HOST_WINDOW_PROFILE the window does not move");
    host_window_close(&window);
    os_unreserve(at, page);
}

/* The addresses of a context's own memory are backed only if the window's other addresses are. */
static void of_the_context(const struct sim_profile *profile)
{
    struct host_window window;
    uint64_t page = os_page_size(), at = profile->va_context, size = 2 * profile->va_chunk;
    if (!os_reserve(profile->va_start, page) || !os_reserve(at, size)) {
        tap_skip("this host has none of these addresses free", "a context's addresses are backed with the window's");
        return;
    }
    os_unreserve(at, size);
    host_window_open(&window, profile, HOST_WINDOW_PROFILE);
    tap_ok(window.backed == window.start && !window.context_backed && !host_window_holds(&window, at, 1),
           "without a backed window a context's addresses are not backed");
    host_window_close(&window);
    os_unreserve(profile->va_start, page);
    host_window_open(&window, profile, HOST_WINDOW_PROFILE);
    tap_ok(window.backed > window.start && window.context == at && host_window_holds(&window, at, size) && !os_reserve(at, size),
           "with a backed window a context's addresses are backed");
    tap_ok(host_window_holds(&window, at, 1) && host_window_holds(&window, at + size - 1, 1) &&
           !host_window_holds(&window, at - 1, 1) &&
               !host_window_holds(&window, at + size, 1) && !host_window_holds(&window, at + 1, size),
           "the window holds exactly the context's addresses there");
    host_window_close(&window);
    tap_ok(!window.context_backed && !host_window_holds(&window, at, 1) && os_reserve(at, size),
           "closing the window frees the context's addresses");
    os_unreserve(at, size);
}

/* The profile marks addresses at 3 GiB as taken: the window is backed up to there, more than the next lower power of two. */
static void below_what_is_taken(const struct sim_profile *machine)
{
    struct sim_profile profile = *machine;
    struct host_window window;
    uint64_t page = os_page_size(), room = UINT64_C(3) << 30, at = profile.va_start + room;
    memset(profile.va_taken, 0, sizeof profile.va_taken);
    profile.va_taken[0] = (struct sim_range){at, at + (UINT64_C(2) << 20)};
    profile.va_end = profile.va_start + (UINT64_C(4) << 30);
    if (!os_reserve(at, page)) {
        tap_skip("this host has none of these addresses free", "the window is backed up to the taken addresses");
        return;
    }
    host_window_open(&window, &profile, HOST_WINDOW_PROFILE);
    tap_ok(window.backed == at || window.backed == window.start, "the window is backed up to the taken addresses");
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
    unusual(&h100);
    inside_of_it(&h100);
    between(&h100);
    below_what_is_taken(&h100);
    of_the_context(&h100);
    host_window_open(&window, &h100, HOST_WINDOW_NONE);
    tap_ok(window.start == h100.va_start && !host_window_holds(&window, window.start, 1),
           "with HOST_WINDOW_NONE no address is backed");
    host_window_close(&window);
    uint64_t many;
    const bool cheap = os_reserve_anywhere(UINT64_C(1) << 40, UINT64_C(1) << 30, &many);
    if (cheap)
        os_unreserve(many, UINT64_C(1) << 40);
    if (TOOL || getenv("CUVMM_RUN")) {
        tap_skip("the tool's own memory exceeds the limit", "a process with a limit");
    } else if (!cheap) {
        tap_skip("reserved addresses cost memory here, as in an emulator", "a process with a limit");
    } else {
        tap_u64((uint64_t)in_a_small_process(finds_less, &h100, (rlim_t)8 << 30), 0,
                "with a limit of 8 GiB fewer addresses are backed");
        tap_u64((uint64_t)in_a_small_process(finds_nothing, &h100, (rlim_t)512 << 20), 0,
                "with a limit of 512 MiB no address is backed, and the window does not move");
        tap_u64((uint64_t)in_a_small_process(warns_once, &h100, (rlim_t)8 << 30), 1,
                "three systems print one warning about too few addresses");
        tap_u64((uint64_t)in_a_small_process(warns_once, &h100, (rlim_t)16 << 40), 0, "enough addresses give no warning");
    }
    return tap_done();
}
