/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that race: where several create or end the same object exactly one succeeds, where each has its own objects
 * none interferes, and at the end everything can be freed.
 *
 * CUVMM_TEST_SCALE is the percentage of rounds to run, CUVMM_TEST_SEED the seed of the random part. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define THREADS 4
#define G (UINT64_C(2) << 20) /* of the machines used here */

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static unsigned rounds(unsigned full)
{
    uint64_t scaled = full * setting("CUVMM_TEST_SCALE", 100) / 100;
    return scaled < 3 ? 3 : (unsigned)scaled;
}

/* ---- one machine per test ---- */

struct rig {
    vmm_system *sys;
    vmm_context ctx;
    uint64_t free; /* before anything was made */
};

static void rig_open(struct rig *rig, const char *spec)
{
    if (vmm_open(spec, &rig->sys) != VMM_SUCCESS || vmm_init(rig->sys, 0) != VMM_SUCCESS ||
        vmm_device_primary_ctx_retain(rig->sys, &rig->ctx, 0) != VMM_SUCCESS ||
        vmm_ctx_set_current(rig->sys, rig->ctx) != VMM_SUCCESS ||
        vmm_mem_get_info(rig->sys, &rig->free, NULL) != VMM_SUCCESS)
        tap_bail("%s: %s", spec, vmm_last_detail()->note);
}

static void rig_close(struct rig *rig, const char *name)
{
    uint64_t left = 0;
    tap_ok(vmm_mem_get_info(rig->sys, &left, NULL) == VMM_SUCCESS && left == rig->free,
           "%s: all memory is free again", name);
    vmm_device_primary_ctx_release(rig->sys, 0);
    tap_u64(vmm_leaks(rig->sys, NULL, NULL), 0, "%s: nothing is left", name);
    vmm_close(rig->sys);
}

static vmm_mem_generic_allocation_handle create(vmm_system *sys, uint64_t size)
{
    vmm_mem_allocation_prop prop;
    vmm_mem_generic_allocation_handle handle = 0;
    memset(&prop, 0, sizeof prop);
    prop.type = VMM_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = VMM_MEM_LOCATION_TYPE_DEVICE;
    return vmm_mem_create(sys, &handle, size, &prop, 0) == VMM_SUCCESS ? handle : 0;
}

static vmm_deviceptr reserve(vmm_system *sys, uint64_t size, vmm_deviceptr hint)
{
    vmm_deviceptr ptr = 0;
    return vmm_mem_address_reserve(sys, &ptr, size, 0, hint, 0) == VMM_SUCCESS ? ptr : 0;
}

static vmm_result set_access(vmm_system *sys, vmm_deviceptr ptr, uint64_t size, vmm_mem_access_flags flags)
{
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
    return vmm_mem_set_access(sys, ptr, size, &desc, 1);
}

/* ---- starting together ---- */

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t open;
    unsigned waiting;
};

struct racer {
    struct race *race;
    unsigned index;
    vmm_result result;
    vmm_severity severity;
    char rule[64];
    uint64_t value;
};

struct race {
    struct rig *rig;
    struct gate gate;
    vmm_result (*call)(struct racer *racer);
    uint64_t a, b;
    struct racer racer[THREADS];
};

