/* SPDX-License-Identifier: Apache-2.0 */
/* inject_steps.h - for tests: repeated calls: the first, the second, the third request of each fails, until nothing
 * is left to fail. A run is a program of such steps from opening to closing, written once.
 *
 *   STEP(mem_create, sys, &handle, size, &prop, 0);
 *     try 1: calloc fails   -> OUT_OF_MEMORY, all is as before the call
 *     try 2: realloc fails -> OUT_OF_MEMORY, nothing has changed
 *     try 3: 2 requests, none fails -> SUCCESS, and all is as in the run where nothing ever failed
 *
 * All: the objects of every system that steps_add named, with their numbers, addresses and rights, free memory, the bytes
 * that steps_watch named, the test's machines and, where the call is refused, this process's descriptors. A call may also
 * succeed in spite of a failure; then the next request is tried in another run. A run that continues differently, at
 * other addresses or without a shadow, is not compared with the first. After a run the numbers of allocations, views of
 * memory and descriptors are the same as before.
 */
#ifndef SIM_INJECT_STEPS_H
#define SIM_INJECT_STEPS_H

#include "inject_rig.h"

#include "call.h"
#include "detail.h"
#include "share_rig.h"

enum { STEPS_MOST = 400, STEPS_SYSTEMS = 4, STEPS_TRIES = 500, STEPS_TOLD = 20 };

static struct {
    vmm_system *system[STEPS_SYSTEMS];
    unsigned systems;
    vmm_system *watcher;
    vmm_deviceptr watched;
    uint64_t watched_size;
    bool first;                     /* the run in which nothing fails */
    bool begun;                     /* something has failed in this run; until then it equals the first run */
    bool apart;                     /* this run differs from the first and has reported that, or may do so */
    unsigned step;                  /* those that this run has made */
    uint64_t after[STEPS_MOST];     /* the state after each in the first run */
    unsigned long from[STEPS_MOST]; /* the next request to fail; 0: none */
    bool seen[VMM_CALL_COUNT];      /* the calls that were made, in any run */
    unsigned refused, passed;       /* failed requests that a call reported, and those that it tolerated */
    unsigned wrong;
} steps;

struct step {
    const char *text;
    unsigned index;
    unsigned long nth;
    struct inject_out out;
    uint64_t before, files;
};

static void steps_wrong(const struct step *step, const char *what, const char *why)
{
    if (steps.wrong++ < STEPS_TOLD)
        tap_note("%s, request %lu (%s): %s", step->text, step->nth, what ? what : "none", why);
}

static void steps_add(vmm_system *sys)
{
    steps.system[steps.systems++] = sys;
}

/* The system added last is closed next. */
static vmm_system *steps_take(void)
{
    return steps.system[--steps.systems];
}

/* From now on these bytes are compared; size 0: none. Not while work that writes to them is in flight. */
static void steps_watch(vmm_system *sys, vmm_deviceptr at, uint64_t size)
{
    steps.watcher = sys;
    steps.watched = at;
    steps.watched_size = size;
}

/* ---- the state as a number ---- */

static void steps_mix(uint64_t *sum, uint64_t value)
{
    *sum = (*sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    *sum ^= *sum >> 32;
}

/* Without the calls' ordinals, because refused calls have one, too. */
static void steps_object(void *user, const vmm_object *o)
{
    const uint64_t values[] = {o->kind,   o->number,     o->start,    o->size,  o->value, o->handle,  o->handle_number, o->offset,
                               o->access, o->references, o->mappings, o->block, o->team,  o->devices, o->binds,
                               (uint64_t)o->location.type, (uint64_t)o->location.id};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        steps_mix(user, values[i]);
}

static void steps_bytes(uint64_t *sum)
{
    static unsigned char bytes[65536];
    for (uint64_t done = 0; done < steps.watched_size; done += sizeof bytes) {
        uint64_t n = steps.watched_size - done < sizeof bytes ? steps.watched_size - done : sizeof bytes;
        steps_mix(sum, (uint64_t)vmm_memcpy_dtoh(steps.watcher, bytes, steps.watched + done, n));
        for (uint64_t i = 0, word = 0; i < n; i += sizeof word) {
            memcpy(&word, bytes + i, n - i < sizeof word ? n - i : sizeof word);
            steps_mix(sum, word);
        }
    }
}

static uint64_t steps_state(void)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (unsigned i = 0; i < steps.systems; i++) {
        steps_mix(&sum, i);
        vmm_visit(steps.system[i], steps_object, &sum);
    }
    steps_bytes(&sum);
    steps_mix(&sum, rig_machines());
    return sum;
}

