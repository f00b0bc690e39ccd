/* SPDX-License-Identifier: Apache-2.0 */
#include "findings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "columns.h"
#include "findings_site.h"
#include "os_environment.h"
#include "os_write.h"
#include "posix.h"
#include "rules.h"

static struct findings_tally own;                /* used when no shared tally exists */
static struct findings_tally *tally = &own;
static _Atomic uint64_t seen[1024];              /* fingerprints of the findings written so far */
static _Atomic bool counted;                     /* this process counts in the tally's checked */

static bool says(const char *name, const char *value)
{
    const char *set = os_environment(name);
    return set && strcmp(set, value) == 0;
}

bool findings_wanted(const char *side, bool unset)
{
    const char *set = os_environment("CUVMM_CHECK");
    return set && set[0] ? strcmp(set, side) == 0 : unset;
}

/* ---- classes of findings ---- */

static bool one_of(const char *text, const char *const *list)
{
    while (*list && strcmp(text, *list) != 0)
        list++;
    return *list != NULL;
}

/* Refusals that a correct program provokes to learn what a machine supports, or whether memory is left. No program finds that out
 * with a mapping, by importing a pool as memory, or by taking the rights to host memory from the host. */
static bool is_an_answer(const vmm_detail *detail)
{
    static const char *const does[] = {"cuMemMap", "cuMemSetAccess", NULL};
    static const char *const mistakes[] = {"VMM-IMPORT-KIND", "VMM-POOL-ACCESS-HOST", NULL};
    vmm_result result = detail->result;
    if (result == VMM_ERROR_NOT_SUPPORTED)
        return !(detail->function && one_of(detail->function, does)) && !(detail->rule && one_of(detail->rule, mistakes));
    return result == VMM_ERROR_OUT_OF_MEMORY || result == VMM_ERROR_NOT_PERMITTED || result == VMM_ERROR_NOT_READY ||
           result == VMM_ERROR_NO_DEVICE;
}

/* The driver has ended before the program, and freed everything. Exit handlers cannot know that; those of the CUDA runtime
 * release a primary context then. */
static bool is_the_end(const vmm_detail *detail)
{
    return detail->result == VMM_ERROR_DEINITIALIZED;
}

/* Programs often query whether an address of host memory belongs to the device, and a refusal is a normal answer. */
static bool is_a_question(const vmm_detail *detail)
{
    static const char *const calls[] = {"cuPointerGetAttribute", "cuPointerGetAttributes", "cuMemGetAddressRange", NULL};
    static const char *const rules[] = {"VMM-POINTER-NOT-MAPPED", "VMM-RANGE-NOT-FOUND", NULL};
    return detail->function && one_of(detail->function, calls) && (!detail->rule || one_of(detail->rule, rules));
}

static bool is_a_note(const char *id)
{
    static const char *const notes[] = {"VMM-SHADOW-DIFFERS", "VMM-SHADOW-LOST", "VMM-RESERVE-HINT-NOT-TAKEN", NULL};
    return one_of(id, notes);
}

/* The primary context belongs to the process and ends with it; few programs release it. */
static bool is_primary(const vmm_object *object)
{
    return object->kind == VMM_OBJECT_CONTEXT && object->created_by && strstr(object->created_by, "Primary");
}

/* A failure that the user asked for is not the program's mistake. */
static bool is_injected(const vmm_detail *detail)
{
    return !detail->rule && strncmp(detail->note, "layer fault", strlen("layer fault")) == 0;
}

enum finding findings_class(const vmm_detail *detail)
{
    const vmm_rule *rule = detail->rule ? vmm_rule_find(detail->rule) : NULL;
    switch (detail->severity) {
    case VMM_SEVERITY_ERROR:
        if (is_injected(detail))
            return FINDING_NOTHING;
        return is_an_answer(detail) || is_a_question(detail) || is_the_end(detail) ? FINDING_NOTHING : FINDING_ERROR;
    case VMM_SEVERITY_WARNING:
        if (!rule)
            return FINDING_NOTHING;
        if (is_a_note(rule->id))
            return FINDING_NOTE;
        return rule->rule_class == VMM_RULE_HAZARD ? FINDING_HAZARD : FINDING_ERROR;
    case VMM_SEVERITY_LEAK:
        return is_primary(&detail->nearest) || says("CUVMM_CHECK_LEAKS", "no") ? FINDING_NOTHING : FINDING_LEAK;
    case VMM_SEVERITY_HINT:
        return FINDING_NOTE;
    case VMM_SEVERITY_NONE:
        break;
    }
    return FINDING_NOTHING;
}

/* ---- writing ---- */

static const char *log_name(void)
{
    const char *log = os_environment("CUVMM_CHECK_LOG");
    return log && log[0] ? log : NULL;
}

/* Opens the log for each text, because programs close descriptors that they did not open, and reuse their numbers. */
static void say(const char *text, size_t length)
{
    const char *log = log_name();
    int fd = log ? posix.open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : STDERR_FILENO;
    while (fd >= 0 && length) {
        ssize_t wrote = os_write_quietly(fd, text, length);
        if (wrote < 0 && errno == EINTR) /* interrupted by a signal of the program */
            continue;
        if (wrote <= 0)
            break;
        text += wrote;
        length -= (size_t)wrote;
    }
    if (fd > STDERR_FILENO)
        close(fd);
}

