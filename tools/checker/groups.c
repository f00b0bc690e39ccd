/* SPDX-License-Identifier: Apache-2.0 */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

#include "findings_record.h"
#include "fnv.h"

enum { TOP = 8 }; /* frames that make a place */

/* By key a group, by print a group and a process. */
struct slot {
    uint64_t hash; /* 0: free */
    uint64_t pid;
    uint32_t group, phase;
};

struct table {
    struct slot *slot;
    size_t room, used;
};

struct groups {
    struct group **group;
    unsigned count, room;
    struct table keys, prints;
};

/* ---- tables ---- */

static struct slot *find(const struct table *table, uint64_t hash)
{
    for (size_t i = 0; i < table->room; i++) {
        struct slot *slot = &table->slot[(hash + i) % table->room];
        if (!slot->hash || slot->hash == hash)
            return slot;
    }
    return NULL;
}

static bool grow(struct table *table)
{
    struct table larger = {.room = table->room ? 2 * table->room : 256, .used = table->used};
    larger.slot = calloc(larger.room, sizeof *larger.slot);
    if (!larger.slot)
        return false;
    for (size_t i = 0; i < table->room; i++)
        if (table->slot[i].hash) /* analysers: null-dereference is wrong: the larger table has room for all */
            *find(&larger, table->slot[i].hash) = table->slot[i];
    free(table->slot);
    *table = larger;
    return true;
}

static bool put(struct table *table, uint64_t hash, struct slot value)
{
    if (2 * table->used >= table->room && !grow(table))
        return false;
    struct slot *slot = find(table, hash);
    if (!slot)
        return false;
    table->used += !slot->hash;
    *slot = value;
    slot->hash = hash;
    return true;
}

/* ---- keys ---- */

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return fnv1a(hash, text, strlen(text) + 1);
}

static uint64_t mix_places(uint64_t hash, const struct places *places)
{
    for (unsigned i = 0; i < places->count && i < TOP; i++) {
        const struct place *place = &places->place[i];
        hash = mix_text(mix_text(mix_text(hash, place->module), place->file), place->function);
        hash = fnv1a(hash, &place->offset, sizeof place->offset);
        hash = fnv1a(hash, &place->line, sizeof place->line);
    }
    return hash;
}

static uint64_t key_of(const struct group *group)
{
    uint64_t hash = mix_text(FNV1A ^ (uint64_t)group->class, group->rule);
    uint64_t phase = json_doc_number(&group->doc, group->doc.node, "phase");
    hash = mix_places(mix_text(fnv1a(hash, &phase, sizeof phase), group->function), &group->places);
    for (unsigned i = 0; i < group->others; i++) /* for two accesses, both identify the finding */
        if (strcmp(group->other[i].role, "first") == 0)
            hash = mix_places(hash, &group->other[i].places);
    return hash | UINT64_C(1) << 63;
}

/* ---- a group ---- */

static void group_free(struct group *group)
{
    for (unsigned i = 0; i < group->others; i++)
        places_free(&group->other[i].places);
    free(group->other);
    for (unsigned i = 0; i < group->phases; i++)
        free((char *)group->phase[i].mark);
    free(group->phase);
    free(group->share);
    places_free(&group->places);
    json_doc_free(&group->doc);
    free(group);
}

static const char *text_of(const struct group *group, const char *key)
{
    const char *text = json_doc_string(&group->doc, group->doc.node, key);
    return text ? text : "";
}

static enum finding class_of(const char *name)
{
    for (enum finding class = FINDING_NOTE; class <= FINDING_LEAK; class++)
        if (strcmp(name, findings_class_name(class)) == 0)
            return class;
    return FINDING_NOTHING;
}

static bool read_others(struct group *group)
{
    const struct json_doc *doc = &group->doc;
    const struct json_node *list = json_doc_member(doc, doc->node, "others", JSON_LIST), *node = NULL;
    unsigned count = 0;
    while (list && (node = json_doc_next(doc, list, node)))
        count++;
    if (!count)
        return true;
    group->other = calloc(count, sizeof *group->other);
    if (!group->other)
        return false;
    for (node = NULL; (node = json_doc_next(doc, list, node));) {
        struct other *other = &group->other[group->others++];
        const char *role = json_doc_string(doc, node, "role"), *function = json_doc_string(doc, node, "function");
        other->role = role ? role : "";
        other->function = function ? function : "";
        other->call = json_doc_number(doc, node, "call");
        if (!places_read(&other->places, doc, json_doc_member(doc, node, "stack", JSON_LIST)))
            return false;
    }
    return true;
}

/* Takes ownership of the document, even on failure. */
static struct group *group_new(struct json_doc *doc)
{
    struct group *group = calloc(1, sizeof *group);
    if (!group) {
        json_doc_free(doc);
        return NULL;
    }
    group->doc = *doc;
    const struct json_node *object = json_doc_member(doc, doc->node, "object", JSON_OBJECT);
    group->class = class_of(text_of(group, "class"));
    group->rule = text_of(group, "rule");
    group->row = group->rule[0] ? vmm_rule_find(group->rule) : NULL;
    group->function = text_of(group, "function");
    group->argument = text_of(group, "argument");
    group->kind = json_doc_string(doc, object, "kind");
    group->kind = group->kind ? group->kind : "";
    group->call = json_doc_number(doc, doc->node, "call");
    group->value = json_doc_number(doc, doc->node, "value");
    group->pid = json_doc_number(doc, doc->node, "pid");
    group->thread = json_doc_number(doc, doc->node, "thread");
    group->result = (int)json_doc_number(doc, doc->node, "result");
    group->cut = json_doc_member(doc, doc->node, "cut", JSON_BOOL) != NULL;
    if (places_read(&group->places, doc, json_doc_member(doc, doc->node, "stack", JSON_LIST)) && read_others(group)) {
        group->key = key_of(group);
        return group;
    }
    group_free(group);
    return NULL;
}

