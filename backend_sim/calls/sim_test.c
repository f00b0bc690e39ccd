/* SPDX-License-Identifier: Apache-2.0 */
/* sim: the entry to every call. In a program with several threads, a query takes the machine's lock unless reader bias is on;
 * some calls check their argument before cuInit; and a machine's name from the environment. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "checks.h"
#include "process.h"
#include "sim_open.h"
#include "system.h"
#include "tap.h"

#define G (UINT64_C(2) << 20)
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

static const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
static vmm_deviceptr at; /* mapped, with rights for the device */
static struct sim_machine *queried;
static void *answer; /* a protected page: the write of the answer faults */
static size_t page;
static int tried = -1; /* the result of pthread_mutex_trylock during that write */
static unsigned answers;

static void look_at_lock(int number)
{
    (void)number;
    answers++;
    tried = pthread_mutex_trylock(&queried->lock.mutex);
    mprotect(answer, page, PROT_READ | PROT_WRITE);
}

static void *nothing(void *unused)
{
    return unused;
}

/* Starts a thread, so that the C library treats the program as multi-threaded from here on. */
static void start_another(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
        tap_bail("no thread");
}

static vmm_system *open_system(void)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = device};
    const vmm_mem_access_desc desc = {device, RW};
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_system *sys = NULL;
    if (vmm_open("sim:h100", &sys) || vmm_init(sys, 0) || vmm_mem_create(sys, &handle, G, &prop, 0) ||
        vmm_mem_address_reserve(sys, &at, G, 0, 0, 0) || vmm_mem_map(sys, at, G, 0, handle, 0) ||
        vmm_mem_set_access(sys, at, G, &desc, 1))
        tap_bail("no memory");
    queried = ((struct sim_process *)sys->top)->machine;
    return sys;
}

static vmm_result access_of(vmm_system *sys)
{
    return vmm_mem_get_access(sys, answer, &device, at);
}

static vmm_result type_of(vmm_system *sys)
{
    return vmm_pointer_get_attribute(sys, answer, VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, at);
}

static vmm_result tokens_of(vmm_system *sys)
{
    return vmm_pointer_get_attribute(sys, answer, VMM_POINTER_ATTRIBUTE_P2P_TOKENS, at);
}

static vmm_result watched_by(vmm_system *sys, vmm_result (*query)(vmm_system *sys))
{
    struct sigaction action = {.sa_handler = look_at_lock}, before_segv, before_bus;
    sigaction(SIGSEGV, &action, &before_segv);
    sigaction(SIGBUS, &action, &before_bus);
    mprotect(answer, page, PROT_NONE);
    vmm_result result = query(sys);
    sigaction(SIGSEGV, &before_segv, NULL);
    sigaction(SIGBUS, &before_bus, NULL);
    return result;
}

static vmm_result watched(vmm_system *sys)
{
    return watched_by(sys, access_of);
}

/* The first query holds the lock while it writes the answer. */
static void test_locked(vmm_system *sys)
{
    tap_ok(watched(sys) == VMM_SUCCESS && answers == 1 && *(uint64_t *)answer == RW, "a query is answered");
    tap_u64((uint64_t)tried, EBUSY, "the query holds the machine's lock while reader bias is off");
    tap_u64((uint64_t)pthread_mutex_trylock(&queried->lock.mutex), 0, "the query releases the lock");
    pthread_mutex_unlock(&queried->lock.mutex);
}

/* After many queries in a row, reader bias is on: a query writes the answer without the lock. */
static void test_beside(vmm_system *sys)
{
    uint64_t rights;
    for (unsigned i = 0; i < READERS_TRUST; i++)
        vmm_mem_get_access(sys, &rights, &device, at);
    tap_ok(watched(sys) == VMM_SUCCESS && answers == 2 && *(uint64_t *)answer == RW, "a query with reader bias is answered");
    tap_u64((uint64_t)tried, 0, "the query with reader bias does not hold the lock");
    pthread_mutex_unlock(&queried->lock.mutex);
    watched_by(sys, type_of);
    tap_ok(answers == 3 && tried == 0, "nor does one for a pointer's attribute");
    pthread_mutex_unlock(&queried->lock.mutex);
    watched_by(sys, tokens_of);
    tap_ok(answers == 4 && tried == EBUSY, "one for tokens does, because it changes the memory's attributes");
}