/* The open descriptors, one bit each, except for the files in which machines keep their memory once they have one. */
static uint64_t steps_files(bool all)
{
    uint64_t open_now = 0;
    for (int fd = 0; fd < 64; fd++) {
        char name[32], target[300] = "";
        if (fcntl(fd, F_GETFD) < 0) /* most are not open; this runs many thousand times */
            continue;
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        bool is_open = readlink(name, target, sizeof target - 1) > 0;
        open_now |= (uint64_t)(is_open && (all || (!strstr(target, "/mem.") && !strstr(target, "cuvmm-memory")))) << fd;
    }
    return open_now;
}

/* ---- a step ---- */

static void step_begin(struct step *step, const char *text, void *out, size_t size)
{
    *step = (struct step){.text = text, .index = steps.step++, .out = inject_keep(out, size)};
    if (step->index >= STEPS_MOST)
        tap_bail("%s: too many steps", text);
    step->nth = steps.first ? 0 : steps.from[step->index];
    if (step->nth) { /* the state that a refused call may change */
        step->before = steps_state();
        step->files = steps_files(false);
    }
}

/* The acceptable reports of a failed request. */
static bool step_said(vmm_result result)
{
    static const char *const system[] = {"VMM-DMABUF-FILE", "VMM-EXPORT-SYSTEM", "VMM-IMPORT-SYSTEM", "VMM-IPC-SYSTEM", "VMM-SHARE-STATE",
                                         "VMM-OPEN-SYSTEM"};
    const vmm_detail *detail = vmm_last_detail();
    if (detail->result != result || detail->severity != VMM_SEVERITY_ERROR || !detail->rule ||
        (!detail->argument && detail->expected))
        return false;
    if (result == VMM_ERROR_OUT_OF_MEMORY)
        return !strcmp(detail->rule, "VMM-SYSTEM-HOST-MEMORY") || !strcmp(detail->rule, "VMM-BIND-RESOURCES");
    for (size_t i = 0; result == VMM_ERROR_OPERATING_SYSTEM && i < sizeof system / sizeof system[0]; i++)
        if (!strcmp(detail->rule, system[i]))
            return detail->note[0] != '\0'; /* the failed request */
    return false;
}

/* Exhausted memory is reported as such, regardless of the result, except for the C library's own allocations to read a folder. */
static bool step_named(const char *failed)
{
    const vmm_detail *detail = vmm_last_detail();
    bool memory = strstr(failed, "alloc") && strcmp(failed, "fallocate") != 0;
    return !memory || detail->result == VMM_ERROR_OUT_OF_MEMORY || strstr(detail->note, "memory") ||
           strstr(detail->note, "the system refuses");
}

/* Leftovers that a machine could not remove are removed by the next process that needs space or opens a machine. */
static void steps_tidy(void)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_generic_allocation_handle handle;
    vmm_system *next = NULL;
    for (unsigned i = 0; i < steps.systems; i++)
        if (vmm_mem_create(steps.system[i], &handle, UINT64_C(1) << 60, &prop, 0) == VMM_SUCCESS)
            tap_bail("more memory than there is");
    if (vmm_open("sim:min,machine=next", &next) != VMM_SUCCESS)
        tap_bail("no machine opens: %s", vmm_last_detail()->note);
    vmm_close(next);
}

/* Opening tolerates missing host addresses and then uses others; a shadow without a machine reports that it has stopped. */
static bool steps_parts(const struct step *step, const char *failed)
{
    const char *rule = vmm_last_detail()->rule;
    bool addresses = failed && !strcmp(failed, "mmap") && !strncmp(step->text, "vmm_", 4);
    return addresses || (failed && rule && !strcmp(rule, "VMM-SHADOW-LOST"));
}

static void step_done(struct step *step, const char *failed)
{
    steps.apart |= steps_parts(step, failed);
    steps.begun |= failed != NULL;
    if (!steps.first && !steps.begun && !step->nth)
        return;
    uint64_t now = steps_state();
    if (failed && now != steps.after[step->index]) {
        steps_tidy();
        now = steps_state();
    }
    if (steps.first) {
        steps.after[step->index] = now;
        steps.from[step->index] = 1;
        return;
    }
    if (now != steps.after[step->index] && !steps.apart)
        steps_wrong(step, failed, "afterwards there is something else than where nothing fails");
    if (step->nth)
        steps.from[step->index] = failed ? step->nth + 1 : 0;
    steps.passed += failed != NULL;
}

