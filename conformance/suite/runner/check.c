/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that every refusal, warning and accepted call must pass. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "notes.h"
#include "tap.h"
#include "test.h"
#include "waiver.h"

#define PROBLEM(...) fix_failed(f, at->file, at->line, __VA_ARGS__)

struct place {
    const char *file;
    int line;
    const char *what;
};

void check_u64(struct fix *f, const char *file, int line, const char *what, uint64_t got, uint64_t want)
{
    if (got != want)
        fix_failed(f, file, line, "%s is 0x%" PRIx64 ", expected 0x%" PRIx64, what, got, want);
}

void check_accepted(struct fix *f, const char *file, int line, const char *what, vmm_result result)
{
    const vmm_detail *detail = vmm_last_detail();
    if (result != VMM_SUCCESS)
        fix_failed(f, file, line, "%s: %s %s %s", what, vmm_result_name(result), detail->rule ? detail->rule : "",
                   detail->note);
    else if (f->simulator && detail->severity != VMM_SEVERITY_NONE && !(f->races && detail->order))
        fix_failed(f, file, line,
                   "%s: succeeded, yet its detail is about %s", what, detail->rule ? detail->rule : "nothing");
}

/* Other processes change a driver's free memory, too: such failures are counted, and the test runs again. */
static void failed_about_memory(struct fix *f, const char *file, int line, const char *what, uint64_t got,
                                uint64_t want)
{
    fix_failed(f, file, line, "%s: free memory is 0x%" PRIx64 ", expected 0x%" PRIx64, what, got, want);
    if (!f->simulator)
        f->root->about_memory++;
}

void check_free(struct fix *f, const char *file, int line, uint64_t before, uint64_t taken)
{
    uint64_t now = fix_free_memory(f);
    if (now != before - taken)
        failed_about_memory(f, file, line, "in the test", now, before - taken);
}

static bool names_value(const char *text, uint64_t value)
{
    char hex[32], decimal[32], is_signed[32];
    snprintf(hex, sizeof hex, "0x%" PRIx64, value);
    snprintf(decimal, sizeof decimal, "%" PRIu64, value);
    snprintf(is_signed, sizeof is_signed, "%" PRId64, (int64_t)value);
    return strstr(text, hex) || strstr(text, decimal) || strstr(text, is_signed);
}

/* A rule's function may stand for a family of calls, and cuPointerGetAttribute for cuPointerGetAttributes. */
static bool function_fits(const vmm_rule *rule, const char *function)
{
    static const char *const families[] = {"any", "memcpy", "memset", "mempool", "cuArray", "export", "import", "cuCtx", "cuDevice", "cuStream"};
    if (!function || strncmp(function, "cu", 2) != 0)
        return false;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strcmp(rule->function, families[i]) == 0)
            return true;
    return strncmp(function, rule->function, strlen(rule->function)) == 0;
}

/* Rules about memory and addresses show the nearest object; rules about the process and its contexts have none to
 * show. */
static bool needs_object(const vmm_rule *rule)
{
    bool memory = strncmp(rule->function, "cuMem", 5) == 0 || strncmp(rule->function, "cuPointer", 9) == 0 ||
                  strncmp(rule->function, "mem", 3) == 0;
    return memory && (rule->rule_class == VMM_RULE_STATE || rule->rule_class == VMM_RULE_LIFETIME);
}

static bool is_one_of(const char *id, const char *const *ids)
{
    while (*ids && strcmp(*ids, id) != 0)
        ids++;
    return *ids != NULL;
}

/* Some rules compare the value with another: a granularity, a limit, a size, the current state. The others compare
 * nothing. */
