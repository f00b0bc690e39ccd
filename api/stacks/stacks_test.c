/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of this program, whose frames are known: calls, threads, a signal, code without a table, a child, a full depot. */
#define _GNU_SOURCE /* dladdr, MAP_ANONYMOUS */
#include "stacks.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifndef CUVMM_NO_UNWINDER /* as when musl-gcc uses the libraries of a gcc for glibc */
#include <unwind.h>
#endif

#include "inject_rig.h"
#include "stacks_depot.h"
#include "stacks_unwind.h"
#include "tap.h"

/* Placed between a call and the end of a function, so that the call is not a tail call. */
#define NO_TAIL_CALL __asm__ volatile("")

int main(void);

/* An upper bound on the size of functions here, in bytes; sanitizers lengthen them, and start threads from functions of their
 * own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LONGEST = 4000, SANITIZED = 1 };
#else
enum { LONGEST = 400, SANITIZED = 0 };
#endif

static uintptr_t bias;

static int note_bias(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    *(uintptr_t *)user = info->dlpi_addr;
    return 1; /* the first one is the program */
}

/* Is the frame in the function? */
static bool is_within(const struct stacks_frame *frame, void (*function)(void), uint64_t length)
{
    uintptr_t start;
    memcpy(&start, &function, sizeof start);
    return frame->module && frame->offset + bias - start < length;
}

static bool is_in(const struct stacks_frame *frame, void (*function)(void))
{
    return is_within(frame, function, LONGEST);
}

static struct stacks_frame frames[STACKS_MOST];

__attribute__((noinline)) static uint32_t leaf(void)
{
    uint32_t stack = stacks_here();
    NO_TAIL_CALL;
    return stack;
}

__attribute__((noinline)) static uint32_t deep(int levels)
{
    uint32_t stack = levels ? deep(levels - 1) : leaf();
    NO_TAIL_CALL;
    return stack;
}

static void test_off(void)
{
    tap_u64(stacks_here(), 0, "no stack without the setting");
    tap_u64(stacks_frames(0, frames, STACKS_MOST), 0, "the stack 0 has no frames");
    tap_u64(stacks_frames(12345, frames, STACKS_MOST), 0, "nor has a number that nothing was stored under");
    tap_ok(!stacks_note(), "there is nothing to note");
}

