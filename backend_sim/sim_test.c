/* What every call goes through: with other threads about, a question that does not find the door open has the machine's lock.
 * And a machine's name from the environment. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process.h"
#include "system.h"
#include "tap.h"

#define G (UINT64_C(2) << 20)
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

static const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
static vmm_deviceptr at; /* read and written by the device */
static struct sim_machine *asked;
static void *answer; /* a page that is protected until the answer is written to it */
static size_t page;
static int tried = -1; /* what taking the lock gave meanwhile */
static unsigned answers;

static void look_at_lock(int number)
{
    (void)number;
    answers++;
    tried = pthread_mutex_trylock(&asked->lock);
    mprotect(answer, page, PROT_READ | PROT_WRITE);
}

static void *nothing(void *unused)
{
    return unused;
}

/* From here on the C library knows of a second thread. */
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
    asked = ((struct sim_process *)sys->top)->machine;
    return sys;
}

static vmm_result watched(vmm_system *sys)
{
    struct sigaction action = {.sa_handler = look_at_lock}, before_segv, before_bus;
    sigaction(SIGSEGV, &action, &before_segv);
    sigaction(SIGBUS, &action, &before_bus);
    mprotect(answer, page, PROT_NONE);
    vmm_result result = vmm_mem_get_access(sys, answer, &device, at);
    sigaction(SIGSEGV, &before_segv, NULL);
    sigaction(SIGBUS, &before_bus, NULL);
    return result;
}

/* [ the lock [ the answer is written ] ] */
static void test_locked(vmm_system *sys)
{
    tap_ok(watched(sys) == VMM_SUCCESS && answers == 1 && *(uint64_t *)answer == RW, "a question is answered");
    tap_u64((uint64_t)tried, EBUSY, "with the machine's lock, while the door is shut");
    tap_u64((uint64_t)pthread_mutex_trylock(&asked->lock), 0, "which is given back");
    pthread_mutex_unlock(&asked->lock);
}

/* [ noted in a line [ the answer is written ] ] */
static void test_beside(vmm_system *sys)
{
    uint64_t rights;
    for (unsigned i = 0; i < READERS_TRUST; i++)
        vmm_mem_get_access(sys, &rights, &device, at);
    tap_ok(watched(sys) == VMM_SUCCESS && answers == 2 && *(uint64_t *)answer == RW, "one of many in a row is answered, too");
    tap_u64((uint64_t)tried, 0, "without the lock");
    pthread_mutex_unlock(&asked->lock);
}

/* An empty name in the environment is as none. */
static void test_no_name(void)
{
    vmm_system *sys = NULL;
    setenv("CUVMM_MACHINE", "", 1);
    tap_ok(vmm_open("sim:h100", &sys) == VMM_SUCCESS && !((struct sim_process *)sys->top)->machine->share,
           "a machine without a name is shared with nobody");
    unsetenv("CUVMM_MACHINE");
    vmm_close(sys);
}

int main(void)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    answer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start_another();
    if (answer == MAP_FAILED)
        tap_bail("no page");
    vmm_system *sys = open_system();
    test_locked(sys);
    test_beside(sys);
    vmm_close(sys);
    munmap(answer, page);
    test_no_name();
    return tap_done();
}