static char said[CHECK_ROOM];

static void keep(const char *what)
{
    snprintf(said, sizeof said, "%s", what);
}

/* A query in a multithreaded program also checks the objects that it names. */
static void test_checked(vmm_system *sys)
{
    const unsigned before = atomic_load(&checks_on);
    void (*report)(const char *) = checks_report;
    struct sim_process *process = (struct sim_process *)sys->top;
    uint64_t rights;
    sim_machine_lock(process->machine);
    struct sim_mapping *mapping = sim_mapping_at(process, at);
    sim_machine_unlock(process->machine);
    checks_report = keep;
    atomic_store(&checks_on, CHECKS_OWN);
    tap_result(vmm_mem_get_access(sys, &rights, &device, at), VMM_SUCCESS, "a query");
    tap_text(said, "", "which finds nothing broken");
    mapping->offset = G;
    tap_result(vmm_mem_get_access(sys, &rights, &device, at), VMM_SUCCESS, "a query of a broken mapping");
    mapping->offset = 0;
    tap_ok(strstr(said, "cuMemGetAccess: M1 shows") != NULL, "reports it: %s", said);
    atomic_store(&checks_on, before);
    checks_report = report;
}

static bool reported(const char *rule)
{
    return vmm_last_detail()->rule && !strcmp(vmm_last_detail()->rule, rule);
}

/* Every call before cuInit, with NULL arguments and with values that were never objects. */
static void test_before_init(void)
{
    static const enum vmm_call_id of_nothing[] = {VMM_CALL_ctx_destroy, VMM_CALL_stream_destroy, VMM_CALL_event_destroy,
                                                  VMM_CALL_event_query, VMM_CALL_event_synchronize,
                                                  VMM_CALL_ipc_get_mem_handle, VMM_CALL_ipc_open_mem_handle,
                                                  VMM_CALL_ipc_get_event_handle, VMM_CALL_memcpy_batch_async,
                                                  VMM_CALL_memcpy_batch_async_v1, VMM_CALL_memcpy_3d_batch_async,
                                                  VMM_CALL_memcpy_3d_batch_async_v1};
    static const enum vmm_call_id of_wrong[] = {VMM_CALL_mem_alloc_managed, VMM_CALL_mem_prefetch_async, VMM_CALL_mem_advise,
                                                VMM_CALL_mem_prefetch_batch_async, VMM_CALL_mem_discard_batch_async,
                                                VMM_CALL_mem_discard_and_prefetch_batch_async,
                                                VMM_CALL_array_3d_get_descriptor, VMM_CALL_array_get_plane,
                                                VMM_CALL_array_get_sparse_properties, VMM_CALL_array_get_memory_requirements,
                                                VMM_CALL_mipmapped_array_get_level, VMM_CALL_mipmapped_array_get_sparse_properties,
                                                VMM_CALL_mipmapped_array_get_memory_requirements, VMM_CALL_mem_map_array_async};
    vmm_system *sys = NULL;
    unsigned wrong = 0;
    if (vmm_open("sim:h100", &sys))
        tap_bail("no system");
    for (unsigned id = 0; id < VMM_CALL_COUNT; id++)
        for (int filled = 0; filled < 2; filled++) {
            union vmm_any_call call;
            memset(&call, filled ? 0x5a : 0, sizeof call);
            call.head = (struct vmm_call){.id = (uint16_t)id, .number = 1};
            bool always = id == VMM_CALL_init || id == VMM_CALL_driver_get_version, first = always;
            if ((always || id == VMM_CALL_mem_alloc_managed) && filled) /* the call would write to that address */
                continue;
            if (id == VMM_CALL_init)
                call.init.flags = 1;
            first |= id == VMM_CALL_ipc_open_mem_handle && filled; /* without the flag */
            for (size_t i = 0; i < sizeof of_nothing / sizeof of_nothing[0]; i++)
                first |= !filled && id == of_nothing[i];
            for (size_t i = 0; i < sizeof of_wrong / sizeof of_wrong[0]; i++)
                first |= id == of_wrong[i];
            vmm_result result = sys->top->ops->call[id](sys->top, &call.head);
            if (result == VMM_SUCCESS || reported("VMM-INIT-REQUIRED") == first) {
                tap_note("%s: %s", vmm_call_driver_name((enum vmm_call_id)id), vmm_last_detail()->rule);
                wrong++;
            }
        }
    tap_u64(wrong, 0, "before cuInit a few calls check their arguments first, and all others are refused");
    vmm_close(sys);
}

