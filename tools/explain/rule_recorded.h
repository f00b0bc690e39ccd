/* SPDX-License-Identifier: Apache-2.0 */
/* rule_recorded.h - what recorded machines answered when the suite broke a rule, from conformance/recorded/recordings.
 *
 *     ok 434 - breaks VMM-MAP-OVERLAP: map_over_a_mapping           ->   RECORDED_AS_TOLD
 *     not ok 37 - breaks ...: ... # TODO WAIVER-580-...: reason      ->   RECORDED_WAIVED
 *     ok 34 - breaks ...: ... # SKIP needs 2 devices                 ->   RECORDED_NOT_ASKED
 */
#ifndef CUVMM_TOOLS_RULE_RECORDED_H
#define CUVMM_TOOLS_RULE_RECORDED_H

#include <stddef.h>

enum recorded_verdict {
    RECORDED_AS_TOLD,  /* the driver behaved as the rule says */
    RECORDED_WAIVED,   /* it accepts what the documents forbid; the text says what happens */
    RECORDED_NOT_ASKED /* the text says why */
};

#define RECORDED_ROOM 240

/* One machine's answer to the tests of one rule. */
struct recorded {
    char machine[64]; /* folder of conformance/recorded/recordings, as h100-580.159.04 */
    enum recorded_verdict verdict;
    unsigned tests;           /* the number of tests that were answered as the rule says */
    char text[RECORDED_ROOM]; /* the reason; "" if there is none */
};

/* The answers to a rule's tests, one entry per machine, in order of the machines' names; machines without a test of it are
 * omitted. Returns how many there are, which may be more than were written. */
size_t rule_recorded(const char *rule, struct recorded *answers, size_t room);

#endif
