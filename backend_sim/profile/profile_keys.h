/* SPDX-License-Identifier: Apache-2.0 */
/* profile_keys.h - private to the profile reader: its keys, and the draft that it fills.
 *
 *     text -> sim_profile_draft -> draft (each value and its position) -> sim_profile_check -> profile
 */
#ifndef CUVMM_PROFILE_KEYS_H
#define CUVMM_PROFILE_KEYS_H

#include "profile.h"
#include "profile_value.h"

enum sim_key_kind { SIM_KEY_NAME, SIM_KEY_TEXT, SIM_KEY_INT, SIM_KEY_SIZE, SIM_KEY_BOOL, SIM_KEY_PEERS,
    SIM_KEY_RANGES };

enum sim_key_index {
    SIM_K_NAME,
    SIM_K_SOURCE,
    SIM_K_DRIVER_VERSION,
    SIM_K_DEVICES,
    SIM_K_DEVICE_NAME,
    SIM_K_DEVICE_MEMORY,
    SIM_K_DEVICE_RESERVED,
    SIM_K_PEERS,
    SIM_K_HOST_NODES,
    SIM_K_HOST_MEMORY,
    SIM_K_DEVICE_MINIMUM,
    SIM_K_DEVICE_RECOMMENDED,
    SIM_K_HOST_MINIMUM,
    SIM_K_HOST_RECOMMENDED,
    SIM_K_MULTICAST_MINIMUM,
    SIM_K_MULTICAST_RECOMMENDED,
    SIM_K_VA_START,
    SIM_K_VA_END,
    SIM_K_VA_GRANULARITY,
    SIM_K_VA_CHUNK,
    SIM_K_VA_CONTEXT,
    SIM_K_VA_TAKEN,
    SIM_K_VA_ALIGNMENT_MAX,
    SIM_K_VA_HINT_MAX,
    SIM_K_PARTIAL_MAP,
    SIM_K_IMEX,
    SIM_K_COMPRESSION_MEMORY,
    SIM_K_DEVICE_CLUSTERS,
    SIM_K_COUNT
};

struct sim_key {
    const char *name;
    enum sim_key_kind kind;
    bool required;     /* the text or its base must have it */
    size_t offset;     /* in struct sim_profile */
    size_t room;       /* of a string, with its terminator */
    int low, high;     /* the range of an int */
};

extern const struct sim_key sim_keys[SIM_K_COUNT]; /* indexed by enum sim_key_index */

/* The index of the key, or -1. */
int sim_key_find(struct sim_span name);

/* The key nearest to a misspelt one; NULL when none is near. */
const char *sim_key_nearest(struct sim_span name);

struct sim_place {
    int line, column; /* 0, 0: the key is not in this text */
};

struct sim_draft {
    struct sim_profile profile;
    struct sim_place place[SIM_K_COUNT]; /* indexed by key: its value's position in this text */
    bool given[SIM_K_COUNT];             /* set by this text or its base */
    struct sim_place attribute_place[SIM_MAX_ATTRIBUTES];
    char base[SIM_NAME_MAX];             /* "" without a base */
};

/* Reads every line; writes *draft only on success. Each value is in its range; their combination has not been checked. */
bool sim_profile_draft(const char *text, size_t length, struct sim_draft *draft, struct sim_profile_error *error);

/* Fills in defaults, and refuses an inconsistent machine. */
bool sim_profile_check(struct sim_draft *draft, struct sim_profile_error *error);

#endif
