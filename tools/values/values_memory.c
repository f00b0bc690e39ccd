/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are more than numbers: places, rights, grants, kinds of memory. See values.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "values.h"

struct choice {
    const char *name;
    int value;
};

static bool choose(const struct choice *choices, size_t count, const char *text, size_t length, int *out)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(choices[i].name) == length && memcmp(choices[i].name, text, length) == 0) {
            *out = choices[i].value;
            return true;
        }
    }
    return false;
}

#define CHOOSE(choices, text, length, out) choose(choices, sizeof(choices) / sizeof *(choices), text, length, out)

/* The part of a word between two offsets as a word of its own. buffer holds its text. */
static bool part(const struct word *word, size_t from, size_t to, char buffer[64], struct word *out,
                 struct words_error *error)
{
    if (to - from >= 64)
        return value_fail(error, word, from, "\"%.40s...\" is too long for a value here", word->text + from);
    memcpy(buffer, word->text + from, to - from);
    buffer[to - from] = 0;
    *out = (struct word){.text = buffer, .column = word->column + (int)from};
    return true;
}

static bool int_part(const struct value_env *env, const struct word *word, size_t from, size_t to, int *out,
                     struct words_error *error)
{
    char buffer[64];
    struct word piece;
    return part(word, from, to, buffer, &piece, error) && value_int(env, &piece, out, error);
}

static const char location_hint[] =
    "a location is dev0, dev1, ..., host, numa0, numa1, ..., numa-current or loc:TYPE:ID";

/* loc:TYPE:ID, both raw. */
static bool raw_location(const struct value_env *env, const struct word *word, vmm_mem_location *out,
                         struct words_error *error)
{
    const char *colon = strchr(word->text + 4, ':');
    if (!colon)
        return value_fail(error, word, 0, "\"%.40s\" lacks its id; %s", word->text, location_hint);
    size_t middle = (size_t)(colon - word->text);
    return int_part(env, word, 4, middle, &out->type, error) &&
           int_part(env, word, middle + 1, strlen(word->text), &out->id, error);
}

static bool ordinal(char c)
{
    return c == '-' || (c >= '0' && c <= '9');
}

bool value_location(const struct value_env *env, const struct word *word, vmm_mem_location *out,
                    struct words_error *error)
{
    static const struct choice whole[] = {{"host", VMM_MEM_LOCATION_TYPE_HOST},
                                          {"numa-current", VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT}};
    size_t length = strlen(word->text);
    vmm_mem_location location = {0, 0};
    if (CHOOSE(whole, word->text, length, &location.type)) {
        *out = location;
        return true;
    }
    bool ok = false;
    if (strncmp(word->text, "loc:", 4) == 0) {
        ok = raw_location(env, word, &location, error);
    } else if (strncmp(word->text, "dev", 3) == 0 && ordinal(word->text[3])) {
        location.type = VMM_MEM_LOCATION_TYPE_DEVICE;
        ok = int_part(env, word, 3, length, &location.id, error);
    } else if (strncmp(word->text, "numa", 4) == 0 && ordinal(word->text[4])) {
        location.type = VMM_MEM_LOCATION_TYPE_HOST_NUMA;
        ok = int_part(env, word, 4, length, &location.id, error);
    } else {
        return value_fail(error, word, 0, "\"%.40s\" is not a location; %s", word->text, location_hint);
    }
    if (ok)
        *out = location;
    return ok;
}

