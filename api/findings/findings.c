/* SPDX-License-Identifier: Apache-2.0 */
#include "findings.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "findings_record.h"
#include "findings_site.h"
#include "findings_stream.h"
#include "findings_text.h"
#include "fnv.h"
#include "lifecycle.h"
#include "marks.h"
#include "os_environment.h"
#include "posix.h"
#include "rules.h"
#include "stacks.h"

static struct findings_tally own;                /* used when no shared tally exists */
static struct findings_tally *tally = &own;
static size_t again_room = FINDINGS_AGAIN;
static _Atomic bool counted;                     /* this process counts in the tally's checked */

bool findings_wanted(const char *side, bool unset)
{
    const char *set = os_environment("CUVMM_CHECK");
    return set && set[0] ? strcmp(set, side) == 0 : unset;
}

/* ---- the same finding again ---- */

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return fnv1a(hash, text ? text : "", (text ? strlen(text) : 0) + 1);
}

/* Growth is found at a mark, but its place is where the growing objects are made; the newest object distinguishes groups found
 * at the same mark. */
static bool is_growth(const vmm_detail *detail)
{
    return detail->rule && strcmp(detail->rule, vmm_rule_row(VMM_RULE_LEAK_GROWS)->id) == 0;
}

static uint64_t fingerprint(const vmm_detail *detail)
{
    uint64_t hash = fnv1a_word(fnv1a_word(FNV1A, (uint64_t)getpid()), marks_phases());
    hash = fnv1a_word(fnv1a_word(hash, is_growth(detail) ? detail->call : 0), is_growth(detail) ? detail->nearest.kind : 0);
    return mix_text(mix_text(mix_text(hash, detail->rule), detail->function), marks_now());
}

static uint64_t seal(uint64_t hash)
{
    return hash | UINT64_C(1) << 63;
}

/* Returns its place in the tally and whether it is the first of its kind; NULL if there is no room. */
static struct findings_again *find_again(uint64_t print, bool *first)
{
    for (size_t i = 0; i < again_room; i++) {
        struct findings_again *again = &tally->again[(print + i) % again_room];
        uint64_t expected = 0;
        *first = atomic_compare_exchange_strong(&again->print, &expected, print);
        if (*first || expected == print)
            return again;
    }
    *first = true;
    return NULL;
}

/* ---- counts ---- */

static void count(enum finding class)
{
    if (class == FINDING_ERROR)
        atomic_fetch_add(&tally->errors, 1);
    else if (class == FINDING_HAZARD)
        atomic_fetch_add(&tally->hazards, 1);
    else if (class == FINDING_LEAK)
        atomic_fetch_add(&tally->leaks, 1);
}

/* If there is a parent, repeats are counted where the parent reads them, and a leak's bytes are added up. */
static bool sent_before(const vmm_detail *detail, enum finding class, uint64_t print)
{
    bool first;
    struct findings_again *again = tally == &own ? NULL : find_again(print, &first);
    if (!again || first) {
        if (again)
            atomic_store(&again->class, (uint32_t)class);
        return false;
    }
    atomic_fetch_add(&again->times, 1);
    atomic_fetch_add(&again->bytes, detail->nearest.size);
    return true;
}

/* Each leak counts as a finding of its own: only its text distinguishes it, because the current stack is not where it was
 * made. */
static void write_once(const vmm_detail *detail, enum finding class)
{
    void *frames[SITE_DEPTH];
    bool first = true;
    int depth = class == FINDING_LEAK ? 0 : site_here(frames);
    count(class);
    uint64_t hash = fingerprint(detail);
    for (int i = 0; i < depth; i++)
        hash = fnv1a_word(hash, (uintptr_t)frames[i]);
    if (class != FINDING_LEAK)
        find_again(seal(hash), &first);
    if (first)
        findings_write(detail, frames, depth);
}

/* Of two unordered accesses the second is the wrong one, no matter where it was noticed. */
static struct findings_place place_of(const vmm_detail *detail, enum finding class)
{
    const vmm_order *order = detail->order;
    struct findings_place place = {.call = {detail->function, detail->call, 0}};
    uint64_t hash = fingerprint(detail);
    place.call.stack = class != FINDING_LEAK && !is_growth(detail) ? stacks_here()
                       : detail->issued.call                          ? detail->issued.stack
                                                                      : detail->nearest.created_stack;
    if (order) {
        if (order->second.issued.call != detail->call)
            place.noticed = place.call;
        place.call = order->second.issued;
        hash = fnv1a_word(mix_text(hash, order->second.issued.function), order->first.issued.stack);
    }
    place.print = seal(fnv1a_word(hash, place.call.stack));
    return place;
}

static bool sent(const vmm_detail *detail, enum finding class)
{
    struct findings_place place = place_of(detail, class);
    if (sent_before(detail, class, place.print))
        return true;
    if (class == FINDING_LEAK)
        findings_hold_stream();
    return record_finding(detail, class, &place);
}

void findings_add(const vmm_detail *detail)
{
    int before = errno;
    enum finding class = findings_class(detail);
    if (class == FINDING_NOTHING || (class == FINDING_NOTE && findings_setting("CUVMM_CHECK_QUIET", "1")))
        return;
    int cancel = life_no_cancel();
    if (!findings_streamed() || !sent(detail, class))
        write_once(detail, class);
    life_may_cancel(cancel);
    errno = before;
}

/* ---- a process ---- */

/* Maps the tally of all processes; without it the process uses its own. A truncated one would end the program with SIGBUS. */
static void map_tally(int fd)
{
    struct stat status;
    const off_t least = offsetof(struct findings_tally, again);
    if (posix.fstat(fd, &status) != 0 || status.st_size < least)
        return;
    size_t size = status.st_size < (off_t)sizeof *tally ? (size_t)least : sizeof *tally;
    void *shared = posix.mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        return;
    tally = shared;
    again_room = size == sizeof *tally ? FINDINGS_AGAIN : 0;
}

void findings_open(void)
{
    void *frames[SITE_DEPTH];
    const char *path = os_environment("CUVMM_CHECK_TALLY");
    int fd = path && path[0] ? posix.open(path, O_RDWR | O_CLOEXEC) : -1;
    site_here(frames); /* the first call loads a library, so do that now rather than when memory is short */
    if (fd >= 0) {
        map_tally(fd);
        close(fd);
    }
    if (!record_started())
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
        !atomic_exchange(&counted, true) && /* LCOV_EXCL_BR_LINE: another thread was quicker, just now */
        !record_checked())
        atomic_fetch_add(&tally->checked, 1);
}

void findings_stopped(enum findings_obstacle obstacle)
{
    if (!record_stopped(obstacle))
        atomic_fetch_add(&tally->stopped[obstacle], 1);
}

void findings_close(void)
{
    char sum[FINDINGS_SUM];
    bool ended = record_ended();
    findings_close_stream();
    if (ended)
        return;
    atomic_fetch_add(&tally->ended, 1);
    bool checked = findings_sum(tally, sum, sizeof sum);
    if (tally == &own && (!checked || !findings_setting("CUVMM_CHECK_QUIET", "1")))
        findings_write_sum(sum);
}
