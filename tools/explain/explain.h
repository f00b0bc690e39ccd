/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h - the meaning of a rule or a result; the rule book. */
#ifndef CUVMM_TOOLS_EXPLAIN_H
#define CUVMM_TOOLS_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>

#include "rule_examples.h"
#include "vmm.h"

/* A rule id, a result's name (with or without CUDA_ERROR_) or its number. Returns false if name is none of
 * these, after writing near matches to err. */
bool explain(FILE *out, FILE *err, const char *name);

/* Words for the columns of the rule table. */
const char *explain_class(vmm_rule_class rule_class);
const char *explain_origin(vmm_rule_origin origin);
const char *explain_behaviour(vmm_rule_behaviour behaviour);

/* Prints one part of a rule's example (rule_examples.h) and nothing else, for piping into `cuvmm run -`. Returns false,
 * after reporting it on err, if name is not a rule or its example has no such part. */
bool explain_example(FILE *out, FILE *err, const char *name, enum example_part part);

/* The book: a list, docs/rulebook.md, a table for programs, and a self-contained page. */
enum rulebook_format { RULEBOOK_TEXT, RULEBOOK_MARKDOWN, RULEBOOK_TSV, RULEBOOK_HTML };

/* The rules of one call (the driver's name), or all if call is NULL. Returns how many there were; prints nothing if
 * there are none. */
size_t rulebook(FILE *out, enum rulebook_format format, const char *call);

/* The page in parts: head, search and, for all calls, contents; the start of a call's rules; a rule; the end. */
void rulebook_html_start(FILE *out, const char *call);
void rulebook_html_section(FILE *out, const char *function, bool first);
void rulebook_html_rule(FILE *out, const vmm_rule *rule, const char *call);
void rulebook_html_end(FILE *out);

#endif
