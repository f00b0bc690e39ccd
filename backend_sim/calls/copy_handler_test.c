/* SPDX-License-Identifier: Apache-2.0 */
/* Copies whose host memory faults, in a program with one thread: what the signal handler does meanwhile.
 *
 *     copy   check   [touches the host's memory: SIGSEGV]                        copy, or refuse
 *                     handler: jumps away, unmaps, copies, starts a thread
 *
 * Such a program takes no lock for a copy that is done at once. The last test starts the only threads.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"
#include "vmm.h"

#define G (UINT64_C(2) << 20)
enum { PATIENCE = 60 };

static const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                             .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
static const vmm_mem_access_desc rights = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};

static vmm_system *sys;
static vmm_context context;
static vmm_deviceptr at, other; /* mapped, and of cuMemAlloc */
static vmm_mem_generic_allocation_handle handle;
static unsigned char *host;
static size_t page;
static sigjmp_buf after;
static void (*meanwhile)(void);
static int faults;

/* The memory is mapped when the handler returns, so that the copy continues. */
static void handler(int number)
{
    faults++;
    if (mprotect(host, page, PROT_READ | PROT_WRITE))
        siglongjmp(after, number);
    meanwhile();
}

static void take_host_away(void (*then)(void))
{
    meanwhile = then;
    faults = 0;
    if (mprotect(host, page, PROT_NONE))
        tap_bail("no rights");
}

static void map_at(void)
{
    if (vmm_mem_map(sys, at, G, 0, handle, 0) || vmm_mem_set_access(sys, at, G, &rights, 1))
        tap_bail("cannot be mapped");
}

#ifdef __SANITIZE_THREAD__
/* The handler is not asynchronous: the copy's own access raises its signal, so what it calls need not be async-signal-safe. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_signal_unsafe=0";
}
#endif

/* ---- what handlers do ---- */

static void jump(void)
{
    siglongjmp(after, 1);
}

static void unmap(void)
{
    if (vmm_mem_unmap(sys, at, G))
        siglongjmp(after, 2);
}

static void copy(void)
{
    host[1] = 0x33;
    if (vmm_memcpy_htod(sys, other, host, 2))
        siglongjmp(after, 2);
}

static void *uses_memory(void *answer)
{
    vmm_deviceptr made = 0;
    vmm_ctx_set_current(sys, context);
    for (int i = 0; i < 100; i++)
        *(int *)answer += !vmm_mem_alloc(sys, &made, 4096) && !vmm_mem_free(sys, made);
    return NULL;
}

static pthread_t thread;
static int used;

static void start(void)
{
    if (pthread_create(&thread, NULL, uses_memory, &used))
        siglongjmp(after, 2);
}

/* ---- */

static void test_jump(void)
{
    vmm_deviceptr made = 0;
    take_host_away(jump);
    int jumped = sigsetjmp(after, 1);
    if (!jumped)
        vmm_memcpy_htod(sys, at, host, 16);
    tap_ok(jumped == 1 && faults == 1, "a handler jumps out of a copy");
    tap_result(vmm_memcpy_htod(sys, at, host, 16), VMM_SUCCESS, "the next copy is done");
    tap_ok(!vmm_mem_alloc(sys, &made, 4096) && !vmm_mem_free(sys, made) && !vmm_ctx_synchronize(sys),
           "and calls that take the lock find the machine free");
}

static void test_unmap(void)
{
    take_host_away(unmap);
    if (sigsetjmp(after, 1))
        tap_bail("cannot be unmapped in a handler");
    tap_result(vmm_memcpy_htod(sys, at, host, 16), VMM_ERROR_INVALID_VALUE, "memory that a handler unmapped is looked up again");
    tap_ok(faults == 1, "the copy had begun before");
    tap_text(vmm_last_detail()->rule, "VMM-COPY-NOT-MAPPED", "the copy is refused by its rule");
    map_at();
}

static void test_copy(void)
{
    unsigned char is[2] = {0};
    memset(host, 0x11, page);
    take_host_away(copy);
    if (sigsetjmp(after, 1))
        tap_bail("cannot be copied in a handler");
    tap_result(vmm_memcpy_htod(sys, at, host, 16), VMM_SUCCESS, "a handler that copies interrupts a copy");
    tap_ok(!vmm_memcpy_dtoh(sys, is, other, 2) && is[0] == 0x11 && is[1] == 0x33, "its own is done");
    tap_ok(!vmm_memcpy_dtoh(sys, is, at, 2) && is[0] == 0x11 && is[1] == 0x33, "and the one around it, with what is there then");
}

/* From then on the program has threads, in the middle of the call. */
static void test_thread(void)
{
    int mine = 0;
    take_host_away(start);
    if (sigsetjmp(after, 1))
        tap_bail("no thread");
    tap_result(vmm_memcpy_htod(sys, at, host, 16), VMM_SUCCESS, "a handler starts a thread, which makes calls");
    uses_memory(&mine);
    pthread_join(thread, NULL);
    tap_ok(mine == 100 && used == 100, "both threads continue, each call separately");
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};
    sigemptyset(&action.sa_mask);
    alarm(PATIENCE); /* a call that finds the machine locked would wait forever */
    page = (size_t)sysconf(_SC_PAGESIZE);
    host = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((void *)host == MAP_FAILED || vmm_open("sim:h100", &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &context, 0, 0) ||
        vmm_mem_create(sys, &handle, G, &prop, 0) || vmm_mem_address_reserve(sys, &at, G, 0, 0, 0) ||
        vmm_mem_alloc(sys, &other, 4096))
        tap_bail("no system");
    map_at();
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    test_jump();
    if (getenv("CUVMM_RUN")) {
        tap_skip("valgrind does not have the registers of the instruction that faulted", "copies that continue after "
            "their handler");
    } else {
        test_unmap();
        test_copy();
        test_thread();
    }
    vmm_close(sys);
    munmap(host, page);
    return tap_done();
}
