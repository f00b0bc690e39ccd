/* SPDX-License-Identifier: Apache-2.0 */
/* team.h - a multicast object with its team, and memory of every device behind it, for tests.
 *
 *     mc     [ unit 0 .......][ unit 1 .......]     one mapping, with rights for the whole team
 *     dev0   [ memory[0] at own[0] ...........]     bound whole, or not at all
 *     dev1   [ memory[1] at own[1] ...........]
 *
 * No driver was asked about multicast, and none is to be: on a driver these tests are skipped with that reason.
 */
#ifndef CUVMM_SUITE_TEAM_H
#define CUVMM_SUITE_TEAM_H

#include "test.h"

/* A machine with n devices that has it, whatever the profile; 3 of them, where the number does not matter. */
#define TEAM_OF(n) "attribute.132 = 1\npeers = all\ndevices = " #n
#define TEAM TEAM_OF(3)

/* The same with a unit that is not memory's on any machine. */
#define TEAM_COARSE TEAM "\ngranularity.multicast.minimum = 4MiB\ngranularity.multicast.recommended = 8MiB"

enum { TEAM_MOST = 8, TEAM_UNITS = 2 };

struct crew {
    unsigned devices;
    uint64_t unit, size; /* of multicast objects; TEAM_UNITS units */
    vmm_mem_generic_allocation_handle object, memory[TEAM_MOST];
    vmm_deviceptr mc, own[TEAM_MOST];
    vmm_context context[TEAM_MOST];
};

void team_need(struct fix *f);
vmm_multicast_object_prop team_prop(unsigned devices, uint64_t size);
uint64_t team_unit(struct fix *f);

/* An object of TEAM_UNITS units without devices; with all of them; memory of a device of the same size. */
vmm_mem_generic_allocation_handle team_object(struct fix *f, unsigned devices);
vmm_mem_generic_allocation_handle team_complete(struct fix *f, unsigned devices);
vmm_mem_generic_allocation_handle team_memory(struct fix *f, int device);

/* As fix_reserve and fix_mapped, at a multiple of the multicast unit. */
vmm_deviceptr team_reserve(struct fix *f, uint64_t size);
vmm_deviceptr team_mapped(struct fix *f, uint64_t size, vmm_mem_access_flags flags,
                          vmm_mem_generic_allocation_handle *memory);

/* Rights for devices 0 .. devices - 1 on a mapping. */
void team_access(struct fix *f, vmm_deviceptr ptr, uint64_t size, unsigned devices, vmm_mem_access_flags flags);

/* All of it; bound says how many devices bind, from 0 on. A context for each device, that of device 0 is current. */
struct crew team_crew(struct fix *f, unsigned devices, unsigned bound);

/* Work of a device: makes its context current. */
void team_on(struct fix *f, const struct crew *crew, unsigned device);
/* A word of a device's own memory, and all of them set before. */
uint64_t team_word(struct fix *f, const struct crew *crew, unsigned device, uint64_t offset);
void team_set(struct fix *f, const struct crew *crew, unsigned device, uint64_t offset, uint64_t value);

/* The call returned this and is told of by this rule, NULL for that of the test, with these words somewhere. */
void team_told(struct fix *f, int line, vmm_result got, vmm_result want, const char *rule, uint64_t value,
               vmm_object_kind near, const char *words);
#define TOLD(call, code, value, near) \
    team_told(f, __LINE__, (call), VMM_##code, NULL, (value), VMM_OBJECT_##near, "")

#define ARGS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define LAUNCH(kernel, ...) vmm_launch(S, VMM_KERNEL_##kernel, 2, 96, ARGS(__VA_ARGS__), NULL)

#endif
