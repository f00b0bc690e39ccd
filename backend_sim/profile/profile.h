/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h - the description of a machine that the simulator simulates.
 *
 * A profile is text with one "key = value" per line. The same code reads built-in profiles and those that users write:
 *
 *     base = h100                      # start from a built-in profile; must be the first key
 *     devices = 2
 *     device.memory = 1GiB             # sizes: bytes, or KiB MiB GiB TiB; 1<<40 is understood too
 *
 * '#' opens a comment at the start of a line or after a blank. Each key may appear once, also to override a value of the base.
 * Without a base these are required: name, devices, device.memory and every granularity. key, and of va. start, end, granularity,
 * alignment_max and hint_max; the others default to nothing (no packing of addresses, no peers, no host memory, no optional
 * capability, attributes as listed). A profile with a base and without a name is called BASE-custom, so that it cannot be
 * mistaken for a recording.
 *
 * The reader validates the whole profile at the end of the text, so the engine only gets consistent machines: ranges and units
 * match, and attributes announce only what the machine has.
 */
#ifndef CUVMM_PROFILE_H
#define CUVMM_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm.h"

#define SIM_MAX_NODES 8
#define SIM_MAX_ATTRIBUTES 256
#define SIM_MAX_TAKEN 4
#define SIM_NAME_MAX 64
#define SIM_DRIVER "580.159.04" /* the recorded driver, whose answers the simulator gives */

struct sim_range {
    uint64_t start, end;
};

struct sim_profile {
    char name[SIM_NAME_MAX];        /* name: letters, digits, '-', '_' */
    char source[160];               /* source: where the answers come from: a recording, or documentation */

    int devices;                    /* devices: 1 .. VMM_MAX_DEVICES, all alike */
    char device_name[SIM_NAME_MAX]; /* device.name */
    uint64_t device_memory;         /* device.memory: bytes of each device, as the driver reports them; at least one
                                       granule, and not always a multiple of it (85017493504 on the H100) */
    int driver_version;             /* driver.version: the CUDA version, 1000 major + 10 minor; default 13000 */
    uint64_t device_reserved;       /* device.reserved: bytes that the driver keeps for itself */
    uint32_t peers[VMM_MAX_DEVICES]; /* peers = all | none | 0-1,2-3: bit j of [i]: device i has access to memory of j */

    int host_nodes;                 /* host.nodes: NUMA nodes, 0 .. SIM_MAX_NODES; 0: no NUMA, node id 0 means the whole host */
    uint64_t host_memory;           /* host.memory: bytes of each node */

    uint64_t device_granularity[2]; /* granularity.device.minimum, .recommended: powers of two >= 4 KiB */
    uint64_t host_granularity[2];   /* granularity.host.minimum, .recommended */
    /* granularity.multicast.minimum, .recommended; 0: the device's. Not below the device's minimum */
    uint64_t multicast_granularity[2];

    uint64_t va_start, va_end;      /* va.start, va.end: the address range of reservations */
    uint64_t va_granularity;        /* va.granularity: the unit of reservations' sizes and hints */
    uint64_t va_chunk;              /* va.chunk: small reservations are packed into chunks of this size; 0: no packing */
    uint64_t va_context;            /* va.context: where the first context reserves two chunks; 0: nowhere */
    struct sim_range va_taken[SIM_MAX_TAKEN]; /* va.taken = none | FROM-TO,...: addresses already in use */
    uint64_t va_alignment_max;      /* va.alignment_max: the largest alignment for which there are addresses */
    uint64_t va_hint_max;           /* va.hint_max: a hint at or above it is refused for lack of address space */

    bool partial_map;               /* map.partial = yes | no: can part of a handle's memory be mapped? */
    bool imex;                      /* fabric.imex = yes | no: is there a usable IMEX channel? */
    uint64_t compression_memory;    /* compression.memory: bytes per device that may be compressible */

    /* device.clusters: multiprocessors in each group that can run a cluster of blocks, such as 18 18 16; default: one group */
    char clusters[SIM_NAME_MAX];

    int attributes;                 /* attribute.N = value: device attributes by the driver's number */
    struct {
        int attribute, value;
    } attribute[SIM_MAX_ATTRIBUTES];
};

/* Where and why a text is not a valid profile: what was expected and what was found. line and column (in bytes) count from 1;
 * both are 0 when the error concerns the whole text, or its combination with the base. */
struct sim_profile_error {
    int line, column;
    char text[200];
    char source[96]; /* the line, quoted and truncated; "" if there is none */
};

/* Reads a profile from text of length bytes, which may be any bytes. On failure *profile is unchanged. error may be NULL. */
bool sim_profile_parse(const char *text, size_t length, struct sim_profile *profile, struct sim_profile_error *error);

/* Reads a profile from a file. Returns VMM_SUCCESS, VMM_ERROR_NOT_FOUND (no such file), VMM_ERROR_OPERATING_SYSTEM
 * (cannot be read), VMM_ERROR_INVALID_VALUE (not a profile). */
vmm_result sim_profile_read(const char *path, struct sim_profile *profile, struct sim_profile_error *error);

/* Built-in profiles by index: name and text; NULL after the last. */
const char *sim_profile_builtin_name(size_t index);
const char *sim_profile_builtin_text(size_t index);

/* The built-in profile of that name; false when there is none. */
bool sim_profile_builtin(const char *name, struct sim_profile *profile);

/* The granularity of multicast objects; option: VMM_MULTICAST_GRANULARITY_. */
uint64_t sim_profile_multicast(const struct sim_profile *profile, int option);

/* Finds the value of a device attribute; false when the profile does not list it. */
bool sim_profile_attribute(const struct sim_profile *profile, int attribute, int *value);
/* Is the attribute listed, and not 0? */
bool sim_profile_has(const struct sim_profile *profile, int attribute);

#endif
