/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_words.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *function, *calls;
} families[] = {
    {"any", "any call"},
    {"cuDevice", "the cuDevice calls"},
    {"cuCtx", "the cuCtx and cuDevicePrimaryCtx calls"},
    {"cuStream", "every call that takes a stream"},
    {"cuMem", "cuMemRelease and cuMemUnmap"},
    {"cuPointerGetAttribute", "cuPointerGetAttribute and cuPointerGetAttributes"},
    {"cuMulticast", "the cuMulticast calls"},
    {"cuMulticastBind", "cuMulticastBindMem and cuMulticastBindAddr"},
    {"memcpy", "the cuMemcpy and cuMemset calls"},
    {"memset", "the cuMemset calls"},
    {"mempool", "the calls of memory pools"},
    {"cu", "the calls of managed memory"},
    {"vmm_", "the calls of this library alone"},
    {"cuArray", "the cuArray and cuMipmappedArray calls"},
    {"export", "cuMemExportToShareableHandle and cuMemPoolExportToShareableHandle"},
    {"import", "cuMemImportFromShareableHandle, cuMemPoolImportFromShareableHandle and cuMemPoolImportPointer"},
    {"vmm_close", "the end of the program (vmm_close)"},
};

const char *rule_words_calls(const char *function)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strcmp(families[i].function, function) == 0)
            return families[i].calls;
    return function;
}

void rule_words_recorded(const struct recorded *answer, struct text *text)
{
    switch (answer->verdict) {
    case RECORDED_AS_TOLD:
        text_add(text, "answered as described here in %u test%s", answer->tests, answer->tests == 1 ? "" : "s");
        break;
    case RECORDED_WAIVED: text_add(text, "lets it pass, %s", answer->text); break;
    case RECORDED_NOT_ASKED: text_add(text, "not asked: %s", answer->text); break;
    }
}

void rule_words_each_recorded(FILE *out, const char *rule,
                              void (*print)(FILE *out, const char *machine, const char *sentence, bool first))
{
    size_t count = rule_recorded(rule, NULL, 0);
    struct recorded *answers = text_grow(NULL, (count + 1) * sizeof *answers);
    rule_recorded(rule, answers, count);
    for (size_t i = 0; i < count; i++) {
        struct text text = {0};
        rule_words_recorded(&answers[i], &text);
        print(out, answers[i].machine, text.data, i == 0);
        text_free(&text);
    }
    free(answers);
}

void rule_words_result(const vmm_rule *rule, struct text *text)
{
    if (strcmp(rule->function, "vmm_close") == 0)
        text_add(text, "none; reported at the end");
    else if (rule->rule_class == VMM_RULE_HAZARD)
        text_add(text, "a warning in every mode; the result stays as it is");
    else
        text_add(text, "%s%s", vmm_result_name(rule->result),
                 rule->driver_580 == VMM_DRIVER_ACCEPTS ? " in strict mode, a warning otherwise" : "");
}

/* The first row from i on whose function no earlier row has; count if there is none. */
static size_t new_function(const vmm_rule *rules, size_t count, size_t i)
{
    for (; i < count; i++) {
        size_t before = 0;
        while (strcmp(rules[before].function, rules[i].function) != 0)
            before++;
        if (before == i)
            break;
    }
    return i;
}

const vmm_rule *rule_words_next(const vmm_rule *rule)
{
    size_t count, first = 0;
    const vmm_rule *rules = vmm_rules(&count);
    if (!rule)
        return count ? rules : NULL;
    for (const vmm_rule *next = rule + 1; next < rules + count; next++)
        if (strcmp(next->function, rule->function) == 0)
            return next;
    while (strcmp(rules[first].function, rule->function) != 0)
        first++;
    first = new_function(rules, count, first + 1);
    return first < count ? &rules[first] : NULL;
}
