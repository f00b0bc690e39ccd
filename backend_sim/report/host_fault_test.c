/* SPDX-License-Identifier: Apache-2.0 */
/* host_fault: the report comes before the program's own handler; opting out; the last system removes the handler. */
#define _DEFAULT_SOURCE /* syscall */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os.h"
#include "tap.h"
#include "touch.h"
#include "vmm.h"

#define G (UINT64_C(2) << 20)

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("set-up: %s", vmm_result_name(result));
}

static vmm_system *opened(const char *spec)
{
    vmm_system *sys;
    vmm_context ctx;
    need(vmm_open(spec, &sys));
    need(vmm_init(sys, 0));
    need(vmm_ctx_create(sys, &ctx, 0, 0));
    return sys;
}

/* [device memory or host memory][reserved, not mapped] */
static vmm_deviceptr mapped(vmm_system *sys, vmm_mem_location_type type)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {type, 0}};
    vmm_mem_access_desc desc = {prop.location, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr at;
    need(vmm_mem_create(sys, &handle, G, &prop, 0));
    need(vmm_mem_address_reserve(sys, &at, 2 * G, 0, 0, 0));
    need(vmm_mem_map(sys, at, G, 0, handle, 0));
    need(vmm_mem_set_access(sys, at, G, &desc, 1));
    need(vmm_mem_release(sys, handle));
    return at;
}

/* Did the access end in the program's own handler? */
static bool stopped(vmm_deviceptr at, bool write)
{
    unsigned char seen;
    return !(write ? touch_write(at, 1) : touch_read(at, &seen));
}

/* Checks the detail of the last host access. */
static void reported(vmm_deviceptr address, bool writes, const char *why)
{
    const vmm_detail *d = vmm_last_detail();
    tap_text(d->rule ? d->rule : "", "VMM-HOST-ACCESS", "the detail has the rule");
    tap_u64(d->value, address, "the detail has the address");
    tap_u64(d->call, 0, "the detail names no call");
    tap_ok(strstr(d->note, why) != NULL, "the note has the reason: %s", d->note);
    tap_ok(d->fault && d->fault->device == -1 && d->fault->address == address && !d->fault->writes == !writes,
           "the fault is a host %s", writes ? "write" : "read");
}

static void explains(vmm_system *sys)
{
    vmm_deviceptr device = mapped(sys, VMM_MEM_LOCATION_TYPE_DEVICE), host = mapped(sys, VMM_MEM_LOCATION_TYPE_HOST);
    tap_ok(stopped(device + 5, true), "the host faults on device memory");
    reported(device + 5, true, "device memory");
    tap_ok(vmm_last_detail()->nearest.kind == VMM_OBJECT_MAPPING, "the nearest object is the mapping");
    tap_ok(stopped(device + G, false), "the host faults on addresses that are only reserved");
    reported(device + G, false, "nothing is mapped there");
    tap_u64(vmm_last_detail()->fault->before.start, device, "the fault names the mapping before the address");
    vmm_deviceptr allocated = 0;
    need(vmm_mem_alloc(sys, &allocated, 4096));
    tap_ok(stopped(allocated, false), "the host faults on memory of cuMemAlloc");
    reported(allocated, false, "device memory");
    tap_ok(!stopped(host, true), "the host can write host memory");
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_HOST, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READ};
    need(vmm_mem_set_access(sys, host, G, &desc, 1));
    tap_ok(!stopped(host, false) && stopped(host + 1, true), "with READ the host can read and not write");
    reported(host + 1, true, "the host has only read access there");
    desc.flags = VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    need(vmm_mem_set_access(sys, host, G, &desc, 1));
    if (mprotect((void *)(uintptr_t)host, G, PROT_NONE))
        tap_bail("mprotect failed");
    tap_ok(stopped(host + 3, false), "the host faults where something else changed the protection of the addresses");
    reported(host + 3, false, "were not free, so the memory could not be mapped there");
    desc.flags = VMM_MEM_ACCESS_FLAGS_PROT_NONE;
    need(vmm_mem_set_access(sys, host, G, &desc, 1));
    tap_ok(stopped(host + 2, false), "with NONE the host faults");
    reported(host + 2, false, "the host has no rights there");
    need(vmm_mem_unmap(sys, host, G));
    tap_ok(stopped(host, false), "the host faults on unmapped addresses");
    reported(host, false, "nothing is mapped there");
    tap_ok(vmm_last_detail()->nearest.ended_by && !strcmp(vmm_last_detail()->nearest.ended_by, "cuMemUnmap"),
           "the detail names the call that unmapped the memory");
}