/* ---- the smallest unit of a machine ---- */

static vmm_system *open_with(const char *text)
{
    char path[] = "sim_test.XXXXXX", spec[64];
    vmm_system *sys = NULL;
    int file = mkstemp(path);
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
        tap_bail("no profile");
    close(file);
    snprintf(spec, sizeof spec, "sim:%s", path);
    if (vmm_open(spec, &sys) || vmm_init(sys, 0))
        tap_bail("%s: %s", text, vmm_last_detail()->note);
    unlink(path);
    return sys;
}

/* Maps two handles side by side and unmaps the first: does each address find its own handle? */
static bool are_apart(vmm_system *sys, vmm_mem_location where, uint64_t unit)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = where};
    vmm_mem_generic_allocation_handle handle[2] = {0}, found = 0;
    vmm_deviceptr p = 0;
    bool ok = !vmm_mem_address_reserve(sys, &p, 64 << 10, 0, 0, 0);
    for (unsigned i = 0; i < 2; i++)
        ok = ok && !vmm_mem_create(sys, &handle[i], unit, &prop, 0) && !vmm_mem_map(sys, p + i * unit, unit, 0, handle[i], 0);
    for (unsigned i = 0; i < 2; i++)
        ok = ok && !vmm_mem_retain_allocation_handle(sys, &found, p + i * unit) && found == handle[i];
    ok = ok && !vmm_mem_unmap(sys, p, unit) && vmm_mem_retain_allocation_handle(sys, &found, p) &&
         !vmm_mem_retain_allocation_handle(sys, &found, p + unit) && found == handle[1];
    return ok && !vmm_mem_unmap(sys, p + unit, unit) && !vmm_mem_address_free(sys, p, 64 << 10);
}

/* Ranges one smallest unit apart are kept apart, whichever granularity is the smallest. */
static void test_units(void)
{
    static const char base[] = "base = odd\ngranularity.host.recommended = 64KiB\n";
    char text[3][256];
    snprintf(text[0], sizeof text[0], "%sgranularity.host.minimum = 64KiB\nva.granularity = 4KiB\n", base);
    snprintf(text[1], sizeof text[1], "%sgranularity.host.minimum = 64KiB\ngranularity.device.minimum = 4KiB\n", base);
    snprintf(text[2], sizeof text[2], "%s", base);
    vmm_system *sys = open_with(text[0]);
    vmm_deviceptr p = 0, q = 0, again = 0;
    bool ok = !vmm_mem_address_reserve(sys, &p, 4096, 0, 0, 0) && !vmm_mem_address_reserve(sys, &q, 4096, 0, p + 4096, 0);
    tap_ok(ok && q == p + 4096 && !vmm_mem_address_free(sys, p, 4096) && vmm_mem_address_free(sys, p, 4096) &&
               !vmm_mem_address_reserve(sys, &again, 4096, 0, p, 0) && again == p && !vmm_mem_address_free(sys, q, 4096),
           "reservations, when their granularity is the smallest");
    vmm_close(sys);
    sys = open_with(text[1]);
    tap_ok(are_apart(sys, device, 4096), "device memory, when its granularity is the smallest");
    vmm_close(sys);
    sys = open_with(text[2]);
    tap_ok(are_apart(sys, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0}, 4096),
           "host memory, when its granularity is the smallest");
    vmm_close(sys);
}

