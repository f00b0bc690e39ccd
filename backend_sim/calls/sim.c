/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator as a backend: opening, the entry to every call, attaching a peer. */
#include "sim.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "call_early.h"
#include "call_graph.h"
#include "call_ipc.h"
#include "call_managed.h"
#include "checks.h"
#include "in_flight.h"
#include "heap.h"
#include "launch.h"
#include "order_feed.h"
#include "process_lifetime.h"
#include "os.h"
#include "os_environment.h"
#include "sim_open.h"
#include "units.h"
#include "user_objects.h"
#include "watch.h"

/* Checks a call made while host functions run. As measured, a host function may queue work in streams and use existing events.
 * */
static vmm_result enter_inside(const struct sim_process *process, enum vmm_call_id id)
{
    if (!in_flight_is_inside(process->in_flight) || vmm_call_has(id, CALL_ANYWHERE))
        return VMM_SUCCESS;
    if (!vmm_call_has(id, CALL_QUEUES))
        return sim_refuse_inside(process);
    return sim_warn_or_refuse(process, VMM_RULE_HOSTFUNC_WORK, 0, 0, NULL) ? VMM_SUCCESS : VMM_ERROR_NOT_PERMITTED;
}

/* Is the call a query for P2P_TOKENS? Such a query changes state: copies of that memory are synchronised from then on. */
static inline bool is_tokens_query(const struct vmm_call *call)
{
    return call->id == VMM_CALL_pointer_get_attribute &&
           ((const struct vmm_call_pointer_get_attribute *)(const void *)call)->attribute == VMM_POINTER_ATTRIBUTE_P2P_TOKENS;
}

typedef vmm_result (*sim_handler)(struct sim_process *process, const struct vmm_call *call);

/* Is the call about what processes share? */
#define SHARES(id)                                                                                             \
    ((id) == VMM_CALL_mem_export_to_shareable_handle || (id) == VMM_CALL_mem_import_from_shareable_handle ||   \
     (id) == VMM_CALL_ipc_get_mem_handle || (id) == VMM_CALL_ipc_open_mem_handle ||                         \
     (id) == VMM_CALL_ipc_get_event_handle || (id) == VMM_CALL_ipc_open_event_handle)

/* Can the call wait for files and locks that processes share? All other such waits are in os_posix.c. */
static bool is_shared(const struct sim_machine *machine, enum vmm_call_id id)
{
    return machine->share || SHARES(id);
}

/* Runs a call while streams are being captured, or while events refer to captured work. */
__attribute__((noinline)) static vmm_result run_beside_captures(struct sim_process *process, const struct vmm_call *call,
                                                                sim_handler handler)
{
    vmm_result result;
    if (capture_takes(process, call, &result))
        return result;
    result = handler(process, call);
    if (result == VMM_SUCCESS)
        capture_done(process, call);
    return result;
}

static inline vmm_result run_it(struct sim_process *process, const struct vmm_call *call, sim_handler handler)
{
    vmm_result result = process->in_flight->inside ? enter_inside(process, (enum vmm_call_id)call->id) : VMM_SUCCESS;
    if (result != VMM_SUCCESS)
        return result;
    return process->graphs->watched ? run_beside_captures(process, call, handler) : handler(process, call);
}

/* Runs a call of a shared machine with cancellation disabled. Not inlined, so that the path of all other calls stays short. */
__attribute__((noinline)) static vmm_result run_shared(struct sim_process *process, const struct vmm_call *call,
                                                       sim_handler handler)
{
    int cancel = life_no_cancel();
    vmm_result result = run_it(process, call, handler);
    life_may_cancel(cancel);
    return result;
}

/* Runs the call, under the machine's lock or as a reader. */
static inline vmm_result run(struct sim_process *process, const struct vmm_call *call, sim_handler handler)
{
    bool shared = is_shared(process->machine, (enum vmm_call_id)call->id);
    return shared ? run_shared(process, call, handler) : run_it(process, call, handler);
}

