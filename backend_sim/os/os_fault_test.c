/* SPDX-License-Identifier: Apache-2.0 */
/* Chained signal handlers: each runs once, with the mask that the system would set, and on a small stack. */
#define _DEFAULT_SOURCE /* sigaltstack, MAP_ANONYMOUS */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os.h"
#include "tap.h"
#include "vmm.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MEASURED = 0 };
#else
enum { MEASURED = 1 };
#endif
/* exit codes of children: a handler was called in a circle, or the last handler was reached */
enum { ROUND = 9, AT_THE_END = 7 };

static sigjmp_buf after;

static vmm_system *opened(void)
{
    vmm_system *sys = NULL;
    if (vmm_open("sim:h100", &sys) || vmm_init(sys, 0))
        tap_bail("no system");
    return sys;
}

/* An address that is only reserved. */
static volatile unsigned char *reserved(vmm_system *sys)
{
    vmm_deviceptr at = 0;
    if (vmm_mem_address_reserve(sys, &at, UINT64_C(2) << 20, 0, 0, 0))
        tap_bail("no addresses");
    return (volatile unsigned char *)(uintptr_t)at;
}

/* A separate function, so that ci/valgrind.supp can name the deliberate fault. */
__attribute__((noinline)) static void touch_may_stop_writing(volatile unsigned char *at)
{
    *at = 1;
}

/* ---- handlers of the program that chain to the previous one ---- */

enum { HANDLERS = 3 };
static struct sigaction before[HANDLERS];
static int called[HANDLERS], order;
static int last;      /* the handler that leaves by a jump; -1: none */
static sigset_t mask; /* the signal mask in the handler called last */

static void go_on(int which, int number, siginfo_t *info, void *context)
{
    called[which] = ++order;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    if (order > 20)
        _exit(ROUND);
    if (which == last)
        siglongjmp(after, 1);
    if (before[which].sa_flags & SA_SIGINFO)
        before[which].sa_sigaction(number, info, context);
    else if (before[which].sa_handler == SIG_DFL)
        _exit(AT_THE_END);
}

static void first(int number, siginfo_t *info, void *context)
{
    go_on(0, number, info, context);
}

static void second(int number, siginfo_t *info, void *context)
{
    go_on(1, number, info, context);
}

static void third(int number, siginfo_t *info, void *context)
{
    go_on(2, number, info, context);
}

static void put(int which, int flags)
{
    static void (*const handlers[])(int, siginfo_t *, void *) = {first, second, third};
    struct sigaction action = {.sa_flags = SA_SIGINFO | flags, .sa_sigaction = handlers[which]};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1 + which);
    sigaction(SIGSEGV, &action, &before[which]);
    sigaction(SIGBUS, &action, NULL);
}

