/* SPDX-License-Identifier: Apache-2.0 */
/* host_fault: the explanation comes first, then whatever the program had in place; opting out; the last one leaves. */
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

/* [memory of a device, or of the host][nothing] */
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

/* Did the touch end in the program's own handler? */
static bool stopped(vmm_deviceptr at, bool write)
{
    unsigned char seen;
    return !(write ? touch_write(at, 1) : touch_read(at, &seen));
}

/* Is this what is known of the touch at address? */
static void reported(vmm_deviceptr address, bool writes, const char *why)
{
    const vmm_detail *d = vmm_last_detail();
    tap_text(d->rule ? d->rule : "", "VMM-HOST-ACCESS", "the rule");
    tap_u64(d->value, address, "the address");
    tap_u64(d->call, 0, "no call of the API did it");
    tap_ok(strstr(d->note, why) != NULL, "why: %s", d->note);
    tap_ok(d->fault && d->fault->device == -1 && d->fault->address == address && !d->fault->writes == !writes,
           "the host did it, %s", writes ? "writing" : "reading");
}

static void explains(vmm_system *sys)
{
    vmm_deviceptr device = mapped(sys, VMM_MEM_LOCATION_TYPE_DEVICE), host = mapped(sys, VMM_MEM_LOCATION_TYPE_HOST);
    tap_ok(stopped(device + 5, true), "memory of a device stops the host");
    reported(device + 5, true, "memory of a device");
    tap_ok(vmm_last_detail()->nearest.kind == VMM_OBJECT_MAPPING, "and shows the mapping");
    tap_ok(stopped(device + G, false), "so do addresses that are only reserved");
    reported(device + G, false, "nothing is mapped there");
    tap_u64(vmm_last_detail()->fault->before.start, device, "with the mapping before");
    vmm_deviceptr allocated = 0;
    need(vmm_mem_alloc(sys, &allocated, 4096));
    tap_ok(stopped(allocated, false), "so does memory of cuMemAlloc");
    reported(allocated, false, "memory of a device");
    tap_ok(!stopped(host, true), "memory of the host does not");
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_HOST, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READ};
    need(vmm_mem_set_access(sys, host, G, &desc, 1));
    tap_ok(!stopped(host, false) && stopped(host + 1, true), "with READ it may be read");
    reported(host + 1, true, "the host may only read there");
    desc.flags = VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    need(vmm_mem_set_access(sys, host, G, &desc, 1));
    if (mprotect((void *)(uintptr_t)host, G, PROT_NONE))
        tap_bail("mprotect failed");
    tap_ok(stopped(host + 3, false), "with rights, but addresses that are not as the simulator left them, it may not");
    reported(host + 3, false, "were not free, so it cannot be shown there");
    desc.flags = VMM_MEM_ACCESS_FLAGS_PROT_NONE;
    need(vmm_mem_set_access(sys, host, G, &desc, 1));
    tap_ok(stopped(host + 2, false), "with NONE it may not");
    reported(host + 2, false, "the host has no rights there");
    need(vmm_mem_unmap(sys, host, G));
    tap_ok(stopped(host, false), "it does when it is unmapped");
    reported(host, false, "nothing is mapped there");
    tap_ok(vmm_last_detail()->nearest.ended_by && !strcmp(vmm_last_detail()->nearest.ended_by, "cuMemUnmap"),
           "and says which call took it away");
}

/* A multicast object has no location; its memory is that of devices. */
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
    tap_ok(stopped(at, false), "a multicast address stops the host");
    reported(at, false, "memory of a device");
    vmm_close(sys);
}