/* One and a half units are free: an allocation of more than one unit fails. */
static void test_whole_units(void)
{
    static const uint64_t small = 64 << 10, unit = 4 * small;
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = device};
    vmm_system *sys = open_with("base = odd\nva.granularity = 256KiB\n");
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_context context;
    vmm_deviceptr p = 0;
    uint64_t left = 0;
    bool ok = !vmm_ctx_create(sys, &context, 0, 0) && !vmm_mem_get_info(sys, &left, NULL) && left > 2 * unit &&
              !vmm_mem_create(sys, &handle, left - unit - unit / 2, &prop, 0);
    tap_ok(ok && vmm_mem_alloc(sys, &p, unit + 1) == VMM_ERROR_OUT_OF_MEMORY &&
               vmm_mem_alloc(sys, &p, unit + unit / 2) == VMM_ERROR_OUT_OF_MEMORY,
           "an allocation needs whole units: %s", vmm_last_detail()->note);
    tap_ok(!vmm_mem_alloc(sys, &p, unit) && !vmm_mem_get_info(sys, &left, NULL) && left == unit / 2 &&
               vmm_mem_alloc(sys, &p, 1) == VMM_ERROR_OUT_OF_MEMORY,
           "an allocation of the last whole unit succeeds");
    vmm_close(sys);
}

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", vmm_result_name(result), vmm_last_detail()->note);
}

/* [taken][a free chunk][taken] and two more taken ranges: none of their addresses is reserved, up to the last byte. */
static void test_taken(void)
{
    static const uint64_t chunk = UINT64_C(32) << 20, gib = UINT64_C(1) << 30;
    const uint64_t taken[][2] = {
        {64 * gib, 65 * gib}, {65 * gib + chunk, 66 * gib}, {80 * gib, 81 * gib}, {90 * gib, 91 * gib}};
    char text[256] = "base = h100\nva.context = 0\nva.taken = ";
    unsigned wrong = 0;
    for (size_t i = 0; i < 4; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s0x%llx-0x%llx", i ? "," : "",
                 (unsigned long long)taken[i][0], (unsigned long long)taken[i][1]);
    vmm_system *sys = open_with(text);
    const struct sim_process *process = (const struct sim_process *)sys->top;
    for (size_t i = 0; i < 4; i++) {
        vmm_deviceptr before = 0, behind = 0;
        wrong += vmm_mem_address_reserve(sys, &before, chunk, 0, taken[i][0] - chunk, 0) != VMM_SUCCESS ||
                 vmm_mem_address_free(sys, before, chunk) != VMM_SUCCESS || before != taken[i][0] - chunk;
        wrong += vmm_mem_address_reserve(sys, &behind, chunk, 0, taken[i][0], 0) != VMM_SUCCESS ||
                 vmm_mem_address_free(sys, behind, chunk) != VMM_SUCCESS || behind != taken[i][1];
    }
    if (process->window.start == process->machine->profile.va_start)
        tap_u64(wrong, 0, "no addresses in four taken ranges are reserved");
    else
        tap_skip("the system gives the program other addresses", "no addresses in four taken ranges are reserved");
    vmm_close(sys);
}

/* ---- lookups of mappings ---- */

enum { CELLS = 7 };

/* The first mapping with a byte in [from, to), in half units, by a plain search; 0: none. */
static uint64_t plain_in(const unsigned char *first, const unsigned char *end, unsigned count, uint64_t from, uint64_t to)
{
    for (unsigned i = 0; i < count; i++)
        if (2U * first[i] < to && 2U * end[i] > from && from < to)
            return first[i] + 1U;
    return 0;
}

static uint64_t number_of(const struct sim_mapping *m, vmm_deviceptr p)
{
    return m ? (m->start - p) / G + 1 : 0;
}

