/* explain.h - what a rule or a result means, for people; the rule book; the list of profiles. */
#ifndef CUVMM_TOOLS_EXPLAIN_H
#define CUVMM_TOOLS_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>

#include "vmm.h"

/* A rule id, a result's name (with or without CUDA_ERROR_) or its number. False when name is none of these: near
 * matches were then written to err. */
bool explain(FILE *out, FILE *err, const char *name);

/* Words for the columns of the rule table. */
const char *explain_class(vmm_rule_class rule_class);
const char *explain_origin(vmm_rule_origin origin);
const char *explain_behaviour(vmm_rule_behaviour behaviour);

enum rulebook_format { RULEBOOK_TEXT, RULEBOOK_MARKDOWN, RULEBOOK_TSV };

/* The rules of one call (the driver's name), or all when call is NULL. Returns how many there were. */
size_t rulebook(FILE *out, enum rulebook_format format, const char *call);

/* The built-in profiles, or the text of one. False when there is none of that name. */
void profiles_list(FILE *out);
bool profiles_show(FILE *out, FILE *err, const char *name);

#endif
