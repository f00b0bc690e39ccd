/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule has an example, or a reason and the test that breaks it; and the recordings of each. rule_pairs_test.c checks
 * that the examples do what they claim. */
#include "rule_examples.h"

#include <stdlib.h>
#include <string.h>

#include "rule_recorded.h"
#include "rule_words.h"
#include "tap.h"

/* The rules that no script can break. A new one needs a sound reason. */
#define WITHOUT_SCRIPT 34

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
    tap_text(text.data, "  init\n+ c = context dev0\n  a = alloc 1MiB\n  freemem a\n+ destroy c\n", "each after its mark");
    text_free(&text);
    tap_u64(rule_example_part(&example, EXAMPLE_BROKEN, &text), 3, "the broken form");
    tap_text(text.data, "init\na = alloc 1MiB\nfreemem a\n", "has what both have");
    tap_u64(rule_example_part(&example, EXAMPLE_MACHINE, &text), 0, "and most need no special machine");
    text_free(&text);
}

static void test_recorded(void)
{
    struct recorded answers[4];
    struct text text = {0};
    size_t n = rule_recorded("VMM-MAP-OVERLAP", answers, 4);
    tap_ok(n == 2 && strcmp(answers[0].machine, "h100-580.159.04") == 0 && answers[0].verdict == RECORDED_AS_TOLD &&
               answers[0].tests == 1 && !answers[0].text[0],
           "the H100 answered to an overlap as documented");
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
    const char *source = getenv("CUVMM_SRC");
    test_order();
    test_parts();
    test_recorded();
    test_words();
    test_examples(source ? source : ".");
    return tap_done();
}
