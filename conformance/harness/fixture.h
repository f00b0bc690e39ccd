/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h - a system under test, what its machine supports, and everything a test makes on it.
 *
 *     fix_open     [system | initialised | a context on device 0]     what the machine supports is queried once
 *     fix_mapped   [R1 |M1 RW|....]  H1                               each helper notes what it made
 *     fix_close    unmap, release, free, end contexts, close          whatever the test left is freed
 *
 * Helpers that make an object require success: where the call fails, the test fails and ends there (fix_need).
 * Everything goes through vmm.h, so the same tests run on every backend.
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
#define FIX_UNTOUCHED UINT64_C(0x7777777777777777) /* what outputs hold before a call that must not write them */

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
    struct fix_house *house; /* the driver that all tests share (suite/house.h); NULL: a separate system */
    char spec[512]; /* as it was opened */
    bool simulator; /* reports rules, warnings and objects, accepts forged and stale values, takes any profile */
    bool strict;    /* documented rules that the recorded driver does not enforce are errors */
    bool races;     /* the test accesses memory that nothing orders: with order=report such findings are no failures */
    int devices;
    uint64_t minimum;       /* of device 0's memory: the granularity of vmm_mem_create */
    uint64_t unit;          /* the smallest size that can be reserved, found by trial */
    uint64_t g;             /* fits as a size of memory, of a reservation and of a mapping */
    vmm_context ctx;        /* on device 0, current; NULL with FIX_RAW and FIX_NO_CONTEXT */
    /* a reservation of one unit that lives as long as ctx: small ranges are packed beside it, so that hints near it
     * are not rounded to larger units */
    vmm_deviceptr keeper;
    struct fix_thing thing[FIX_THINGS];
    unsigned things;
    struct fix *peer[FIX_PEERS]; /* further systems of the test, closed with this one */
    unsigned peers;
    struct fix *root;       /* where failures are counted: the fixture of the test */
    jmp_buf *out;           /* the longjmp target of a test that cannot continue */
    unsigned failures;
    unsigned about_memory;  /* those caused by a driver's free memory, which other processes use, too */
    uint64_t seen_free;     /* free memory at the last fix_state */
    bool held;              /* a call was refused that the documentation forbids and driver 580 accepts */
    const char *skip;       /* why the test does not apply here, or NULL */
    const char *rule;       /* id of the rule that the test is about, or NULL */
    FILE *profile;          /* holds the profile that was written for this test, or NULL */
};

/* Opens what spec names in f, which must be zero except root, out and house. Returns the result of vmm_open or
 * vmm_init; on failure nothing is open. */
vmm_result fix_open(struct fix *f, const char *spec, int options);

/* The same on a variant of spec: with another mode, and on the simulator with lines added to its profile (NULL for
 * none). Other machines cannot be changed, so tests state what they need. False when the backend has no such variant;
 * *why then names what is missing. */
bool fix_open_variant(struct fix *f, const char *spec, const char *lines, enum fix_mode mode, int options,
                      vmm_result *result, const char **why);

/* Another system, closed with f: spec as for vmm_open, or NULL for a second process of the machine (vmm_attach). */
struct fix *fix_also(struct fix *f, const char *spec, int options);

/* Frees what the helpers made, which must succeed, and closes the system. */
void fix_close(struct fix *f);

/* Does spec (NULL: as vmm_open) name the simulator? */
bool fix_is_simulator(const char *spec);
/* Why the whole suite, which changes modes and machines between tests, cannot run on that simulator, and what to do;
 * NULL: it can. */
const char *fix_unfit(const char *spec);

/* ------------------------------------------------------------------------------------------------- verdict of a test */