/* Compares the lookups of every range of half units with the plain search. */
static unsigned look_everywhere(const struct sim_process *process, vmm_deviceptr p, const unsigned char *first,
                                const unsigned char *end, unsigned count)
{
    unsigned wrong = 0;
    sim_machine_lock(process->machine);
    for (uint64_t from = 0; from <= 2 * CELLS; from++) {
        vmm_deviceptr here = p + from * (G / 2);
        wrong += number_of(sim_mapping_at(process, here), p) != plain_in(first, end, count, from, from + 1);
        wrong += number_of(sim_mapping_at(process, here - 1), p) != (from ? plain_in(first, end, count, from - 1, from) : 0);
        wrong += number_of(sim_mapping_in(process, here, UINT64_MAX), p) != plain_in(first, end, count, from, 99);
        for (uint64_t to = from; to <= 2 * CELLS; to++) {
            uint64_t after = 0;
            for (unsigned i = count; i--;)
                after = 2U * first[i] >= from && 2U * first[i] < to ? first[i] + 1U : after;
            wrong += number_of(sim_mapping_in(process, here, (to - from) * (G / 2)), p) != plain_in(first, end, count, from, to);
            wrong += to > from && number_of(sim_mapping_after(process, here, p + to * (G / 2)), p) != after;
        }
    }
    sim_machine_unlock(process->machine);
    return wrong;
}

/* Every layout of mappings in CELLS units. A code has a digit for each cell: 0, or the size of a mapping that starts there. */
static void test_what_is_mapped(void)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = device};
    vmm_mem_generic_allocation_handle handle[4] = {0};
    vmm_system *sys = NULL;
    vmm_deviceptr p = 0;
    unsigned wrong = 0, layouts = 0;
    need(vmm_open("sim:h100", &sys));
    need(vmm_init(sys, 0));
    need(vmm_mem_address_reserve(sys, &p, CELLS * G, 0, 0, 0));
    for (unsigned size = 1; size <= 3; size++)
        need(vmm_mem_create(sys, &handle[size], size * G, &prop, 0));
    for (unsigned code = 0; code < 4 * 4 * 4 * 4 * 4 * 4 * 4; code++) { /* 2 bits per cell: 0, or a size */
        unsigned char first[CELLS], end[CELLS];
        unsigned count = 0, cell = 0;
        bool fits = true;
        for (unsigned rest = code; cell < CELLS; rest /= 4, cell++)
            if (rest % 4) {
                fits = fits && (!count || end[count - 1] <= cell) && cell + rest % 4 <= CELLS;
                first[count] = (unsigned char)cell;
                end[count++] = (unsigned char)(cell + rest % 4);
            }
        if (!fits)
            continue;
        layouts++;
        for (unsigned i = 0; i < count; i++)
            need(vmm_mem_map(sys, p + first[i] * G, (unsigned)(end[i] - first[i]) * G, 0, handle[end[i] - first[i]], 0));
        wrong += look_everywhere((struct sim_process *)sys->top, p, first, end, count);
        for (unsigned i = 0; i < count; i++)
            need(vmm_mem_unmap(sys, p + first[i] * G, (unsigned)(end[i] - first[i]) * G));
    }
    tap_u64(wrong, 0, "lookups of every range in %u layouts of %d units", layouts, CELLS);
    vmm_close(sys);
}

/* ---- enumeration and leaks ---- */

struct lines {
    char text[4096];
};

static void write_object(void *user, const vmm_object *o)
{
    struct lines *lines = user;
    size_t used = strlen(lines->text);
    snprintf(lines->text + used, sizeof lines->text - used, "%d:%u by %s %llu\n", (int)o->kind, o->number,
             o->created_by ? o->created_by : "nobody", (unsigned long long)o->created);
}

static void write_leak(void *user, const vmm_detail *detail)
{
    struct lines *lines = user;
    size_t used = strlen(lines->text);
    snprintf(lines->text + used, sizeof lines->text - used, "%s of %s %llu: %s\n", detail->rule, detail->function,
             (unsigned long long)detail->call, detail->note);
}

/* One object of each kind, and two of some, so that notes have their plural. */
struct things {
    vmm_system *sys;
    vmm_mem_generic_allocation_handle one, two, object;
    vmm_deviceptr p;
};