static void wait_for_all(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    if (++gate->waiting == THREADS)
        pthread_cond_broadcast(&gate->open);
    while (gate->waiting < THREADS)
        pthread_cond_wait(&gate->open, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void *start(void *argument)
{
    struct racer *racer = argument;
    wait_for_all(&racer->race->gate);
    racer->result = racer->race->call(racer);
    racer->severity = vmm_last_detail()->severity;
    snprintf(racer->rule, sizeof racer->rule, "%s", vmm_last_detail()->rule ? vmm_last_detail()->rule : "");
    return NULL;
}

static void run_race(struct race *race, struct rig *rig, vmm_result (*call)(struct racer *), uint64_t a, uint64_t b)
{
    pthread_t thread[THREADS];
    memset(race, 0, sizeof *race);
    race->rig = rig;
    race->call = call;
    race->a = a;
    race->b = b;
    pthread_mutex_init(&race->gate.lock, NULL);
    pthread_cond_init(&race->gate.open, NULL);
    for (unsigned i = 0; i < THREADS; i++) {
        race->racer[i].race = race;
        race->racer[i].index = i;
        if (pthread_create(&thread[i], NULL, start, &race->racer[i]))
            tap_bail("no thread");
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    pthread_cond_destroy(&race->gate.open);
    pthread_mutex_destroy(&race->gate.lock);
}

/* One racer succeeded; each other got the result and the rule. */
static bool one_won(const struct race *race, vmm_result result, const char *rule)
{
    unsigned winners = 0, losers = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        const struct racer *racer = &race->racer[i];
        winners += racer->result == VMM_SUCCESS && racer->severity == VMM_SEVERITY_NONE;
        losers += racer->result == result && strcmp(racer->rule, rule) == 0;
    }
    if (winners == 1 && losers == THREADS - 1)
        return true;
    for (unsigned i = 0; i < THREADS; i++)
        tap_note("thread %u: %s %s", i, vmm_result_name(race->racer[i].result), race->racer[i].rule);
    return false;
}

/* ---- exactly one wins ---- */

static vmm_result call_release(struct racer *racer)
{
    return vmm_mem_release(racer->race->rig->sys, racer->race->a);
}

static vmm_result call_free(struct racer *racer)
{
    return vmm_mem_address_free(racer->race->rig->sys, racer->race->a, G);
}

static vmm_result call_map(struct racer *racer)
{
    return vmm_mem_map(racer->race->rig->sys, racer->race->a, G, 0, racer->race->b, 0);
}

static vmm_result call_unmap(struct racer *racer)
{
    return vmm_mem_unmap(racer->race->rig->sys, racer->race->a, G);
}

static vmm_result call_reserve(struct racer *racer)
{
    return vmm_mem_address_reserve(racer->race->rig->sys, &racer->value, G, 0, racer->race->a, 0);
}

static void test_one_winner(void)
{
    struct rig rig;
    struct race race;
    bool released = true, freed = true, mapped = true, unmapped = true;
    rig_open(&rig, "sim:h100");
    for (unsigned i = 0, n = rounds(150); i < n; i++) {
        vmm_mem_generic_allocation_handle handle = create(rig.sys, G);
        vmm_deviceptr ptr = reserve(rig.sys, G, 0);
        run_race(&race, &rig, call_map, ptr, handle);
        mapped = mapped && one_won(&race, VMM_ERROR_INVALID_VALUE, "VMM-MAP-OVERLAP");
        run_race(&race, &rig, call_unmap, ptr, 0);
        unmapped = unmapped && one_won(&race, VMM_SUCCESS, "VMM-UNMAP-NOTHING");
        run_race(&race, &rig, call_release, handle, 0);
        released = released && one_won(&race, VMM_ERROR_INVALID_VALUE, "VMM-RELEASE-HANDLE-STALE");
        run_race(&race, &rig, call_free, ptr, 0);
        freed = freed && one_won(&race, VMM_ERROR_INVALID_VALUE, "VMM-FREE-NOT-RESERVED");
    }
    tap_ok(mapped, "if threads map at the same address, one wins and the others overlap it");
    tap_ok(unmapped, "if threads unmap the same mapping, one finds it and the others nothing");
    tap_ok(released, "of threads that release one reference one wins, the others have a stale handle");
    tap_ok(freed, "of threads that free one reservation one wins, the others find nothing reserved");
    rig_close(&rig, "one winner");
}

static void test_one_address(void)
{
    struct rig rig;
    struct race race;
    bool once = true;
    rig_open(&rig, "sim:h100");
    for (unsigned i = 0, n = rounds(150); i < n; i++) {
        vmm_deviceptr hint = reserve(rig.sys, G, 0);
        unsigned exact = 0;
        vmm_mem_address_free(rig.sys, hint, G);
        run_race(&race, &rig, call_reserve, hint, 0);
        for (unsigned k = 0; k < THREADS; k++) {
            exact += race.racer[k].value == hint;
            for (unsigned j = 0; j < k; j++)
                once = once && race.racer[j].value != race.racer[k].value;
            once = once && vmm_mem_address_free(rig.sys, race.racer[k].value, G) == VMM_SUCCESS;
        }
        once = once && exact == 1;
    }
    tap_ok(once, "of threads that reserve the same hint one gets it, the others get other addresses");
    rig_close(&rig, "one address");
}

/* ---- memory that runs out ---- */

#define MOST 1024

static vmm_result call_take_all(struct racer *racer)
{
    vmm_mem_generic_allocation_handle handle[MOST];
    vmm_system *sys = racer->race->rig->sys;
    unsigned count = 0;
    while (count < MOST && (handle[count] = create(sys, G)))
        count++;
    racer->value = count;
    for (unsigned i = 0; i < count; i++)
        if (racer->race->a && vmm_mem_release(sys, handle[i]) != VMM_SUCCESS)
            return VMM_ERROR_UNKNOWN;
    return VMM_SUCCESS;
}

static void test_last_memory(void)
{
    struct rig rig;
    struct race race;
    uint64_t left = 1;
    rig_open(&rig, "sim:min");
    run_race(&race, &rig, call_take_all, 0, 0);
    uint64_t taken = 0;
    for (unsigned i = 0; i < THREADS; i++)
        taken += race.racer[i].value;
    tap_u64(taken, rig.free / G, "threads that create until memory runs out get all of it, and no more");
    tap_ok(vmm_mem_get_info(rig.sys, &left, NULL) == VMM_SUCCESS && left == rig.free % G, "nothing is left to get");
    tap_u64(vmm_leaks(rig.sys, NULL, NULL), taken + 1, "each of them is held, and the context");
    vmm_device_primary_ctx_release(rig.sys, 0);
    vmm_close(rig.sys);
    rig_open(&rig, "sim:min");
    bool released = true;
    for (unsigned i = 0, n = rounds(20); i < n; i++) {
        run_race(&race, &rig, call_take_all, 1, 0);
        for (unsigned k = 0; k < THREADS; k++)
            released = released && race.racer[k].result == VMM_SUCCESS;
    }
    tap_ok(released, "memory can be released while other threads run out of it");
    rig_close(&rig, "last memory");
}

/* ---- each its own ---- */

static bool one_life(vmm_system *sys, unsigned char mark)
{
    unsigned char back[64];
    bool good = true;
    vmm_mem_generic_allocation_handle handle = create(sys, G), again = 0;
    vmm_deviceptr ptr = reserve(sys, 2 * G, 0);
    good = good && handle && ptr && vmm_mem_map(sys, ptr + G, G, 0, handle, 0) == VMM_SUCCESS;
    good = good && set_access(sys, ptr + G, G, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE) == VMM_SUCCESS;
    good = good && vmm_memcpy_dtoh(sys, back, ptr + G, sizeof back) == VMM_SUCCESS;
    for (size_t i = 0; i < sizeof back; i++)
        good = good && back[i] == 0;
    good = good && vmm_memset_d8(sys, ptr + G, mark, G) == VMM_SUCCESS;
    good = good && vmm_mem_retain_allocation_handle(sys, &again, ptr + G + 5) == VMM_SUCCESS && again == handle;
    good = good && vmm_mem_map(sys, ptr, G, 0, again, 0) == VMM_SUCCESS;
    good = good && set_access(sys, ptr, G, VMM_MEM_ACCESS_FLAGS_PROT_READ) == VMM_SUCCESS;
    good = good && vmm_memcpy_dtoh(sys, back, ptr + G - sizeof back, sizeof back) == VMM_SUCCESS;
    for (size_t i = 0; i < sizeof back; i++)
        good = good && back[i] == mark;
    good = vmm_mem_release(sys, handle) == VMM_SUCCESS && good;
    good = vmm_mem_unmap(sys, ptr, 2 * G) == VMM_SUCCESS && good;
    good = vmm_mem_release(sys, handle) == VMM_SUCCESS && good;
    return vmm_mem_address_free(sys, ptr, 2 * G) == VMM_SUCCESS && good;
}

static vmm_result call_lives(struct racer *racer)
{
    vmm_system *sys = racer->race->rig->sys;
    if (vmm_ctx_set_current(sys, racer->race->rig->ctx) != VMM_SUCCESS)
        return VMM_ERROR_INVALID_CONTEXT;
    for (uint64_t i = 0; i < racer->race->a; i++)
        if (!one_life(sys, (unsigned char)(racer->index * 64 + i % 63 + 1)))
            return VMM_ERROR_UNKNOWN;
    return VMM_SUCCESS;
}

static void test_own_ranges(void)
{
    struct rig rig;
    struct race race;
    rig_open(&rig, "sim:h100");
    run_race(&race, &rig, call_lives, rounds(40), 0);
    for (unsigned i = 0; i < THREADS; i++)
        tap_result(race.racer[i].result, VMM_SUCCESS, "thread %u: each life of its own memory goes as if alone", i);
    rig_close(&rig, "own ranges");
}

/* ---- rights change as a whole ---- */

struct rights {
    vmm_mem_access_flags flags[2];
    unsigned seen;
};

static void note_rights(void *user, const vmm_object *object)
{
    struct rights *rights = user;
    const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    if (object->kind == VMM_OBJECT_MAPPING && rights->seen < 2)
        rights->flags[rights->seen++] = vmm_object_access(object, device);
}

static vmm_result call_rights(struct racer *racer)
{
    vmm_system *sys = racer->race->rig->sys;
    unsigned char byte = 0;
    if (vmm_ctx_set_current(sys, racer->race->rig->ctx) != VMM_SUCCESS)
        return VMM_ERROR_INVALID_CONTEXT;
    for (uint64_t i = 0; i < racer->race->b; i++) {
        struct rights rights = {{0, 0}, 0};
        if (racer->index < 2) { /* two that set */
            if (set_access(sys, racer->race->a, 2 * G, racer->index ? 3 : (vmm_mem_access_flags)(i & 1)) != VMM_SUCCESS)
                return VMM_ERROR_UNKNOWN;
        } else if (racer->index == 2) { /* one that looks */
            if (vmm_visit(sys, note_rights, &rights) != VMM_SUCCESS || rights.seen != 2 ||
                rights.flags[0] != rights.flags[1])
                return VMM_ERROR_ILLEGAL_STATE;
        } else if (vmm_memcpy_dtoh(sys, &byte, racer->race->a + G, 1) != VMM_SUCCESS &&
                   strcmp(vmm_last_detail()->rule ? vmm_last_detail()->rule : "", "VMM-COPY-NO-READ") != 0) {
            return VMM_ERROR_UNKNOWN; /* one that copies: done, or refused for its rights */
        }
    }
    return VMM_SUCCESS;
}

static void test_rights(void)
{
    struct rig rig;
    struct race race;
    rig_open(&rig, "sim:h100");
    vmm_mem_generic_allocation_handle handle = create(rig.sys, G);
    vmm_deviceptr ptr = reserve(rig.sys, 2 * G, 0);
    vmm_mem_map(rig.sys, ptr, G, 0, handle, 0);
    vmm_mem_map(rig.sys, ptr + G, G, 0, handle, 0);
    run_race(&race, &rig, call_rights, ptr, rounds(2000));
    tap_ok(race.racer[0].result == VMM_SUCCESS && race.racer[1].result == VMM_SUCCESS, "two threads set rights");
    tap_result(race.racer[2].result, VMM_SUCCESS, "a third never sees one mapping changed and the other not");
    tap_result(race.racer[3].result, VMM_SUCCESS, "a concurrent copy succeeds, or is refused for its rights");
    vmm_mem_unmap(rig.sys, ptr, 2 * G);
    vmm_mem_release(rig.sys, handle);
    vmm_mem_address_free(rig.sys, ptr, 2 * G);
    rig_close(&rig, "rights");
}

/* ---- questions beside changes ---- */

/* One thread maps, grants and revokes; the others query there, mostly without a change in between. */
static vmm_result change_there(vmm_system *sys, vmm_deviceptr at, uint64_t handle)
{
    if (vmm_mem_map(sys, at, G, 0, handle, 0) != VMM_SUCCESS || set_access(sys, at, G, 3) != VMM_SUCCESS ||
        vmm_mem_unmap(sys, at, G) != VMM_SUCCESS)
        return VMM_ERROR_UNKNOWN;
    vmm_deviceptr other = reserve(sys, 2 * G, 0); /* tables grow and shrink meanwhile */
    return other ? vmm_mem_address_free(sys, other, 2 * G) : VMM_ERROR_UNKNOWN;
}

static vmm_result abi_query_there(vmm_system *sys, vmm_deviceptr at)
{
    const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    uint64_t flags = 7, size = 7, range = 7;
    vmm_result access = vmm_mem_get_access(sys, &flags, &device, at);
    vmm_result mapping = vmm_pointer_get_attribute(sys, &size, VMM_POINTER_ATTRIBUTE_MAPPING_SIZE, at);
    vmm_pointer_attribute list[] = {VMM_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *data[] = {&range};
    if (vmm_pointer_get_attributes(sys, 1, list, data, at) != VMM_SUCCESS || range != 2 * G)
        return VMM_ERROR_ILLEGAL_STATE;
    if (access == VMM_SUCCESS ? flags != 0 && flags != 3 : access != VMM_ERROR_INVALID_VALUE)
        return VMM_ERROR_ILLEGAL_STATE;
    return mapping == VMM_SUCCESS ? size == G ? VMM_SUCCESS : VMM_ERROR_ILLEGAL_STATE
           : mapping == VMM_ERROR_INVALID_VALUE ? VMM_SUCCESS : VMM_ERROR_ILLEGAL_STATE;
}

static vmm_result call_questions(struct racer *racer)
{
    vmm_system *sys = racer->race->rig->sys;
    vmm_result result = VMM_SUCCESS;
    for (unsigned i = 0; result == VMM_SUCCESS && i < rounds(racer->index ? 4000 : 400); i++)
        result = racer->index ? abi_query_there(sys, racer->race->a) : change_there(sys, racer->race->a, racer->race->b);
    return result;
}

static void test_questions(void)
{
    struct rig rig;
    struct race race;
    rig_open(&rig, "sim:h100");
    vmm_mem_generic_allocation_handle handle = create(rig.sys, G);
    vmm_deviceptr ptr = reserve(rig.sys, 2 * G, 0);
    run_race(&race, &rig, call_questions, ptr, handle);
    tap_result(race.racer[0].result, VMM_SUCCESS, "one maps and unmaps while others query");
    for (unsigned i = 1; i < THREADS; i++)
        tap_result(race.racer[i].result, VMM_SUCCESS, "thread %u: each answer is from before or after a change", i);
    vmm_mem_release(rig.sys, handle);
    vmm_mem_address_free(rig.sys, ptr, 2 * G);
    rig_close(&rig, "questions");
}

/* ---- everything at once ---- */

#define SLOTS 8

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* A random call on slots that all threads share; its success depends on the others. */
static vmm_result random_call(vmm_system *sys, vmm_deviceptr base, const uint64_t *handle, uint32_t r)
{
    unsigned char byte = 0;
    vmm_mem_generic_allocation_handle kept = 0;
    uint64_t flags = 0;
    const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    vmm_deviceptr at = base + (r >> 8) % SLOTS * G, other = base + (r >> 16) % SLOTS * G;
    switch (r % 10) {
    case 0:
    case 1:
        return vmm_mem_map(sys, at, G, 0, handle[(r >> 16) % 3], 0);
    case 2:
        return vmm_mem_unmap(sys, at, G * (1 + (r >> 16) % 2));
    case 3:
    case 4:
        return set_access(sys, at, G, (r >> 16) % 2 ? 3 : 1);
    case 5:
        return vmm_memset_d8(sys, at + 5, (unsigned char)r, 100);
    case 6:
        return vmm_memcpy_dtoh(sys, &byte, at + 7, 1);
    case 7:
        return vmm_memcpy_dtod(sys, at, other, 4096);
    case 8:
        if (vmm_mem_retain_allocation_handle(sys, &kept, at) == VMM_SUCCESS &&
            vmm_mem_release(sys, kept) != VMM_SUCCESS)
            return VMM_ERROR_ILLEGAL_STATE; /* our own reference: must work regardless of the others */
        return VMM_SUCCESS;
    default:
        return vmm_mem_get_access(sys, &flags, &device, at);
    }
}

static vmm_result call_random(struct racer *racer)
{
    const struct race *race = racer->race;
    vmm_system *sys = race->rig->sys;
    uint32_t state = (uint32_t)setting("CUVMM_TEST_SEED", 2463534242u) + racer->index * 7919;
    uint64_t handle[3];
    if (vmm_ctx_set_current(sys, race->rig->ctx) != VMM_SUCCESS)
        return VMM_ERROR_INVALID_CONTEXT;
    memcpy(handle, (const void *)(uintptr_t)race->b, sizeof handle);
    for (unsigned i = 0, n = rounds(4000); i < n; i++) {
        vmm_result result = random_call(sys, race->a, handle, next_random(&state));
        if (result == VMM_ERROR_ILLEGAL_STATE || (result != VMM_SUCCESS && !vmm_last_detail()->rule))
            return VMM_ERROR_ILLEGAL_STATE;
        racer->value += result == VMM_SUCCESS;
    }
    return VMM_SUCCESS;
}

struct census {
    unsigned reservations, mappings, handles, counted, other;
};

static void count_object(void *user, const vmm_object *object)
{
    struct census *census = user;
    census->reservations += object->kind == VMM_OBJECT_RESERVATION;
    census->mappings += object->kind == VMM_OBJECT_MAPPING;
    census->handles += object->kind == VMM_OBJECT_HANDLE && object->references == 1;
    census->counted += object->kind == VMM_OBJECT_HANDLE ? object->mappings : 0;
    census->other += object->kind != VMM_OBJECT_RESERVATION && object->kind != VMM_OBJECT_MAPPING &&
                     object->kind != VMM_OBJECT_HANDLE;
}

static void test_everything(void)
{
    struct rig rig;
    struct race race;
    struct census census = {0, 0, 0, 0, 0};
    uint64_t handle[3], left = 0;
    bool sane = true;
    tap_note("everything at once: seed %llu; again with CUVMM_TEST_SEED=that (threads interleave as they like)",
             (unsigned long long)setting("CUVMM_TEST_SEED", 2463534242u));
    rig_open(&rig, "sim:h100");
    vmm_deviceptr base = reserve(rig.sys, (SLOTS + 1) * G, 0);
    for (int i = 0; i < 3; i++)
        handle[i] = create(rig.sys, G);
    run_race(&race, &rig, call_random, base, (uint64_t)(uintptr_t)handle);
    for (unsigned i = 0; i < THREADS; i++)
        sane = sane && race.racer[i].result == VMM_SUCCESS && race.racer[i].value > 0;
    tap_ok(sane, "each call succeeded or was refused by a rule, and own references stayed valid");
    tap_result(vmm_visit(rig.sys, count_object, &census), VMM_SUCCESS, "the remaining objects can be enumerated");
    tap_u64(census.reservations, 1, "one reservation");
    tap_u64(census.handles, 3, "three handles of one reference each");
    tap_u64(census.counted, census.mappings, "their counts of mappings add up to the mappings there are");
    tap_ok(vmm_mem_get_info(rig.sys, &left, NULL) == VMM_SUCCESS && left == rig.free - 3 * G, "no memory beyond theirs");
    tap_result(vmm_mem_unmap(rig.sys, base, (SLOTS + 1) * G), VMM_SUCCESS, "one unmap takes all mappings");
    tap_result(vmm_mem_address_free(rig.sys, base, (SLOTS + 1) * G), VMM_SUCCESS, "the range can be freed");
    for (int i = 0; i < 3; i++)
        tap_result(vmm_mem_release(rig.sys, handle[i]), VMM_SUCCESS, "handle %d can be released", i);
    rig_close(&rig, "everything at once");
}

int main(void)
{
    test_one_winner();
    test_one_address();
    test_last_memory();
    test_own_ranges();
    test_rights();
    test_questions();
    test_everything();
    return tap_done();
}
