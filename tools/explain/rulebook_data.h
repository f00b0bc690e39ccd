/* SPDX-License-Identifier: Apache-2.0 */
/* rulebook_data.h - texts that the Makefile builds into the command: files of the source tree, verbatim. */
#ifndef CUVMM_TOOLS_RULEBOOK_DATA_H
#define CUVMM_TOOLS_RULEBOOK_DATA_H

#include <stddef.h>

/* conformance/corpus/rulebook, one file after the other, in the order of api/rules.def. See rule_examples.h. */
extern const unsigned char rule_examples_text[];
extern const size_t rule_examples_size;

/* The rule-breaking tests from conformance/recorded/recordings: each machine's suite.tap after a line "= machine". See
 * rule_recorded.h. */
extern const unsigned char rule_recorded_text[];
extern const size_t rule_recorded_size;

#endif