bool value_rights(const struct value_env *env, const struct word *word, int *out, struct words_error *error)
{
    static const struct choice rights[] = {{"none", VMM_MEM_ACCESS_FLAGS_PROT_NONE},
                                           {"r", VMM_MEM_ACCESS_FLAGS_PROT_READ},
                                           {"rw", VMM_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    if (CHOOSE(rights, word->text, strlen(word->text), out))
        return true;
    if ((word->text[0] >= '0' && word->text[0] <= '9') || word->text[0] == '-')
        return value_int(env, word, out, error);
    return value_fail(error, word, 0, "\"%.40s\" is no right; rights are none, r, rw or a number", word->text);
}

bool value_grant(const struct value_env *env, const struct word *word, vmm_mem_access_desc *out,
                 struct words_error *error)
{
    const char *colon = strrchr(word->text, ':');
    if (!colon || colon == word->text)
        return value_fail(error, word, 0, "\"%.40s\" is not a grant; write LOCATION:RIGHTS, for example dev0:rw",
                          word->text);
    size_t at = (size_t)(colon - word->text);
    char where[64], what[64];
    struct word location, rights;
    vmm_mem_access_desc grant;
    if (!part(word, 0, at, where, &location, error) ||
        !part(word, at + 1, strlen(word->text), what, &rights, error) ||
        !value_location(env, &location, &grant.location, error) || !value_rights(env, &rights, &grant.flags, error))
        return false;
    *out = grant;
    return true;
}

bool value_handle_types(const struct value_env *env, const struct word *word, int *out, struct words_error *error)
{
    static const struct choice types[] = {{"none", VMM_MEM_HANDLE_TYPE_NONE},
                                          {"fd", VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR},
                                          {"win32", VMM_MEM_HANDLE_TYPE_WIN32},
                                          {"kmt", VMM_MEM_HANDLE_TYPE_WIN32_KMT},
                                          {"fabric", VMM_MEM_HANDLE_TYPE_FABRIC}};
    int set = 0;
    for (size_t from = 0;;) {
        size_t length = strcspn(word->text + from, "|");
        int one;
        if (!CHOOSE(types, word->text + from, length, &one)) {
            if (word->text[from] < '0' || word->text[from] > '9')
                return value_fail(error, word, from,
                                  "\"%.40s\" is not a handle type; types are none, fd, win32, kmt, fabric, a number, or "
                                  "several joined with |", word->text + from);
            if (!int_part(env, word, from, from + length, &one, error))
                return false;
        }
        set |= one;
        if (!word->text[from + length])
            break;
        from += length + 1;
    }
    *out = set;
    return true;
}

static bool small_int(const struct value_env *env, const struct word *word, int max, int *out,
                      struct words_error *error)
{
    if (!value_int(env, word, out, error))
        return false;
    if (*out < 0 || *out > max)
        return value_fail(error, word, 0, "%d does not fit; 0 to %d do", *out, max);
    return true;
}

bool value_prop_option(const struct value_env *env, const struct word *word, vmm_mem_allocation_prop *prop, bool *known,
                       struct words_error *error)
{
    int value = 0;
    *known = true;
    if (strcmp(word->key, "handle") == 0)
        return value_handle_types(env, word, &prop->requested_handle_types, error);
    if (strcmp(word->key, "type") == 0)
        return value_int(env, word, &prop->type, error);
    if (strcmp(word->key, "usage") == 0) {
        bool ok = small_int(env, word, UINT16_MAX, &value, error);
        prop->alloc_flags.usage = (unsigned short)value;
        return ok;
    }
    unsigned char *byte = strcmp(word->key, "compression") == 0 ? &prop->alloc_flags.compression_type
                          : strcmp(word->key, "rdma") == 0      ? &prop->alloc_flags.gpu_direct_rdma_capable
                          : NULL;
    if (byte) {
        bool ok = small_int(env, word, UINT8_MAX, &value, error);
        *byte = (unsigned char)value;
        return ok;
    }
    if (strcmp(word->key, "reserved") == 0) {
        uint64_t bytes = 0;
        if (!value_number(env, word, &bytes, error))
            return false;
        if (bytes > UINT32_MAX)
            return value_fail(error, word, 0, "\"%.40s\" does not fit into the four reserved bytes", word->text);
        for (int i = 0; i < 4; i++)
            prop->alloc_flags.reserved[i] = (unsigned char)(bytes >> 8 * i);
        return true;
    }
    if (strcmp(word->key, "meta") == 0) {
        /* Any address but NULL is as wrong as another here; nothing reads through it. */
        uint64_t address = 0;
        bool ok = value_number(env, word, &address, error);
        prop->win32_handle_meta_data = (void *)(uintptr_t)address;
        return ok;
    }
    *known = false;
    return true;
}

bool value_inside(const struct word *word, struct words *inside, struct words_error *error)
{
    size_t length = strlen(word->text);
    if (word->text[0] != '{' || word->text[length - 1] != '}')
        return value_fail(error, word, 0, "\"%.40s\" where braces are expected: {dev0 ...}", word->text);
    if (!words_split(word->text + 1, length - 2, inside, error)) {
        error->column += word->column;
        return false;
    }
    for (size_t i = 0; i < inside->count; i++)
        inside->word[i].column += word->column;
    return true;
}

bool value_prop(const struct value_env *env, const struct word *word, vmm_mem_allocation_prop *out,
                struct words_error *error)
{
    struct words inside;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED};
    if (!value_inside(word, &inside, error))
        return false;
    for (size_t i = 0; i < inside.count; i++) {
        bool known = true;
        bool ok = inside.word[i].key ? value_prop_option(env, &inside.word[i], &prop, &known, error)
                                     : value_location(env, &inside.word[i], &prop.location, error);
        if (!ok)
            return false;
        if (!known)
            return value_fail(error, &inside.word[i], 0,
                              "memory has no property \"%.40s\"; handle, compression, rdma, usage, type, reserved and "
                              "meta are known", inside.word[i].key);
    }
    *out = prop;
    return true;
}

/* One option of a pool's properties. */
static bool pool_option(const struct value_env *env, const struct word *word, vmm_mem_pool_props *props, struct words_error *error)
{
    int value = 0;
    uint64_t bytes = 0;
    if (strcmp(word->key, "handle") == 0)
        return value_handle_types(env, word, &props->handle_types, error);
    if (strcmp(word->key, "type") == 0)
        return value_int(env, word, &props->alloc_type, error);
    if (strcmp(word->key, "max") == 0) {
        bool ok = value_number(env, word, &bytes, error);
        props->max_size = bytes;
        return ok;
    }
    bool usage = strcmp(word->key, "usage") == 0;
    if (!usage && strcmp(word->key, "reserved") != 0)
        return value_fail(error, word, 0, "a pool has no property \"%.40s\"; handle, max, type, usage and reserved are known",
                          word->key);
    if (!small_int(env, word, usage ? UINT16_MAX : UINT8_MAX, &value, error))
        return false;
    if (usage)
        props->usage = (unsigned short)value;
    else
        props->reserved[0] = (unsigned char)value;
    return true;
}

bool value_pool_props(const struct value_env *env, const struct word *word, vmm_mem_pool_props *out, struct words_error *error)
{
    struct words inside;
    vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED};
    if (!value_inside(word, &inside, error))
        return false;
    for (size_t i = 0; i < inside.count; i++)
        if (!(inside.word[i].key ? pool_option(env, &inside.word[i], &props, error)
                                 : value_location(env, &inside.word[i], &props.location, error)))
            return false;
    *out = props;
    return true;
}

