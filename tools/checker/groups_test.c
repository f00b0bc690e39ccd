/* SPDX-License-Identifier: Apache-2.0 */
#include "groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

struct made {
    const char *class, *rule, *mark, *first; /* first: the module of the first of two accesses */
    unsigned pid, offset, print, size, phase;
};

/* Adds a record. */
static struct group *add(struct groups *groups, struct made made, struct share **share)
{
    char text[1000];
    struct json_doc doc;
    snprintf(text, sizeof text,
             "{\"v\":1,\"pid\":%u,\"kind\":\"finding\",\"class\":\"%s\",\"rule\":\"%s\",\"function\":\"cuMemMap\",\"call\":%u,"
             "\"text\":[[\"what\",\"x\"],[\"here\",\"y\"],[7],\"z\",[\"one\"]],\"mark\":\"%s\",\"phase\":%u,\"print\":\"0x%x\","
             "\"stack\":[{\"python\":\"a.py\",\"line\":%u,\"function\":\"f\"}],"
             "\"others\":[{\"role\":\"%s\",\"function\":\"cuMemCreate\",\"call\":3,\"stack\":[{\"python\":\"%s\",\"line\":1}]}],"
             "\"object\":{\"kind\":\"handle\",\"size\":%u}}",
             made.pid, made.class, made.rule, made.offset, made.mark ? made.mark : "", made.phase, made.print, made.offset,
             made.first ? "first" : "made by", made.first ? made.first : "b.py", made.size);
    if (!json_doc_read(&doc, text, strlen(text)))
        tap_bail("no JSON: %s", text);
    return groups_add(groups, &doc, share);
}

static void test_keys(void)
{
    struct groups *groups = groups_new();
    struct share *share;
    struct group *group = add(groups, (struct made){.class = "error", .rule = "VMM-MAP-OVERLAP", .pid = 7, .offset = 1, .print = 1}, &share);
    tap_ok(group && group->times == 1 && share->times == 1 && group->class == FINDING_ERROR, "the first of a group");
    tap_text(group_what(group), "part of the range is already mapped", "the mistake, by its rule");
    tap_text(group_text(group, "here"), "y", "the note about the call");
    tap_text(group_text(group, "nearest"), "", "nothing is near");
    tap_ok(group->others == 1 && group->other[0].call == 3 && group->other[0].places.count == 1, "another call");
    tap_ok(add(groups, (struct made){.class = "error", .rule = "VMM-MAP-OVERLAP", .pid = 8, .offset = 1, .print = 2}, &share) == group &&
               group->times == 2 && group->shares == 2 && share->times == 1 && share->pid == 8,
           "the same in another process");
    static const struct made others[] = {
        {.class = "hazard", .rule = "VMM-MAP-OVERLAP", .pid = 7, .offset = 1, .print = 3},
        {.class = "error", .rule = "VMM-UNMAP-NOTHING", .pid = 7, .offset = 1, .print = 4},
        {.class = "error", .rule = "VMM-MAP-OVERLAP", .pid = 7, .offset = 2, .print = 5},
        {.class = "error", .rule = "VMM-MAP-OVERLAP", .pid = 7, .offset = 1, .print = 7, .first = "c.py"},
        {.class = "error", .rule = "VMM-MAP-OVERLAP", .pid = 7, .offset = 1, .print = 8, .first = "d.py"},
        {.class = "error", .rule = "VMM-MAP-OVERLAP", .pid = 7, .offset = 1, .print = 9, .phase = 2},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        tap_ok(add(groups, others[i], &share) != group, "another class, rule, place, first access or phase: %zu", i);
    tap_u64(groups_count(groups), 7, "are separate groups");
    tap_ok(add(groups, (struct made){.class = "error", .rule = "VMM-MAP-OVERLAP", .pid = 7, .offset = 1, .print = 6, .mark = "step"}, &share) == group &&
               group->phases == 2 && group->phase[0].times == 2 && group->phase[1].times == 1 && strcmp(group->phase[1].mark, "step") == 0,
           "the same in another phase");
    tap_ok(groups_again(groups, 6, 5, 0) && group->phase[1].times == 6 && group->phase[0].times == 2, "the repetition "
        "belongs to that phase");
    tap_ok(groups_again(groups, 2, 100, 0) && group->times == 108 && group_share(group, 8)->times == 101 && group_share(group, 7)->times == 7,
           "the repetition belongs to that process");
    tap_ok(!groups_again(groups, 99, 1, 0), "an unknown one");
    groups_free(groups);
}

static void test_many(void)
{
    enum { PLACES = 5000 };
    struct groups *groups = groups_new();
    struct share *share;
    bool good = true;
    for (unsigned i = 0; i < 3 * PLACES; i++) {
        struct made made = {.class = "leak", .rule = "VMM-LEAK-HANDLE", .pid = 7 + i % 3, .offset = i % PLACES, .print = i + 1, .size = 1u << 31};
        struct group *group = add(groups, made, &share);
        good &= group && group->times == 1 + i / PLACES && group->bytes == group->times * ((uint64_t)1 << 31);
    }
    tap_ok(good && groups_count(groups) == PLACES, "%d places, each three times, and bytes past 4 GiB", PLACES);
    for (unsigned i = 0; i < 3 * PLACES; i++)
        good &= groups_again(groups, i + 1, 70000, UINT64_C(70000) << 31);
    for (unsigned i = 0; i < PLACES; i++)
        good &= groups_at(groups, i)->times == 210003;
    tap_ok(good, "each print finds its group");
    groups_free(groups);
}

/* Records that are JSON but nothing more. */
static void test_forged(void)
{
    static const char *const texts[] = {
        "{}", "[]", "7", "{\"class\":7,\"rule\":[],\"text\":{},\"stack\":[7,[],{}],\"others\":[7,{\"stack\":7}],\"object\":[]}",
        "{\"class\":\"nothing\",\"result\":-99999,\"pid\":-1,\"print\":\"x\",\"stack\":{\"a\":1}}",
        "{\"class\":\"leak\",\"rule\":\"VMM-NO-SUCH\",\"object\":{\"size\":-1}}",
    };
    struct groups *groups = groups_new();
    struct share *share;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct json_doc doc;
        tap_ok(json_doc_read(&doc, texts[i], strlen(texts[i])), "it is JSON");
        struct group *group = groups_add(groups, &doc, &share);
        tap_ok(group && group_what(group) && !group_text(group, "here")[0], "a record without contents: %s", texts[i]);
    }
    groups_free(groups);
}

int main(void)
{
    test_keys();
    test_many();
    test_forged();
    return tap_done();
}