static void make_things(struct things *t)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = device};
    const vmm_multicast_object_prop team = {.num_devices = 2, .size = 2 * G};
    vmm_mem_generic_allocation_handle again;
    vmm_deviceptr q;
    vmm_context ctx;
    vmm_stream stream;
    vmm_event event;
    need(vmm_open("sim:h200x2", &t->sys));
    need(vmm_init(t->sys, 0));
    need(vmm_ctx_create(t->sys, &ctx, 0, 0));
    need(vmm_mem_address_reserve(t->sys, &t->p, 4 * G, 0, 0, 0));
    need(vmm_mem_create(t->sys, &t->one, G, &prop, 0));
    need(vmm_mem_create(t->sys, &t->two, 2 * G, &prop, 0));
    need(vmm_mem_map(t->sys, t->p, G, 0, t->one, 0));
    need(vmm_mem_map(t->sys, t->p + G, G, 0, t->one, 0));
    need(vmm_mem_retain_allocation_handle(t->sys, &again, t->p));
    need(vmm_mem_alloc(t->sys, &q, 3 * G));
    need(vmm_stream_create(t->sys, &stream, 0));
    need(vmm_event_create(t->sys, &event, 0));
    need(vmm_multicast_create(t->sys, &t->object, &team));
    need(vmm_multicast_add_device(t->sys, t->object, 0));
    need(vmm_multicast_add_device(t->sys, t->object, 1));
    need(vmm_multicast_bind_mem(t->sys, t->object, 0, t->two, 0, G, 0));
}

static void test_forgotten(void)
{
    struct things t;
    struct lines there = {""}, left = {""};
    make_things(&t);
    vmm_visit(t.sys, write_object, &there);
    tap_text(there.text,
             "1:0 by nobody 0\n"
             "1:1 by nobody 0\n"
             "2:1 by cuMemAddressReserve 3\n"
             "3:1 by cuMemMap 6\n"
             "3:2 by cuMemMap 7\n"
             "4:1 by cuMemCreate 4\n"
             "4:2 by cuMemCreate 5\n"
             "4:3 by cuMulticastCreate 12\n"
             "5:1 by cuMemAlloc 9\n"
             "6:1 by cuCtxCreate 2\n"
             "7:1 by cuStreamCreate 10\n"
             "8:1 by cuEventCreate 11\n"
             "9:1 by cuMulticastBindMem 15\n", "each object is enumerated once, by kind and address");
    tap_u64(vmm_leaks(t.sys, write_leak, &left), 10, "the leaks are counted");
    tap_text(left.text,
             "VMM-LEAK-RESERVATION of cuMemAddressReserve 3: 8 MiB of addresses, no memory by themselves\n"
             "VMM-LEAK-MAPPING of cuMemMap 6: holds H1: its memory stays allocated until this is unmapped\n"
             "VMM-LEAK-MAPPING of cuMemMap 7: holds H1: its memory stays allocated until this is unmapped\n"
             "VMM-LEAK-HANDLE of cuMemCreate 4: 2 MiB of physical memory held by 2 references and 2 mappings\n"
             "VMM-LEAK-HANDLE of cuMemCreate 5: 4 MiB of physical memory held by 1 reference and 0 mappings\n"
             "VMM-LEAK-MULTICAST of cuMulticastCreate 12: a multicast object held by 1 reference and 0 mappings, "
             "to which 1 bind holds memory\n"
             "VMM-LEAK-ALLOCATION of cuMemAlloc 9: \n"
             "VMM-LEAK-CONTEXT of cuCtxCreate 2: \n"
             "VMM-LEAK-STREAM of cuStreamCreate 10: \n"
             "VMM-LEAK-EVENT of cuEventCreate 11: \n", "the leaks are reported");
    need(vmm_multicast_bind_mem(t.sys, t.object, G, t.two, G, G, 0));
    need(vmm_mem_map(t.sys, t.p + 2 * G, 2 * G, 0, t.object, 0));
    left.text[0] = '\0';
    vmm_leaks(t.sys, write_leak, &left);
    tap_ok(strstr(left.text, "a multicast object held by 1 reference and 1 mapping, to which 2 binds hold memory\n") != NULL,
           "the note has a mapping and two binds");
    tap_u64(vmm_leaks(t.sys, NULL, NULL), 11, "leaks are counted without a report function");
    vmm_close(t.sys);
}

