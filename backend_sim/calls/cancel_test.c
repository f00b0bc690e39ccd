/* SPDX-License-Identifier: Apache-2.0 */
/* Threads with a pending cancel, and host functions that end their thread: a call completes or does nothing, and the machine's
 * lock is free afterwards.
 *
 *     thread   pthread_cancel(itself)   call, call, call ...   testcancel: ends here, and at no call before
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "share_rig.h"

enum { PATIENT = 120 };
#define G RIG_G
static vmm_system *sys;
static vmm_context context;
static const char *spec_now;

/* ---- a pending cancel ---- */

/* The number of steps that a thread with a pending cancel completed; -1: all of them, so no call acted on the cancel. */
static atomic_int at_step;
static atomic_bool refused;

static void step(vmm_result result)
{
    if (result != VMM_SUCCESS)
        atomic_store(&refused, true);
    atomic_fetch_add(&at_step, 1);
}

/* AddressSanitizer marks the frames that a cancellation leaves as used, and its own end of the thread then runs into them. */
#define CANCELLED __attribute__((no_sanitize("address")))

CANCELLED static void *cancelled(void *steps)
{
    void (*code)(void);
    memcpy(&code, steps, sizeof code);
    pthread_cancel(pthread_self());
    code();
    atomic_store(&at_step, -1);
    pthread_testcancel();
    return NULL;
}

static void make_in_thread(const char *what, void (*code)(void))
{
    pthread_t thread;
    void *result = NULL;
    atomic_store(&at_step, 0);
    atomic_store(&refused, false);
    if (pthread_create(&thread, NULL, cancelled, &code) || pthread_join(thread, &result))
        tap_bail("no thread");
    int reached = atomic_load(&at_step);
    tap_ok(reached == -1 && result == PTHREAD_CANCELED, "%s: %s: no call acts on a pending cancel%s (%d)", spec_now, what,
           reached == -1 ? "" : ": cancelled after this many", reached);
    tap_ok(!atomic_load(&refused), "%s: no call is refused", spec_now);
}

static vmm_mem_access_desc desc_of(vmm_mem_location_type type)
{
    return (vmm_mem_access_desc){{type, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
}

/* Closes a descriptor with cancellation disabled, because close is a cancellation point. */
static void close_of_ours(int fd)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    close(fd);
    pthread_setcancelstate(before, &before);
}

static void memory_of(vmm_mem_location_type type, int handles)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {type, 0},
                                          .requested_handle_types = handles};
    const vmm_mem_access_desc both[] = {desc_of(VMM_MEM_LOCATION_TYPE_DEVICE), desc_of(VMM_MEM_LOCATION_TYPE_HOST)};
    vmm_mem_generic_allocation_handle handle = 0, imported = 0;
    vmm_deviceptr at = 0;
    unsigned char bytes[64] = {1};
    int fd = -1;
    step(vmm_mem_create(sys, &handle, G, &prop, 0));
    step(vmm_mem_address_reserve(sys, &at, G, 0, 0, 0));
    step(vmm_mem_map(sys, at, G, 0, handle, 0));
    step(vmm_mem_set_access(sys, at, G, both, type == VMM_MEM_LOCATION_TYPE_HOST ? 2 : 1));
    step(vmm_memcpy_htod(sys, at, bytes, sizeof bytes));
    step(vmm_memcpy_dtoh(sys, bytes, at, sizeof bytes));
    if (handles) {
        step(vmm_mem_export_to_shareable_handle(sys, &fd, handle, RIG_FD, 0));
        step(vmm_mem_import_from_shareable_handle(sys, &imported, (void *)(uintptr_t)fd, RIG_FD));
        step(vmm_mem_release(sys, imported));
        close_of_ours(fd);
    }
    step(vmm_mem_unmap(sys, at, G));
    step(vmm_mem_release(sys, handle));
    step(vmm_mem_address_free(sys, at, G));
}

