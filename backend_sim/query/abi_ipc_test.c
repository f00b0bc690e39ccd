/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and events shared by two processes of a machine, without the driver's checks before the calls: the effects
 * of a full table, exhausted memory, a mutex that stays locked and a forged handle. Two systems of one program are
 * two processes of the machine. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "abi_ipc.h"
#include "abi_process.h"
#include "ipc_event.h"
#include "process.h"
#include "share_event.h"
#include "share_rig.h"
#include "sim.h"
#include "system.h"

enum { SIZE = 1 << 16, CALL = 77 };

static vmm_system *a, *b, *alone; /* two of the same machine, and one of a separate machine that shares nothing yet */
static vmm_deviceptr memory;
static unsigned char handle[64];
static uint64_t at;
static char why[SHARE_WHY];
static enum ipc_event_answer answer;
static const char *rule; /* of the last refused memory call, or "" */

/* ---- the engine's functions, called with the lock ---- */

#define LOCKED(type, name, call, ...)                            \
    static type name(const vmm_system *sys, __VA_ARGS__)         \
    {                                                            \
        struct sim_process *process = abi_process_lock(sys);     \
        type result = call;                                      \
        abi_process_unlock(process);                             \
        return result;                                           \
    }
LOCKED(enum ipc_event_answer, event_new, ipc_event_new(process, event, index, text), uint64_t event, unsigned *index, char *text)
LOCKED(enum ipc_event_answer, event_open, ipc_event_open(process, bytes, index, text), const void *bytes, unsigned *index, char *text)
LOCKED(bool, event_name, ipc_event_name(process, index, bytes), unsigned index, void *bytes)
LOCKED(bool, event_record, ipc_event_record(process, event, record), uint64_t event, struct ipc_event_record *record)
LOCKED(bool, event_complete, ipc_event_complete(process, record), const struct ipc_event_record *record)

static void event_drop(const vmm_system *sys, unsigned index)
{
    struct sim_process *process = abi_process_lock(sys);
    ipc_event_drop(process, index);
    abi_process_unlock(process);
}

static struct sim_machine *machine_of(const vmm_system *sys)
{
    return abi_process(sys)->machine;
}

static void is(enum ipc_event_answer want, const char *what)
{
    if (!tap_u64(answer, want, "%s", what))
        tap_note("%s", why);
}

/* Records the rule and the reason of a refused memory call. */
static bool done(vmm_result result)
{
    rule = result == VMM_SUCCESS ? "" : vmm_last_detail()->rule;
    snprintf(why, sizeof why, "%.190s", result == VMM_SUCCESS ? "" : vmm_last_detail()->note);
    return result == VMM_SUCCESS;
}

static void by(const char *want, const char *what)
{
    if (!tap_ok(strcmp(rule, want) == 0, "%s: %s", what, want))
        tap_note("%s: %s", rule, why);
}

static bool name_in(vmm_system *sys, unsigned char bytes[64])
{
    return done(vmm_ipc_get_mem_handle(sys, (vmm_ipc_mem_handle *)bytes, memory));
}

static bool close_in(vmm_system *sys, uint64_t address)
{
    return done(vmm_ipc_close_mem_handle(sys, address));
}

static void forge(uint64_t size)
{
    struct ipc_handle forged;
    ipc_handle_read(handle, &forged);
    forged.size = size;
    ipc_handle_write(handle, &forged);
}

static void named(void)
{
    if (vmm_mem_alloc(a, &memory, SIZE) || !name_in(a, handle))
        tap_bail("no memory with a name: %s", why);
}

static bool freed(void)
{
    return vmm_mem_free(a, memory) == VMM_SUCCESS;
}