bool value_grants(const struct value_env *env, const struct word *word, vmm_mem_access_desc *out, size_t max,
                  size_t *count, struct words_error *error)
{
    struct words inside;
    if (!value_inside(word, &inside, error))
        return false;
    if (inside.count > max)
        return value_fail(error, word, 0, "%zu grants in one call; the script can hold %zu", inside.count, max);
    for (size_t i = 0; i < inside.count; i++)
        if (!value_grant(env, &inside.word[i], &out[i], error))
            return false;
    *count = inside.count;
    return true;
}

const char *value_location_text(vmm_mem_location location, char buffer[VALUE_ROOM])
{
    const bool plain = location.type == VMM_MEM_LOCATION_TYPE_HOST || location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    switch (plain && location.id ? 0 : location.type) { /* what needs no id is shown with one where the call had one */
    case VMM_MEM_LOCATION_TYPE_DEVICE: snprintf(buffer, VALUE_ROOM, "dev%d", location.id); break;
    case VMM_MEM_LOCATION_TYPE_HOST: snprintf(buffer, VALUE_ROOM, "host"); break;
    case VMM_MEM_LOCATION_TYPE_HOST_NUMA: snprintf(buffer, VALUE_ROOM, "numa%d", location.id); break;
    case VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: snprintf(buffer, VALUE_ROOM, "numa-current"); break;
    default: snprintf(buffer, VALUE_ROOM, "loc:%d:%d", location.type, location.id); break;
    }
    return buffer;
}

const char *value_rights_text(uint64_t rights, char buffer[VALUE_ROOM])
{
    switch (rights) {
    case VMM_MEM_ACCESS_FLAGS_PROT_NONE: snprintf(buffer, VALUE_ROOM, "none"); break;
    case VMM_MEM_ACCESS_FLAGS_PROT_READ: snprintf(buffer, VALUE_ROOM, "r"); break;
    case VMM_MEM_ACCESS_FLAGS_PROT_READWRITE: snprintf(buffer, VALUE_ROOM, "rw"); break;
    default: snprintf(buffer, VALUE_ROOM, "%" PRIu64, rights); break;
    }
    return buffer;
}
