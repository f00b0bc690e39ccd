/* SPDX-License-Identifier: Apache-2.0 */
/* The layer that records where calls were made, over a fake backend; and what happens when a file, memory or a name is
 * unavailable. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_backend.h"
#include "faulty_files.h"
#include "findings_site.h"
#include "heap.h"
#include "posix.h"
#include "sites.h"
#include "tap.h"

/* The faults to inject, and the stack to report. */
static struct {
    bool poor;        /* no memory */
    void *frame;     /* the program's; NULL: none */
    bool nameless;   /* the loader does not know it */
} bad;

static void *bad_calloc(size_t count, size_t size)
{
    return bad.poor ? NULL : calloc(count, size);
}

static int bad_site_here(void *frames[SITE_DEPTH])
{
    frames[0] = bad.frame;
    return bad.frame != NULL;
}

static int bad_dladdr(const void *address, Dl_info *info)
{
    int found = dladdr(address, info);
    if (bad.nameless)
        info->dli_fname = NULL;
    return found;
}

static struct posix faulty; /* the system's functions, except for the injected ones */
static struct heap scarce;
#define posix faulty
#define heap scarce
#define site_here bad_site_here
#define dladdr bad_dladdr
#define sites_process sites_process_here
#define vmm_sites_open sites_open_here
uint32_t sites_process(void);
vmm_result vmm_sites_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend);
#include "sites.c"
#undef posix
#undef heap
#undef dladdr
#undef sites_process
#undef vmm_sites_open

static char path[] = "/tmp/sites_test.XXXXXX", counter[] = "/tmp/sites_count.XXXXXX";

/* A file as the command makes it; room 0: none. */
static struct sites_file *make(uint64_t room, bool all, size_t extra)
{
    size_t size = sizeof(struct sites_file) + room * sizeof(struct sites_call) + extra;
    int fd = open(path, O_RDWR | O_TRUNC);
    void *memory = ftruncate(fd, (off_t)size) == 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    if (memory == MAP_FAILED)
        tap_bail("no file");
    struct sites_file *file = memory;
    file->magic = SITES_MAGIC;
    file->all = all;
    file->room = room;
    return file;
}

static void drop(struct sites_file *file, uint64_t room)
{
    munmap(file, sizeof *file + room * sizeof file->call[0]);
}

