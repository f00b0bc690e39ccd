/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule has an example, and every example does what it says: the form that breaks the rule is told that rule and no
 * other, the corrected one is told nothing and leaves nothing behind. Leaks that a refusal leaves behind do not count, nor
 * does what a line of the script itself expects on its way to the rule. */
#include "rule_examples.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rule_recorded.h"
#include "rule_words.h"
#include "script.h"
#include "tap.h"

/* Those that no script can break. A new one needs a reason that stands up. */
#define WITHOUT_SCRIPT 16

struct order {
    size_t seen, wrong;
};

static void in_order(void *user, const char *line, size_t length, bool known)
{
    struct order *order = user;
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    bool right = known && order->seen < count && strlen(rules[order->seen].id) == length &&
                 memcmp(rules[order->seen].id, line, length) == 0;
    if (!right)
        tap_note("\"%.*s\" stands where %s is expected", (int)length, line,
                 order->seen < count ? rules[order->seen].id : "the end");
    order->wrong += !right;
    order->seen += known;
}

static void test_order(void)
{
    struct order order = {0, 0};
    size_t count;
    vmm_rules(&count);
    rule_examples_each(in_order, &order);
    tap_u64(order.seen, count, "there are as many examples as rules");
    tap_u64(order.wrong, 0, "and each stands where its rule stands in the table");
}

/* What a script came to. */
struct reported {
    enum script_status status;
    char *out, *err;
    bool holds; /* something at its end */
};

static struct reported run(const char *lines)
{
    struct reported reported = {0};
    size_t out_size, err_size;
    struct script_options options = {.out = open_memstream(&reported.out, &out_size),
                                     .err = open_memstream(&reported.err, &err_size), .brief = true};
    FILE *in = fmemopen((void *)(uintptr_t)lines, strlen(lines), "r");
    if (!options.out || !options.err || !in)
        tap_bail("no memory");
    struct script *script = script_new(&options, "example");
    script_read(script, in);
    reported.status = script_finish(script);
    fclose(in);
    fclose(options.out);
    fclose(options.err);
    reported.holds = strstr(reported.out, " still holds ") != NULL;
    return reported;
}

static void told_free(struct reported *reported)
{
    free(reported->out);
    free(reported->err);
}

