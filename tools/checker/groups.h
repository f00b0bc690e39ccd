/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h - findings as the parent keeps them: those with the same rule, call and place are one, with a count.
 *
 *     record  error VMM-X cuMemMap, grow < main, process 7     groups: VMM-X cuMemMap, grow < main   3 times   in 7 twice, in 8 once
 *     record  the same, process 8                              leaks:  VMM-LEAK-HANDLE, grow < main  100000 times, 195 GiB
 *     again   the same, process 7
 *
 * Findings in different phases of a process (cuvmm_phase), such as tests, are separate.
 */
#ifndef CUVMM_TOOLS_GROUPS_H
#define CUVMM_TOOLS_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "findings.h"
#include "places.h"
#include "vmm.h"

/* A further call that the finding involves. */
struct other {
    const char *role, *function;
    uint64_t call;
    struct places places;
};

/* What a process contributed. */
struct share {
    uint64_t pid, times, bytes;
};

/* How often it occurred between two marks of the program. */
struct phase {
    const char *mark; /* "": before the first one */
    uint64_t times;
};

struct group {
    struct json_doc doc; /* from the first record, which owns the texts */
    enum finding class;
    const char *rule;    /* "": none */
    const vmm_rule *row; /* NULL if the rule is unknown */
    const char *function, *argument, *kind; /* the kind of the object, such as "handle"; "" for none */
    uint64_t call, value, pid, thread;             /* of the first */
    int result;
    bool cut;
    struct places places;
    struct other *other;
    unsigned others;
    struct share *share;
    unsigned shares, share_room;
    struct phase *phase;
    unsigned phases;
    uint64_t times, bytes;
    const struct suppression *suppressed; /* NULL: it is not */
    uint64_t key;
};

struct groups;

struct groups *groups_new(void);
void groups_free(struct groups *groups);

/* Adds a record of the kind "finding", and takes ownership of the document. The group is new if its times are 1, and its
 * share is the first of that process if the share's times are 1. NULL when memory is out. */
struct group *groups_add(struct groups *groups, struct json_doc *doc, struct share **share);

/* Counts a repeat; returns false if the fingerprint is unknown. */
bool groups_again(struct groups *groups, uint64_t print, uint64_t times, uint64_t bytes);

unsigned groups_count(const struct groups *groups);
struct group *groups_at(const struct groups *groups, unsigned index);

/* The share of a process; NULL: none. */
struct share *group_share(struct group *group, uint64_t pid);

/* Does it hold physical memory? Reservations are only addresses, and a mapping's memory belongs to its handle. */
bool group_is_memory(const struct group *group);

/* The text after a label of a finding ("what", "here"); "" if there is none. */
const char *group_text(const struct group *group, const char *label);

/* What is wrong, in a line. */
const char *group_what(const struct group *group);

#endif