static bool compares_rightly(const char *id, uint64_t expected)
{
    static const char *const always[] = {
        "VMM-ACCESS-DEVICE-ID", "VMM-ACCESS-HOLE", "VMM-ACCESS-PARTIAL", "VMM-ACCESS-SIZE-GRANULARITY", "VMM-ACCESS-WRAPS",
        "VMM-ARRAY-LEVEL", "VMM-BIND-GRANULARITY", "VMM-BIND-INCOMPLETE", "VMM-BIND-RANGE", "VMM-BIND-SIZE-ZERO", "VMM-BOX-HEIGHT", "VMM-COPY-ARRAY-BOUNDS", "VMM-COPY-OVERFLOW",
        "VMM-CREATE-COMPRESSION-TYPE", "VMM-CREATE-DEVICE-ID", "VMM-CREATE-HANDLE-TYPE-UNKNOWN", "VMM-CREATE-NUMA-ID",
        "VMM-CREATE-RDMA-VALUE", "VMM-CREATE-SIZE-GRANULARITY", "VMM-CREATE-TYPE", "VMM-CREATE-USAGE-UNKNOWN",
        "VMM-CTX-FLAGS", "VMM-DEVICE-ID", "VMM-DMABUF-ALIGNMENT", "VMM-DMABUF-HOLE", "VMM-DMABUF-OVERFLOW", "VMM-DMABUF-TYPE",
        "VMM-EVENT-FLAGS", "VMM-EVENT-INTERPROCESS", "VMM-FREE-NOT-START", "VMM-FREE-SIZE-MATCH", "VMM-GRANULARITY-OPTION", "VMM-IPC-FLAGS",
        "VMM-LAUNCH-DIMENSIONS", "VMM-LAUNCH-KERNEL", "VMM-MANAGED-ATTACH-RANGE", "VMM-MANAGED-DATA-SIZE", "VMM-MANAGED-WRAPS", "VMM-MEMOP-ALIGNMENT", "VMM-MEMOP-COUNT", "VMM-MAP-CROSSES-RESERVATIONS", "VMM-MAP-INCOMPLETE", "VMM-MAP-OFFSET",
        "VMM-MAP-OFFSET-GRANULARITY", "VMM-MAP-OFFSET-RANGE", "VMM-MAP-PAST-RESERVATION", "VMM-MAP-PTR-GRANULARITY",
        "VMM-MAP-SIZE-GRANULARITY", "VMM-MAP-SIZE-WHOLE", "VMM-MAP-SPACE-END", "VMM-MAP-TILE-POOL", "VMM-MULTICAST-DEVICE-ID",
        "VMM-MULTICAST-GRANULARITY-OPTION", "VMM-MULTICAST-HANDLE-TYPES", "VMM-MULTICAST-NUM-DEVICES",
        "VMM-MULTICAST-SIZE-GRANULARITY", "VMM-MULTICAST-SIZE-ZERO", "VMM-RESERVE-ALIGNMENT-LIMIT",
        "VMM-RESERVE-HINT-ALIGNMENT", "VMM-RESERVE-HINT-GRANULARITY", "VMM-RESERVE-HINT-LIMIT", "VMM-RESERVE-HINT-NOT-TAKEN",
        "VMM-RESERVE-OVER-MAPPING", "VMM-ROWS-END", "VMM-ROWS-PITCH", "VMM-RESERVE-SIZE-GRANULARITY", "VMM-SET-ALIGNMENT", "VMM-SET-COUNT-WRAPS",
        "VMM-STREAM-FLAGS", "VMM-TILES-ALIGNMENT", "VMM-TILES-DEVICE", "VMM-TILES-LEVEL", "VMM-TILES-MEMORY", "VMM-TILES-OFFSET",
        "VMM-TILES-RANGE", "VMM-UNMAP-HOLE", "VMM-UNMAP-PARTIAL", "VMM-UNMAP-UNALIGNED", "VMM-UNMAP-WRAPS", NULL};
    /* compared with what is left or with an offset into a range, which may be 0 */
    static const char *const sometimes[] = {
        "VMM-ALLOC-MEMORY", "VMM-ARRAY-MEMORY", "VMM-BIND-MEMORY-RANGE", "VMM-CREATE-MEMORY", "VMM-DMABUF-COMPRESSED", "VMM-DMABUF-DEVICES",
        "VMM-DMABUF-HOST", "VMM-DMABUF-MIXED", "VMM-DMABUF-MULTICAST", "VMM-GRANULARITY-PROP-UNCHECKED",
        "VMM-LAUNCH-ARGUMENTS", "VMM-MANAGED-MEMORY", "VMM-MANAGED-RANGE", "VMM-POOL-ALLOC-MAX-SIZE", "VMM-POOL-ALLOC-MEMORY", "VMM-POOL-CREATE-MAX-SIZE", "VMM-RESERVE-SPACE", "VMM-TILES-TAIL", "VMM-UNBIND-MATCH", NULL};
    return is_one_of(id, sometimes) || is_one_of(id, always) == (expected != 0);
}

