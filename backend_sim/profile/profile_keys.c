/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_keys.h"

#include <string.h>

#define AT(field) offsetof(struct sim_profile, field)
#define ROOM(field) sizeof(((struct sim_profile *)0)->field)

const struct sim_key sim_keys[SIM_K_COUNT] = {
    [SIM_K_NAME] = {"name", SIM_KEY_NAME, .required = true, .offset = AT(name), .room = ROOM(name)},
    [SIM_K_SOURCE] = {"source", SIM_KEY_TEXT, .offset = AT(source), .room = ROOM(source)},
    [SIM_K_DRIVER_VERSION] = {"driver.version", SIM_KEY_INT, .offset = AT(driver_version), .low = 11000, .high = 999990},
    [SIM_K_DEVICES] = {"devices", SIM_KEY_INT, .required = true, .offset = AT(devices), .low = 1, .high = VMM_MAX_DEVICES},
    [SIM_K_DEVICE_NAME] = {"device.name", SIM_KEY_TEXT, .offset = AT(device_name), .room = ROOM(device_name)},
    [SIM_K_DEVICE_MEMORY] = {"device.memory", SIM_KEY_SIZE, .required = true, .offset = AT(device_memory)},
    [SIM_K_DEVICE_RESERVED] = {"device.reserved", SIM_KEY_SIZE, .offset = AT(device_reserved)},
    [SIM_K_PEERS] = {"peers", SIM_KEY_PEERS, .offset = AT(peers)},
    [SIM_K_HOST_NODES] = {"host.nodes", SIM_KEY_INT, .offset = AT(host_nodes), .high = SIM_MAX_NODES},
    [SIM_K_HOST_MEMORY] = {"host.memory", SIM_KEY_SIZE, .offset = AT(host_memory)},
    [SIM_K_DEVICE_MINIMUM] = {"granularity.device.minimum", SIM_KEY_SIZE, .required = true, .offset = AT(device_granularity[0])},
    [SIM_K_DEVICE_RECOMMENDED] = {"granularity.device.recommended", SIM_KEY_SIZE, .required = true,
                                  .offset = AT(device_granularity[1])},
    [SIM_K_HOST_MINIMUM] = {"granularity.host.minimum", SIM_KEY_SIZE, .required = true, .offset = AT(host_granularity[0])},
    [SIM_K_HOST_RECOMMENDED] = {"granularity.host.recommended", SIM_KEY_SIZE, .required = true,
                                .offset = AT(host_granularity[1])},
    [SIM_K_MULTICAST_MINIMUM] = {"granularity.multicast.minimum", SIM_KEY_SIZE, .offset = AT(multicast_granularity[0])},
    [SIM_K_MULTICAST_RECOMMENDED] = {"granularity.multicast.recommended", SIM_KEY_SIZE, .offset = AT(multicast_granularity[1])},
    [SIM_K_VA_START] = {"va.start", SIM_KEY_SIZE, .required = true, .offset = AT(va_start)},
    [SIM_K_VA_END] = {"va.end", SIM_KEY_SIZE, .required = true, .offset = AT(va_end)},
    [SIM_K_VA_GRANULARITY] = {"va.granularity", SIM_KEY_SIZE, .required = true, .offset = AT(va_granularity)},
    [SIM_K_VA_CHUNK] = {"va.chunk", SIM_KEY_SIZE, .offset = AT(va_chunk)},
    [SIM_K_VA_CONTEXT] = {"va.context", SIM_KEY_SIZE, .offset = AT(va_context)},
    [SIM_K_VA_TAKEN] = {"va.taken", SIM_KEY_RANGES, .offset = AT(va_taken)},
    [SIM_K_VA_ALIGNMENT_MAX] = {"va.alignment_max", SIM_KEY_SIZE, .required = true, .offset = AT(va_alignment_max)},
    [SIM_K_VA_HINT_MAX] = {"va.hint_max", SIM_KEY_SIZE, .required = true, .offset = AT(va_hint_max)},
    [SIM_K_PARTIAL_MAP] = {"map.partial", SIM_KEY_BOOL, .offset = AT(partial_map)},
    [SIM_K_IMEX] = {"fabric.imex", SIM_KEY_BOOL, .offset = AT(imex)},
    [SIM_K_COMPRESSION_MEMORY] = {"compression.memory", SIM_KEY_SIZE, .offset = AT(compression_memory)},
    [SIM_K_DEVICE_CLUSTERS] = {"device.clusters", SIM_KEY_TEXT, .offset = AT(clusters), .room = ROOM(clusters)},
};

int sim_key_find(struct sim_span name)
{
    for (int i = 0; i < SIM_K_COUNT; i++)
        if (sim_span_is(name, sim_keys[i].name))
            return i;
    return -1;
}

#define LONGEST 40

/* The number of edits that turn a into b; both have at most LONGEST bytes. */
static size_t distance(struct sim_span a, struct sim_span b)
{
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= b.length; j++)
        row[j] = j;
    for (size_t i = 0; i < a.length; i++) {
        size_t corner = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b.length; j++) {
            size_t change = corner + (a.at[i] != b.at[j]);
            size_t other = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            corner = row[j + 1];
            row[j + 1] = change < other ? change : other;
        }
    }
    return row[b.length];
}

/* Users often remember only the last word of a key: "partial" for "map.partial". */
static bool is_last_word(struct sim_span name, const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot && sim_span_is(name, dot + 1);
}

const char *sim_key_nearest(struct sim_span name)
{
    static const char *const extra[] = {"base", "attribute.N"};
    const char *best = NULL;
    size_t least = 4;
    if (name.length > LONGEST)
        return NULL;
    for (size_t i = 0; i < SIM_K_COUNT + sizeof extra / sizeof extra[0]; i++) {
        const char *key = i < SIM_K_COUNT ? sim_keys[i].name : extra[i - SIM_K_COUNT];
        size_t edits = is_last_word(name, key) ? 0 : distance(name, (struct sim_span){key, strlen(key)});
        if (edits < least && edits < strlen(key)) {
            least = edits;
            best = key;
        }
    }
    return best;
}
