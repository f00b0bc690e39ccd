/* SPDX-License-Identifier: Apache-2.0 */
/* scale.h - for tests with more objects than a fixture can note one by one (fixture.h). */
#ifndef CUVMM_SUITE_SCALE_H
#define CUVMM_SUITE_SCALE_H

#include "house.h"
#include "test.h"

#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE
#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

/* More than 16 bits can count. */
enum { SCALE_MANY = 65537 };

#define SCALE_ARGS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define LAUNCH(kernel, ...) vmm_launch(S, VMM_KERNEL_##kernel, 1, 64, SCALE_ARGS(__VA_ARGS__), NULL)

/* A recording of the run would hold every one of so many calls. */
#define SCALE_NEED_ROOM(f) house_need_calls((f), "so many calls are too long for a recording")

/* Reserves size bytes; skips the test where no range of that size is free. */
vmm_deviceptr scale_reserve(struct fix *f, uint64_t size);

/* Skip the test where there are not so many addresses, or free bytes on device 0. */
void scale_need_addresses(struct fix *f, uint64_t size);
void scale_need_memory(struct fix *f, uint64_t size);

/* As REFUSED_BY without comparing the state, which would take too long at this size. */
void scale_refused(struct fix *f, vmm_result got, vmm_result want, const char *rule);

/* Like calloc; fails the test when memory runs out. */
void *scale_room(struct fix *f, uint64_t count, uint64_t size);

/* Of a crew (team.h) of two devices: unit, an object of size bytes, an address to map it at, and memory of each device,
 * own bytes of it, which device 0 has access to. Nothing is bound. */
struct crew;
void scale_crew(struct fix *f, uint64_t size, uint64_t own, struct crew *crew);

/* A word of memory, read by the current context's device. */
uint64_t scale_word(struct fix *f, vmm_deviceptr ptr);

#endif
