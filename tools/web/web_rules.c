/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "json.h"
#include "rule_words.h"
#include "text.h"
#include "web.h"

const char *web_rules(void)
{
    struct json json = {0};
    jsonw_open(&json, NULL, '[');
    for (const vmm_rule *rule = NULL; (rule = rule_words_next(rule));) {
        jsonw_open(&json, NULL, '{');
        jsonw_utf8(&json, "id", rule->id);
        jsonw_utf8(&json, "call", rule_words_calls(rule->function));
        jsonw_utf8(&json, "what", rule->message);
        jsonw_utf8(&json, "result", rule->result == VMM_SUCCESS ? "" : vmm_result_name(rule->result));
        jsonw_utf8(&json, "words", rule->explanation);
        jsonw_close(&json, '}');
    }
    jsonw_close(&json, ']');
    return web_answer(&json);
}

/* The output written to `out`, as a result. */
static const char *taken(FILE *out, char **memory)
{
    struct text text = {0};
    if (out)
        fclose(out);
    text_add(&text, "%s", *memory ? *memory : "");
    free(*memory);
    return web_answer_text(&text);
}

const char *web_rule(const char *id)
{
    char *memory = NULL;
    size_t size;
    const vmm_rule *rule = vmm_rule_find(id);
    FILE *out = open_memstream(&memory, &size);
    if (out && rule)
        rulebook_html_rule(out, rule, NULL);
    return taken(out, &memory);
}

static void put_part(struct json *json, const char *key, const struct rule_example *example, enum example_part part)
{
    struct text text = {0};
    rule_example_part(example, part, &text);
    jsonw_utf8(json, key, text.data ? text.data : "");
    text_free(&text);
}

const char *web_pair(const char *id)
{
    struct json json = {0};
    struct rule_example example;
    jsonw_open(&json, NULL, '{');
    if (vmm_rule_find(id) && rule_example_find(id, &example)) {
        put_part(&json, "broken", &example, EXAMPLE_BROKEN);
        put_part(&json, "corrected", &example, EXAMPLE_CORRECTED);
        put_part(&json, "machine", &example, EXAMPLE_MACHINE);
    }
    jsonw_close(&json, '}');
    return web_answer(&json);
}

const char *web_explain(const char *name)
{
    char *memory = NULL;
    size_t size;
    FILE *out = open_memstream(&memory, &size);
    if (out)
        explain(out, out, name);
    return taken(out, &memory);
}