static struct vmm_backend *open_over(struct fake *fake, const char *fault)
{
    struct vmm_backend *top = NULL;
    fake_init(fake);
    if (fault && vmm_fault_open(fault, &fake->base, &top) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    if (sites_open_here(path, fault ? top : &fake->base, &top) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    return top;
}

static vmm_result release(struct vmm_backend *top)
{
    struct vmm_call_mem_release call = {{VMM_CALL_mem_release, 0}, 5};
    return fake_dispatch(top, &call.head, 1);
}

static void here(void) {}

static void set_frame(void (*function)(void))
{
    memcpy(&bad.frame, &function, sizeof function);
    bad.frame = (char *)bad.frame + 1;
}

static void test_records(void)
{
    struct fake fake;
    struct sites_file *file = make(3, true, 0);
    setenv("CUVMM_PROCESSES", counter, 1);
    set_frame(here);
    struct vmm_backend *top = open_over(&fake, "mem_release:2:UNKNOWN");
    errno = 77;
    tap_result(release(top), VMM_SUCCESS, "a call passes");
    tap_ok(errno == 77, "errno is unchanged");
    tap_result(release(top), VMM_ERROR_UNKNOWN, "one is made to fail below");
    tap_u64(file->count, 2, "two records");
    const struct sites_call *call = file->call;
    tap_ok(call[0].nth == 1 && call[1].nth == 2 && call[0].kind == VMM_CALL_mem_release && call[0].process == 1, "numbered by kind and process");
    tap_ok(!call[0].injected && call[1].injected && call[0].complete && call[1].complete, "which of them failed");
    Dl_info info;
    bool found = dladdr(bad.frame, &info) != 0;
    tap_ok(found && call[0].offset == (uintptr_t)bad.frame - 1 - (uintptr_t)info.dli_fbase && call[1].offset == call[0].offset &&
               call[0].module == call[1].module && strstr(file->name[call[0].module].text, "sites_test"),
           "the program's place");
    tap_text(file->name[call[0].function].text, "cuMemRelease", "the driver's function");
    bad.nameless = true;
    release(top);
    bad.nameless = false;
    tap_ok(call[2].complete && !call[2].module && !call[2].offset, "a place that the loader does not know");
    bad.frame = NULL;
    release(top);
    tap_u64(file->count, 4, "requests are counted even without room for them");
    tap_ok(top->ops->visit(top, NULL, NULL) == VMM_SUCCESS && fake.visited == 1, "visit is passed on");
    top->ops->close(top);
    tap_u64((uint64_t)fake.closed, 1, "close reaches the backend");
    drop(file, 3);
}

static void test_injected_alone(void)
{
    struct fake fake;
    struct sites_file *file = make(2, false, 0);
    bad.frame = NULL;
    struct vmm_backend *top = open_over(&fake, "mem_release:2");
    release(top);
    release(top);
    fake.result = VMM_ERROR_INVALID_VALUE;
    release(top);
    tap_ok(file->count == 1 && file->call[0].nth == 2 && file->call[0].injected && !file->call[0].module,
           "only what a layer made to fail is recorded, here without a place");
    top->ops->close(top);
    drop(file, 2);
}

static void test_names(void)
{
    struct sites_file *file = make(0, true, 0);
    char text[SITES_TEXT + 40];
    bool apart = true;
    for (int i = 0; i < SITES_NAMES - 1; i++) {
        snprintf(text, sizeof text, "name %d", i);
        apart &= name(file, text) != 0;
    }
    tap_ok(apart && name(file, "name 7") == name(file, "name 7") && name(file, "name 7") != name(file, "name 8"), "names have places of their own");
    tap_u64(name(file, "one more"), 0, "a name too many has none");
    drop(file, 0);
    file = make(0, true, 0);
    memset(text, 'x', sizeof text - 1);
    memcpy(text + sizeof text - 5, "end", 4);
    uint16_t at = name(file, text);
    tap_ok(strlen(file->name[at].text) == SITES_TEXT - 1 && strcmp(file->name[at].text + SITES_TEXT - 4, "end") == 0,
           "the end of a long name is kept");
    drop(file, 0);
}

static void refused(const char *name_of, const char *file, vmm_result want)
{
    struct fake fake;
    struct vmm_backend *top = NULL;
    fake_init(&fake);
    tap_ok(sites_open_here(file, &fake.base, &top) == want && !top && !fake.closed, "%s", name_of);
}

static void test_refused(void)
{
    drop(make(1, true, 0), 1);
    refused("a missing file", "/no/such/file", VMM_ERROR_INVALID_VALUE);
    faulty_file.fstat = true;
    refused("one that the system says nothing of", path, VMM_ERROR_INVALID_VALUE);
    faulty_file.fstat = false, faulty_file.mmap = true;
    refused("one that cannot be mapped", path, VMM_ERROR_INVALID_VALUE);
    faulty_file.mmap = false, bad.poor = true;
    refused("without memory", path, VMM_ERROR_OUT_OF_MEMORY);
    bad.poor = false;
    struct sites_file *file = make(1, true, 0);
    file->room = 2;
    refused("more room than there is", path, VMM_ERROR_INVALID_VALUE);
    file->room = 1, file->magic = 1;
    refused("another kind of file", path, VMM_ERROR_INVALID_VALUE);
    drop(file, 1);
    if (truncate(path, 100) != 0)
        tap_bail("truncate");
    refused("a short one", path, VMM_ERROR_INVALID_VALUE);
    tap_ok(strstr(vmm_last_detail()->note, "is not a file of `cuvmm exec --fault=each`") != NULL, "the note says what it is for");
}

static uint32_t in_child(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit((int)sites_process_here());
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : 0;
}

static void test_processes(void)
{
    uint32_t own = sites_process_here();
    tap_ok(own && sites_process_here() == own, "a process keeps its number");
    tap_u64(in_child(), own + 1, "a child has the next");
    setenv("CUVMM_PROCESSES", "/no/such/file", 1);
    tap_u64(in_child(), 0, "none without the file");
    setenv("CUVMM_PROCESSES", "", 1);
    tap_u64(in_child(), 0, "nor without its name");
    unsetenv("CUVMM_PROCESSES");
    tap_u64(sites_process_here(), 0, "nor where processes are not counted");
}

static void test_fault_of_a_process(void)
{
    struct fake fake;
    struct vmm_backend *top = NULL;
    fake_init(&fake);
    tap_result(vmm_fault_open("mem_release:1:process=1", &fake.base, &top), VMM_ERROR_INVALID_VALUE, "process= where processes are not counted");
    tap_ok(strstr(vmm_last_detail()->note, "leave out process=1") != NULL, "the note has the fix");
    setenv("CUVMM_PROCESSES", counter, 1);
    uint32_t own = sites_process(); /* the library's own count of the same file */
    char args[80];
    snprintf(args, sizeof args, "mem_release:1:process=%u", own + 1);
    if (vmm_fault_open(args, &fake.base, &top) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    tap_result(release(top), VMM_SUCCESS, "a call of another process is not this one's");
    top->ops->close(top);
    fake_init(&fake);
    snprintf(args, sizeof args, "mem_release:1:process=%u", own);
    if (vmm_fault_open(args, &fake.base, &top) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    tap_result(release(top), VMM_ERROR_OUT_OF_MEMORY, "one of this process fails");
    top->ops->close(top);
}

int main(void)
{
    faulty = posix;
    faulty.fstat = faulty_fstat;
    faulty.mmap = faulty_mmap;
    scarce = heap;
    scarce.calloc = bad_calloc;
    int fd = mkstemp(path), count = mkstemp(counter);
    if (fd < 0 || count < 0 || ftruncate(count, 64) != 0)
        tap_bail("no files");
    close(fd);
    close(count);
    test_records();
    test_injected_alone();
    test_names();
    test_refused();
    test_processes();
    test_fault_of_a_process();
    unlink(path);
    unlink(counter);
    return tap_done();
}