/* A multicast object has no location; the memory bound to it is device memory. */
static void explains_multicast(void)
{
    vmm_system *sys = opened("sim:h200x2");
    vmm_multicast_object_prop prop = {.num_devices = 2, .size = G};
    vmm_mem_generic_allocation_handle object;
    vmm_deviceptr at;
    need(vmm_multicast_create(sys, &object, &prop));
    need(vmm_multicast_add_device(sys, object, 0));
    need(vmm_multicast_add_device(sys, object, 1));
    need(vmm_mem_address_reserve(sys, &at, G, 0, 0, 0));
    need(vmm_mem_map(sys, at, G, 0, object, 0));
    tap_ok(stopped(at, false), "the host faults on a multicast address");
    reported(at, false, "device memory");
    vmm_close(sys);
}

/* A mapping of the second half of a handle shows the host exactly that half: [first half][second half, mapped at `at`]. */
static void sees_a_part(void)
{
    vmm_system *sys = opened("sim:max");
    const vmm_mem_location here = {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0}, there = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = here};
    const vmm_mem_access_desc both[] = {{here, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE},
                                        {there, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    vmm_mem_generic_allocation_handle before = 0, handle = 0;
    vmm_deviceptr at = 0;
    unsigned char seen = 0, first = 0;
    need(vmm_mem_create(sys, &before, 2 * G, &prop, 0)); /* so that the handle is not at the start of the backing file */
    need(vmm_mem_create(sys, &handle, 2 * G, &prop, 0));
    need(vmm_mem_address_reserve(sys, &at, 4 * G, 0, 0, 0));
    need(vmm_mem_map(sys, at + 2 * G, 2 * G, 0, before, 0));
    need(vmm_mem_set_access(sys, at + 2 * G, 2 * G, both, 2));
    need(vmm_memset_d8(sys, at + 2 * G, 1, 2 * G));
    need(vmm_mem_map(sys, at, G, G, handle, 0));
    need(vmm_mem_set_access(sys, at, G, both, 2));
    need(vmm_memset_d8(sys, at, 7, G));
    tap_ok(touch_read(at, &seen) && seen == 7 && touch_write(at, 8), "the host reads what the device wrote, and can write");
    need(vmm_memcpy_dtoh(sys, &seen, at, 1));
    need(vmm_memcpy_dtoh(sys, &first, at + 3 * G, 1));
    tap_ok(seen == 8 && first == 1, "the device sees the host's write there and nowhere else");
    vmm_close(sys);
}

static struct sigaction own; /* the program's own handler */

static bool is_ours(void)
{
    struct sigaction now;
    sigaction(SIGSEGV, NULL, &now);
    return (now.sa_flags & SA_SIGINFO) || now.sa_handler != own.sa_handler;
}

static void comes_and_goes(void)
{
    tap_ok(!is_ours(), "without a system the program's handler is installed");
    vmm_system *none = opened("sim:h100,arena=none");
    tap_ok(!is_ours(), "nor does a system without host addresses, which has no faults to explain");
    vmm_close(none);
    vmm_system *plain = opened("sim:h100,faults=plain");
    tap_ok(!is_ours(), "a system with faults=plain installs no handler");
    vmm_deviceptr at = mapped(plain, VMM_MEM_LOCATION_TYPE_DEVICE);
    tap_ok(stopped(at, false), "the host faults on its device addresses as well");
    tap_ok(!vmm_last_detail()->rule, "that fault is not reported");
    vmm_system *first = opened("sim:h100"), *second = opened("sim:h200x2"), *third = opened("sim:odd");
    tap_ok(is_ours(), "other systems install the engine's handler");
    tap_ok(stopped(at, false) && !vmm_last_detail()->rule,
           "the engine reports no fault at addresses of the system with faults=plain");
    explains(first);
    vmm_close(first);
    tap_ok(is_ours(), "with two systems left the engine's handler stays");
    explains(second);
    vmm_close(third);
    tap_ok(is_ours(), "with one system left the engine's handler stays");
    explains(second);
    vmm_close(second);
    tap_ok(!is_ours(), "closing the last system restores the program's handler");
    vmm_close(plain);
}

static sigjmp_buf after;
static void *volatile received;

static void with_info(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    received = info->si_addr;
    siglongjmp(after, 1);
}

static void set_later(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL}, now;
    vmm_system *sys = opened("sim:h100");
    sigaction(SIGSEGV, &action, NULL);
    vmm_close(sys);
    sigaction(SIGSEGV, NULL, &now);
    tap_ok(now.sa_handler == SIG_DFL, "a handler that the program installs later stays");
    action = (struct sigaction){.sa_flags = SA_SIGINFO, .sa_sigaction = with_info};
    sigemptyset(&action.sa_mask);
    sys = opened("sim:h100");
    sigaction(SIGSEGV, &action, NULL);
    vmm_close(sys);
    sigaction(SIGSEGV, NULL, &now);
    tap_ok((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == with_info, "a later handler with SA_SIGINFO stays, too");
    touch_begin();
}

/* A function of its own, so that ci/valgrind.supp can name the intended fault. */
__attribute__((noinline)) static void touch_may_stop_writing(volatile unsigned char *at)
{
    *at = 1;
}

/* A handler that makes the page accessible, so that the access succeeds when it is repeated. */
static void *page;
static size_t page_size;
static volatile sig_atomic_t repaired;

static void repair(int number)
{
    repaired += number == SIGSEGV || number == SIGBUS;
    mprotect(page, page_size, PROT_READ | PROT_WRITE);
}

static void repair_with_info(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_addr == page)
        repair(number);
}

