/* SPDX-License-Identifier: Apache-2.0 */
/* team.h - a multicast object with its team and memory of every device bound to it, for tests.
 *
 *     mc     [ unit 0 .......][ unit 1 .......]     one mapping, with rights for the whole team
 *     dev0   [ memory[0] at own[0] ...........]     bound whole, or not at all
 *     dev1   [ memory[1] at own[1] ...........]
 *
 * Multicast was not measured on a driver, and must not be: there these tests are skipped with that reason.
 */
#ifndef CUVMM_SUITE_TEAM_H
#define CUVMM_SUITE_TEAM_H

#include "test.h"

/* A machine with n devices and multicast, whatever the profile; 3 devices where the number does not matter. */
#define TEAM_OF(n) "attribute.132 = 1\npeers = all\ndevices = " #n
#define TEAM TEAM_OF(3)

/* The same, with a multicast unit that differs from the memory granularity of every machine. */
#define TEAM_COARSE TEAM "\ngranularity.multicast.minimum = 8MiB\ngranularity.multicast.recommended = 16MiB"

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

/* An object of TEAM_UNITS units without devices; one with all devices; memory of a device, of the same size. */
vmm_mem_generic_allocation_handle team_object(struct fix *f, unsigned devices);
vmm_mem_generic_allocation_handle team_complete(struct fix *f, unsigned devices);
vmm_mem_generic_allocation_handle team_memory(struct fix *f, int device);

/* As fix_reserve and fix_mapped, at a multiple of the multicast unit. */
vmm_deviceptr team_reserve(struct fix *f, uint64_t size);
vmm_deviceptr team_mapped(struct fix *f, uint64_t size, vmm_mem_access_flags flags,
                          vmm_mem_generic_allocation_handle *memory);

/* Rights for devices 0 .. devices - 1 on a mapping. */
void team_access(struct fix *f, vmm_deviceptr ptr, uint64_t size, unsigned devices, vmm_mem_access_flags flags);

/* All of the above; devices 0 to bound - 1 bind their memory. Each device has a context; device 0's is current. */
struct crew team_crew(struct fix *f, unsigned devices, unsigned bound);

/* Makes the device's context current. */
void team_on(struct fix *f, const struct crew *crew, unsigned device);
/* A word of a device's own memory, and all of them set before. */
uint64_t team_word(struct fix *f, const struct crew *crew, unsigned device, uint64_t offset);
void team_set(struct fix *f, const struct crew *crew, unsigned device, uint64_t offset, uint64_t value);

/* The call returned this, and its report is by this rule (NULL: the test's) and contains these words. */
void team_reported(struct fix *f, int line, vmm_result got, vmm_result want, const char *rule, uint64_t value,
               vmm_object_kind near, const char *words);
#define TOLD(call, code, value, near) \
    team_reported(f, __LINE__, (call), VMM_##code, NULL, (value), VMM_OBJECT_##near, "")

#define ARGS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define LAUNCH(kernel, ...) vmm_launch(S, VMM_KERNEL_##kernel, 2, 96, ARGS(__VA_ARGS__), NULL)

#endif