static bool open_in(vmm_system *sys)
{
    vmm_ipc_mem_handle same;
    memcpy(&same, handle, sizeof same);
    at = 0;
    return done(vmm_ipc_open_mem_handle(sys, &at, same, VMM_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
}

/* ---- whatever fails ---- */

static void has_memory(void)
{
    if (vmm_mem_alloc(a, &memory, SIZE))
        tap_bail("no memory");
    why[0] = '\0';
}

static bool names(void)
{
    return name_in(a, handle);
}

static bool said_why(void)
{
    return (strcmp(rule, "VMM-IPC-SYSTEM") == 0 && why[0]) || (strcmp(rule, "VMM-SYSTEM-HOST-MEMORY") == 0 && !at);
}

static bool opens(void)
{
    return open_in(b);
}

static bool closed_again(void)
{
    bool whole = !at || close_in(b, at);
    return freed() && whole && !close_in(b, memory);
}

static void has_alone(void)
{
    alone = rig_open(NULL);
    if (!alone || vmm_mem_alloc(alone, &memory, SIZE))
        tap_bail("no machine of its own");
    why[0] = '\0';
}

static bool names_first(void)
{
    return name_in(alone, handle);
}

static bool alone_closes(void)
{
    bool whole = (machine_of(alone)->share != NULL || rule[0]) && vmm_mem_free(alone, memory) == VMM_SUCCESS;
    rig_close(alone);
    return whole;
}

static unsigned entry;

static bool makes_event(void)
{
    return (answer = event_new(a, 0, &entry, why)) == IPC_EVENT_DONE;
}

static bool makes_event_first(void)
{
    answer = event_new(alone, 0, &entry, why);
    return answer == IPC_EVENT_DONE;
}

static bool alone_ends(void)
{
    bool whole = (machine_of(alone)->share != NULL || answer == IPC_EVENT_SYSTEM) && vmm_mem_free(alone, memory) == VMM_SUCCESS;
    rig_close(alone);
    return whole;
}

static bool no_share(void)
{
    return answer == IPC_EVENT_SYSTEM && entry == SHARE_EVENTS && why[0];
}

static bool no_entry(void)
{
    return answer == IPC_EVENT_SYSTEM && entry == SHARE_EVENTS && strstr(why, "no random numbers");
}

static bool drops_event(void)
{
    if (answer == IPC_EVENT_DONE)
        event_drop(a, entry);
    return true;
}

static void failures(void)
{
    inject_try(&(struct inject_case){.name = "a name", .begin = has_memory, .call = names, .reported = said_why, .end = freed});
    inject_try(&(struct inject_case){.name = "the first name of a machine", .least = 3, .begin = has_alone, .call = names_first,
                                     .reported = said_why, .end = alone_closes});
    inject_try(&(struct inject_case){.name = "an open", .least = 2, .begin = named, .call = opens, .reported = said_why,
                                     .end = closed_again});
    inject_try(&(struct inject_case){.name = "the first event of a machine", .least = 3, .begin = has_alone,
                                     .call = makes_event_first, .reported = no_share, .end = alone_ends});
    inject_try(&(struct inject_case){.name = "an event's entry", .least = 2, .call = makes_event, .reported = no_entry,
                                     .end = drops_event});
}

/* Enough of them to grow the lists; each allocation of an open fails once, together with all later ones. */
static void many(void)
{
    enum { MANY = 100 };
    static vmm_deviceptr made[MANY], opened[MANY];
    unsigned refused = 0, there = 0;
    for (unsigned i = 0; i < MANY; i++) {
        named();
        made[i] = memory;
        for (unsigned long nth = 1; i % 2 && nth < 8; nth++) {
            inject_for_good = true;
            inject_arm(nth);
            refused += !open_in(b) && !at;
            inject_disarm();
            inject_for_good = false;
            if (at)
                close_in(b, at);
        }
        there += open_in(b);
        opened[i] = at;
    }
    tap_ok(there == MANY && refused, "%u opens without memory are refused, and are made then", refused);
    for (unsigned i = 0; i < MANY; i++)
        there -= close_in(b, opened[i]) && vmm_mem_free(a, made[i]) == VMM_SUCCESS;
    tap_u64(there, 0, "each is closed on its own");
}

/* ---- contexts and forged handles ---- */

static void contexts(void)
{
    vmm_context own = NULL;
    named();
    vmm_ctx_get_current(b, &own);
    vmm_ctx_set_current(b, NULL);
    open_in(b);
    by("VMM-CTX-CURRENT", "without a current context nothing opens");
    tap_u64(at, 0, "no address is written");
    tap_ok(!abi_ipc_is_open(b, handle), "nor is anything open");
    vmm_ctx_set_current(b, own);
    open_in(b);
    by("", "with one it opens");
    tap_ok(abi_ipc_is_open(b, handle) && !abi_ipc_is_open(a, handle), "it is open only there");
    struct ipc_handle label;
    unsigned char event[VMM_FABRIC_HANDLE_SIZE];
    ipc_handle_read(handle, &label);
    label.kind = IPC_EVENT;
    ipc_handle_write(event, &label);
    tap_ok(!abi_ipc_is_open(b, event), "an event of the same number is not");
    vmm_ctx_set_current(b, NULL);
    close_in(b, at);
    by("VMM-CTX-CURRENT", "without a current context nothing is closed");
    vmm_ctx_set_current(b, own);
    close_in(b, at + 1);
    by("VMM-IPC-CLOSE", "an address inside closes nothing");
    close_in(b, at);
    by("", "it closes");
    close_in(b, at);
    by("VMM-IPC-CLOSE", "once");
    vmm_ctx_get_current(a, &own);
    vmm_ctx_set_current(a, NULL);
    name_in(a, handle);
    by("VMM-CTX-CURRENT", "nor is anything named without a current context");
    vmm_ctx_set_current(a, own);
    freed();
}

/* Systems of one machine object are processes, too. */
static void attached(void)
{
    vmm_system *peer = NULL, *third = NULL;
    vmm_context own = NULL, another = NULL;
    uint64_t first;
    if (vmm_attach(a, &peer) || vmm_init(peer, 0) || vmm_ctx_create(peer, &own, 0, 0))
        tap_bail("no peer");
    named();
    open_in(a);
    by("VMM-IPC-OWN", "the system that made a handle does not open it");
    open_in(peer);
    by("", "its peer does");
    first = at;
    open_in(peer);
    tap_ok(at == first && close_in(peer, at), "at the same address again");
    vmm_ctx_create(peer, &another, 0, 0);
    open_in(peer);
    by("VMM-IPC-CONTEXT", "but not in another context");
    vmm_ctx_destroy(peer, another);
    vmm_ctx_set_current(peer, own);
    vmm_memset_d8(peer, first, 0x5a, SIZE);
    unsigned char byte = 0;
    vmm_memcpy_dtoh(a, &byte, memory + SIZE - 1, 1);
    tap_u64(byte, 0x5a, "both see the bytes");
    memory = first;
    name_in(peer, handle);
    by("VMM-IPC-OPENED", "opened memory has no handle");
    tap_result(vmm_mem_free(peer, first), VMM_ERROR_INVALID_VALUE, "nor is it freed");
    close_in(peer, first);
    by("", "it closes");
    named();
    freed();
    open_in(peer);
    by("VMM-IPC-GONE", "memory that was freed does not open");
    if (vmm_attach(a, &third) || vmm_init(third, 0) || vmm_ctx_create(third, &another, 0, 0) ||
        vmm_mem_alloc(third, &memory, SIZE) || !name_in(third, handle))
        tap_bail("no third system");
    open_in(peer);
    by("", "memory of a third system opens");
    first = at;
    vmm_close(third);
    open_in(a);
    by("VMM-IPC-ENDED", "not when that system is closed");
    close_in(peer, first);
    vmm_close(peer);
}

/* A system on a machine of two devices, with a context on each; the first one is current. */
static vmm_system *with_two_devices(vmm_context context[2])
{
    vmm_system *sys = NULL;
    if (vmm_open("sim:h200x2,machine=ipc-two", &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &context[1], 0, 1) ||
        vmm_ctx_create(sys, &context[0], 0, 0))
        tap_bail("no machine of two devices");
    return sys;
}

/* Each device of a process has a different address for the memory. */
static void for_each_device(void)
{
    vmm_system *one = a;
    vmm_context context[2];
    uint64_t opened[2];
    a = with_two_devices(context);
    vmm_system *other = with_two_devices(context);
    named();
    for (int round = 0; round < 2; round++) {
        for (int i = 1; i >= 0; i--) { /* the second device comes first */
            vmm_ctx_set_current(other, context[i]);
            open_in(other);
            by("", "the memory opens on each device");
            tap_ok(!round || at == opened[i], "the second time at the same address");
            opened[i] = at;
        }
        tap_ok(opened[0] != opened[1], "at an address of the device's own");
    }
    for (int i = 0; i < 4; i++)
        tap_ok(close_in(other, opened[i / 2]), "each is closed as often as it was opened");
    close_in(other, opened[0]);
    by("VMM-IPC-CLOSE", "and no more often");
    freed();
    rig_close(other);
    rig_close(a);
    a = one;
}

static uint64_t bytes_there(void)
{
    uint64_t start = 0, size = 0;
    return vmm_mem_get_address_range(b, &start, &size, at) == VMM_SUCCESS && start == at ? size : 0;
}

static void forged(void)
{
    static const uint64_t sizes[] = {0, UINT64_C(1) << 40};
    for (unsigned i = 0; i < 2; i++) {
        named();
        forge(sizes[i]);
        open_in(b);
        by("", "a forged size");
        tap_ok(bytes_there() >= SIZE && bytes_there() <= RIG_G, "opens the whole block and no more");
        close_in(b, at);
        freed();
    }
    memset(handle, 0, sizeof handle);
    open_in(b);
    by("VMM-IPC-HANDLE", "zeros are no handle");
    tap_ok(!abi_ipc_is_open(b, handle), "and nothing is open of them");
    answer = event_open(b, handle, &entry, why);
    is(IPC_EVENT_FOREIGN, "nor an event's");
}

/* A machine that shares nothing recognises no handles. */
static void strangers(void)
{
    named();
    alone = rig_open(NULL);
    open_in(alone);
    by("VMM-IPC-MACHINE", "memory of a machine, on another one that shares nothing");
    tap_ok(!abi_ipc_is_open(alone, handle), "so it is not open there");
    makes_event();
    event_name(a, entry, handle);
    answer = event_open(alone, handle, &entry, why);
    is(IPC_EVENT_MACHINE, "an event, too");
    tap_ok(!machine_of(alone)->share, "it still shares nothing");
    event_new(alone, 0, &entry, why);
    answer = event_open(alone, handle, &entry, why);
    is(IPC_EVENT_MACHINE, "nor when it shares");
    tap_ok(!abi_ipc_is_open(alone, handle), "and an event is not open memory");
    unsigned char memory_of_a[64];
    name_in(a, memory_of_a);
    tap_ok(!abi_ipc_is_open(alone, memory_of_a), "nor is memory of another machine");
    answer = event_open(a, handle, &entry, why);
    is(IPC_EVENT_OWN, "its own is not opened");
    rig_close(alone);
    freed();
}

/* Handles of an event whose entry was reused for another event. */
static void gone(void)
{
    unsigned index = 0;
    makes_event();
    const unsigned made = entry;
    event_name(a, made, handle);
    answer = event_open(b, handle, &index, why);
    is(IPC_EVENT_DONE, "an event opens");
    tap_u64(index, made, "as its entry");
    event_drop(b, index);
    struct ipc_handle wrong;
    ipc_handle_read(handle, &wrong);
    wrong.label.number += SHARE_EVENTS;
    ipc_handle_write(handle, &wrong);
    answer = event_open(b, handle, &index, why);
    is(IPC_EVENT_GONE, "an event that has ended does not");
    event_drop(a, made);
}

/* ---- the mutex stays locked ---- */

static void kept(void)
{
    struct ipc_event_record record = {.record = 5, .before = 6, .mark = 7};
    unsigned char event[64], other_name[64] = {9};
    unsigned index = 0;
    named();
    makes_event();
    event_name(a, entry, event);
    struct share *other = share_open_there("m-ipc", why);
    if (!other || !share_lock(other))
        tap_bail("the lock is not available: %s", why);
    name_in(a, other_name);
    by("VMM-IPC-SYSTEM", "no name while another process keeps the mutex");
    tap_ok(strstr(why, "has held the machine") && other_name[0] == 9, "and why: %s", why);
    open_in(b);
    by("VMM-IPC-SYSTEM", "no open");
    tap_ok(strstr(why, "has held the machine") && !at, "and why");
    answer = event_new(a, 0, &index, why);
    is(IPC_EVENT_SYSTEM, "no event");
    tap_u64(index, SHARE_EVENTS, "without an index");
    answer = event_open(b, event, &index, why);
    is(IPC_EVENT_SYSTEM, "no open of an event");
    tap_ok(!event_name(a, entry, other_name) && other_name[0] == 9, "no name of an event");
    record.index = entry;
    tap_ok(!event_record(a, 0, &record) && record.record == 5 && record.before == 6 && record.mark == 7, "no record");
    event_drop(a, entry);
    share_unlock(other);
    share_close(other);
    open_in(b);
    by("", "then it opens");
    close_in(b, at);
    answer = event_open(b, event, &index, why);
    is(IPC_EVENT_DONE, "and the event is there");
    event_drop(b, index);
    tap_ok(event_record(a, 0, &record) && record.record > record.before && record.mark == 0,
           "a record of a number that names no event has no work");
    tap_ok(event_complete(a, &record), "and is complete");
    event_drop(a, entry);
    freed();
}

/* ---- the last close ---- */

static vmm_stream stream;

static void ends_it(void *unused)
{
    struct sim_process *process = abi_process(b);
    (void)unused;
    sim_machine_lock(process->machine);
    sim_allocation_end(process, sim_allocation_at(process, at), (struct sim_origin){CALL, 0, 0});
    sim_machine_unlock(process->machine);
}

static void ended_meanwhile(void)
{
    named();
    open_in(b);
    vmm_launch_host_func(b, stream, ends_it, NULL);
    close_in(b, at);
    by("", "memory that another thread ends while the close waits is closed");
    close_in(b, at);
    by("VMM-IPC-CLOSE", "once");
    freed();
}

/* Closed, then reserved again at the same address by the program. */
static void changes_it(void *unused)
{
    struct sim_process *process = abi_process(b);
    (void)unused;
    sim_machine_lock(process->machine);
    sim_allocation_at(process, at)->opens = 0;
    sim_machine_unlock(process->machine);
}

static void replaced_meanwhile(void)
{
    named();
    open_in(b);
    vmm_launch_host_func(b, stream, changes_it, NULL);
    close_in(b, at);
    by("", "memory that another thread closes while the close waits is closed");
    close_in(b, at);
    by("VMM-IPC-CLOSE", "and what has taken its address stays");
    tap_result(vmm_mem_free(b, at), VMM_SUCCESS, "as memory of the program");
    freed();
}

/* The value that it waits for is never written. */
static void never_done(void)
{
    vmm_deviceptr word = 0;
    named();
    open_in(b);
    vmm_mem_alloc(b, &word, 4);
    vmm_memset_d8(b, word, 0, 4);
    vmm_stream_wait_value32(b, stream, word, 1, 0);
    close_in(b, at);
    by("VMM-MEMOP-NEVER", "the last close that would wait for ever is refused");
    tap_ok(bytes_there(), "and keeps the memory");
    vmm_stream_write_value32(b, NULL, word, 1, 0);
    close_in(b, at);
    by("", "it closes when the word is written");
    vmm_mem_free(b, word);
    freed();
}

static void faulted(void)
{
    const uint64_t args[] = {UINT64_C(0x7f0000000000), 64, 1};
    named();
    open_in(b);
    if (vmm_launch(b, VMM_KERNEL_FILL, 1, 1, args, 3, stream))
        tap_bail("no launch: %s", vmm_last_detail()->note);
    close_in(b, at);
    by("VMM-FAULT-ACCESS", "the last close reports work that has faulted");
    tap_ok(vmm_ctx_synchronize(b) == VMM_ERROR_ILLEGAL_ADDRESS, "as later calls do");
    freed();
}

int main(void)
{
    rig_begin();
    a = rig_open("ipc");
    setenv("CUVMM_LAYERS", "fault=init:9", 1);
    b = rig_open("ipc"); /* the simulator lies under a layer */
    unsetenv("CUVMM_LAYERS");
    if (!a || !b || vmm_stream_create(b, &stream, VMM_STREAM_NON_BLOCKING))
        tap_bail("no machine");
    machine_of(a)->share->patience = machine_of(b)->share->patience = 50;
    failures();
    many();
    contexts();
    attached();
    for_each_device();
    forged();
    strangers();
    gone();
    kept();
    ended_meanwhile();
    replaced_meanwhile();
#ifdef __SANITIZE_THREAD__
    tap_skip("ThreadSanitizer's own threads might write the value", "a close that would wait for ever");
    (void)never_done;
#else
    never_done();
#endif
    faulted();
    rig_close(b);
    rig_close(a);
    rig_end();
    return tap_done();
}
