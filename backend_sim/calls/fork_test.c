/* SPDX-License-Identifier: Apache-2.0 */
/* Forks of a program whose threads are in calls of all kinds: calls in the child return the documented answers, without a hang.
 *     4 threads    memory | queries and refusals | in-flight work | systems opened and closed, contexts
 *     main         forks repeatedly; each child checks every answer, closes its copies of the systems, and uses a machine of
 *                  its own
 *
 * CUVMM_TEST_SCALE is the percentage of the forks to make: 1000 makes 5000 of them. CUVMM_SEED is the number of the first child,
 * which selects the system that a child starts with. */
#include <stdatomic.h>
#include <sys/wait.h>

#include "forks.h"
#include "process.h"
#include "share_rig.h"
#include "system.h"

enum { FORKS = 500, PATIENT = 60 };
#define G RIG_G

/* A system for each kind of entry. The parent opens the last one; each child initialises it. */
static const char *const specs[] = {
    "sim:h100", "sim:h100,schedule=device", "shadow=nodes=1|sim:h100", "trace=/dev/null|sim:h200x2,schedule=random:1",
    "sim:h100,machine=forks", "sim:h100",
};
enum { SYSTEMS = sizeof specs / sizeof specs[0], UNUSED = SYSTEMS - 1 };
static vmm_system *systems[SYSTEMS];
static vmm_context contexts[SYSTEMS];
static atomic_bool over;
static atomic_uint rounds[4];

static bool failed; /* in a child */

static bool expect(int line, bool right)
{
    if (!right) {
        failed = true;
        forks_wrong(line);
    }
    return right;
}
#define EXPECT(condition) expect(__LINE__, (condition))
#define REFUSED(call)                                                                      \
    EXPECT((call) == VMM_ERROR_NOT_INITIALIZED && (vmm_last_detail()->rule == NULL ||      \
                                                   !strcmp(vmm_last_detail()->rule, "VMM-INIT-FORKED")))

static void count_report(void *user, const vmm_detail *detail)
{
    (void)detail;
    atomic_fetch_add((atomic_uint *)user, 1);
}
static atomic_uint reports;

/* ---- the threads ---- */

static const vmm_mem_allocation_prop device_memory = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                                      .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0},
                                                      .requested_handle_types = RIG_FD};