/* An empty name in the environment means no name. */
static void test_no_name(void)
{
    vmm_system *sys = NULL;
    setenv("CUVMM_MACHINE", "", 1);
    tap_ok(vmm_open("sim:h100", &sys) == VMM_SUCCESS && !((struct sim_process *)sys->top)->machine->share,
           "a machine without a name is not shared");
    unsetenv("CUVMM_MACHINE");
    vmm_close(sys);
}

/* What a shadow shows in place of the simulator's own values; it may know objects that no longer exist. */
static void test_shown(void)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = device};
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_system *sys = NULL;
    void *object = NULL;
    need(vmm_open("sim:h100", &sys));
    need(vmm_init(sys, 0));
    need(vmm_mem_create(sys, &handle, G, &prop, 0));
    const struct sim_process *process = (struct sim_process *)sys->top;
    const uint64_t gone = handle + 77;
    sim_show_handle(sys->top, handle, 5);
    sim_show_handle(sys->top, gone, 6);
    sim_show_pool(sys->top, handle, 7);
    sim_show_array(sys->top, handle, 9);
    sim_show_context(sys->top, handle, 8);
    tap_ok(slots_find(&process->handles, handle, &object) == SLOT_LIVE && ((struct sim_handle *)object)->shown == 5,
           "a handle is shown as documented, and what is none of that kind is left alone");
    vmm_close(sys);
}

static void do_nothing(void *unused)
{
    (void)unused;
}

/* A stream that has ended has no context. */
static void test_ended_stream(void)
{
    vmm_system *sys = NULL;
    vmm_context context = NULL;
    vmm_stream stream = NULL;
    need(vmm_open("sim:h100", &sys));
    need(vmm_init(sys, 0));
    need(vmm_ctx_create(sys, &context, 0, 0));
    need(vmm_stream_create(sys, &stream, VMM_STREAM_NON_BLOCKING));
    need(vmm_stream_destroy(sys, stream));
    tap_result(vmm_launch_host_func(sys, stream, do_nothing, NULL), VMM_ERROR_INVALID_HANDLE, "a host function for a stream that has ended");
    tap_text(vmm_last_detail()->rule, "VMM-STREAM-UNKNOWN", "by its rule");
    tap_u64(vmm_last_detail()->value, (uintptr_t)stream, "and the stream");
    vmm_close(sys);
}

/* What a program that names no machine gets: CUVMM_SIM's, CUVMM_BACKEND's where that is a simulator behind layers, or an H100. */
static void test_spec_of_environment(void)
{
    static const struct {
        const char *own, *shared, *spec;
    } rows[] = {{NULL, NULL, "sim:h100"},           {"", "", "sim:h100"},          {"sim:odd", "sim:min", "sim:odd"},
                {"", "sim:min", "sim:min"},         {NULL, "cuda", "sim:h100"},    {NULL, "check | sim:min", "check | sim:min"},
                {NULL, "trace=sim | cuda", "sim:h100"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsetenv("CUVMM_SIM");
        unsetenv("CUVMM_BACKEND");
        if (rows[i].own)
            setenv("CUVMM_SIM", rows[i].own, 1);
        if (rows[i].shared)
            setenv("CUVMM_BACKEND", rows[i].shared, 1);
        tap_text(sim_spec_of_environment(), rows[i].spec, "CUVMM_SIM and CUVMM_BACKEND, row %zu", i);
    }
    unsetenv("CUVMM_SIM");
    unsetenv("CUVMM_BACKEND");
}

int main(void)
{
    test_spec_of_environment();
    page = (size_t)sysconf(_SC_PAGESIZE);
    answer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start_another();
    if (answer == MAP_FAILED)
        tap_bail("no page");
    vmm_system *sys = open_system();
    test_locked(sys);
    test_beside(sys);
    test_checked(sys);
    vmm_close(sys);
    munmap(answer, page);
    test_no_name();
    test_shown();
    test_before_init();
    test_units();
    test_whole_units();
    test_taken();
    test_what_is_mapped();
    test_forgotten();
    test_ended_stream();
    return tap_done();
}
