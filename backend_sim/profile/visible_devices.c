/* SPDX-License-Identifier: Apache-2.0 */
#include "visible_devices.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fnv.h"

static bool is_seen(const struct visible_devices *visible, int place)
{
    int i = 0;
    while (i < visible->seen && visible->place[i] != place)
        i++;
    return i < visible->seen;
}

static void hide_the_rest(struct visible_devices *visible)
{
    int next = visible->seen;
    for (int place = 0; place < visible->all; place++)
        if (!is_seen(visible, place))
            visible->place[next++] = place;
}

void visible_devices_all(struct visible_devices *visible, int devices)
{
    *visible = (struct visible_devices){.all = devices};
    hide_the_rest(visible);
    visible->seen = devices;
}

int visible_devices_ordinal(const struct visible_devices *visible, int place)
{
    int i = 0;
    while (visible->place[i] != place)
        i++;
    return i;
}

void visible_devices_apply(const struct visible_devices *visible, const struct sim_profile *machine, struct sim_profile *seen)
{
    *seen = *machine;
    seen->devices = visible->seen;
    for (int i = 0; i < visible->all; i++) {
        seen->peers[i] = 0;
        for (int j = 0; j < visible->all; j++)
            seen->peers[i] |= (machine->peers[visible->place[i]] >> visible->place[j] & 1) << j;
    }
}

void visible_devices_uuid(const struct sim_profile *machine, int place, unsigned char uuid[VISIBLE_UUID])
{
    uint64_t hash = fnv1a(FNV1A + (uint64_t)place, machine->name, strlen(machine->name));
    memcpy(uuid, &hash, sizeof hash);
    memcpy(uuid + 8, "cuvmmsim", 8);
    uuid[6] = (unsigned char)((uuid[6] & 0x0f) | 0x40); /* in the form of a random UUID, version 4 */
    uuid[8] = (unsigned char)((uuid[8] & 0x3f) | 0x80);
}

/* ---- lists ---- */

/* Appends a device; false when the list already has it. */
static bool see(struct visible_devices *visible, int place)
{
    if (is_seen(visible, place))
        return false;
    visible->place[visible->seen++] = place;
    return true;
}

bool visible_devices_choose(struct visible_devices *visible, const char *list, int devices)
{
    bool good = true;
    *visible = (struct visible_devices){.all = devices};
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

/* ---- parsing the variable as the driver does ---- */

enum { NIBBLES = 2 * VISIBLE_UUID };

/* The value of a hexadecimal digit in a text that has not ended; -1: not a digit. */
static int nibble(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = strchr(digits, tolower((unsigned char)c));
    return at ? (int)(at - digits) : -1;
}

/* Is the text a prefix of the UUID? Ignores dashes, and anything after a complete UUID. */
static bool begins(const char *text, const unsigned char uuid[VISIBLE_UUID])
{
    int count = 0;
    for (; count < NIBBLES && *text && *text != ','; text++) {
        if (*text == '-')
            continue;
        if (nibble(*text) != (uuid[count / 2] >> (count % 2 ? 0 : 4) & 15))
            return false;
        count++;
    }
    return count > 0;
}

static bool is_uuid(const char *entry)
{
    return strncmp(entry, "GPU-", 4) == 0 || strncmp(entry, "MIG-", 4) == 0;
}

/* The ordinal of the device that an entry names; -1: no device, or several. */
static int place_of_uuid(const char *entry, const struct sim_profile *machine)
{
    int found = -1;
    for (int place = 0; is_uuid(entry) && place < machine->devices; place++) {
        unsigned char uuid[VISIBLE_UUID];
        visible_devices_uuid(machine, place, uuid);
        if (begins(entry + 4, uuid)) {
            if (found >= 0)
                return -1;
            found = place;
        }
    }
    return found;
}

static int place_of_number(const char *entry, const struct sim_profile *machine)
{
    char *end;
    int place = (int)(unsigned)strtol(entry, &end, 10); /* the driver uses the last 32 bits */
    return end != entry && place >= 0 && place < machine->devices ? place : -1;
}

vmm_result visible_devices_read(struct visible_devices *visible, const char *list, const struct sim_profile *machine)
{
    visible_devices_all(visible, machine->devices);
    if (!list)
        return VMM_SUCCESS;
    int (*const place_of)(const char *, const struct sim_profile *) = is_uuid(list) ? place_of_uuid : place_of_number;
    *visible = (struct visible_devices){.all = machine->devices};
    for (const char *entry = list; entry; entry = strchr(entry, ',')) {
        entry += entry != list;
        int place = place_of(entry, machine);
        if (place < 0)
            break;
        if (!see(visible, place)) {
            visible->seen = 0;
            hide_the_rest(visible);
            return VMM_ERROR_INVALID_DEVICE;
        }
    }
    hide_the_rest(visible);
    return visible->seen ? VMM_SUCCESS : VMM_ERROR_NO_DEVICE;
}
