/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* getauxval's AT_ENTRY */
#include "stacks.h"

#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "os_environment.h"
#include "stacks_depot.h"
#include "stacks_module.h"
#include "stacks_python.h"
#include "stacks_unwind.h"

/* A frame of a stored stack: its module's number, with the offset in the lower bits; for Python, the reference of the record. */
enum { OFFSET_BITS = 48, NATIVE_MOST = 512, UNREAD = -1 };

_Atomic int stacks_setting = UNREAD;

enum stacks_mode stacks_mode(void)
{
    int now = atomic_load_explicit(&stacks_setting, memory_order_relaxed);
    if (now != UNREAD)
        return (enum stacks_mode)now;
    const char *set = os_environment("CUVMM_CHECK_STACKS");
    now = !set ? STACKS_NONE : strcmp(set, "full") == 0 ? STACKS_FULL : strcmp(set, "short") == 0 ? STACKS_SHORT : STACKS_NONE;
    atomic_store_explicit(&stacks_setting, now, memory_order_relaxed);
    return (enum stacks_mode)now;
}

void stacks_set(enum stacks_mode set)
{
    atomic_store_explicit(&stacks_setting, (int)set, memory_order_relaxed);
}

/* ---- capture ---- */

struct capture {
    unsigned count, most;
    bool is_outer;  /* the last frame may be one that calls main or starts a thread; so may, of those that are kept, */
    unsigned outer; /* the last so many */
    bool has_python, awaits_python;
    struct python_walk python;
    uint64_t frame[STACKS_MOST];
};

static uint64_t frame_of(const struct module *module, uintptr_t address)
{
    const uint64_t offset = (module ? address - module->bias : address) & ((UINT64_C(1) << OFFSET_BITS) - 1);
    return (uint64_t)(module ? module->number : MODULE_NONE) << OFFSET_BITS | offset;
}

static size_t size_of(const struct capture *capture)
{
    return capture->count * sizeof capture->frame[0];
}

/* Native frames could leave no room for the Python frames that called them, which the reader looks for, so half of the room is
 * reserved for those. The first frame of an interpreter shows whether there are any. If none has been seen in this
 * process, only a new stack is searched for one. */
static bool may_meet_python(const struct capture *capture)
{
    const enum python_expectation expected = python_expected();
    if (expected != PYTHON_UNKNOWN)
        return expected == PYTHON_HERE;
    return !depot_find(DEPOT_STACK, capture->frame, size_of(capture));
}

static unsigned keep(struct capture *capture, uint64_t frame)
{
    if (capture->count == capture->most)
        return 0;
    capture->frame[capture->count++] = frame;
    if (capture->count == capture->most && !capture->has_python)
        capture->awaits_python = may_meet_python(capture);
    return 1;
}

/* The program's first instructions call the C library, which calls main. For code of a file. */
static bool is_start(const struct unwind *unwind)
{
    enum { START_MOST = 64 };
    static _Atomic uintptr_t entry; /* the C library would search for it each time */
    if (!unwind->module->is_program)
        return false;
    uintptr_t start = atomic_load_explicit(&entry, memory_order_relaxed);
    if (!start)
        atomic_store_explicit(&entry, start = getauxval(AT_ENTRY), memory_order_relaxed);
    return unwind->address - start < START_MOST;
}

static void keep_native(struct capture *capture, const struct unwind *unwind)
{
    if (unwind->module && unwind->module->is_ours)
        return;
    const unsigned kept = keep(capture, frame_of(unwind->module, unwind->address));
    capture->is_outer = unwind->module && (unwind->module->is_libc || is_start(unwind));
    capture->outer = capture->is_outer ? capture->outer + kept : 0;
}

/* Python frames replace those of the interpreter, which say nothing about the program. */
static void keep_python(struct capture *capture, const struct unwind *unwind)
{
    uint32_t frame;
    capture->is_outer = false;
    capture->outer = 0;
    while (capture->count < capture->most || capture->awaits_python) {
        frame = python_next(&capture->python, unwind->sp, unwind->next_sp);
        if (!frame)
            return;
        if (!capture->has_python && capture->count > capture->most / 2)
            capture->count = capture->most / 2;
        capture->has_python = true;
        capture->awaits_python = false;
        keep(capture, (uint64_t)MODULE_PYTHON << OFFSET_BITS | frame);
    }
}

/* Only the end of the stack shows whether frames of the C library are the outermost. */
static bool is_wanted(const struct capture *capture)
{
    return capture->count < capture->most || capture->is_outer || capture->awaits_python;
}

static void collect(struct capture *capture, struct unwind *unwind)
{
    bool more = true;
    for (unsigned seen = 0; is_wanted(capture) && seen < NATIVE_MOST && (more = unwind_next(unwind)); seen++)
        if (unwind->module && !is_start(unwind) && python_is_interpreter(&capture->python, unwind->module))
            keep_python(capture, unwind);
        else
            keep_native(capture, unwind);
    if (!more)
        capture->count -= capture->outer;
}

__attribute__((noinline)) uint32_t stacks_here(void)
{
    const enum stacks_mode now = stacks_mode();
    if (now == STACKS_NONE)
        return 0;
    struct unwind unwind;
    struct capture capture; /* its frames are not zeroed first, which would take as long as everything else */
    capture.count = capture.outer = 0;
    capture.most = now == STACKS_FULL ? STACKS_MOST : STACKS_SHORT_MOST;
    capture.is_outer = capture.has_python = capture.awaits_python = false;
    capture.python = (struct python_walk){.state = PYTHON_UNSEEN};
    unwind_begin(&unwind);
    if (!unwind_next(&unwind)) /* this function */
        return 0;
    collect(&capture, &unwind);
    return capture.count ? depot_add(DEPOT_STACK, capture.frame, size_of(&capture), NULL, 0) : 0;
}

/* ---- reading ---- */

static bool read_frame(uint64_t frame, struct stacks_frame *out)
{
    static const char nothing[] = "";
    const uint32_t number = (uint32_t)(frame >> OFFSET_BITS);
    const uint64_t rest = frame & ((UINT64_C(1) << OFFSET_BITS) - 1);
    *out = (struct stacks_frame){.module = nothing, .build = nothing, .offset = rest};
    if (number == MODULE_PYTHON) {
        *out = (struct stacks_frame){0};
        return python_names((uint32_t)rest, &out->python, &out->function, &out->line);
    }
    return number == MODULE_NONE || module_names(number, &out->module, &out->build);
}

unsigned stacks_frames(uint32_t stack, struct stacks_frame *frames, unsigned most)
{
    if (!depot_is(DEPOT_STACK, stack))
        return 0;
    const uint64_t *frame = depot_key(stack);
    unsigned count = (unsigned)(depot_size(stack) / sizeof *frame), got = 0;
    while (got < count && got < most && read_frame(frame[got], &frames[got]))
        got++;
    return got;
}

void stacks_keep(uint64_t key, uint32_t stack)
{
    if (stack)
        depot_add(DEPOT_KEPT, &key, sizeof key, &stack, sizeof stack);
}

uint32_t stacks_kept(uint64_t key)
{
    const uint32_t there = depot_find(DEPOT_KEPT, &key, sizeof key);
    uint32_t stack = 0;
    if (there)
        memcpy(&stack, depot_value(there), sizeof stack);
    return stack;
}

const char *stacks_note(void)
{
    if (depot_full())
        return "the store of stacks is full, so the latest objects and calls have no stacks";
    return python_note();
}