/* The exit status of a child that runs code. */
static int in_child(void (*code)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        last = -1;
        code();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        tap_bail("no child");
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Open, install a handler that chains to ours, close, open: ours is below and above it. */
static void around(void)
{
    vmm_system *sys = opened();
    put(0, 0);
    vmm_close(sys);
    touch_may_stop_writing(reserved(opened()));
}

/* The same handler, several times. */
static void around_often(void)
{
    vmm_system *sys = opened();
    for (int i = 0; i < 12; i++) {
        put(0, 0);
        vmm_close(sys);
        sys = opened();
    }
    touch_may_stop_writing(reserved(sys));
}

/* Another handler each time: each runs, newest first, then the handler from before all of them. */
static void three_around(void)
{
    vmm_system *sys = NULL;
    put(0, 0);
    for (int i = 1; i <= 2; i++) {
        sys = opened();
        put(i, 0);
        vmm_close(sys);
    }
    sys = opened();
    last = 0;
    volatile unsigned char *at = reserved(sys);
    for (int round = 0; round < 2; round++) { /* leaving by a jump must not leave state behind */
        order = 0;
        memset(called, 0, sizeof called);
        if (!sigsetjmp(after, 1))
            touch_may_stop_writing(at);
        if (called[2] != 1 || called[1] != 2 || called[0] != 3)
            _exit(1 + round);
    }
    vmm_close(sys); /* closing restores the third, which chains to ours, which chains to the second */
    sys = NULL;
    order = 0;
    memset(called, 0, sizeof called);
    if (!sigsetjmp(after, 1))
        touch_may_stop_writing(at);
    _exit(called[2] == 1 && called[1] == 2 && called[0] == 3 ? 0 : 4);
}

/* The signal was left to the system. A sanitizer reports it in its own words and exits in its own way. */
static bool takes_its_course(int status)
{
    return MEASURED ? status == 128 + SIGSEGV : status && status != ROUND && status != AT_THE_END;
}

static void test_chains(void)
{
    tap_ok(takes_its_course(in_child(around)), "with a program's handler between ours, the signal reaches the default action");
    tap_ok(takes_its_course(in_child(around_often)), "likewise after several rounds");
    tap_u64((uint64_t)in_child(three_around), 0, "each of three handlers runs once, newest first");
}

/* A program that saves the current handler while a system is open, and reinstalls it later. */
static void test_put_back(void)
{
    struct sigaction ours, now;
    vmm_system *sys = opened();
    sigaction(SIGSEGV, NULL, &ours);
    vmm_close(sys);
    sigaction(SIGSEGV, &ours, NULL);
    for (int i = 0; i < 3; i++)
        vmm_close(opened());
    sigaction(SIGSEGV, NULL, &now);
    tap_ok(!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL,
           "closing removes our handler, even one that the program reinstalled");
}

/* ---- handlers that chain without the signal's context, or past the last handler ---- */

static struct sigaction ours; /* saved by the program */
static volatile int deep, silent_calls;
static siginfo_t *volatile seen_info;

/* The default action is installed now, and repeating the access would trigger it: exit here. */
static void end_at_default(void)
{
    struct sigaction now;
    sigaction(SIGSEGV, NULL, &now);
    if (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
        siglongjmp(after, 1);
}

/* A handler without SA_SIGINFO, which has no context to pass on. */
static void silent(int number)
{
    silent_calls++;
    if (silent_calls > 20)
        _exit(ROUND);
    ours.sa_sigaction(number, NULL, NULL);
    end_at_default();
}

static void other_silent(int number)
{
    silent(number);
}

static void handed_on(int number, siginfo_t *info, void *context)
{
    deep++;
    ours.sa_sigaction(number, info, context);
    end_at_default();
}

static void at_the_bottom(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    deep++;
    seen_info = info;
    siglongjmp(after, 1);
}

static void set(void (*handler)(int), void (*action)(int, siginfo_t *, void *), int flags)
{
    struct sigaction now = {.sa_flags = flags};
    sigemptyset(&now.sa_mask);
    if (action) {
        now.sa_flags |= SA_SIGINFO;
        now.sa_sigaction = action;
    } else {
        now.sa_handler = handler;
    }
    sigaction(SIGSEGV, &now, NULL);
}

static void fault_now(volatile unsigned char *at)
{
    deep = silent_calls = 0;
    seen_info = NULL;
    if (!sigsetjmp(after, 1))
        touch_may_stop_writing(at);
}

static void expect(bool holds, int status)
{
    if (!holds)
        _exit(status);
}

static volatile unsigned char *begin_with(void (*handler)(int), void (*action)(int, siginfo_t *, void *), int flags)
{
    set(handler, action, flags);
    volatile unsigned char *at = reserved(opened());
    sigaction(SIGSEGV, NULL, &ours);
    return at;
}

/* [default] <- ours <- silent: the system calls silent. */
static void silent_above(void)
{
    volatile unsigned char *at = begin_with(SIG_DFL, NULL, 0);
    set(silent, NULL, 0);
    fault_now(at);
    expect(silent_calls == 1, 1);
}

/* [bottom] <- ours <- silent: the handler below runs, without a context either. */
static void silent_between(void)
{
    volatile unsigned char *at = begin_with(NULL, at_the_bottom, 0);
    set(silent, NULL, 0);
    fault_now(at);
    expect(silent_calls == 1 && deep == 1 && !seen_info, 1);
}

/* [default] <- ours <- silent <- ours: called a second time without a context, ours chains to the handler from before all of
 * them. */
static void silent_within(void)
{
    vmm_system *sys = opened();
    sigaction(SIGSEGV, NULL, &ours);
    set(silent, NULL, 0);
    vmm_close(sys);
    volatile unsigned char *at = reserved(opened());
    fault_now(at);
    expect(silent_calls == 1, 1);
}

/* A handler that is installed repeatedly is kept once; another one is kept beside it. */
static void silent_often(void)
{
    vmm_system *sys = opened();
    sigaction(SIGSEGV, NULL, &ours);
    for (int i = 0; i < 3; i++) {
        set(silent, NULL, 0);
        vmm_close(sys);
        sys = opened();
    }
    set(other_silent, NULL, 0);
    vmm_close(sys);
    fault_now(reserved(opened()));
    expect(silent_calls == 2, 1); /* the other handler and this one; kept three times, it would run three times */
}

/* More handlers than ours keeps: it keeps the newest, and the one that the program started with. */
static void many(void)
{
    vmm_system *sys = opened();
    sigaction(SIGSEGV, NULL, &ours);
    for (int i = 0; i < 14; i++) {
        set(silent, i % 2 ? handed_on : NULL, 0);
        vmm_close(sys);
        sys = opened();
    }
    fault_now(reserved(sys));
    expect(deep + silent_calls == 7, 1);
}

/* The program reinstalls ours after all kept handlers are gone: the default action follows. */
static void nothing_kept(void)
{
    vmm_system *sys = opened();
    volatile unsigned char *at = reserved(sys);
    sigaction(SIGSEGV, NULL, &ours);
    vmm_close(sys);
    set(NULL, handed_on, 0);
    fault_now(at);
    expect(deep == 1, 1);
}

/* The handler below ours was put back by the close: ours no longer chains to it, so the default action follows. */
static void put_back_once(void)
{
    set(NULL, at_the_bottom, 0);
    vmm_system *sys = opened();
    volatile unsigned char *at = reserved(sys);
    sigaction(SIGSEGV, NULL, &ours);
    vmm_close(sys);
    set(NULL, handed_on, 0);
    fault_now(at);
    expect(deep == 1 && !seen_info, 1);
}

/* SIG_IGN: ours drops a signal that a process sent, as the system would, and stays installed. */
static void ignored(void)
{
    struct sigaction now;
    volatile unsigned char *at = begin_with(SIG_IGN, NULL, 0);
    raise(SIGSEGV);
    sigaction(SIGSEGV, NULL, &now);
    expect((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == ours.sa_sigaction, 1);
    set(NULL, handed_on, 0); /* but an access repeats, so the default action follows */
    fault_now(at);
    expect(deep == 1, 2);
}

/* A SA_RESETHAND handler runs for one signal. */
static void once(void)
{
    volatile unsigned char *at = begin_with(NULL, at_the_bottom, (int)SA_RESETHAND);
    fault_now(at);
    expect(deep == 1 && seen_info, 1);
    set(NULL, handed_on, 0);
    fault_now(at);
    expect(deep == 1 && !seen_info, 2);
}

static void test_few_words(void)
{
    static const struct {
        void (*code)(void);
        const char *name;
    } cases[] = {{silent_above, "a handler without a context above ours"},
                 {silent_between, "a handler without a context between ours and another"},
                 {silent_within, "a handler without a context between ours and ours"},
                 {silent_often, "a handler that is installed repeatedly"},
                 {many, "fourteen handlers"},
                 {nothing_kept, "ours reinstalled with no handler below"},
                 {ignored, "an ignored signal"},
                 {once, "a handler with SA_RESETHAND"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        tap_u64((uint64_t)in_child(cases[i].code), 0, "%s", cases[i].name);
}

/* ---- the mask of a handler ---- */

static bool blocked(int number)
{
    return sigismember(&mask, number) == 1;
}

/* The signal mask that a handler below ours runs with. */
static void stopped_with(int flags)
{
    last = 0;
    put(0, flags);
    vmm_system *sys = opened();
    volatile unsigned char *at = reserved(sys);
    sigset_t own, now;
    sigemptyset(&own);
    sigaddset(&own, SIGHUP);
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    if (!sigsetjmp(after, 1))
        touch_may_stop_writing(at);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    vmm_close(sys);
    sigemptyset(&own);
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
}

static bool mask_is_back;

static void block_more(int number)
{
    (void)number;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
}

/* Calls ours, which calls the handler below and puts the mask back that it found. */
static void compare(int number)
{
    sigset_t was, now;
    pthread_sigmask(SIG_BLOCK, NULL, &was);
    ours.sa_sigaction(number, NULL, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    mask_is_back = true;
    for (int i = 1; i < NSIG; i++)
        mask_is_back &= sigismember(&was, i) == sigismember(&now, i);
    siglongjmp(after, 1);
}

/* [block_more, which blocks SIGUSR1] <- ours <- compare, in a thread that blocks SIGHUP. */
static void called_directly(void)
{
    struct sigaction below = {.sa_handler = block_more};
    sigset_t own;
    sigemptyset(&below.sa_mask);
    sigaddset(&below.sa_mask, SIGUSR1);
    sigaction(SIGSEGV, &below, NULL);
    volatile unsigned char *at = reserved(opened());
    sigaction(SIGSEGV, NULL, &ours);
    set(compare, NULL, 0);
    sigemptyset(&own);
    sigaddset(&own, SIGHUP);
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    fault_now(at);
    expect(blocked(SIGSEGV) && blocked(SIGUSR1) && blocked(SIGHUP) && !blocked(SIGUSR2), 1);
    expect(mask_is_back, 2);
}

static void test_masks(void)
{
    tap_u64((uint64_t)in_child(called_directly), 0, "a handler that calls ours has its own mask again afterwards");
    stopped_with(0);
    tap_ok(blocked(SIGSEGV) && blocked(SIGUSR1) && blocked(SIGHUP) && !blocked(SIGUSR2),
           "the signal, the handler's mask and the thread's mask are blocked");
    stopped_with(SA_NODEFER);
    tap_ok(!blocked(SIGSEGV) && blocked(SIGUSR1) && blocked(SIGHUP), "SA_NODEFER leaves the signal unblocked");
}

/* ---- the stack ---- */

enum { SMALL = 8192, OURS = 4096, PATTERN = 0x5a };

static size_t touched(const unsigned char *stack, size_t size)
{
    size_t whole = 0;
    while (whole < size && stack[whole] == PATTERN)
        whole++;
    return size - whole;
}

/* How much of a stack of that size the explanation takes, without the system's frame: the difference to a handler that does
 * nothing. 0: it overflowed. */
static size_t stack_used(size_t size, bool explained)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *low = mmap(NULL, size + 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((void *)low == MAP_FAILED || mprotect(low, 4 * page, PROT_NONE)) /* no access below it */
        tap_bail("no stack");
    stack_t stack = {.ss_sp = low + 4 * page, .ss_size = size}, none = {.ss_flags = SS_DISABLE};
    memset(stack.ss_sp, PATTERN, size);
    last = 0;
    put(0, SA_ONSTACK);
    vmm_system *sys = explained ? opened() : NULL;
    volatile unsigned char *at = explained ? reserved(sys) : low;
    sigaltstack(&stack, NULL);
    if (!sigsetjmp(after, 1))
        touch_may_stop_writing(at);
    sigaltstack(&none, NULL);
    size_t used = touched(stack.ss_sp, size);
    if (sys)
        vmm_close(sys);
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    munmap(low, size + 4 * page);
    return used;
}

static void test_stack(void)
{
    if (!MEASURED || getenv("CUVMM_RUN")) {
        tap_skip("sanitizers use more stack, and valgrind treats a finished handler's frame as unaddressable",
                 "the stack that an explanation takes");
        return;
    }
    size_t bare = stack_used(8 * SMALL, false), all = stack_used(8 * SMALL, true);
    tap_note("an explanation takes %zu bytes of stack; the system's frame and the program's handler take %zu", all - bare, bare);
    tap_ok(all - bare <= OURS, "an explanation takes at most %d bytes of stack", OURS);
    if (bare + OURS > SMALL)
        tap_skip("this processor's registers alone fill the stack", "an explanation on a stack of 8 KiB");
    else
        tap_ok(stack_used(SMALL, true) < SMALL, "an explanation fits on a stack of 8 KiB");
}

int main(void)
{
    if (!freopen("/dev/null", "w", stderr)) /* discards the explanations */
        tap_bail("no /dev/null");
    /* in a process that has kept no handler before */
    tap_u64((uint64_t)in_child(put_back_once), 0, "ours called after the handler below was put back");
    test_chains();
    test_put_back();
    test_few_words();
    test_masks();
    test_stack();
    return tap_done();
}