/* The explanation is complete: it names the rule, the argument, its value, the nearest object and a fix. */
static void check_explanation(struct fix *f, const struct place *at, const vmm_detail *detail, const vmm_rule *rule)
{
    char text[4096];
    size_t length = vmm_detail_text(detail, text, sizeof text);
    if (length >= sizeof text)
        PROBLEM("%s: the explanation has %zu characters", at->what, length);
    if (!strstr(text, rule->id))
        PROBLEM("%s: the explanation does not name %s", at->what, rule->id);
    if (!rule->message[0] || !strstr(text, rule->message))
        PROBLEM("%s: the explanation of %s does not state what is wrong", at->what, rule->id);
    if (!rule->way_out[0] || !strstr(text, rule->way_out))
        PROBLEM("%s: the explanation of %s has no fix", at->what, rule->id);
    if (rule->argument[0] && (!detail->argument || !strstr(text, detail->argument)))
        PROBLEM("%s: the explanation of %s names no argument", at->what, rule->id);
    if (detail->argument && !names_value(text, detail->value))
        PROBLEM("%s: the explanation of %s does not show the value", at->what, rule->id);
    if (detail->nearest.kind != VMM_OBJECT_NONE && !strstr(text, "nearest"))
        PROBLEM("%s: the explanation of %s leaves the nearest object out", at->what, rule->id);
    if (needs_object(rule) && detail->nearest.kind == VMM_OBJECT_NONE)
        PROBLEM("%s: the explanation of %s shows no object", at->what, rule->id);
    if (!function_fits(rule, detail->function))
        PROBLEM("%s: the explanation is about %s, the rule about %s", at->what,
                detail->function ? detail->function : "nothing", rule->function);
}

static void check_nearest(struct fix *f, const struct place *at, const vmm_object *nearest, const struct refusal *want)
{
    if (want->near == VMM_OBJECT_NONE)
        return;
    if (nearest->kind != want->near)
        PROBLEM("%s: the nearest object is of kind %d, expected %d", at->what, (int)nearest->kind, (int)want->near);
    else if (want->start && nearest->start != want->start)
        PROBLEM("%s: the nearest object starts at 0x%" PRIx64 ", expected 0x%" PRIx64, at->what, nearest->start,
                want->start);
}

