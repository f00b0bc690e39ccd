/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h - a system under test, what its machine can do, and everything a test makes on it.
 *
 *     fix_open     [system | initialised | a context on device 0]     what the machine can do is asked once
 *     fix_mapped   [R1 |M1 RW|....]  H1                               each helper notes what it made
 *     fix_close    unmap, release, free, end contexts, close          whatever the test left is given back
 *
 * Helpers that make something need it: where the call fails the test ends there and has failed (fix_need). Everything
 * goes through vmm.h, so the same tests run on every backend.
 */
#ifndef CUVMM_FIXTURE_H
#define CUVMM_FIXTURE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "vmm.h"

#define FIX_THINGS 96
#define FIX_PEERS 4
#define FIX_UNTOUCHED UINT64_C(0x7777777777777777) /* what outputs hold before a call that is to leave them alone */

enum fix_kind { FIX_MAPPING, FIX_HANDLE, FIX_RESERVATION, FIX_STREAM, FIX_EVENT, FIX_ALLOCATION, FIX_CONTEXT };

struct fix_thing {
    enum fix_kind kind;
    uint64_t value, size; /* address and size, handle and size, or the opaque pointer */
};

enum fix_mode { FIX_AS_GIVEN, FIX_OBSERVED, FIX_STRICT };

enum fix_options {
    FIX_RAW = 1,       /* not initialised */
    FIX_NO_CONTEXT = 2 /* initialised, no current context */
};

struct fix_house;

struct fix {
    vmm_system *sys;
    struct fix_house *house; /* the driver that all tests share (suite/house.h); NULL: a system of its own */
    char spec[512]; /* as it was opened */
    bool simulator; /* tells rules, warnings and objects, answers forged and stale values, is made to order */
    bool strict;    /* documented rules that the recorded driver does not enforce are errors */
    int devices;
    uint64_t minimum;       /* of device 0's memory: the granularity of vmm_mem_create */
    uint64_t unit;          /* the smallest size that can be reserved, found by asking */
    uint64_t g;             /* fits as a size of memory, of a reservation and of a mapping */
    vmm_context ctx;        /* on device 0, current; NULL with FIX_RAW and FIX_NO_CONTEXT */
    vmm_deviceptr keeper;   /* a reservation of one unit that lives as long as ctx: small ranges are packed beside it,
                               so that hints near it are not rounded to larger units */
    struct fix_thing thing[FIX_THINGS];
    unsigned things;
    struct fix *peer[FIX_PEERS]; /* further systems of the test, closed with this one */
    unsigned peers;
    struct fix *root;       /* where failures are counted: the fixture of the test */
    jmp_buf *out;           /* where a test that cannot go on goes */
    unsigned failures;
    unsigned about_memory;  /* those of them that are about a driver's free memory, which others use, too */
    uint64_t seen_free;     /* free memory at the last fix_state */
    bool held;              /* a call was refused that documents forbid and driver 580 lets pass */
    const char *skip;       /* why the test does not apply here, or NULL */
    const char *rule;       /* id of the rule that the test is about, or NULL */
    FILE *profile;          /* holds the profile that was written for this test, or NULL */
};

/* Opens what spec names in f, which must be all zero but for root, out and house. Returns what vmm_open or vmm_init returned;
 * on failure nothing is open. */
vmm_result fix_open(struct fix *f, const char *spec, int options);

/* The same on a variant of spec: with another mode, and on the simulator with lines added to its profile (NULL for
 * none); other machines are as they are, so tests say themselves what they need. False when the backend cannot be
 * varied so; *why then says what is missing. */
bool fix_open_variant(struct fix *f, const char *spec, const char *lines, enum fix_mode mode, int options,
                      vmm_result *result, const char **why);

/* Another system, closed with f: spec as for vmm_open, or NULL for a second process of the machine (vmm_attach). */
struct fix *fix_also(struct fix *f, const char *spec, int options);

/* Gives back what the helpers made, which must succeed, and closes the system. */
void fix_close(struct fix *f);

/* Does spec (NULL: as vmm_open) name the simulator? */
bool fix_is_simulator(const char *spec);
/* Why the whole suite, which changes modes and machines from test to test, cannot be asked of that simulator, and what to do;
 * NULL: it can. */
const char *fix_unfit(const char *spec);

/* ------------------------------------------------------------------------------------------------- verdict of a test */

