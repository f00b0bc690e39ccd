/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profile_keys.h"

/* The limits of a machine's sizes: generous, and small enough that sums over all devices stay far below 2^64. */
#define MEMORY_MAX (UINT64_C(1) << 50)
#define ADDRESS_MAX (UINT64_C(1) << 57)
#define PAGE_MIN UINT64_C(4096)
#define PAGE_MAX (UINT64_C(1) << 40)

struct checker {
    struct sim_draft *draft;
    struct sim_profile_error *error;
};

static bool bad(struct checker *checker, struct sim_place at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool bad(struct checker *checker, struct sim_place at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    checker->error->line = at.line;
    checker->error->column = at.column;
    vsnprintf(checker->error->text, sizeof checker->error->text, format, args);
    va_end(args);
    return false;
}

/* The position of an inconsistency between two keys: that of the key in this text, or of the first one if both are. */
static struct sim_place of(const struct checker *checker, enum sim_key_index one, enum sim_key_index other)
{
    const struct sim_place *place = checker->draft->place;
    return place[one].line ? place[one] : place[other];
}

static uint64_t value(const struct checker *checker, enum sim_key_index key)
{
    uint64_t size;
    memcpy(&size, (const char *)&checker->draft->profile + sim_keys[key].offset, sizeof size);
    return size;
}

static bool required(struct checker *checker)
{
    for (int i = 0; i < SIM_K_COUNT; i++)
        if (sim_keys[i].required && !checker->draft->given[i])
            return bad(checker, (struct sim_place){0, 0},
                       "expected the key '%s', found none; give it, or start from a built-in profile with 'base = h100'",
                       sim_keys[i].name);
    return true;
}

static bool in_range(struct checker *checker, enum sim_key_index key, uint64_t low, uint64_t high)
{
    uint64_t size = value(checker, key);
    if (size >= low && size <= high)
        return true;
    return bad(checker, of(checker, key, key), "expected '%s' from %llu to %llu bytes, found %llu", sim_keys[key].name,
               (unsigned long long)low, (unsigned long long)high, (unsigned long long)size);
}

static bool power_of_two(struct checker *checker, enum sim_key_index key)
{
    uint64_t size = value(checker, key);
    if (size && (size & (size - 1)) == 0)
        return true;
    return bad(checker, of(checker, key, key), "expected a power of two for '%s', found %llu", sim_keys[key].name,
               (unsigned long long)size);
}

static bool multiple(struct checker *checker, enum sim_key_index key, enum sim_key_index unit)
{
    uint64_t size = value(checker, key), step = value(checker, unit);
    if (size % step == 0)
        return true;
    return bad(checker, of(checker, key, unit), "expected '%s' as a multiple of '%s' (%llu), found %llu",
               sim_keys[key].name, sim_keys[unit].name, (unsigned long long)step, (unsigned long long)size);
}

static bool at_most(struct checker *checker, enum sim_key_index key, enum sim_key_index limit, bool less)
{
    uint64_t size = value(checker, key), most = value(checker, limit);
    if (less ? size < most : size <= most)
        return true;
    return bad(checker, of(checker, key, limit), "expected '%s' %s '%s' (%llu), found %llu", sim_keys[key].name,
               less ? "below" : "up to", sim_keys[limit].name, (unsigned long long)most, (unsigned long long)size);
}

/* Binds and mappings of multicast objects cover whole multiples of memory's granularity. A value of 0 means memory's own
 * granularity. */
static bool of_multicast(struct checker *checker)
{
    static const enum sim_key_index pages[] = {SIM_K_MULTICAST_MINIMUM, SIM_K_MULTICAST_RECOMMENDED};
    for (size_t i = 0; i < 2; i++)
        if (value(checker, pages[i]) && (!in_range(checker, pages[i], PAGE_MIN, PAGE_MAX) ||
                                         !power_of_two(checker, pages[i]) ||
                                         !at_most(checker, SIM_K_DEVICE_MINIMUM, pages[i], false)))
            return false;
    return !value(checker, pages[0]) || !value(checker, pages[1]) || at_most(checker, pages[0], pages[1], false);
}

static bool granularities(struct checker *checker)
{
    static const enum sim_key_index pages[] = {SIM_K_DEVICE_MINIMUM, SIM_K_DEVICE_RECOMMENDED, SIM_K_HOST_MINIMUM,
                                               SIM_K_HOST_RECOMMENDED, SIM_K_VA_GRANULARITY};
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        if (!in_range(checker, pages[i], PAGE_MIN, PAGE_MAX) || !power_of_two(checker, pages[i]))
            return false;
    return at_most(checker, SIM_K_DEVICE_MINIMUM, SIM_K_DEVICE_RECOMMENDED, false) &&
           at_most(checker, SIM_K_HOST_MINIMUM, SIM_K_HOST_RECOMMENDED, false) && of_multicast(checker);
}

/* Drops addresses of the base that lie outside this text's address range, like the base's links to missing devices. */
static void drop_places_of_base(struct sim_draft *draft)
{
    struct sim_profile *p = &draft->profile;
    uint64_t unit = p->va_chunk ? p->va_chunk : p->va_granularity;
    if (!draft->place[SIM_K_VA_CONTEXT].line &&
        (!p->va_chunk || p->va_context < p->va_start || p->va_context > p->va_end - 2 * p->va_chunk || p->va_context % unit))
        p->va_context = 0;
    if (draft->place[SIM_K_VA_TAKEN].line)
        return;
    int kept = 0;
    for (int i = 0; i < SIM_MAX_TAKEN; i++) {
        struct sim_range range = p->va_taken[i];
        p->va_taken[i] = (struct sim_range){.end = 0};
        if (range.start >= p->va_start && range.end <= p->va_end && range.start % unit == 0 && range.end % unit == 0)
            p->va_taken[kept++] = range;
    }
}

/* Chunks tile the address space; 0 means no packing. The context's two chunks must lie inside it. */
static bool chunks(struct checker *checker)
{
    uint64_t chunk = value(checker, SIM_K_VA_CHUNK), context = value(checker, SIM_K_VA_CONTEXT);
    if (!chunk && !context)
        return true;
    if (!chunk)
        return bad(checker, of(checker, SIM_K_VA_CONTEXT, SIM_K_VA_CHUNK),
                   "expected 0 for 'va.context' because 'va.chunk' is 0, found %llu", (unsigned long long)context);
    if (!power_of_two(checker, SIM_K_VA_CHUNK) || !in_range(checker, SIM_K_VA_CHUNK, PAGE_MIN, PAGE_MAX) ||
        !at_most(checker, SIM_K_VA_GRANULARITY, SIM_K_VA_CHUNK, false) ||
        !multiple(checker, SIM_K_VA_START, SIM_K_VA_CHUNK) || !multiple(checker, SIM_K_VA_END, SIM_K_VA_CHUNK))
        return false;
    return !context || (multiple(checker, SIM_K_VA_CONTEXT, SIM_K_VA_CHUNK) &&
                        in_range(checker, SIM_K_VA_CONTEXT, value(checker, SIM_K_VA_START),
                                 value(checker, SIM_K_VA_END) - 2 * chunk));
}

/* Addresses already in use must be whole chunks, in order, and disjoint. */
static bool taken(struct checker *checker)
{
    const struct sim_profile *profile = &checker->draft->profile;
    uint64_t unit = profile->va_chunk ? profile->va_chunk : profile->va_granularity, from = profile->va_start;
    for (int i = 0; i < SIM_MAX_TAKEN && profile->va_taken[i].end; i++) {
        const struct sim_range *range = &profile->va_taken[i];
        if (range->start % unit || range->end % unit || range->start < from || range->end > profile->va_end)
            return bad(checker, of(checker, SIM_K_VA_TAKEN, SIM_K_VA_CHUNK),
                       "expected the ranges of 'va.taken' between 'va.start' and 'va.end', in order, as multiples of "
                       "%llu; range %d is not",
                       (unsigned long long)unit, i + 1);
        from = range->end;
    }
    return true;
}

static bool addresses(struct checker *checker)
{
    return multiple(checker, SIM_K_VA_START, SIM_K_VA_GRANULARITY) &&
           multiple(checker, SIM_K_VA_END, SIM_K_VA_GRANULARITY) &&
           in_range(checker, SIM_K_VA_START, PAGE_MIN, ADDRESS_MAX) &&
           in_range(checker, SIM_K_VA_END, PAGE_MIN, ADDRESS_MAX) &&
           at_most(checker, SIM_K_VA_START, SIM_K_VA_END, true) && power_of_two(checker, SIM_K_VA_ALIGNMENT_MAX) &&
           at_most(checker, SIM_K_VA_GRANULARITY, SIM_K_VA_ALIGNMENT_MAX, false) &&
           at_most(checker, SIM_K_VA_END, SIM_K_VA_HINT_MAX, false);
}

static bool memory(struct checker *checker)
{
    return in_range(checker, SIM_K_DEVICE_MEMORY, PAGE_MIN, MEMORY_MAX) &&
           in_range(checker, SIM_K_HOST_MEMORY, 0, MEMORY_MAX) &&
           at_most(checker, SIM_K_DEVICE_MINIMUM, SIM_K_DEVICE_MEMORY, false) &&
           at_most(checker, SIM_K_DEVICE_RESERVED, SIM_K_DEVICE_MEMORY, true) &&
           at_most(checker, SIM_K_COMPRESSION_MEMORY, SIM_K_DEVICE_MEMORY, false);
}

static struct sim_place attribute_place(const struct checker *checker, int number)
{
    const struct sim_profile *profile = &checker->draft->profile;
    for (int i = 0; i < profile->attributes; i++)
        if (profile->attribute[i].attribute == number)
            return checker->draft->attribute_place[i];
    return (struct sim_place){0, 0};
}

/* Checks the addresses inside the space, once the space itself is valid. */
static bool places(struct checker *checker)
{
    drop_places_of_base(checker->draft);
    return chunks(checker) && taken(checker);
}

/* Attributes that announce a capability must agree with the machine, or they would mislead a program that queries them
 * first. */
static bool attributes(struct checker *checker)
{
    const struct sim_profile *p = &checker->draft->profile;
    int node;
    struct {
        int attribute;
        enum sim_key_index key;
        bool present;
        const char *needs;
    } pairs[] = {
        {VMM_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, SIM_K_HOST_MEMORY, p->host_memory > 0,
         "'host.memory' above 0"},
        {VMM_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, SIM_K_HOST_NODES,
         p->host_nodes > 0 && p->host_memory > 0, "'host.nodes' and 'host.memory' above 0"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        int supported;
        struct sim_place at = attribute_place(checker, pairs[i].attribute);
        if (sim_profile_attribute(p, pairs[i].attribute, &supported) && supported && !pairs[i].present)
            return bad(checker, at.line ? at : of(checker, pairs[i].key, SIM_K_HOST_MEMORY),
                       "attribute.%d = %d needs %s", pairs[i].attribute, supported, pairs[i].needs);
    }
    if (sim_profile_attribute(p, VMM_DEVICE_ATTRIBUTE_HOST_NUMA_ID, &node) &&
        (node < -1 || node >= (p->host_nodes ? p->host_nodes : 1))) {
        struct sim_place at = attribute_place(checker, VMM_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
        return bad(checker, at.line ? at : of(checker, SIM_K_HOST_NODES, SIM_K_HOST_NODES),
                   "expected attribute.%d (the nearest NUMA node) from -1 to %d, found %d",
                   VMM_DEVICE_ATTRIBUTE_HOST_NUMA_ID, p->host_nodes ? p->host_nodes - 1 : 0, node);
    }
    return true;
}

enum { CLUSTER_DIGITS = 3, CLUSTER_MOST = 999 };

/* Numbers of 1 to 3 digits, a blank before each but the first. */
static bool clusters(struct checker *checker)
{
    const char *at = checker->draft->profile.clusters;
    for (size_t digits = 0; *at; at++) {
        bool wrong = *at == ' ' ? !digits || !at[1] : *at < '0' || *at > '9' || digits == CLUSTER_DIGITS;
        digits = *at == ' ' ? 0 : digits + 1;
        if (wrong)
            return bad(checker, of(checker, SIM_K_DEVICE_CLUSTERS, SIM_K_DEVICE_CLUSTERS),
                       "expected numbers of multiprocessors in 'device.clusters', such as 18 18 16, found \"%s\"",
                       checker->draft->profile.clusters);
    }
    return true;
}

/* The inverse check refuses only capabilities that would work without being announced: an IMEX channel without fabric support is
 * a valid machine, and has no effect. */
static bool announced(struct checker *checker)
{
    const struct sim_profile *p = &checker->draft->profile;
    int supported;
    if (p->compression_memory &&
        !(sim_profile_attribute(p, VMM_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, &supported) && supported))
        return bad(checker, of(checker, SIM_K_COMPRESSION_MEMORY, SIM_K_COMPRESSION_MEMORY),
                   "'compression.memory' above 0 needs attribute.%d = 1",
                   VMM_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED);
    return true;
}

/* Drops links to missing devices that come from a base or from "all"; such links in this text itself are an error. */
static bool peers(struct checker *checker)
{
    struct sim_profile *p = &checker->draft->profile;
    uint32_t present = (UINT32_C(1) << p->devices) - 1; /* devices <= 31 */
    uint32_t all = ~(UINT32_C(1) << 0) & ~(UINT32_C(1) << VMM_MAX_DEVICES);
    bool every = (p->peers[0] & all) == all;
    for (int i = 0; i < VMM_MAX_DEVICES; i++) {
        uint32_t wanted = p->peers[i];
        p->peers[i] = i < p->devices ? wanted & present : 0;
        if (!every && checker->draft->place[SIM_K_PEERS].line && p->peers[i] != wanted)
            return bad(checker, checker->draft->place[SIM_K_PEERS],
                       "expected links between devices 0 to %d, found one of a device that does not exist",
                       p->devices - 1);
    }
    return true;
}

/* Fills in defaults. A profile that changes a base must not be mistaken for the base. */
static void defaults(struct sim_draft *draft)
{
    struct sim_profile *p = &draft->profile;
    if (draft->base[0] && !draft->place[SIM_K_NAME].line)
        snprintf(p->name, sizeof p->name, "%.55s-custom", draft->base);
    if (draft->base[0] && !draft->place[SIM_K_SOURCE].line)
        snprintf(p->source, sizeof p->source, "a user's profile, based on %.60s", draft->base);
    if (!draft->base[0] && !draft->given[SIM_K_SOURCE])
        snprintf(p->source, sizeof p->source, "a user's profile");
    int processors = 0;
    sim_profile_attribute(p, VMM_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &processors);
    if (!draft->given[SIM_K_DEVICE_CLUSTERS])
        snprintf(p->clusters, sizeof p->clusters, "%d", processors > 0 && processors <= CLUSTER_MOST ? processors : 0);
    if (!draft->given[SIM_K_DRIVER_VERSION])
        p->driver_version = 13000;
    if (!draft->given[SIM_K_DEVICE_NAME])
        snprintf(p->device_name, sizeof p->device_name, "cuvmm simulated device");
}

bool sim_profile_check(struct sim_draft *draft, struct sim_profile_error *error)
{
    struct checker checker = {draft, error};
    if (!required(&checker) || !granularities(&checker) || !addresses(&checker) || !places(&checker) || !memory(&checker) ||
        !attributes(&checker) || !announced(&checker) || !clusters(&checker) || !peers(&checker))
        return false;
    defaults(draft);
    return true;
}