static void test_mode(void)
{
    static const struct {
        const char *set;
        enum stacks_mode mode;
    } cases[] = {{NULL, STACKS_NONE}, {"none", STACKS_NONE}, {"short", STACKS_SHORT}, {"full", STACKS_FULL}, {"deep", STACKS_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fflush(NULL);
        pid_t child = fork();
        if (!child) {
            unsetenv("CUVMM_CHECK_STACKS");
            if (cases[i].set)
                setenv("CUVMM_CHECK_STACKS", cases[i].set, 1);
            _exit(stacks_mode() == cases[i].mode ? 0 : 1);
        }
        int status = 1;
        waitpid(child, &status, 0);
        tap_u64((uint64_t)status, 0, "CUVMM_CHECK_STACKS=%s", cases[i].set ? cases[i].set : "(unset)");
    }
}

static void test_short(void)
{
    char self[4096] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        tap_bail("no /proc");
    stacks_set(STACKS_SHORT);
    uint32_t first = 0, second = 0, other = deep(2);
    for (volatile int i = 0; i < 2; i++) {
        first = second;
        second = deep(1);
    }
    tap_ok(first && first == second, "the same place has the same number");
    tap_ok(other != first, "another has another");
    unsigned count = stacks_frames(first, frames, STACKS_MOST);
    tap_ok(count >= 4 && is_in(&frames[0], (void (*)(void))leaf) && is_in(&frames[1], (void (*)(void))deep) &&
               is_in(&frames[2], (void (*)(void))deep) && is_in(&frames[3], (void (*)(void))test_short),
           "the functions, nearest first: %u frames", count);
    tap_text(frames[0].module, self, "the module is this program");
    size_t digits = strspn(frames[0].build, "0123456789abcdef"); /* 40 of GNU's linker, 16 of LLVM's */
    tap_ok(!frames[0].build[digits] && (digits == 0 || digits >= 16), "and has a build id: %s", frames[0].build);
    /* The tests may have been inlined into it. */
    bool main_is_last = is_within(&frames[count - 1], (void (*)(void))main, 10 * LONGEST);
    tap_ok(main_is_last || SANITIZED, "main is the last: its caller is not reported");
    tap_u64(stacks_frames(first, frames, 2), 2, "a short array has the nearest ones");
    tap_u64(stacks_frames(deep(50), frames, STACKS_MOST), STACKS_SHORT_MOST, "a short stack has eight frames");
    stacks_set(STACKS_FULL);
    tap_u64(stacks_frames(deep(100), frames, STACKS_MOST), STACKS_MOST, "a full one has 64");
    stacks_set(STACKS_SHORT);
}

/* ---- against the compiler's unwinder ---- */

#ifdef CUVMM_NO_UNWINDER
static void test_against_compiler(void)
{
    tap_skip("this compiler has no unwinder for this C library", "frames as the compiler's unwinder finds them");
}
#else

struct both {
    uintptr_t theirs[64];
    unsigned count;
};

static _Unwind_Reason_Code note_theirs(struct _Unwind_Context *context, void *user)
{
    struct both *both = user;
    int exact = 0;
    uintptr_t at = _Unwind_GetIPInfo(context, &exact);
    if (both->count == 64 || !at)
        return _URC_END_OF_STACK;
    both->theirs[both->count++] = at - !exact;
    return _URC_NO_REASON;
}

/* Starting with the caller of this function. */
__attribute__((noinline)) static bool agrees(void)
{
    struct both both = {.count = 0};
    struct unwind unwind;
    unsigned i = 0;
    unwind_begin(&unwind);
    _Unwind_Backtrace(note_theirs, &both);
    bool same = unwind_next(&unwind);
    for (i = 1; same && i < both.count && unwind_next(&unwind); i++)
        same = unwind.address == both.theirs[i];
    return same && i == both.count && both.count > 1;
}

__attribute__((noinline)) static bool with_array(unsigned size)
{
    volatile char bytes[size];
    bytes[size - 1] = 1;
    bool is = agrees();
    return is && bytes[size - 1] == 1;
}

/* Its frame is realigned and its CFA is an expression: a case for the C library's unwinder. */
__attribute__((noinline)) static bool with_alignment(unsigned size)
{
    _Alignas(128) volatile char bytes[256];
    bytes[size] = 1;
    bool is = with_array(size);
    return is && bytes[size] == 1;
}

static bool sorted_agree = true;

static int compare(const void *a, const void *b)
{
    sorted_agree = agrees() && sorted_agree;
    return *(const int *)a - *(const int *)b;
}

static volatile sig_atomic_t signal_agrees;

static void on_signal(int number)
{
    (void)number;
    signal_agrees = agrees() && leaf() != 0;
}

static void *in_thread(void *user)
{
    bool *is = user;
    *is = agrees();
    return NULL;
}

static void test_against_compiler(void)
{
    int values[] = {3, 1, 2};
    bool in = false;
    pthread_t thread;
    tap_ok(agrees(), "a plain function");
    tap_ok(with_array(100) && with_array(5000), "a frame of unknown size");
    tap_ok(with_alignment(64), "a frame that is aligned anew");
    qsort(values, 3, sizeof values[0], compare);
    tap_ok(sorted_agree, "called by the C library");
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    tap_ok(signal_agrees, "in the handler of a signal");
    if (pthread_create(&thread, NULL, in_thread, &in) == 0)
        pthread_join(thread, NULL);
    tap_ok(in, "in a thread");
}
#endif

/* ---- code without a table ---- */

#if defined(__x86_64__)
/* Calls its argument with a frame pointer, and another time without one and without a directive for it. */
uint32_t bare_framed(uint32_t (*function)(void));
uint32_t bare_naked(uint32_t (*function)(void));
__asm__(".text\nbare_framed:\n\tpushq %rbp\n\tmovq %rsp, %rbp\n\tcall *%rdi\n\tpopq %rbp\n\tret\n"
        "bare_naked:\n\tpushq %rbx\n\tcall *%rdi\n\tpopq %rbx\n\tret\n");

static void test_bare(void)
{
    unsigned count = stacks_frames(bare_framed(leaf), frames, STACKS_MOST);
    tap_ok(count >= 3 && is_in(&frames[1], (void (*)(void))bare_framed) && is_in(&frames[2], (void (*)(void))test_bare),
           "code without a table is followed by its frame pointer: %u frames", count);
    count = stacks_frames(bare_naked(leaf), frames, STACKS_MOST);
    tap_ok(count >= 2 && is_in(&frames[1], (void (*)(void))bare_naked), "without that the stack may end there: %u frames", count);
}
#else
static void test_bare(void)
{
    tap_skip("the code is x86-64's", "code without a table");
}
#endif

static void test_readable(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + page, page, PROT_NONE) != 0)
        tap_bail("no memory");
    uintptr_t from = (uintptr_t)at;
    tap_ok(unwind_readable(from, 8) && unwind_readable(from + page - 3, 3) && unwind_readable(from, page), "a page");
    tap_ok(!unwind_readable(from + page - 3, 4) && !unwind_readable(from + page, 1), "not what no one may read");
    munmap(at, 2 * page);
    tap_ok(!unwind_readable(from, 1) && !unwind_readable(0, 8) && !unwind_readable(8, 8), "not what is unmapped");
}