/* The program's handler is called for every fault, with and without SA_SIGINFO. */
static void repairs(void)
{
    if (getenv("CUVMM_RUN")) { /* the tool does not notice the handler's mprotect */
        tap_skip("not under a tool", "a handler that repairs the fault");
        return;
    }
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    page = mmap(NULL, page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int kind = 0; kind < 2; kind++) {
        struct sigaction action = {.sa_handler = repair};
        if (kind)
            action = (struct sigaction){.sa_flags = SA_SIGINFO, .sa_sigaction = repair_with_info};
        sigemptyset(&action.sa_mask);
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGBUS, &action, NULL);
        vmm_system *sys = opened("sim:h100");
        repaired = 0;
        for (int i = 0; i < 3; i++) {
            mprotect(page, page_size, PROT_NONE);
            touch_may_stop_writing(page);
        }
        tap_ok(repaired == 3 && *(unsigned char *)page == 1 && !vmm_last_detail()->rule,
               "an access that the program's handler repairs succeeds, every time");
        vmm_close(sys);
    }
    munmap(page, page_size);
    touch_begin();
}

static void explain_nothing(uint64_t address, enum os_touch touch)
{
    (void)address;
    (void)touch;
}

static void watches(void)
{
    tap_ok(os_watch_faults(explain_nothing) && is_ours(), "os_watch_faults installs the handler");
    os_unwatch_faults();
    tap_ok(!is_ours(), "os_unwatch_faults removes the handler");
}

/* A handler with SA_SIGINFO receives its arguments; a handler with SA_RESETHAND is removed by its first call. */
static void gets_all(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | (int)SA_RESETHAND, .sa_sigaction = with_info};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    vmm_system *sys = opened("sim:h100");
    vmm_deviceptr at = mapped(sys, VMM_MEM_LOCATION_TYPE_DEVICE) + 77;
    if (!sigsetjmp(after, 1))
        touch_may_stop_writing((volatile unsigned char *)(uintptr_t)at);
    tap_u64((uint64_t)(uintptr_t)received, at, "the program's handler receives the address");
    reported(at, true, "device memory");
    vmm_close(sys);
    sigaction(SIGSEGV, NULL, &action);
    tap_ok(!(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL, "a handler with SA_RESETHAND is gone after its call");
    touch_begin();
}

/* As from another process: the C library's raise() sends it to the thread. */
static int kill_this(int number)
{
    return kill(getpid(), number);
}

/* Sends the signal to a child that has this handler and an open system; returns the child's status. */
static int sent_to(int number, void (*handler)(int number), int (*send)(int number))
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        signal(number, handler);
        vmm_system *sys = opened("sim:h100");
        send(number);
        bool quiet = !vmm_last_detail()->rule;
        vmm_close(sys);
        _exit(quiet ? 3 : 4);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        tap_bail("no child");
    return status;
}