/* Of a rule at a place; never 0. */
static uint64_t fingerprint(const vmm_detail *detail, void *const *frames, int count)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *c = detail->rule ? detail->rule : detail->function; c && *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    for (int i = 0; i < count; i++)
        hash = (hash ^ (uintptr_t)frames[i]) * UINT64_C(1099511628211);
    return hash | UINT64_C(1) << 63;
}

/* Is it the first of its kind? With a full table, always. */
static bool first(uint64_t print)
{
    enum { ROOM = sizeof seen / sizeof seen[0] };
    for (size_t i = 0; i < ROOM; i++) {
        uint64_t expected = 0;
        if (atomic_compare_exchange_strong(&seen[(print + i) % ROOM], &expected, print))
            return true;
        if (expected == print)
            return false;
    }
    return true;
}

static void count(enum finding class)
{
    if (class == FINDING_ERROR)
        atomic_fetch_add(&tally->errors, 1);
    else if (class == FINDING_HAZARD)
        atomic_fetch_add(&tally->hazards, 1);
    else if (class == FINDING_LEAK)
        atomic_fetch_add(&tally->leaks, 1);
}

static size_t begin(char *text, size_t size)
{
    return (size_t)snprintf(text, size, "[%ld] ", (long)getpid());
}

void findings_add(const vmm_detail *detail)
{
    char text[4096];
    void *frames[SITE_DEPTH];
    enum finding class = findings_class(detail);
    if (class == FINDING_NOTHING || (class == FINDING_NOTE && says("CUVMM_CHECK_QUIET", "1")))
        return;
    count(class);
    /* A leaked object was created elsewhere: its history names that place, not this stack. */
    bool placed = class != FINDING_LEAK;
    int depth = placed ? site_here(frames) : 0;
    if (placed && !first(fingerprint(detail, frames, depth)))
        return;
    size_t length = begin(text, sizeof text), room = sizeof text - length;
    size_t wrote = vmm_detail_text(detail, text + length, room);
    length += wrote < room ? wrote : room - 1;
    if (placed)
        site_text(frames, depth, text, length, sizeof text);
    say(text, columns_fold(text, sizeof text, columns_of(log_name() ? -1 : STDERR_FILENO)));
}

void findings_open(void)
{
    void *frames[SITE_DEPTH];
    const char *path = os_environment("CUVMM_CHECK_TALLY");
    struct stat status;
    int fd = path && path[0] ? posix.open(path, O_RDWR | O_CLOEXEC) : -1;
    site_here(frames); /* the first call loads a library, which had better happen now than when memory is short */
    if (fd >= 0) {
        /* A truncated tally would end the program with SIGBUS. */
        if (posix.fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof *tally) {
            void *shared = posix.mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            if (shared != MAP_FAILED)
                tally = shared;
        }
        close(fd);
    }
    atomic_fetch_add(&tally->begun, 1);
}

static void see(void *user, const vmm_object *object)
{
    *(bool *)user |= object->kind != VMM_OBJECT_DEVICE;
}

void findings_look(vmm_system *sys)
{
    bool made = false;
    if (!atomic_load_explicit(&counted, memory_order_relaxed) && vmm_visit(sys, see, &made) == VMM_SUCCESS && made &&
        !atomic_exchange(&counted, true)) /* LCOV_EXCL_BR_LINE: another thread was quicker, just now */
        atomic_fetch_add(&tally->checked, 1);
}

void findings_stopped(enum findings_obstacle obstacle)
{
    atomic_fetch_add(&tally->stopped[obstacle], 1);
}

static size_t put(char *text, size_t size, size_t length, uint64_t number, const char *what)
{
    if (length >= size)
        return length;
    int wrote = number ? snprintf(text + length, size - length, "%s%llu %s%s", length ? ", " : "",
                                  (unsigned long long)number, what, number == 1 ? "" : "s")
                       : snprintf(text + length, size - length, "%s0 %ss", length ? ", " : "", what);
    return length + (wrote > 0 ? (size_t)wrote : 0);
}

const char *findings_reason(const struct findings_tally *sum)
{
    if (sum->stopped[FINDINGS_NO_MACHINE])
        return "the simulated machine cannot be opened";
    if (sum->stopped[FINDINGS_RUNTIME])
        return "a program of the CUDA runtime stops at cuGetExportTable, which NVIDIA's runtime needs; link it with -cudart shared "
               "(docs/runtime.md), or check it on a machine with a driver";
    return NULL;
}

bool findings_sum(const struct findings_tally *sum, char *text, size_t size)
{
    const char *reason = findings_reason(sum);
    if (!(sum->checked + sum->errors + sum->hazards + sum->leaks)) {
        snprintf(text, size, "nothing was checked: %s",
                 reason       ? reason
                 : sum->begun ? "the program made no context and no memory"
                              : "no call of the driver was seen");
        return false;
    }
    size_t length = put(text, size, 0, sum->errors, "error");
    length = put(text, size, length, sum->hazards, "hazard");
    put(text, size, length, sum->leaks, "leak");
    return true;
}

void findings_close(void)
{
    char text[FINDINGS_SUM + 40], sum[FINDINGS_SUM];
    atomic_fetch_add(&tally->ended, 1);
    bool checked = findings_sum(tally, sum, sizeof sum);
    if (tally != &own || (checked && says("CUVMM_CHECK_QUIET", "1")))
        return;
    size_t length = begin(text, sizeof text);
    length += (size_t)snprintf(text + length, sizeof text - length, "cuvmm check: %s\n", sum);
    say(text, length);
}