static void memory(void)
{
    uint64_t free = 0, total = 0;
    vmm_deviceptr at = 0;
    step(vmm_ctx_set_current(sys, context));
    memory_of(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    memory_of(VMM_MEM_LOCATION_TYPE_HOST, 0);
    step(vmm_mem_get_info(sys, &free, &total));
    step(vmm_mem_alloc(sys, &at, 4096));
    step(vmm_mem_free(sys, at));
    step(vmm_mem_unmap(sys, 4096, 4096) == VMM_ERROR_INVALID_VALUE ? VMM_SUCCESS : VMM_ERROR_UNKNOWN);
}

static void nothing(void *unused)
{
    (void)unused;
}

static void work(void)
{
    vmm_stream stream = NULL;
    vmm_event event = NULL;
    vmm_deviceptr at = 0;
    unsigned char byte = 0;
    step(vmm_ctx_set_current(sys, context));
    step(vmm_stream_create(sys, &stream, 0));
    step(vmm_event_create(sys, &event, 0));
    step(vmm_mem_alloc(sys, &at, 65536));
    step(vmm_memset_d8_async(sys, at, 7, 65536, stream));
    step(vmm_launch_host_func(sys, stream, nothing, NULL));
    step(vmm_event_record(sys, event, stream));
    vmm_stream_query(sys, stream);
    step(vmm_event_synchronize(sys, event));
    step(vmm_memcpy_dtoh_async(sys, &byte, at, 1, stream));
    step(vmm_stream_synchronize(sys, stream));
    step(vmm_ctx_synchronize(sys));
    step(vmm_mem_free(sys, at));
    step(vmm_event_destroy(sys, event));
    step(vmm_stream_destroy(sys, stream));
}

static void exported(void)
{
    step(vmm_ctx_set_current(sys, context));
    memory_of(VMM_MEM_LOCATION_TYPE_DEVICE, RIG_FD);
}

static void see(void *user, const vmm_object *object)
{
    (void)user, (void)object;
}

static void opening(void)
{
    vmm_system *own = NULL, *peer = NULL;
    vmm_context current = NULL;
    step(vmm_open(spec_now, &own));
    step(vmm_init(own, 0));
    step(vmm_ctx_create(own, &current, 0, 0));
    if (!strchr(spec_now, '|')) {
        step(vmm_attach(own, &peer));
        vmm_close(peer);
        step(vmm_visit(own, see, NULL));
    }
    vmm_leaks(own, NULL, NULL);
    vmm_close(own);
    atomic_fetch_add(&at_step, 1);
}

static void on(const char *spec)
{
    spec_now = spec;
    if (vmm_open(spec, &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &context, 0, 0))
        tap_bail("%s: %s", spec, vmm_last_detail()->note);
    make_in_thread("memory", memory);
    make_in_thread("work in flight", work);
    make_in_thread("exported memory", exported);
    make_in_thread("opening and closing", opening);
    int value = 0;
    tap_result(vmm_driver_get_version(sys, &value), VMM_SUCCESS, "%s: the system still answers", spec);
    vmm_close(sys);
}

/* ---- a cancel during a wait ---- */

static sem_t inside, release_gate;

static void waits(void *unused)
{
    (void)unused;
    sem_post(&inside);
    while (sem_wait(&release_gate))
        ;
}

CANCELLED static void *synchronizes(void *unused)
{
    (void)unused;
    vmm_ctx_set_current(sys, context);
    vmm_result result = vmm_ctx_synchronize(sys);
    atomic_store(&at_step, result == VMM_SUCCESS ? -1 : 1);
    pthread_testcancel();
    return NULL;
}

/* One thread runs a host function; another waits for its end and is cancelled during the wait. */
static void cancelled_in_a_wait(void)
{
    pthread_t runs, waiting;
    void *result = NULL;
    spec_now = "sim:h100";
    if (vmm_open(spec_now, &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &context, 0, 0))
        tap_bail("no system");
    sem_init(&inside, 0, 0);
    sem_init(&release_gate, 0, 0);
    tap_result(vmm_launch_host_func(sys, NULL, waits, NULL), VMM_SUCCESS, "a host function is queued");
    if (pthread_create(&runs, NULL, synchronizes, NULL))
        tap_bail("no thread");
    sem_wait(&inside);
    atomic_store(&at_step, 0);
    if (pthread_create(&waiting, NULL, synchronizes, NULL))
        tap_bail("no thread");
    pthread_cancel(waiting);
    sem_post(&release_gate);
    pthread_join(waiting, &result);
    tap_ok(result == PTHREAD_CANCELED && atomic_load(&at_step) == -1,
           "a thread that waits in a call is cancelled after the call");
    pthread_join(runs, NULL);
    tap_result(vmm_ctx_synchronize(sys), VMM_SUCCESS, "the machine still answers");
    vmm_close(sys);
}

/* ---- host functions that end their thread ---- */

static void ends_its_thread(void *unused)
{
    (void)unused;
    pthread_exit(NULL);
}

static atomic_int counted;

static void counts(void *unused)
{
    (void)unused;
    atomic_fetch_add(&counted, 1);
}

/* Runs in its own thread, because the launch may call the function at once. */
static void *launches(void *function)
{
    vmm_host_fn code;
    memcpy(&code, function, sizeof code);
    vmm_ctx_set_current(sys, context);
    vmm_launch_host_func(sys, NULL, code, NULL);
    return NULL;
}

static void in_thread(void *(*code)(void *), void *user)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, code, user))
        tap_bail("no thread");
    pthread_join(thread, NULL);
}