static void leave(int number)
{
    (void)number;
    _exit(vmm_last_detail()->rule ? 6 : 5);
}

#ifdef SYS_rt_sigqueueinfo
/* A signal that is marked as sent (SI_QUEUE) and carries an address to which the host has no access. */
static void sent_with_address(void)
{
    if (getenv("CUVMM_RUN")) { /* the tool would deliver it again in child processes */
        tap_skip("not under a tool", "a signal with an address");
        return;
    }
    struct sigaction action = {.sa_handler = SIG_IGN};
    siginfo_t info = {.si_signo = SIGSEGV, .si_code = SI_QUEUE};
    sigaction(SIGSEGV, &action, NULL);
    vmm_system *sys = opened("sim:h100");
    info.si_addr = (void *)(uintptr_t)mapped(sys, VMM_MEM_LOCATION_TYPE_DEVICE);
    if (syscall(SYS_rt_sigqueueinfo, getpid(), SIGSEGV, &info))
        tap_bail("no signal");
    tap_ok(!vmm_last_detail()->rule, "a sent signal with an address is not reported");
    vmm_close(sys);
    touch_begin();
}
#else
static void sent_with_address(void)
{
    tap_skip("this system cannot send a signal with an address", "a signal with an address");
}
#endif

/* A sent signal is no access: it is not reported and has the effect that it has without the engine. */
static void is_sent(void)
{
    if (getenv("CUVMM_RUN")) { /* the tool replaces the exit status of a child that leaks */
        tap_skip("not under a tool", "signals that are sent");
        return;
    }
    static const int numbers[] = {SIGSEGV, SIGBUS};
    static int (*const ways[])(int number) = {raise, kill_this};
    for (int i = 0; i < 4; i++) {
        const int number = numbers[i % 2];
        int status = sent_to(number, SIG_DFL, ways[i / 2]);
        tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == number, "a sent signal %d ends the process", number);
        status = sent_to(number, SIG_IGN, ways[i / 2]);
        tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 3, "an ignored signal does not end the process");
        status = sent_to(number, leave, ways[i / 2]);
        tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 5, "the program's handler handles a sent signal, without a report");
    }
}

/* A handler that the program installed with SA_RESETHAND is called once. */
static void only_once(void)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct sigaction action = own;
        action.sa_flags = (int)SA_RESETHAND;
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGBUS, &action, NULL);
        vmm_system *sys = opened("sim:h100");
        vmm_deviceptr at = mapped(sys, VMM_MEM_LOCATION_TYPE_DEVICE);
        _exit(stopped(at, true) && stopped(at, true) ? 1 : 2);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        tap_bail("no child");
    tap_ok(WIFSIGNALED(status), "the second fault ends the process");
}

/* Without a handler of the program, the signal ends the process, even if the program ignores the signal; the report is written
 * first. */
static void ends(void (*handler)(int number))
{
    char text[4096];
    int ends[2], status = 0;
    size_t length = 0;
    ssize_t n;
    if (pipe(ends))
        tap_bail("no pipe");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        signal(SIGSEGV, handler);
        signal(SIGBUS, handler);
        dup2(ends[1], STDERR_FILENO);
        vmm_system *sys = opened("sim:h100");
        touch_write(mapped(sys, VMM_MEM_LOCATION_TYPE_HOST) + G, 1);
        _exit(0);
    }
    close(ends[1]);
    while (length < sizeof text - 1 && (n = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)n;
    text[length] = 0;
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child)
        tap_bail("no child");
    tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "the signal ends the process");
    tap_ok(strstr(text, "VMM-HOST-ACCESS") && strstr(text, "nothing is mapped there") && strstr(text, "fix"),
           "the report is on standard error: %s", text);
}

int main(void)
{
    int quiet = open("/dev/null", O_WRONLY);
    if (quiet < 0 || dup2(quiet, STDERR_FILENO) < 0) /* the tests check the detail, and one of them the text */
        tap_bail("no /dev/null");
    close(quiet);
    touch_begin();
    sigaction(SIGSEGV, NULL, &own);
    comes_and_goes();
    explains_multicast();
    sees_a_part();
    set_later();
    watches();
    repairs();
    gets_all();
    is_sent();
    sent_with_address();
    only_once();
    ends(SIG_DFL);
    ends(SIG_IGN);
    return tap_done();
}