/* The next id of a rule in text from *at; false behind the last. */
static bool next_id(const char **at, char *id, size_t room)
{
    const char *found = strstr(*at, "VMM-");
    if (!found)
        return false;
    size_t n = strspn(found, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
    snprintf(id, room, "%.*s", (int)n, found);
    *at = found + n;
    return true;
}

/* Does a line of the script expect the rule? "expect warning VMM-...:" */
static bool expected(const char *script, const char *id)
{
    char words[120];
    snprintf(words, sizeof words, " %s:", id);
    return strstr(script, words) != NULL;
}

/* Tells this rule, and no other that counts. */
static bool tells_only(const char *rule, const char *script, const struct reported *reported)
{
    char id[96];
    bool itself = false, leak = strncmp(rule, "VMM-LEAK-", 9) == 0;
    const char *at = reported->out;
    while (next_id(&at, id, sizeof id)) {
        if (strcmp(id, rule) == 0)
            itself = true;
        else if (!expected(script, id) && (strncmp(id, "VMM-LEAK-", 9) != 0 || !(leak || reported->holds)))
            return false;
    }
    return itself;
}

static enum script_status status_of(const vmm_rule *rule)
{
    bool passes = rule->rule_class == VMM_RULE_HAZARD || rule->driver_580 == VMM_DRIVER_ACCEPTS ||
                  strcmp(rule->function, "vmm_close") == 0;
    return passes && strncmp(rule->id, "VMM-SHADOW-", 11) != 0 ? SCRIPT_OK : SCRIPT_FAILED;
}

static bool write_machine(const char *lines)
{
    FILE *out = fopen("my.profile", "w");
    return out && fputs(lines, out) >= 0 && fclose(out) == 0;
}

static void test_forms(const vmm_rule *rule, const struct rule_example *example)
{
    struct text broken = {0}, corrected = {0}, machine = {0};
    size_t lines = rule_example_part(example, EXAMPLE_BROKEN, &broken);
    lines += rule_example_part(example, EXAMPLE_CORRECTED, &corrected);
    if (rule_example_part(example, EXAMPLE_MACHINE, &machine) && !write_machine(machine.data))
        tap_bail("my.profile cannot be written");
    struct reported wrong = run(broken.data), right = run(corrected.data);
    bool good = lines >= 2 && wrong.status == status_of(rule) && tells_only(rule->id, broken.data, &wrong) &&
                right.status == SCRIPT_OK && !right.holds && !strstr(right.out, "VMM-");
    if (!tap_ok(good, "%s: its example breaks it alone, and the correction nothing", rule->id))
        tap_note("broken (%d): %s%scorrected (%d): %s%s", wrong.status, wrong.out, wrong.err, right.status, right.out, right.err);
    told_free(&wrong);
    told_free(&right);
    text_free(&broken);
    text_free(&corrected);
    text_free(&machine);
    remove("my.profile");
}

/* The last line of a reason: "FILE: TEST", a file of the suite or of the tests of libcuda.so.1. */
static bool names_a_test(const char *reason, const char *source)
{
    char path[1200], line[400];
    bool found = false;
    const char *last = strstr(reason, "conformance/");
    if (!last)
        last = strstr(reason, "backend_sim/");
    size_t file = last ? strcspn(last, ":") : 0;
    if (!last || last[file] != ':' || file > 200)
        return false;
    snprintf(path, sizeof path, "%s/%.*s", source, (int)file, last);
    const char *test = last + file + 2;
    size_t length = strcspn(test, "\n");
    FILE *in = fopen(path, "r");
    if (strstr(path, "untestable.tsv") && in)
        found = true;
    while (in && !found && fgets(line, sizeof line, in)) {
        const char *at = strncmp(line, "TEST_", 5) == 0 ? strchr(line, ' ') : NULL;
        found = at && strncmp(at + 1, test, length) == 0 && strchr("),", at[1 + length]);
    }
    if (in)
        fclose(in);
    return found;
}

static void test_examples(const char *source)
{
    size_t count, without = 0, unnamed = 0, missing = 0;
    const vmm_rule *rules = vmm_rules(&count);
    for (size_t i = 0; i < count; i++) {
        struct rule_example example;
        struct text reason = {0};
        if (!rule_example_find(rules[i].id, &example)) {
            missing++;
        } else if (rule_example_part(&example, EXAMPLE_REASON, &reason)) {
            bool named = names_a_test(reason.data, source);
            if (!named)
                tap_note("%s: \"%s\" names no test", rules[i].id, reason.data);
            without += strcmp(rules[i].needs, "libcuda.so.1") != 0;
            unnamed += !named;
        } else {
            test_forms(&rules[i], &example);
        }
        text_free(&reason);
    }
    tap_u64(missing, 0, "no rule is without an example");
    tap_u64(without, WITHOUT_SCRIPT, "as many as are known cannot be broken by a script, but for those of libcuda.so.1 alone");
    tap_u64(unnamed, 0, "and each of those names the test that breaks it");
}

static void test_parts(void)
{
    struct rule_example example;
    struct text text = {0};
    tap_ok(!rule_example_find("VMM-MAP", &example), "a part of an id finds nothing");
    tap_ok(!rule_example_find("", &example), "nor does nothing");
    tap_ok(rule_example_find("VMM-CTX-CURRENT", &example), "an id finds its example");
    tap_u64(rule_example_part(&example, EXAMPLE_BOTH, &text), 5, "with its lines");
    tap_text(text.data, "  init\n+ c = context dev0\n  a = alloc 1MiB\n  freemem a\n+ destroy c\n", "each behind its mark");
    text_free(&text);
    tap_u64(rule_example_part(&example, EXAMPLE_BROKEN, &text), 3, "the broken form");
    tap_text(text.data, "init\na = alloc 1MiB\nfreemem a\n", "has what both have");
    tap_u64(rule_example_part(&example, EXAMPLE_MACHINE, &text), 0, "and most need no machine of their own");
    text_free(&text);
}

static void test_recorded(void)
{
    struct recorded answers[4];
    struct text text = {0};
    size_t n = rule_recorded("VMM-MAP-OVERLAP", answers, 4);
    tap_ok(n == 2 && strcmp(answers[0].machine, "h100-580.159.04") == 0 && answers[0].verdict == RECORDED_AS_TOLD &&
               answers[0].tests == 1 && !answers[0].text[0],
           "the H100 answered to an overlap as told");
    tap_ok(rule_recorded("VMM-UNMAP-HOLE", answers, 4) == 2 && answers[1].verdict == RECORDED_WAIVED &&
               strncmp(answers[1].text, "WAIVER-580-UNMAP-HOLE: ", 23) == 0,
           "both let an unmap over a hole pass");
    rule_words_recorded(&answers[1], &text);
    tap_ok(strncmp(text.data, "lets it pass, WAIVER-580-UNMAP-HOLE: ", 37) == 0, "which is said: %s", text.data);
    text_free(&text);
    tap_ok(rule_recorded("VMM-ACCESS-PEER", answers, 4) == 2 && answers[0].verdict == RECORDED_NOT_ASKED &&
               strcmp(answers[0].text, "needs 2 devices") == 0,
           "one device cannot be asked about two");
    tap_u64(rule_recorded("VMM-MAP-OVERLAP", answers, 1), 2, "more answers than there is room for are counted");
    tap_u64(rule_recorded("VMM-MAP", answers, 4), 0, "a part of an id has none");
}

static void test_words(void)
{
    size_t count, seen = 0, wrong = 0, sections = 0;
    const vmm_rule *rules = vmm_rules(&count), *before = NULL;
    unsigned char *reported = calloc(count, 1);
    if (!reported)
        tap_bail("no memory");
    for (const vmm_rule *r = NULL; (r = rule_words_next(r)); before = r, seen++) {
        sections += !before || strcmp(before->function, r->function) != 0;
        wrong += reported[r - rules]++ != 0;
    }
    tap_u64(seen, count, "going through the calls meets every rule");
    tap_u64(wrong, 0, "once");
    for (size_t i = 0; i < count; i++) {
        size_t first = 0;
        while (strcmp(rules[first].function, rules[i].function) != 0)
            first++;
        seen -= first == i;
    }
    tap_u64(count - seen, sections, "and each call's rules together");
    tap_text(rule_words_calls("memcpy"), "the cuMemcpy and cuMemset calls", "a family of calls has words");
    tap_text(rule_words_calls("cuMemMap"), "cuMemMap", "a call is itself");
    free(reported);
}

int main(void)
{
    char folder[300], here[300], source[700];
    const char *given = getenv("CUVMM_SRC"), *temporary = getenv("TMPDIR");
    if (!getcwd(here, sizeof here))
        tap_bail("this folder has too long a name");
    snprintf(source, sizeof source, "%s/%s", given && given[0] == '/' ? "" : here, given ? given : ".");
    snprintf(folder, sizeof folder, "%s/examples-XXXXXX", temporary && temporary[0] ? temporary : "/tmp");
    if (!mkdtemp(folder) || chdir(folder))
        tap_bail("%s: no folder for my.profile", folder);
    test_order();
    test_parts();
    test_recorded();
    test_words();
    test_examples(source);
    if (chdir("/") || rmdir(folder))
        tap_note("%s stays behind", folder);
    return tap_done();
}