/* After a try. True: it was refused, and must be repeated with the next request failing. */
static bool step_again(struct step *step, vmm_result result)
{
    const char *failed = inject_disarm();
    char why[120];
    if (result != VMM_SUCCESS && failed && step->nth < STEPS_TRIES) {
        const char *rule = vmm_last_detail()->rule;
        snprintf(why, sizeof why, "%s by %s: %.60s", vmm_result_name(result), rule ? rule : "no rule", vmm_last_detail()->note);
        if (!step_said(result) || !step_named(failed))
            steps_wrong(step, failed, why);
        if (!inject_untouched(&step->out))
            steps_wrong(step, failed, "an output was written");
        if (inject_for_good && steps_state() != step->before)
            steps_tidy(); /* a folder cannot be looked into without memory, to empty it */
        if (steps_state() != step->before)
            steps_wrong(step, failed, "something has changed");
        if (steps_files(false) != step->files)
            steps_wrong(step, failed, "other descriptors are open");
        steps.refused++;
        steps.begun = true;
        step->nth++;
        return true;
    }
    if (result != VMM_SUCCESS)
        steps_wrong(step, failed, vmm_result_name(result));
    step_done(step, failed);
    return false;
}

#define STEP_TO(out, size, text, call)                                          \
    do {                                                                        \
        struct step step_;                                                      \
        step_begin(&step_, text, out, size);                                    \
        INJECT_AGAIN(vmm_result, step_.nth, call, step_again(&step_, result_)); \
    } while (0)

/* vmm_NAME(...), one of the calls of calls.def; GET also checks a variable that it writes. */
#define STEP(name, ...)                                   \
    do {                                                  \
        steps.seen[VMM_CALL_##name] = true;               \
        STEP_TO(NULL, 0, #name, vmm_##name(__VA_ARGS__)); \
    } while (0)
#define GET(variable, name, ...)                                                \
    do {                                                                        \
        steps.seen[VMM_CALL_##name] = true;                                     \
        STEP_TO(&(variable), sizeof(variable), #name, vmm_##name(__VA_ARGS__)); \
    } while (0)

/* A condition that must hold regardless of failures. */
static void steps_expect(bool holds, const char *what)
{
    if (!holds)
        steps_wrong(&(struct step){.text = what}, NULL, "does not hold");
}

/* ---- runs ---- */

static bool steps_left(void)
{
    for (unsigned i = 0; i < STEPS_MOST; i++)
        if (steps.from[i])
            return true;
    return false;
}

static void steps_run(void (*program)(const char *spec), const char *spec)
{
    uint64_t files = steps_files(true);
    steps.step = 0;
    steps.apart = steps.begun = false;
    program(spec);
    steps_expect(steps_files(true) == files, "the same descriptors are open after a run");
    steps.first = false;
}

/* Runs the program until every request of every step has failed once; at least that many of them must be refused. */
static void steps_all(const char *name, void (*program)(const char *spec), const char *spec, unsigned least)
{
    unsigned runs = 0;
    memset(steps.from, 0, sizeof steps.from);
    steps.refused = steps.passed = steps.wrong = 0;
    steps.first = true;
    steps_run(program, spec); /* from here on, state that is created once per program exists */
    long live = atomic_load(&inject_live);
    uint64_t mapped = inject_mapped();
    unsigned made = steps.step;
    for (; steps_left() && runs < STEPS_TRIES && !steps.wrong; runs++)
        steps_run(program, spec);
    tap_note("%s: %u steps in %u runs; %u refusals, and %u requests that a call did without", name, made, runs, steps.refused,
             steps.passed);
    if (!tap_ok(!steps.wrong && !steps_left(), "%s: refused in the words of the documents, and nothing has changed", name))
        tap_note("%u times not", steps.wrong);
    tap_u64((uint64_t)atomic_load(&inject_live), (uint64_t)live, "%s: all memory is freed", name);
    tap_u64(inject_mapped(), mapped, "%s: all views and addresses are freed", name);
    tap_ok(steps.refused >= least, "%s: %u requests were refused, at least %u", name, steps.refused, least);
}

#endif
