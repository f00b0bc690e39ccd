/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* syscall */
#include "stacks_unwind.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#endif

#include "stacks_depot.h"
#include "stacks_rule.h"

/* Reads memory that a sanitizer attributes to another frame. */
#define READS_STACKS __attribute__((no_sanitize("address", "undefined")))

enum { FRAME_MOST = 64 << 20 }; /* a larger frame is an error in the table */

/* ---- rules by address ---- */

struct known {
    uintptr_t address;
    const struct module *module;
    struct rule rule;
};

enum { KNOWN = 1 << 13 };
static _Atomic(const struct known *) knowns[KNOWN];

static struct rule rule_at(uintptr_t address, const struct module *module)
{
    _Atomic(const struct known *) *place = &knowns[(address ^ address >> 13) % KNOWN];
    const struct known *known = atomic_load_explicit(place, memory_order_acquire);
    if (known && known->address == address && known->module == module)
        return known->rule;
    struct known made = {address, module, {0}};
    uint32_t ref = depot_find(DEPOT_PC, &made, offsetof(struct known, rule));
    if (!ref) {
        made.rule = rule_for(module, address);
        ref = depot_add(DEPOT_PC, &made, offsetof(struct known, rule), &made.rule, sizeof made.rule);
    }
    if (!ref)
        return made.rule;
    /* The key is followed by the value, as in the structure. */
    atomic_store_explicit(place, depot_key(ref), memory_order_release);
    return ((const struct known *)depot_key(ref))->rule;
}

/* Stacks go back and forth between a few modules, and querying the loader takes longer than everything else. */
static const struct module *module_here(struct unwind *unwind, uintptr_t address)
{
    const struct module *module;
    if (unwind->module && address - unwind->module->start < unwind->module->end - unwind->module->start)
        return unwind->module;
    for (unsigned i = 0; i < unwind->seen_count; i++) {
        module = unwind->seen[i];
        if (address - module->start < module->end - module->start)
            return module;
    }
    module = module_of(address);
    if (module && unwind->seen_count < UNWIND_MODULES)
        unwind->seen[unwind->seen_count++] = module;
    return module;
}

/* ---- the C library's unwinder ---- */

static bool take_slow(struct unwind *unwind)
{
    if (unwind->slow_at == unwind->slow)
        return false;
    /* Only the order of these frames is known, not where they lie. */
    unwind->next_sp = UINTPTR_MAX;
    unwind->address = (uintptr_t)unwind->slowly[unwind->slow_at++] - 1;
    unwind->module = module_here(unwind, unwind->address);
    return true;
}

/* musl has no unwinder; there a stack ends at a frame that no rule describes. */
static int frames_slowly(void **frames, int most)
{
#if __has_include(<execinfo.h>)
    return backtrace(frames, most);
#else
    (void)frames, (void)most;
    return 0;
#endif
}

/* The frames beyond the current one, whose address is among those that backtrace finds. */
static bool begin_slow(struct unwind *unwind)
{
    int count = frames_slowly(unwind->slowly, UNWIND_SLOW_MOST), at = 0;
    while (at < count && (uintptr_t)unwind->slowly[at] - 1 != unwind->address && (uintptr_t)unwind->slowly[at] != unwind->address)
        at++;
    unwind->slow = (unsigned)count;
    unwind->slow_at = (unsigned)(at < count ? at + 1 : count);
    unwind->done = true;
    return unwind->slow_at < unwind->slow;
}

/* ---- a step ---- */

enum { SET = 8 };

/* The system reads the set before it looks at `how`, which is invalid here. */
static bool set_readable(uintptr_t address)
{
    enum { NOTHING_TO_DO = 99 };
    errno = 0;
    syscall(SYS_rt_sigprocmask, NOTHING_TO_DO, address, NULL, SET);
    return errno != EFAULT;
}

bool unwind_readable(uintptr_t address, uintptr_t size)
{
    const int before = errno;
    bool readable = address >= 4096 && size <= 4096;
    for (uintptr_t at = address & ~(uintptr_t)(SET - 1); readable && at < address + size; at = (at | 4095) + 1)
        readable = set_readable(at);
    errno = before;
    return readable;
}

READS_STACKS static uintptr_t word_at(uintptr_t address)
{
    return *(const uintptr_t *)address;
}

static uintptr_t plus(uintptr_t address, int32_t offset)
{
    return address + (uintptr_t)(intptr_t)offset;
}

/* On arm64 a return address may be signed; the instruction has no effect on an unsigned one. */
static uintptr_t unsigned_address(uintptr_t address)
{
#if defined(__aarch64__)
    register uintptr_t x30 __asm__("x30") = address;
    __asm__("hint 7" : "+r"(x30));
    return x30;
#else
    return address;
#endif
}

static bool goes_on(struct unwind *unwind, uintptr_t cfa)
{
    return cfa >= unwind->sp && cfa - unwind->sp < FRAME_MOST && cfa % sizeof(uintptr_t) == 0;
}

static void end(struct unwind *unwind)
{
    unwind->done = true;
    unwind->next_sp = UINTPTR_MAX;
}

static void step(struct unwind *unwind, const struct rule *rule)
{
    uintptr_t cfa = plus(rule->by_fp ? unwind->fp : unwind->sp, rule->cfa);
    if (rule->cfa_stored && goes_on(unwind, cfa))
        cfa = word_at(cfa);
    if (!goes_on(unwind, cfa) || !rule->ra_saved) {
        end(unwind);
        return;
    }
    unwind->pc = unsigned_address(word_at(plus(rule->ra_by_sp ? unwind->sp : cfa, rule->ra)));
    if (rule->fp_saved)
        unwind->fp = word_at(plus(rule->fp_by_sp ? unwind->sp : cfa, rule->fp));
    unwind->exact = rule->signal;
    unwind->next_sp = cfa;
    unwind->done = unwind->pc < 4096;
}

/* Code without a table: the frame pointer register may hold one. */
static void step_by_pointer(struct unwind *unwind)
{
    const uintptr_t fp = unwind->fp;
    end(unwind);
    if (!goes_on(unwind, fp) || !unwind_readable(fp, 2 * sizeof(uintptr_t)))
        return;
    uintptr_t pc = unsigned_address(word_at(fp + sizeof(uintptr_t)));
    if (pc < 4096 || !module_here(unwind, pc - 1))
        return;
    unwind->pc = pc;
    unwind->fp = word_at(fp);
    unwind->exact = false;
    unwind->next_sp = fp + 2 * sizeof(uintptr_t);
    unwind->done = false;
}

static struct rule rule_here(const struct unwind *unwind)
{
    if (unwind->module)
        return rule_at(unwind->address, unwind->module);
    return unwind_readable(unwind->address, 16) ? rule_for(NULL, unwind->address) : (struct rule){.kind = RULE_OTHER};
}

bool unwind_next(struct unwind *unwind)
{
    if (unwind->done)
        return take_slow(unwind);
    unwind->sp = unwind->next_sp;
    unwind->address = unwind->pc - !unwind->exact;
    unwind->module = module_here(unwind, unwind->address);
    const struct rule rule = rule_here(unwind);
    if (rule.kind == RULE_STEP)
        step(unwind, &rule);
    else if (rule.kind == RULE_END || (rule.kind == RULE_OTHER && begin_slow(unwind)))
        unwind->done = true;
    else
        step_by_pointer(unwind);
    if (unwind->done && !unwind->slow)
        unwind->next_sp = UINTPTR_MAX;
    return true;
}