/* ---- threads, children, limits ---- */

enum { THREADS = 200, ROUNDS = 300 };

__attribute__((noinline)) static void *capture_often(void *user)
{
    uint32_t *stacks = user;
    for (int i = 0; i < ROUNDS; i++)
        stacks[i % 5] = deep(i % 5);
    return NULL;
}

static void test_threads(void)
{
    static uint32_t stacks[THREADS][5];
    static pthread_t threads[THREADS];
    int made = 0;
    bool same = true;
    while (made < THREADS && pthread_create(&threads[made], NULL, capture_often, stacks[made]) == 0)
        made++;
    for (int i = 0; i < made; i++) {
        pthread_join(threads[i], NULL);
        same = same && memcmp(stacks[i], stacks[0], sizeof stacks[0]) == 0;
    }
    tap_ok(made == THREADS && same && stacks[0][0] && stacks[0][4] && stacks[0][0] != stacks[0][4],
           "%d threads find one number for one place", made);
    unsigned count = stacks_frames(stacks[0][0], frames, STACKS_MOST);
    tap_ok((count == 3 || SANITIZED) && is_in(&frames[2], (void (*)(void))capture_often), "the function of the thread is the last: %u frames", count);
}

static int status_of(int (*code)(void))
{
    int status = 1;
    fflush(NULL);
    pid_t child = fork();
    if (!child)
        _exit(code());
    waitpid(child, &status, 0);
    return status;
}

static uint32_t parents;

static int in_child(void)
{
    return stacks_frames(parents, frames, STACKS_MOST) >= 3 && is_in(&frames[0], (void (*)(void))leaf) && leaf() ? 0 : 1;
}

static int fill(void)
{
    int level = 0;
    depot_limit = 0;
    uint32_t old = parents, made = 0;
    while (!made && level < 3)
        made = deep(20 + level++);
    return !made && depot_full() && stacks_note() && strstr(stacks_note(), "full") && stacks_frames(old, frames, 8) >= 3 ? 0 : 1;
}

static void test_child(void)
{
    stacks_set(STACKS_SHORT);
    parents = deep(0);
    tap_u64((uint64_t)status_of(in_child), 0, "a child has its parent's stacks");
    stacks_set(STACKS_FULL);
    tap_u64((uint64_t)status_of(fill), 0, "a full depot gives no more numbers, keeps what it has and reports that it is full");
    stacks_set(STACKS_SHORT);
}

static void test_depot(void)
{
    char text[100];
    uint32_t refs[1000];
    bool good = true;
    for (int i = 0; i < 2000; i++) {
        int size = snprintf(text, sizeof text, "%0*d", i % 20 + 1, i % 1000);
        uint32_t ref = depot_add(DEPOT_TEXT, text, (size_t)size + 1, &i, sizeof i), at = 0;
        if (i < 1000)
            refs[i] = ref;
        if (i < 1000 || i % 20 == i % 1000 % 20)
            good = good && ref && ref == refs[i % 1000];
        memcpy(&at, depot_value(ref), sizeof at);
        good = good && at == (uint32_t)i % 1000 && strcmp(depot_key(ref), text) == 0;
    }
    tap_ok(good, "equal keys are one record, and the first value stays");
    tap_ok(depot_is(DEPOT_TEXT, refs[0]) && !depot_is(DEPOT_STACK, refs[0]) && !depot_is(DEPOT_TEXT, 0), "records have kinds");
    tap_ok(!depot_find(DEPOT_TEXT, "absent", 7) && !depot_find(DEPOT_STACK, "0", 2), "a missing entry is not found");
}

/* A limit on the whole process would also end sanitizers and valgrind. */
static int without_memory(void)
{
    stacks_set(STACKS_SHORT);
    inject_arm_at("mmap", 1);
    inject_each = true;
    const bool none = !deep(1);
    const char *failed = inject_disarm();
    return none && failed && strcmp(failed, "mmap") == 0 && stacks_note() && !stacks_frames(1, frames, 1) ? 0 : 1;
}

static void test_kept(void)
{
    stacks_keep(77, 5);
    stacks_keep(77, 6);
    stacks_keep(78, 0);
    tap_ok(stacks_kept(77) == 5 && !stacks_kept(78) && !stacks_kept(79), "a stack is kept under a number");
}

int main(void)
{
    dl_iterate_phdr(note_bias, &bias);
    test_mode();
    stacks_set(STACKS_NONE);
    test_off();
    tap_u64((uint64_t)status_of(without_memory), 0, "without memory for the depot there is none, and a note");
    test_short();
    test_against_compiler();
    test_bare();
    test_readable();
    test_threads();
    test_child();
    test_depot();
    test_kept();
    return tap_done();
}