/* Host functions that end their thread, called by a thread of the program or by an async worker. */
static void ended(const char *spec)
{
    const vmm_host_fn functions[] = {ends_its_thread, counts};
    spec_now = spec;
    if (vmm_open(spec_now, &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &context, 0, 0))
        tap_bail("no system");
    atomic_store(&counted, 0);
    for (int i = 0; i < 4; i++) {
        vmm_host_fn function = functions[i % 2];
        in_thread(launches, &function);
    }
    for (int i = 0; i < 2; i++)
        in_thread(synchronizes, NULL);
    tap_result(vmm_ctx_synchronize(sys), VMM_SUCCESS, "%s: a host function that ends its thread counts as done", spec);
    tap_u64((uint64_t)atomic_load(&counted), 2, "%s: the host functions queued after it are called once each", spec);
    vmm_close(sys);
}

/* ---- a signal handler that jumps out of a copy ---- */

static sigjmp_buf after;

static void jump(int number)
{
    siglongjmp(after, number);
}

typedef vmm_result (*copy)(vmm_deviceptr at, unsigned char *host, size_t size);

static vmm_result to_device(vmm_deviceptr at, unsigned char *host, size_t size)
{
    return vmm_memcpy_htod(sys, at, host, size);
}

static vmm_result to_host(vmm_deviceptr at, unsigned char *host, size_t size)
{
    return vmm_memcpy_dtoh(sys, host, at, size);
}

static vmm_result to_device_later(vmm_deviceptr at, unsigned char *host, size_t size)
{
    return vmm_memcpy_htod_async(sys, at, host, size, NULL);
}

static vmm_result to_host_later(vmm_deviceptr at, unsigned char *host, size_t size)
{
    return vmm_memcpy_dtoh_async(sys, host, at, size, NULL);
}

static void *uses_memory(void *answer)
{
    vmm_deviceptr at = 0;
    vmm_ctx_set_current(sys, context);
    *(bool *)answer = !vmm_mem_alloc(sys, &at, 4096) && !vmm_mem_free(sys, at) && !vmm_ctx_synchronize(sys);
    return NULL;
}

/* [3 accessible pages][inaccessible or read-only page][accessible page]: copies that run from the first into the second, lie in
 * the second, or have no more than a byte on each side of it. */
static void jumps(const char *spec)
{
    static const copy copies[] = {to_device, to_host, to_device_later, to_host_later};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const struct {
        size_t from, size;
    } parts[] = {{1, 3 * page}, {3 * page, 1}, {3 * page - 1, page + 2}};
    struct sigaction action = {.sa_handler = jump}, before[2];
    sigemptyset(&action.sa_mask);
    vmm_deviceptr at = 0;
    unsigned char *host = mmap(NULL, 5 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((void *)host == MAP_FAILED)
        tap_bail("no memory");
    if (vmm_open(spec, &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &context, 0, 0) || vmm_mem_alloc(sys, &at, 4 * page))
        tap_bail("no system");
    sigaction(SIGSEGV, &action, &before[0]);
    sigaction(SIGBUS, &action, &before[1]);
    for (volatile int i = 0; i < 12; i++) {
        bool free = false;
        volatile bool jumped = false;
        if (mprotect(host + 3 * page, page, i / 3 % 2 ? PROT_READ
                     : PROT_NONE)) /* a copy to the host also fails on a read-only page */
            tap_bail("no rights");
        if (sigsetjmp(after, 1))
            jumped = true;
        else
            copies[i / 3](at, host + parts[i % 3].from, parts[i % 3].size);
        in_thread(uses_memory, &free);
        tap_ok(jumped && free, "%s: copy %d: the handler jumps out of it, and the machine's lock is free", spec, i);
    }
    tap_ok(!to_device(at, host, 3 * page) && !to_host(at, host, 3 * page), "%s: copies of accessible memory succeed", spec);
    sigaction(SIGSEGV, &before[0], NULL);
    sigaction(SIGBUS, &before[1], NULL);
    vmm_close(sys);
    munmap(host, 5 * page);
}

int main(void)
{
    alarm(PATIENT); /* a call that found the machine locked would hang */
    rig_begin();
    if (!freopen("/dev/null", "w", stderr)) /* reports of faults do not matter here */
        tap_bail("no /dev/null");
    on("sim:h100");
    on("sim:h100,schedule=device");
    on("sim:h100,machine=cancel");
    on("trace=/dev/null|sim:h100,schedule=eager");
    on("shadow=nodes=1|sim:h100");
    cancelled_in_a_wait();
    ended("sim:h100");
    ended("sim:h100,schedule=random:3");
    ended("sim:h100,schedule=device");
    jumps("sim:h100");
    jumps("sim:h100,schedule=device");
    rig_end();
    return tap_done();
}