/* Creates, maps, fills, reads and releases device memory. Returns false if a call is refused or the bytes are wrong. */
static bool life(vmm_system *sys, bool export)
{
    vmm_mem_generic_allocation_handle handle;
    vmm_mem_access_desc desc = {device_memory.location, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_deviceptr at = 0;
    unsigned char bytes[64] = {1, 2, 3}, back[64] = {0};
    int fd = -1;
    bool right = vmm_mem_create(sys, &handle, G, &device_memory, 0) == VMM_SUCCESS &&
                 vmm_mem_address_reserve(sys, &at, G, 0, 0, 0) == VMM_SUCCESS &&
                 vmm_mem_map(sys, at, G, 0, handle, 0) == VMM_SUCCESS &&
                 vmm_mem_set_access(sys, at, G, &desc, 1) == VMM_SUCCESS &&
                 vmm_memcpy_htod(sys, at, bytes, sizeof bytes) == VMM_SUCCESS &&
                 vmm_memcpy_dtoh(sys, back, at, sizeof back) == VMM_SUCCESS && !memcmp(bytes, back, sizeof bytes);
    if (right && export) {
        right = vmm_mem_export_to_shareable_handle(sys, &fd, handle, RIG_FD, 0) == VMM_SUCCESS;
        if (fd >= 0)
            close(fd);
    }
    return right && vmm_mem_unmap(sys, at, G) == VMM_SUCCESS && vmm_mem_release(sys, handle) == VMM_SUCCESS &&
           vmm_mem_address_free(sys, at, G) == VMM_SUCCESS;
}

static void memory(vmm_system *sys, unsigned round)
{
    vmm_deviceptr at = 0;
    life(sys, round % 16 == 0);
    if (vmm_mem_alloc(sys, &at, 4096) == VMM_SUCCESS)
        vmm_mem_free(sys, at);
}

static void questions(vmm_system *sys, unsigned round)
{
    int value = 0;
    uint64_t free = 0, total = 0, size = 0;
    vmm_device_get_attribute(sys, &value, VMM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
    vmm_mem_get_info(sys, &free, &total);
    vmm_mem_get_allocation_granularity(sys, &size, &device_memory, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    vmm_mem_unmap(sys, 4096, 4096); /* refused and reported */
    vmm_driver_get_version(sys, &value);
    if (round % 32 == 0)
        vmm_set_report(sys, count_report, &reports);
}

static void in_flight(void *unused)
{
    (void)unused;
}

static void work(vmm_system *sys, unsigned round)
{
    vmm_stream stream = NULL;
    vmm_event event = NULL;
    vmm_deviceptr at = 0;
    (void)round;
    if (vmm_stream_create(sys, &stream, 0) || vmm_event_create(sys, &event, 0) || vmm_mem_alloc(sys, &at, 65536))
        return;
    vmm_memset_d8_async(sys, at, 7, 65536, stream);
    vmm_launch_host_func(sys, stream, in_flight, NULL);
    vmm_event_record(sys, event, stream);
    vmm_stream_query(sys, stream);
    vmm_event_synchronize(sys, event);
    vmm_ctx_synchronize(sys);
    vmm_mem_free(sys, at);
    vmm_event_destroy(sys, event);
    vmm_stream_destroy(sys, stream);
}

static void come_and_go(vmm_system *sys, unsigned round)
{
    vmm_system *own = NULL, *peer = NULL;
    vmm_context context = NULL;
    if (vmm_open(round % 2 ? "sim:min" : "sim:min,schedule=device", &own) == VMM_SUCCESS) {
        if (!vmm_init(own, 0) && !vmm_ctx_create(own, &context, 0, 0))
            work(own, round);
        vmm_close(own);
    }
    if (round % 4 == 0 && !strstr(specs[(round / 4) % SYSTEMS], "|") &&
        vmm_attach(systems[(round / 4) % SYSTEMS], &peer) == VMM_SUCCESS) {
        vmm_init(peer, 0);
        vmm_close(peer);
    }
    vmm_leaks(sys, NULL, NULL);
}

static void (*const doing[])(vmm_system *sys, unsigned round) = {memory, questions, work, come_and_go};
enum { BUSY = sizeof doing / sizeof doing[0] };

static void *busy(void *number)
{
    uintptr_t kind = (uintptr_t)number;
    for (unsigned round = 0; !atomic_load(&over); round++) {
        unsigned which = (round + (unsigned)kind) % UNUSED;
        vmm_ctx_set_current(systems[which], contexts[which]);
        doing[kind](systems[which], round);
        atomic_fetch_add(&rounds[kind], 1);
    }
    return NULL;
}

/* ---- the child ---- */

static void look_at(vmm_system *sys)
{
    vmm_mem_generic_allocation_handle handle;
    vmm_context context = NULL;
    vmm_deviceptr at = 0;
    uint64_t size = 0;
    int value = 0;
    EXPECT(vmm_driver_get_version(sys, &value) == VMM_SUCCESS && value > 0);
    REFUSED(vmm_init(sys, 0));
    REFUSED(vmm_device_get_count(sys, &value));
    REFUSED(vmm_ctx_get_current(sys, &context));
    REFUSED(vmm_mem_get_info(sys, &size, &size));
    REFUSED(vmm_mem_create(sys, &handle, G, &device_memory, 0));
    REFUSED(vmm_mem_address_reserve(sys, &at, G, 0, 0, 0));
    REFUSED(vmm_mem_unmap(sys, 4096, 4096));
    REFUSED(vmm_memset_d8_async(sys, 4096, 1, 1, NULL));
    REFUSED(vmm_launch_host_func(sys, NULL, in_flight, NULL));
    REFUSED(vmm_stream_synchronize(sys, NULL));
    REFUSED(vmm_ctx_synchronize(sys));
    EXPECT(vmm_ctx_destroy(sys, NULL) != VMM_SUCCESS);
}

/* A system that the parent opened but did not initialise works in the child, unless the fork hit a call on it. */
static void use_unused(vmm_system *sys)
{
    vmm_context context = NULL;
    vmm_result result = vmm_init(sys, 0);
    if (result == VMM_ERROR_NOT_INITIALIZED)
        EXPECT(strstr(vmm_last_detail()->note, "midst of a call") != NULL);
    else
        EXPECT(result == VMM_SUCCESS && !vmm_ctx_create(sys, &context, 0, 0) && life(sys, false));
}

static void use_own(const char *spec)
{
    vmm_system *own = NULL;
    vmm_context context = NULL;
    EXPECT(vmm_open(spec, &own) == VMM_SUCCESS);
    if (!own)
        return;
    EXPECT(!vmm_init(own, 0) && !vmm_ctx_create(own, &context, 0, 0));
    EXPECT(life(own, false));
    vmm_close(own);
}

/* Did the fork happen without the lock of one of the machines? */
static bool torn(void)
{
    bool some = false;
    for (int i = 0; i < SYSTEMS; i++) {
        struct vmm_backend *sim = systems[i]->top;
        while (sim->inner)
            sim = sim->inner;
        some |= sim_machine_torn(((struct sim_process *)sim)->machine);
    }
    return some;
}

static int child(unsigned start)
{
    bool without = torn();
    for (unsigned i = 0; i < UNUSED; i++)
        look_at(systems[(start + i) % UNUSED]);
    use_unused(systems[UNUSED]);
    if (start % 8 == 0) { /* one child in eight forks as well */
        int status = -1;
        pid_t grandchild = fork();
        if (grandchild == 0) {
            alarm(PATIENT);
            forks_begin();
            look_at(systems[start % UNUSED]);
            use_own("sim:h100");
            _exit(failed ? 1 : 0);
        }
        EXPECT(waitpid(grandchild, &status, 0) == grandchild && status == 0);
    }
    for (unsigned i = 0; i < SYSTEMS; i++)
        vmm_close(systems[(start + i) % SYSTEMS]);
    use_own(start % 2 ? "sim:h100" : "sim:h200x2,schedule=device");
    return failed ? 1 : without ? FORKS_TORN : 0;
}

/* ---- main ---- */

static void open_systems(void)
{
    for (int i = 0; i < SYSTEMS; i++) {
        vmm_result result = vmm_open(specs[i], &systems[i]);
        if (result == VMM_SUCCESS && i != UNUSED) {
            vmm_set_report(systems[i], count_report, &reports);
            result = vmm_init(systems[i], 0);
        }
        if (result == VMM_SUCCESS && i != UNUSED)
            result = vmm_ctx_create(systems[i], &contexts[i], 0, 0);
        if (result != VMM_SUCCESS)
            tap_bail("%s: %s", specs[i], vmm_last_detail()->note);
    }
}

int main(void)
{
    const char *given = getenv("CUVMM_SEED");
    unsigned forks = forks_scaled(FORKS), seed = given ? (unsigned)strtoul(given, NULL, 10) : 0, idle = 0;
    pthread_t thread[BUSY];
    setvbuf(stdout, NULL, _IOLBF, 0); /* so that children inherit no buffered output */
    atomic_store(&life_patience, 5 * FORKS_SLOW_MS); /* a lock taken out of order exceeds any patience */
    rig_begin();
    open_systems();
    if (!FORKS_JUDGED)
        tap_skip(FORKS_UNJUDGED, "answers in forked children");
    for (uintptr_t i = 0; i < BUSY; i++)
        if (pthread_create(&thread[i], NULL, busy, (void *)i))
            tap_bail("no thread");
    struct forks_sum sum = forks_often(forks, seed, child);
    tap_u64(sum.hung, 0, "no child hangs");
    tap_u64(sum.torn, 0, "every fork gets all locks: no lock is taken out of order");
    tap_u64(sum.wrong, 0, "every answer in %u children is the documented one (seed %u)", forks, seed);
    atomic_store(&over, true);
    for (int i = 0; i < BUSY; i++) {
        pthread_join(thread[i], NULL);
        tap_note("thread %d: %u rounds", i, atomic_load(&rounds[i]));
        idle += !atomic_load(&rounds[i]);
    }
    tap_u64(idle, 0, "all threads made calls meanwhile");
    for (int i = 0; i < UNUSED; i++)
        tap_ok(!vmm_ctx_set_current(systems[i], contexts[i]) && life(systems[i], true), "%s still works in the parent", specs[i]);
    for (int i = 0; i < SYSTEMS; i++)
        vmm_close(systems[i]);
    rig_end();
    return tap_done();
}