static void check_detail(struct fix *f, const struct place *at, const vmm_detail *detail, vmm_severity severity,
                         const struct refusal *want)
{
    const char *id = want->rule ? want->rule : f->root->rule;
    const vmm_rule *rule = id ? vmm_rule_find(id) : NULL;
    if (!rule) {
        PROBLEM("%s: there is no rule %s", at->what, id ? id : "(none)");
        return;
    }
    if (!f->simulator)
        return; /* a driver reports no rule: the test checks status and state only */
    if (!detail->rule || strcmp(detail->rule, id) != 0) {
        PROBLEM("%s: by %s, expected %s", at->what, detail->rule ? detail->rule : "no rule", id);
        return;
    }
    if (rule->result != want->result)
        PROBLEM("%s: the row of %s says %s, expected %s", at->what, id, vmm_result_name(rule->result),
                vmm_result_name(want->result));
    if (detail->severity != severity)
        PROBLEM("%s: severity %d, expected %d", at->what, (int)detail->severity, (int)severity);
    if (!want->argument != !detail->argument ||
        (want->argument && detail->argument && strcmp(want->argument, detail->argument) != 0))
        PROBLEM("%s: names the argument %s, expected %s", at->what, detail->argument ? detail->argument : "(none)",
                want->argument ? want->argument : "(none)");
    if (detail->value != want->value)
        PROBLEM("%s: shows the value 0x%" PRIx64 ", expected 0x%" PRIx64, at->what, detail->value, want->value);
    if (!compares_rightly(id, detail->expected))
        PROBLEM("%s: %s compares with 0x%" PRIx64, at->what, id, detail->expected);
    check_nearest(f, at, &detail->nearest, want);
    check_explanation(f, at, detail, rule);
    notes_add(detail);
}

/* Shows the first line that differs. */
static void check_unchanged(struct fix *f, const struct place *at, const char *before)
{
    uint64_t seen = f->seen_free;
    char *after = fix_state(f);
    if (!f->simulator && f->seen_free != seen)
        failed_about_memory(f, at->file, at->line, at->what, f->seen_free, seen);
    if (!before || !after) {
        PROBLEM("%s: no memory for the state", at->what);
    } else if (strcmp(before, after) != 0) {
        size_t same = 0, line = 0;
        for (; before[same] && before[same] == after[same]; same++)
            line = before[same] == '\n' ? same + 1 : line;
        PROBLEM("%s: was refused, yet changed the state", at->what);
        tap_note("    before: %.*s", (int)strcspn(before + line, "\n"), before + line);
        tap_note("    after:  %.*s", (int)strcspn(after + line, "\n"), after + line);
    }
    free(after);
}

void check_refused(struct fix *f, const char *file, int line, const char *what, char *state, vmm_result result,
                   struct refusal want)
{
    const struct place place = {file, line, what}, *at = &place;
    const vmm_detail detail = *vmm_last_detail();
    if (result != want.result)
        PROBLEM("%s: %s (%s %s), expected %s", what, vmm_result_name(result), detail.rule ? detail.rule : "no rule",
                detail.note, vmm_result_name(want.result));
    else if (f->simulator && detail.result != result)
        PROBLEM("%s: the detail speaks of %s", what, vmm_result_name(detail.result));
    else
        check_detail(f, at, &detail, VMM_SEVERITY_ERROR, &want);
    check_unchanged(f, at, state);
    free(state);
}

bool test_refuses(struct fix *f, const char *rule)
{
    const vmm_rule *row = vmm_rule_find(rule ? rule : f->root->rule);
    return f->strict && row && row->rule_class != VMM_RULE_HAZARD;
}

void check_warned(struct fix *f, const char *file, int line, const char *what, char *state, vmm_result result,
                  struct refusal want)
{
    const struct place place = {file, line, what}, *at = &place;
    if (test_refuses(f, want.rule)) {
        check_refused(f, file, line, what, state, result, want);
        return;
    }
    const vmm_detail detail = *vmm_last_detail();
    if (!f->simulator && result == want.result && waiver_find(want.rule ? want.rule : f->root->rule, NULL)) {
        check_unchanged(f, at, state);
        free(state);
        f->root->held = true;
        fix_skip(f, "needs a driver that lets this pass, against the documents");
    }
    free(state);
    if (result != VMM_SUCCESS)
        PROBLEM("%s: %s by %s, expected success with a warning", what, vmm_result_name(result),
                detail.rule ? detail.rule : "no rule");
    else
        check_detail(f, at, &detail, VMM_SEVERITY_WARNING, &want);
}