struct share *group_share(struct group *group, uint64_t pid)
{
    for (unsigned i = group->shares; i > 0; i--) /* the last process is the most likely one */
        if (group->share[i - 1].pid == pid)
            return &group->share[i - 1];
    return NULL;
}

/* Finds or adds it. NULL when memory is out. */
static struct share *share_of(struct group *group, uint64_t pid)
{
    struct share *share = group_share(group, pid);
    if (share)
        return share;
    if (group->shares == group->share_room) {
        unsigned room = group->share_room ? 2 * group->share_room : 1;
        struct share *larger = realloc(group->share, room * sizeof *larger);
        if (!larger)
            return NULL;
        group->share = larger;
        group->share_room = room;
    }
    share = &group->share[group->shares++];
    *share = (struct share){.pid = pid};
    return share;
}

/* The number of the phase with that mark, added if new; the number for "no phase" when memory is exhausted. */
static uint32_t phase_of(struct group *group, const char *mark)
{
    for (unsigned i = group->phases; i > 0; i--)
        if (strcmp(group->phase[i - 1].mark, mark) == 0)
            return i - 1;
    struct phase *larger = realloc(group->phase, (group->phases + 1) * sizeof *larger);
    if (!larger)
        return UINT32_MAX;
    group->phase = larger;
    larger[group->phases].times = 0;
    larger[group->phases].mark = strdup(mark);
    /* analysers: malloc-leak is wrong: the mark is the group's */
    return larger[group->phases].mark ? group->phases++ : UINT32_MAX;
}

static bool count(struct group *group, uint32_t phase, uint64_t pid, uint64_t times, uint64_t bytes, struct share **share)
{
    /* analysers: malloc-leak is wrong: the shares are the group's */
    *share = share_of(group, pid);
    if (!*share)
        return false;
    (*share)->times += times;
    (*share)->bytes += bytes;
    group->times += times;
    if (phase < group->phases)
        group->phase[phase].times += times;
    group->bytes += bytes;
    return true;
}

bool group_is_memory(const struct group *group)
{
    static const char *const kinds[] = {"handle", "allocation", "pool"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(group->kind, kinds[i]) == 0)
            return true;
    return false;
}

const char *group_text(const struct group *group, const char *label)
{
    const struct json_doc *doc = &group->doc;
    const struct json_node *list = json_doc_member(doc, doc->node, "text", JSON_LIST), *pair = NULL;
    while (list && (pair = json_doc_next(doc, list, pair))) {
        const struct json_node *name = json_doc_next(doc, pair, NULL), *text = name ? json_doc_next(doc, pair, name) : NULL;
        if (text && strcmp(name->text, label) == 0)
            return text->text;
    }
    return "";
}

const char *group_what(const struct group *group)
{
    const char *what = group->row ? group->row->message : group_text(group, "what");
    return what[0] ? what : vmm_result_name((vmm_result)group->result);
}

/* ---- all of them ---- */

struct groups *groups_new(void)
{
    return calloc(1, sizeof(struct groups));
}

void groups_free(struct groups *groups)
{
    if (!groups)
        return;
    for (unsigned i = 0; i < groups->count; i++)
        group_free(groups->group[i]);
    free(groups->group);
    free(groups->keys.slot);
    free(groups->prints.slot);
    free(groups);
}

static bool append(struct groups *groups, struct group *group)
{
    if (groups->count == groups->room) {
        unsigned room = groups->room ? 2 * groups->room : 64;
        struct group **larger = realloc(groups->group, room * sizeof *larger);
        if (!larger)
            return false;
        groups->group = larger;
        groups->room = room;
    }
    if (!put(&groups->keys, group->key, (struct slot){.group = groups->count}))
        return false;
    groups->group[groups->count++] = group;
    return true;
}

struct group *groups_add(struct groups *groups, struct json_doc *doc, struct share **share)
{
    struct group *made = group_new(doc), *group = made;
    if (!made)
        return NULL;
    char *mark = strdup(text_of(made, "mark"));
    uint64_t pid = made->pid, print = json_doc_number(&made->doc, made->doc.node, "print");
    uint64_t bytes = json_doc_number(&made->doc, json_doc_member(&made->doc, made->doc.node, "object", JSON_OBJECT), "size");
    const struct slot *slot = groups->keys.room ? find(&groups->keys, made->key) : NULL;
    uint32_t index = slot && slot->hash ? slot->group : groups->count;
    if (index < groups->count) {
        group = groups->group[index];
        group_free(made);
    } else if (!append(groups, made)) {
        group_free(made);
        free(mark);
        return NULL;
    }
    uint32_t phase = mark ? phase_of(group, mark) : UINT32_MAX;
    free(mark);
    if (print) /* without it repeats are not attributed to any place */
        put(&groups->prints, print, (struct slot){.group = index, .phase = phase, .pid = pid});
    return count(group, phase, pid, 1, bytes, share) ? group : NULL;
}

bool groups_again(struct groups *groups, uint64_t print, uint64_t times, uint64_t bytes)
{
    struct share *share;
    const struct slot *slot = groups->prints.room ? find(&groups->prints, print) : NULL;
    return slot && slot->hash && count(groups->group[slot->group], slot->phase, slot->pid, times, bytes, &share);
}

unsigned groups_count(const struct groups *groups)
{
    return groups->count;
}

struct group *groups_at(const struct groups *groups, unsigned index)
{
    return groups->group[index];
}