void fix_failed(struct fix *f, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Skips the test; reason names what is missing, "needs 2 devices". */
void fix_skip(struct fix *f, const char *reason) __attribute__((noreturn));

/* Fails and ends the test unless result is VMM_SUCCESS. */
void fix_need_at(struct fix *f, const char *file, int line, vmm_result result, const char *what);
#define fix_need(f, call) fix_need_at((f), __FILE__, __LINE__, (call), #call)

/* ------------------------------------------------------------------------------------------------- what there is */

/* The attribute of device 0, 0 where the query fails. */
int fix_attribute(struct fix *f, vmm_device_attribute attribute);

/* Skip the test unless the condition holds. On a machine whose profile the test extended, properties in those lines are
 * not checked: an engine that ignores them must fail, not be skipped. */
void fix_need_devices(struct fix *f, int count);
void fix_need_simulator(struct fix *f, const char *why);
void fix_need_host(struct fix *f);           /* memory of location HOST, attribute 145 */
void fix_need_numa(struct fix *f);           /* memory of location HOST_NUMA, attribute 141 */
void fix_need_attribute(struct fix *f, vmm_device_attribute attribute, const char *reason);
void fix_need_no_attribute(struct fix *f, vmm_device_attribute attribute, const char *reason);
void fix_need_parts(struct fix *f, bool wanted);   /* parts of physical memory can, or cannot, be mapped */
void fix_need_fabric(struct fix *f, bool wanted);  /* fabric handles can, or cannot, be made, although supported */
void fix_need_link(struct fix *f, bool wanted);    /* device 1 may, or may not, access memory of device 0 */
bool fix_partial(struct fix *f);             /* can a part of physical memory be mapped? Found by trial */
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

/* A reservation of size bytes, memory of that size mapped to all of it, and rights for device 0. */
vmm_deviceptr fix_mapped(struct fix *f, uint64_t size, vmm_mem_access_flags flags,
                         vmm_mem_generic_allocation_handle *handle);
/* One allocation at two addresses and another after it, a granule each, all RW on device 0: [M1 of H][M2 of
 * H][other]. */
vmm_deviceptr fix_mapped_twice(struct fix *f);

/* Two adjacent reservations: [first][second]. Returns the first's start. */
vmm_deviceptr fix_adjacent(struct fix *f, uint64_t first, uint64_t second);

/* Addresses that were just reserved and freed. */
vmm_deviceptr fix_free_range(struct fix *f, uint64_t size);

vmm_deviceptr fix_alloc(struct fix *f, uint64_t size);
vmm_context fix_context(struct fix *f, int device); /* new, and current */
vmm_stream fix_stream(struct fix *f);
vmm_event fix_event(struct fix *f); /* of the current context */

/* The matching ends; each call must succeed. */
void fix_unmap(struct fix *f, vmm_deviceptr ptr, uint64_t size);
void fix_release(struct fix *f, vmm_mem_generic_allocation_handle handle);
void fix_address_free(struct fix *f, vmm_deviceptr ptr, uint64_t size);
void fix_context_destroy(struct fix *f, vmm_context ctx);
void fix_stream_destroy(struct fix *f, vmm_stream stream);
void fix_event_destroy(struct fix *f, vmm_event event);
void fix_mem_free(struct fix *f, vmm_deviceptr ptr);

/* On a driver no unmap waits for running work: memory unmapped under a fill makes the fill fault, and the process loses
 * the device. So helpers that unmap, free or set access wait first, and fix_fill waits for its end. A wait for the
 * context invalidates every capture in any mode (measured), so these helpers fail the test inside a capture. */
void fix_settle(struct fix *f);

/* Notes and forgets objects that a test made or ended with its own calls. Forgetting a mapping forgets every mapping
 * that starts in [value, value + size). */
void fix_note(struct fix *f, enum fix_kind kind, uint64_t value, uint64_t size);
void fix_forget(struct fix *f, enum fix_kind kind, uint64_t value, uint64_t size);

/* ------------------------------------------------------------------------------------------------- looking at things */

uint64_t fix_free_memory(struct fix *f); /* of the current context's device */
uint64_t fix_rights(struct fix *f, vmm_deviceptr ptr, vmm_mem_location_type type, int id);
void fix_fill(struct fix *f, vmm_deviceptr ptr, unsigned char value, uint64_t size);
unsigned char fix_peek(struct fix *f, vmm_deviceptr ptr); /* one byte, read by the current context's device */

/* The state as text, one line per property of the fixture's objects that public calls report; free() it. Equal texts
 * mean that nothing changed. It leaves out a driver's free memory, which is in f->seen_free. */
char *fix_state(struct fix *f);

#endif