void fix_failed(struct fix *f, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Ends the test as one that does not apply: reason names what is missing, "needs 2 devices". */
void fix_skip(struct fix *f, const char *reason) __attribute__((noreturn));

/* Ends the test as failed unless result is VMM_SUCCESS. */
void fix_need_at(struct fix *f, const char *file, int line, vmm_result result, const char *what);
#define fix_need(f, call) fix_need_at((f), __FILE__, __LINE__, (call), #call)

/* ------------------------------------------------------------------------------------------------- what there is */

/* The attribute of device 0, 0 where it cannot be told. */
int fix_attribute(struct fix *f, vmm_device_attribute attribute);

/* Skip the test unless it holds. On a machine made to order for the test (lines were added to its profile), what the
 * order is about is not asked for: an engine that does not honour it must fail, not be skipped. */
void fix_need_devices(struct fix *f, int count);
void fix_need_simulator(struct fix *f, const char *why);
void fix_need_host(struct fix *f);           /* memory of location HOST, attribute 145 */
void fix_need_numa(struct fix *f);           /* memory of location HOST_NUMA, attribute 141 */
void fix_need_attribute(struct fix *f, vmm_device_attribute attribute, const char *reason);
void fix_need_no_attribute(struct fix *f, vmm_device_attribute attribute, const char *reason);
void fix_need_parts(struct fix *f, bool wanted);   /* parts of physical memory can, or cannot, be mapped */
void fix_need_fabric(struct fix *f, bool wanted);  /* fabric handles can, or cannot, be had, although supported */
void fix_need_link(struct fix *f, bool wanted);    /* device 1 may, or may not, access memory of device 0 */
bool fix_partial(struct fix *f);             /* may a part of physical memory be mapped? Found by trying */
uint64_t fix_host_unit(struct fix *f);       /* as g, for host memory */
int fix_numa_node(struct fix *f);            /* of device 0, 0 where the machine names none */

/* --------------------------------------------------------------------------------------------------- making things */

vmm_mem_allocation_prop fix_prop(int device);
vmm_mem_allocation_prop fix_prop_at(vmm_mem_location_type type, int id);
vmm_mem_location fix_at(vmm_mem_location_type type, int id);

vmm_mem_generic_allocation_handle fix_create(struct fix *f, uint64_t size);
vmm_mem_generic_allocation_handle fix_create_prop(struct fix *f, uint64_t size, const vmm_mem_allocation_prop *prop);
vmm_deviceptr fix_reserve(struct fix *f, uint64_t size);
vmm_deviceptr fix_reserve_at(struct fix *f, uint64_t size, uint64_t alignment, vmm_deviceptr hint);
void fix_map(struct fix *f, vmm_deviceptr ptr, uint64_t size, vmm_mem_generic_allocation_handle handle);
void fix_access(struct fix *f, vmm_deviceptr ptr, uint64_t size, vmm_mem_access_flags flags);
void fix_access_at(struct fix *f, vmm_deviceptr ptr, uint64_t size, vmm_mem_location location,
                   vmm_mem_access_flags flags);

/* A reservation of size with memory of that size mapped all over it and rights for device 0. */
vmm_deviceptr fix_mapped(struct fix *f, uint64_t size, vmm_mem_access_flags flags,
                         vmm_mem_generic_allocation_handle *handle);
/* One memory at two addresses and another behind it, a granule each, all RW on device 0: [M1 of H][M2 of H][other]. */
vmm_deviceptr fix_mapped_twice(struct fix *f);

/* Two reservations side by side: [first][second]. Returns the first's start. */
vmm_deviceptr fix_adjacent(struct fix *f, uint64_t first, uint64_t second);

/* Addresses that were reserved a moment ago and are free. */
vmm_deviceptr fix_free_range(struct fix *f, uint64_t size);

vmm_deviceptr fix_alloc(struct fix *f, uint64_t size);
vmm_context fix_context(struct fix *f, int device); /* new, and current */
vmm_stream fix_stream(struct fix *f);
vmm_event fix_event(struct fix *f); /* of the current context */

/* And giving them back; the call must succeed. */
void fix_unmap(struct fix *f, vmm_deviceptr ptr, uint64_t size);
void fix_release(struct fix *f, vmm_mem_generic_allocation_handle handle);
void fix_address_free(struct fix *f, vmm_deviceptr ptr, uint64_t size);
void fix_context_destroy(struct fix *f, vmm_context ctx);
void fix_stream_destroy(struct fix *f, vmm_stream stream);
void fix_event_destroy(struct fix *f, vmm_event event);
void fix_mem_free(struct fix *f, vmm_deviceptr ptr);

/* Nothing waits for running work on a driver: what is taken from under a fill makes it fault, and a fault takes the
 * device from the process. So helpers that take something away wait first, and fix_fill waits for its end. */
void fix_settle(struct fix *f);

/* Notes and forgets things that a test made or ended with calls of its own. Forgetting a mapping forgets every mapping
 * that starts in [value, value + size). */
void fix_note(struct fix *f, enum fix_kind kind, uint64_t value, uint64_t size);
void fix_forget(struct fix *f, enum fix_kind kind, uint64_t value, uint64_t size);

/* ------------------------------------------------------------------------------------------------- looking at things */

uint64_t fix_free_memory(struct fix *f); /* of the current context's device */
uint64_t fix_rights(struct fix *f, vmm_deviceptr ptr, vmm_mem_location_type type, int id);
void fix_fill(struct fix *f, vmm_deviceptr ptr, unsigned char value, uint64_t size);
unsigned char fix_peek(struct fix *f, vmm_deviceptr ptr); /* one byte, read by the current context's device */

/* The state as text, one line per fact that public calls can tell about the fixture's objects; free() it. Equal texts
 * mean that nothing changed. A driver's free memory is not in it, only in f->seen_free. */
char *fix_state(struct fix *f);

#endif
