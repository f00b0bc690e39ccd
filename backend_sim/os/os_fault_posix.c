/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses without the right to them, as signals.
 *
 *     program's H1   <-  ours  <-  program's H2, which calls ours  <-  ours, a second time
 *     kept[0]                      kept[1]
 *
 * A program's handler may chain to the one before it. So a later handler can call ours although ours is no longer installed, and
 * ours can run twice for one signal: called first by the system, and then by the handler that it chained to. Each time it chains
 * to the previous handler, one step further down. */
#define _GNU_SOURCE       /* NSIG */
#define _XOPEN_SOURCE 700 /* ucontext.h */
#include "os.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <ucontext.h>

#include "os_system.h"
#include "posix.h"

/* Linux sends SIGSEGV, macOS SIGBUS. */
static const int signals[] = {SIGSEGV, SIGBUS};
enum { SIGNALS = sizeof signals / sizeof signals[0], MOST_KEPT = 8 };

static os_fault_fn explain_fault;
static struct kept {
    struct sigaction action[MOST_KEPT]; /* the handlers that ours replaced, newest last */
    atomic_int count;
} kept[SIGNALS];

/* The signal that this thread is handling. A handler may leave by a jump, which ends the handling; then the next signal has
 * another context, or has its context and frame at the same addresses. */
static _Thread_local struct {
    const void *context;
    uintptr_t frame;
    int depth;
} within;

/* Stacks grow down. */
static bool is_again(const void *context, uintptr_t frame)
{
    return within.context && (!context || context == within.context) && frame < within.frame;
}

/* ---- chaining ---- */

static void add(sigset_t *to, const sigset_t *from)
{
    for (int number = 1; number < NSIG; number++)
        if (sigismember(from, number) == 1)
            sigaddset(to, number);
}

/* Calls the handler as the system would: with the signals of its mask blocked, and no others. */
static void call(const struct sigaction *action, int number, siginfo_t *info, void *context, bool from_system)
{
    sigset_t mask, before;
    sigemptyset(&mask);
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    add(&mask, from_system ? &((ucontext_t *)context)->uc_sigmask : &before);
    add(&mask, &action->sa_mask);
    if (!(action->sa_flags & (int)SA_NODEFER))
        sigaddset(&mask, number);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(number, info, context);
    else
        action->sa_handler(number);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Does what would have happened without our handler. Returning to the access repeats it, which triggers the default action; a
 * signal that a process sent does not repeat, so it is sent again, or dropped where it was ignored. */
static void chain(int number, siginfo_t *info, void *context, int depth)
{
    struct kept *all = &kept[signals[0] == number ? 0 : 1];
    struct sigaction action = {.sa_handler = SIG_DFL}, otherwise = action;
    bool sent = info && info->si_code <= 0; /* a process sent it */
    int place = atomic_load(&all->count) - 1 - depth;
    if (place >= 0)
        action = all->action[place];
    if (place >= 0 && action.sa_flags & (int)SA_RESETHAND)
        all->action[place] = otherwise;
    if ((action.sa_flags & SA_SIGINFO) || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)) {
        call(&action, number, info, context, context && !depth);
    } else if (action.sa_handler == SIG_DFL || !sent) {
        posix.sigaction(number, &otherwise, NULL); /* LCOV_EXCL_LINE: the coverage counters end with the process */
        if (sent)                            /* LCOV_EXCL_LINE: the same */
            raise(number);                   /* LCOV_EXCL_LINE: the same */
    }
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    int error = errno;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    bool again = is_again(context, frame);
    int depth = again ? within.depth + 1 : 0;
    if (!again && info && info->si_code > 0)
        explain_fault((uint64_t)(uintptr_t)info->si_addr, os_touch_of(context));
    errno = error;
    __typeof__(within) outer = within;
    within.context = context ? context : outer.context;
    within.frame = frame;
    within.depth = depth;
    chain(number, info, context, depth);
    within = outer;
}

/* ---- install and restore ---- */

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_fault;
}

static bool same(const struct sigaction *a, const struct sigaction *b)
{
    bool both = (a->sa_flags & SA_SIGINFO) == (b->sa_flags & SA_SIGINFO);
    return both && (a->sa_flags & SA_SIGINFO ? a->sa_sigaction == b->sa_sigaction : a->sa_handler == b->sa_handler);
}

/* Pushes the current handler onto those that ours chains to, for a later handler that may still call ours. A handler that is
 * there already was installed again. */
static void keep(struct kept *all, const struct sigaction *now)
{
    int count = atomic_load(&all->count);
    if (count && same(&all->action[count - 1], now)) {
        all->action[count - 1] = *now;
        return;
    }
    if (count == MOST_KEPT) { /* keep the oldest, which the program started with */
        for (int i = 2; i < count; i++)
            all->action[i - 1] = all->action[i];
        count--;
    }
    all->action[count] = *now;
    atomic_store(&all->count, count + 1);
}

/* Runs our handler on the stack that the previous handler requested. */
static bool watch(int number, struct kept *all)
{
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK}, now;
    sigemptyset(&ours.sa_mask);
    ours.sa_sigaction = on_fault;
    if (posix.sigaction(number, NULL, &now))
        return false;
    if (is_ours(&now))
        return true;
    if ((now.sa_flags & SA_SIGINFO) || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN))
        ours.sa_flags = SA_SIGINFO | (now.sa_flags & (SA_ONSTACK | SA_RESTART));
    keep(all, &now);
    if (!posix.sigaction(number, &ours, NULL))
        return true;
    atomic_fetch_sub(&all->count, 1);
    return false;
}

bool os_watch_faults(os_fault_fn explain)
{
    bool watched = true;
    explain_fault = explain;
    for (int i = 0; i < SIGNALS; i++)
        watched &= watch(signals[i], &kept[i]);
    return watched;
}

/* Restores the previous handler. None is left if the program itself installed ours after the restore. */
static void leave(int number, struct kept *all)
{
    const struct sigaction nothing = {.sa_handler = SIG_DFL};
    struct sigaction now;
    int last = atomic_load(&all->count) - 1;
    if (posix.sigaction(number, NULL, &now) || !is_ours(&now))
        return;
    if (!posix.sigaction(number, last < 0 ? &nothing : &all->action[last], NULL) && last >= 0)
        atomic_store(&all->count, last);
}

void os_unwatch_faults(void)
{
    for (int i = 0; i < SIGNALS; i++)
        leave(signals[i], &kept[i]);
}
