/* SPDX-License-Identifier: Apache-2.0 */
/* rule_words.h - wording about a rule that all presentations share: `cuvmm explain`, the rule book and its page.
 *
 *   function "cuMemMap"   ->  "cuMemMap"
 *            "memcpy"     ->  "the cuMemcpy and cuMemset calls"
 *            "any"        ->  "any call"
 */
#ifndef CUVMM_TOOLS_RULE_WORDS_H
#define CUVMM_TOOLS_RULE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "rule_recorded.h"
#include "text.h"
#include "vmm.h"

/* The calls that a rule's function stands for. */
const char *rule_words_calls(const char *function);

/* Appends what a machine's recording says about a rule, as one sentence without the machine's name. */
void rule_words_recorded(const struct recorded *answer, struct text *text);

/* Calls print for each machine on which the rule was tested, or could not be, with that sentence. */
void rule_words_each_recorded(FILE *out, const char *rule,
                              void (*print)(FILE *out, const char *machine, const char *sentence, bool first));

/* Appends the consequence of breaking the rule: an error's name, or that it is a warning, and in which mode. Hazards are never
 * refused. */
void rule_words_result(const vmm_rule *rule, struct text *text);

/* The rule after this one of those with the same function, or the first of the next function; a function's rows need
 * not be adjacent. Start with NULL; NULL behind the last. */
const vmm_rule *rule_words_next(const vmm_rule *rule);

#endif