/* Runs a query beside other readers if readers_enter allows it, else under the machine's lock. */
__attribute__((noinline)) static vmm_result run_query(struct sim_process *process, const struct vmm_call *call,
                                                      sim_handler handler)
{
    struct sim_machine *machine = process->machine;
    struct readers_slot *line = readers_enter(&machine->readers);
    if (!line)
        sim_machine_lock_to_read(machine);
    else if (SIM_DEBUG)
        sim_machine_read(machine, true);
    vmm_result result = run(process, call, handler);
    if (checks_wanted())
        watch_read(process, call, result);
    if (line) {
        if (SIM_DEBUG)
            sim_machine_read(machine, false);
        readers_leave(line);
    } else {
        readers_count_query(&machine->readers);
        sim_machine_unlock(machine);
    }
    return result;
}

/* The end of a call that holds the machine: repeats it as often as its resource was busy. */
static vmm_result settle(struct sim_process *process, const struct vmm_call *call, sim_handler handler, vmm_result result)
{
    struct sim_machine *machine = process->machine;
    struct share *busy;
    while ((busy = sim_machine_busy(machine, result != VMM_SUCCESS))) {
        sim_machine_await(machine, busy);
        result = run(process, call, handler);
    }
    if (process->in_flight->order)
        order_feed_report(process);
    if (checks_wanted())
        watch_call(process, call, result);
    sim_machine_unlock(machine);
    return result;
}

static vmm_result change(struct sim_process *process, const struct vmm_call *call, sim_handler handler)
{
    sim_machine_hold(process->machine, (enum vmm_call_id)call->id);
    return settle(process, call, handler, run(process, call, handler));
}

/* Refuses a call of a process that has not initialised, or that is a forked child of one that has. */
static vmm_result refuse_early(uint64_t initialised)
{
    return vmm_detail_refuse(initialised ? VMM_RULE_INIT_FORKED : VMM_RULE_INIT_REQUIRED, 0, 0, NULL);
}

/* The entry to every call; queries is the trait in its row of calls.def. */
static vmm_result serve(struct sim_process *process, const struct vmm_call *call, sim_handler handler, bool queries)
{
    uint64_t initialised = process->initialised;
    if (initialised != life_stamp() && !call_goes_first(call, initialised != 0))
        return refuse_early(initialised);
    return queries && !VMM_SINGLE_THREAD && !is_tokens_query(call) ? run_query(process, call, handler)
        : change(process, call, handler);
}

/* The fast path, for most calls of a single-threaded program: initialised, and outside host functions. */
static vmm_result serve_plain(struct sim_process *process, const struct vmm_call *call, sim_handler handler, bool queries)
{
    struct sim_machine *machine = process->machine;
    if (!VMM_SINGLE_THREAD || process->initialised != life_stamp() || process->in_flight->inside || process->graphs->watched)
        return serve(process, call, handler, queries);
    sim_machine_hold_alone(machine);
    vmm_result result = machine->share ? run_shared(process, call, handler) : handler(process, call);
    if (machine->busy || process->in_flight->order || checks_wanted())
        return settle(process, call, handler, result);
    sim_machine_unlock(machine);
    return result;
}

/* May the call take that path? Not if it waits (sim_machine_hold), except for copies and fills that are done at once, which take
 * the lock first (call_copy.c). */