/* The host sees the part of the memory that is mapped: [first][second, at `at`]. */
static void sees_a_part(void)
{
    vmm_system *sys = opened("sim:max");
    const vmm_mem_location here = {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0}, there = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = here};
    const vmm_mem_access_desc both[] = {{here, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE}, {there, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    vmm_mem_generic_allocation_handle before = 0, handle = 0;
    vmm_deviceptr at = 0;
    unsigned char seen = 0, first = 0;
    need(vmm_mem_create(sys, &before, 2 * G, &prop, 0)); /* so that the file does not begin with it */
    need(vmm_mem_create(sys, &handle, 2 * G, &prop, 0));
    need(vmm_mem_address_reserve(sys, &at, 4 * G, 0, 0, 0));
    need(vmm_mem_map(sys, at + 2 * G, 2 * G, 0, before, 0));
    need(vmm_mem_set_access(sys, at + 2 * G, 2 * G, both, 2));
    need(vmm_memset_d8(sys, at + 2 * G, 1, 2 * G));
    need(vmm_mem_map(sys, at, G, G, handle, 0));
    need(vmm_mem_set_access(sys, at, G, both, 2));
    need(vmm_memset_d8(sys, at, 7, G));
    tap_ok(touch_read(at, &seen) && seen == 7 && touch_write(at, 8), "the host reads what the device wrote, and writes");
    need(vmm_memcpy_dtoh(sys, &seen, at, 1));
    need(vmm_memcpy_dtoh(sys, &first, at + 3 * G, 1));
    tap_ok(seen == 8 && first == 1, "which the device sees, there and nowhere else");
    vmm_close(sys);
}

static struct sigaction own; /* what the program had in place */

static bool is_ours(void)
{
    struct sigaction now;
    sigaction(SIGSEGV, NULL, &now);
    return (now.sa_flags & SA_SIGINFO) || now.sa_handler != own.sa_handler;
}

static void comes_and_goes(void)
{
    tap_ok(!is_ours(), "before the first system the program's handler is in place");
    vmm_system *plain = opened("sim:h100,faults=plain");
    tap_ok(!is_ours(), "a system that opted out leaves it there");
    vmm_deviceptr at = mapped(plain, VMM_MEM_LOCATION_TYPE_DEVICE);
    tap_ok(stopped(at, false), "its addresses stop the host all the same");
    tap_ok(!vmm_last_detail()->rule, "and nothing is said");
    vmm_system *first = opened("sim:h100"), *second = opened("sim:h200x2"), *third = opened("sim:odd");
    tap_ok(is_ours(), "others watch");
    tap_ok(stopped(at, false) && !vmm_last_detail()->rule, "their own addresses only");
    explains(first);
    vmm_close(first);
    tap_ok(is_ours(), "two are left");
    explains(second);
    vmm_close(third);
    tap_ok(is_ours(), "one is left");
    explains(second);
    vmm_close(second);
    tap_ok(!is_ours(), "with the last the program has its handler back");
    vmm_close(plain);
}

static sigjmp_buf after;
static void *volatile heard;

static void with_info(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    heard = info->si_addr;
    siglongjmp(after, 1);
}

static void set_later(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL}, now;
    vmm_system *sys = opened("sim:h100");
    sigaction(SIGSEGV, &action, NULL);
    vmm_close(sys);
    sigaction(SIGSEGV, NULL, &now);
    tap_ok(now.sa_handler == SIG_DFL, "what the program sets later stays");
    action = (struct sigaction){.sa_flags = SA_SIGINFO, .sa_sigaction = with_info};
    sigemptyset(&action.sa_mask);
    sys = opened("sim:h100");
    sigaction(SIGSEGV, &action, NULL);
    vmm_close(sys);
    sigaction(SIGSEGV, NULL, &now);
    tap_ok((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == with_info, "of either kind");
    touch_begin();
}

/* A function of its own, so that tools can be told what is meant to go wrong (ci/valgrind.supp). */
__attribute__((noinline)) static void touch_may_stop_writing(volatile unsigned char *at)
{
    *at = 1;
}

/* A program that mends what was touched, so that the access goes on. */
static void *page;
static size_t page_size;
static volatile sig_atomic_t mended;

static void mend(int number)
{
    mended += number == SIGSEGV || number == SIGBUS;
    mprotect(page, page_size, PROT_READ | PROT_WRITE);
}

static void mend_with_info(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_addr == page)
        mend(number);
}