#define IS_PLAIN(name, traits)                                                                              \
    ((!((traits) & CALL_WAITS) || ((traits) & (CALL_MOVES | CALL_QUEUES)) == CALL_MOVES) && !SHARES(VMM_CALL_##name))

/* May the call end the last reference to a user object? */
#define ENDS_OBJECTS(id)                                                                                     \
    ((id) == VMM_CALL_graph_destroy || (id) == VMM_CALL_graph_destroy_node || (id) == VMM_CALL_graph_exec_destroy ||  \
     (id) == VMM_CALL_stream_end_capture || (id) == VMM_CALL_graph_launch || (id) == VMM_CALL_user_object_release ||  \
     (id) == VMM_CALL_graph_release_user_object || (id) == VMM_CALL_user_object_retain ||                             \
     (id) == VMM_CALL_graph_retain_user_object || (id) == VMM_CALL_graph_clone || (id) == VMM_CALL_graph_instantiate || \
     (id) == VMM_CALL_graph_add_child_graph_node || (id) == VMM_CALL_graph_exec_update)

/* Calls the functions of user objects that ended, without the lock. The detail stays that of the call, because they may make
 * calls. */
static vmm_result end_objects(struct sim_process *process, vmm_result result)
{
    if (process->initialised != life_stamp())
        return result;
    sim_machine_lock(process->machine);
    struct user_ending *ended = user_objects_ended(process->graphs);
    sim_machine_unlock(process->machine);
    if (!ended)
        return result;
    const vmm_detail detail = *vmm_last_detail();
    user_objects_call(ended);
    *vmm_detail_here() = detail;
    return result;
}

#define VMM_CALL(name, symbol, form, traits)                                                            \
    static vmm_result do_##name(struct sim_process *process, const struct vmm_call *call)               \
    {                                                                                                   \
        return sim_##name(process, (const struct vmm_call_##name *)(const void *)call);                 \
    }                                                                                                   \
    static vmm_result call_##name(struct vmm_backend *self, struct vmm_call *call)                      \
    {                                                                                                   \
        struct sim_process *process = (struct sim_process *)self;                                       \
        vmm_result result = IS_PLAIN(name, traits) ? serve_plain(process, call, do_##name, VMM_QUERIES_##name)  \
                                                   : serve(process, call, do_##name, VMM_QUERIES_##name);       \
        return ENDS_OBJECTS(VMM_CALL_##name) ? end_objects(process, result) : result;                   \
    }
#include "calls.def"

/* First reports findings about accesses that no call could report yet. */
static uint64_t leaks(struct vmm_backend *self, vmm_report_fn report, void *user)
{
    struct sim_process *process = (struct sim_process *)self;
    vmm_detail detail;
    while (report && process->in_flight->order && !sim_machine_torn(process->machine)) {
        sim_machine_lock(process->machine);
        bool found = order_feed_take(process, &detail);
        sim_machine_unlock(process->machine);
        if (!found)
            break;
        report(user, &detail);
    }
    return sim_leaks(self, report, user);
}

static void close_process(struct vmm_backend *self)
{
    sim_process_free((struct sim_process *)self);
}

static vmm_result attach(struct vmm_backend *self, struct vmm_backend **peer);

static const struct vmm_backend_ops ops = {
    .size = sizeof(struct vmm_backend_ops),
    .name = "sim",
    .call =
        {
#define VMM_CALL(name, ...) [VMM_CALL_##name] = call_##name,
#include "calls.def"
        },
    .visit = sim_enumerate,
    .leaks = leaks,
    .attach = attach,
    .close = close_process,
};

/* Warns on standard error, once per program, that the host window backs fewer addresses than the machine has memory. */
static void warn_few_addresses(const struct sim_process *process)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const struct sim_profile *profile = &process->machine->profile;
    uint64_t backed = process->window.backed - process->window.start;
    uint64_t memory = profile->device_memory * (uint64_t)profile->devices;
    if (!process->machine->bytes || process->options.window != HOST_WINDOW_AUTO || backed >= memory ||
        backed >= process->window.end - process->window.start || atomic_flag_test_and_set(&said))
        return;
    char text[256], have[UNITS_TEXT], want[UNITS_TEXT];
    int length = snprintf(text, sizeof text,
                          "cuvmm: the system gives this program %s of addresses for a machine with %s of memory; "
                          "host memory at other addresses cannot be accessed in place (ulimit -v?)\n",
                          units_text(backed, have), units_text(memory, want));
    os_print(text, (size_t)length);
}

static vmm_result add_process(struct sim_machine *machine, const struct sim_options *options,
                              struct vmm_backend **backend)
{
    struct sim_process *process = sim_process_new(machine, options);
    if (!process)
        return vmm_refuse_open(VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open", "the host's memory or thread keys are exhausted");
    process->backend.ops = &ops;
    warn_few_addresses(process);
    *backend = &process->backend;
    return VMM_SUCCESS;
}

static vmm_result attach(struct vmm_backend *self, struct vmm_backend **peer)
{
    struct sim_process *process = (struct sim_process *)self;
    if (sim_machine_torn(process->machine))
        return vmm_refuse_open(VMM_RULE_INIT_FORKED, "vmm_attach", SIM_TORN);
    sim_machine_lock(process->machine);
    vmm_result result = add_process(process->machine, &process->options, peer);
    sim_machine_unlock(process->machine);
    if (result == VMM_SUCCESS)
        sim_process_watch((struct sim_process *)*peer);
    return result;
}

/* Takes the machine's name from CUVMM_MACHINE, for programs whose spec cannot be changed. */
static vmm_result default_machine(struct sim_options *options)
{
    const char *name = os_environment("CUVMM_MACHINE");
    if (options->machine[0] || !name || !name[0])
        return VMM_SUCCESS;
    if (!share_name_ok(name))
        return vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_open",
                               "CUVMM_MACHINE is \"%.50s\": expected a name of at most 40 letters, digits, '-', '_', '.'",
                               name);
    strcpy(options->machine, name);
    return VMM_SUCCESS;
}

static enum vmm_rule_id rule_of_profile(vmm_result result)
{
    return result == VMM_ERROR_INVALID_VALUE ? VMM_RULE_OPEN_ARGUMENT
           : result == VMM_ERROR_OUT_OF_MEMORY ? VMM_RULE_SYSTEM_HOST_MEMORY : VMM_RULE_OPEN_SYSTEM;
}

/* Finds a built-in profile by name, or reads one from a file. */
static vmm_result find_profile(const char *name, struct sim_profile *profile)
{
    struct sim_profile_error error;
    if (sim_profile_builtin(name, profile))
        return VMM_SUCCESS;
    vmm_result result = sim_profile_read(name, profile, &error);
    if (result == VMM_ERROR_NOT_FOUND)
        return vmm_refuse_open(VMM_RULE_OPEN_NOT_FOUND, "vmm_open", "no built-in profile and no file \"%.60s\"; cuvmm profiles lists them",
                               name);
    if (result != VMM_SUCCESS)
        return vmm_refuse_open(rule_of_profile(result), "vmm_open", "profile %.40s:%d:%d: %.90s%s%.60s", name, error.line, error.column,
                               error.text, error.source[0] ? "; the line is " : "", error.source);
    return VMM_SUCCESS;
}

vmm_result sim_read_spec(const char *args, struct sim_profile *profile, struct sim_options *options)
{
    size_t size = strlen(args) + 1;
    char *name = heap.malloc(size);
    if (!name)
        return vmm_refuse_open(VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open", "the host's memory is exhausted");
    memcpy(name, args, size);
    vmm_result result = sim_options_take(name, options);
    if (result == VMM_SUCCESS)
        result = default_machine(options);
    if (result == VMM_SUCCESS)
        result = find_profile(name[0] ? name : "h100", profile);
    heap.free(name);
    return result;
}

vmm_result vmm_sim_open(const char *args, struct vmm_backend **backend)
{
    struct sim_profile profile;
    struct sim_options options;
    vmm_result result = sim_read_spec(args, &profile, &options);
    return result == VMM_SUCCESS ? sim_open_profile(&profile, &options, true, backend) : result;
}

const char *sim_spec_backend(const char *text)
{
    const char *last = strrchr(text, '|');
    return last ? last + 1 + strspn(last + 1, " ") : text;
}

const char *sim_spec_of_environment(void)
{
    const char *own = os_environment("CUVMM_SIM"), *shared = os_environment("CUVMM_BACKEND");
    if (own && own[0])
        return own;
    return shared && strncmp(sim_spec_backend(shared), "sim", 3) == 0 ? shared : "sim:h100";
}

/* Joins the shared machine that the options name, if any. */
static vmm_result share_machine(struct sim_machine *machine, const struct sim_options *options)
{
    char why[SHARE_WHY];
    if (!options->machine[0] || !machine->bytes)
        return VMM_SUCCESS;
    machine->share = share_open(options->machine, &machine->hardware, why);
    if (!machine->share)
        return vmm_refuse_open(VMM_RULE_OPEN_SYSTEM, "vmm_open", "machine=%.40s: %.110s", options->machine, why);
    machine->share->machine = machine;
    machine->share->busy = &machine->busy;
    return VMM_SUCCESS;
}

/* Chooses the devices that are visible to the program. */
static vmm_result choose_visible(struct sim_machine *machine, const char *list)
{
    struct visible_devices visible;
    if (!list[0] || strcmp(list, VISIBLE_ENVIRONMENT) == 0) /* cuInit reads the variable */
        visible_devices_all(&visible, machine->hardware.devices);
    else if (!visible_devices_choose(&visible, list, machine->hardware.devices))
        return vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_open",
                               "visible=%.40s: expected ordinals below %d, each once, as in 1:0; or none, or env", list,
                               machine->hardware.devices);
    sim_machine_see(machine, &visible);
    return VMM_SUCCESS;
}

vmm_result sim_open_profile(const struct sim_profile *profile, const struct sim_options *options, bool bytes,
                            struct vmm_backend **backend)
{
    struct sim_machine *machine = sim_machine_new(profile);
    if (!machine)
        return vmm_refuse_open(VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open", "the host's memory is exhausted");
    machine->bytes = bytes;
    machine->bare_pools = !bytes;
    vmm_result result = choose_visible(machine, options->visible);
    if (result == VMM_SUCCESS)
        result = share_machine(machine, options);
    if (result == VMM_SUCCESS)
        result = add_process(machine, options, backend);
    if (result == VMM_SUCCESS)
        sim_process_watch((struct sim_process *)*backend);
    else
        sim_machine_free(machine);
    return result;
}

void sim_show_handle(struct vmm_backend *sim, uint64_t value, uint64_t shown)
{
    struct sim_process *process = (struct sim_process *)sim;
    void *handle;
    sim_machine_lock(process->machine);
    if (slots_find(&process->handles, value, &handle) == SLOT_LIVE)
        ((struct sim_handle *)handle)->shown = shown;
    sim_machine_unlock(process->machine);
}

void sim_show_pool(struct vmm_backend *sim, uint64_t value, uint64_t shown)
{
    struct sim_process *process = (struct sim_process *)sim;
    void *pool;
    sim_machine_lock(process->machine);
    if (slots_find(&process->pools, value, &pool) == SLOT_LIVE)
        ((struct sim_pool *)pool)->shown = shown;
    sim_machine_unlock(process->machine);
}

void sim_show_array(struct vmm_backend *sim, uint64_t value, uint64_t shown)
{
    struct sim_process *process = (struct sim_process *)sim;
    struct sim_array *array;
    sim_machine_lock(process->machine);
    if (sim_array_find(process, value, &array) == SLOT_LIVE)
        array->shown = shown;
    sim_machine_unlock(process->machine);
}

void sim_show_context(struct vmm_backend *sim, uint64_t value, uint64_t shown)
{
    struct sim_process *process = (struct sim_process *)sim;
    void *context;
    sim_machine_lock(process->machine);
    if (slots_find(&process->contexts, value, &context) == SLOT_LIVE)
        ((struct sim_context *)context)->shown = shown;
    sim_machine_unlock(process->machine);
}