/* Its handler is asked each time, of either kind. */
static void mends(void)
{
    if (getenv("CUVMM_RUN")) { /* which does not see what the handler changed */
        tap_skip("not under a tool", "what the program mends");
        return;
    }
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    page = mmap(NULL, page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int kind = 0; kind < 2; kind++) {
        struct sigaction action = {.sa_handler = mend};
        if (kind)
            action = (struct sigaction){.sa_flags = SA_SIGINFO, .sa_sigaction = mend_with_info};
        sigemptyset(&action.sa_mask);
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGBUS, &action, NULL);
        vmm_system *sys = opened("sim:h100");
        mended = 0;
        for (int i = 0; i < 3; i++) {
            mprotect(page, page_size, PROT_NONE);
            touch_may_stop_writing(page);
        }
        tap_ok(mended == 3 && *(unsigned char *)page == 1 && !vmm_last_detail()->rule,
               "what the program mends goes on, each time");
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
    tap_ok(os_watch_faults(explain_nothing) && is_ours(), "both signals are watched");
    os_unwatch_faults();
    tap_ok(!is_ours(), "and left");
}

/* A handler with more arguments gets them; one that is to be called once has been, and is not there any more. */
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
    tap_u64((uint64_t)(uintptr_t)heard, at, "the program's handler is told the address");
    reported(at, true, "memory of a device");
    vmm_close(sys);
    sigaction(SIGSEGV, NULL, &action);
    tap_ok(!(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL, "and was to be called once");
    touch_begin();
}

/* The signal from another process, where the program does that with it. */
static int sent_to(int number, void (*handler)(int number))
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        signal(number, handler);
        vmm_system *sys = opened("sim:h100");
        raise(number);
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
/* One that says of itself that it was sent, with an address that the host may not touch. */
static void sent_with_address(void)
{
    if (getenv("CUVMM_RUN")) { /* which would keep it for the children of this process */
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
    tap_ok(!vmm_last_detail()->rule, "nothing is explained of an address that comes with it");
    vmm_close(sys);
    touch_begin();
}
#else
static void sent_with_address(void)
{
    tap_skip("this system cannot send one", "a signal with an address");
}
#endif

/* What was sent is no touch of anybody's: nothing is explained, and it does what it does without us. */
static void is_sent(void)
{
    if (getenv("CUVMM_RUN")) { /* which ends a child that leaves something with a status of its own */
        tap_skip("not under a tool", "signals that are sent");
        return;
    }
    static const int numbers[] = {SIGSEGV, SIGBUS};
    for (int i = 0; i < 2; i++) {
        int status = sent_to(numbers[i], SIG_DFL);
        tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == numbers[i], "a signal %d that is sent ends the process", numbers[i]);
        status = sent_to(numbers[i], SIG_IGN);
        tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 3, "unless it is ignored");
        status = sent_to(numbers[i], leave);
        tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 5, "or the program does something else with it");
    }
}

/* A handler that the program asked to be called once is called once. */
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
    tap_ok(WIFSIGNALED(status), "the second touch ends the process");
}

/* Without a handler of the program's the signal ends it, though it ignores it, and the text has been written. */
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
    tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "the signal takes its course");
    tap_ok(strstr(text, "VMM-HOST-ACCESS") && strstr(text, "nothing is mapped there") && strstr(text, "fix"),
           "after the explanation: %s", text);
}

int main(void)
{
    int quiet = open("/dev/null", O_WRONLY);
    if (quiet < 0 || dup2(quiet, STDERR_FILENO) < 0) /* what is explained is looked at as detail, and once as text */
        tap_bail("no /dev/null");
    close(quiet);
    touch_begin();
    sigaction(SIGSEGV, NULL, &own);
    comes_and_goes();
    explains_multicast();
    sees_a_part();
    set_later();
    watches();
    mends();
    gets_all();
    is_sent();
    sent_with_address();
    only_once();
    ends(SIG_DFL);
    ends(SIG_IGN);
    return tap_done();
}
