/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend.h"
#include "fake_backend.h"
#include "recorder_text.h"
#include "stacks.h"
#include "tap.h"

static char folder[200];

static struct vmm_backend *open_over(struct fake *fake)
{
    struct vmm_backend *top = NULL;
    fake_init(fake);
    if (vmm_recorder_open(folder, &fake->base, &top) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    return top;
}

static struct recording read_of(long process, int which, bool last)
{
    char path[300], why[400];
    struct recording recording;
    snprintf(path, sizeof path, "%s/%ld.%d", folder, process, which);
    if (!recording_open(&recording, path, last, why, sizeof why))
        tap_bail("%s", why);
    return recording;
}

static void remove_files(void)
{
    DIR *all = opendir(folder);
    for (const struct dirent *entry = all ? readdir(all) : NULL; entry; entry = readdir(all))
        unlinkat(dirfd(all), entry->d_name, 0);
    if (all)
        closedir(all);
}

static char *text_of(void (*print)(const struct recording *, FILE *), const struct recording *recording)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        tap_bail("no memory");
    print(recording, file);
    fclose(file);
    return text;
}

static void print_few(const struct recording *recording, FILE *out)
{
    recording_print(recording, 3, out);
}

/* ---- calls ---- */

static vmm_result reserve(struct vmm_backend *top, uint64_t number, uint64_t size, vmm_deviceptr *at)
{
    return fake_dispatch(top, &(struct vmm_call_mem_address_reserve){{VMM_CALL_mem_address_reserve, 0}, at, size, 0, 0, 0}.head,
                         number);
}

static vmm_result map(struct vmm_backend *top, uint64_t number, vmm_deviceptr at, uint64_t size)
{
    return fake_dispatch(top, &(struct vmm_call_mem_map){{VMM_CALL_mem_map, 0}, at, size, 0, 0x77, 0}.head, number);
}

static vmm_result unmap(struct vmm_backend *top, uint64_t number, vmm_deviceptr at, uint64_t size)
{
    return fake_dispatch(top, &(struct vmm_call_mem_unmap){{VMM_CALL_mem_unmap, 0}, at, size}.head, number);
}

static void test_calls(void)
{
    struct fake fake;
    struct vmm_backend *top = open_over(&fake);
    vmm_deviceptr at = 0;
    reserve(top, 1, 4 << 20, &at);
    map(top, 2, at, 2 << 20);
    fake.result = VMM_ERROR_INVALID_VALUE;
    map(top, 3, 0x1000, 2 << 20);
    struct recording recording = read_of((long)getpid(), 0, false);
    tap_ok(recording.count == 3 && recording.calls == 3 && !recording.fault && !recording_is_inside(&recording),
           "three calls are kept");
    const struct recorder_entry *first = &recording.entry[0], *third = &recording.entry[2];
    tap_ok(first->call == VMM_CALL_mem_address_reserve && first->number == 1 && first->argument[0] == at &&
               first->argument[1] == 4 << 20 && first->result == VMM_SUCCESS,
           "with what they got and what they made");
    tap_ok(third->call == VMM_CALL_mem_map && third->result == VMM_ERROR_INVALID_VALUE && third->argument[0] == 0x1000,
           "and how they failed");
    tap_ok(first->time && first->time <= third->time && first->thread == (uint32_t)getpid(), "time and thread");
    char *text = text_of(print_few, &recording), wants[400];
    snprintf(wants, sizeof wants,
             "cuMemMap(ptr 0x1000, size 2 MiB, offset 0 bytes, handle 0x77, flags 0) -> CUDA_ERROR_INVALID_VALUE");
    tap_ok(strstr(text, "the last 3 of 3 calls of process") && strstr(text, "recorder_test)") && strstr(text, wants),
           "as text: %s", wants);
    free(text);
    tap_ok(!atomic_load(&recording.file->closed), "the process has not ended");
    top->ops->close(top);
    tap_ok(atomic_load(&recording.file->closed) == 1, "now it has");
    recording_close(&recording);
    remove_files();
}

static uint64_t looked_at;

static void print_history(const struct recording *recording, FILE *out)
{
    recording_print_history(recording, looked_at, out);
}

static void history(const struct recording *recording, uint64_t address, const char *wants)
{
    looked_at = address;
    char *text = text_of(print_history, recording);
    tap_text(text, wants, "history of 0x%llx", (unsigned long long)address);
    free(text);
}

static void test_history(void)
{
    struct fake fake;
    struct vmm_backend *top = open_over(&fake);
    vmm_deviceptr at = 0x100000;
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, 1};
    fake.next = 0x10000000;
    reserve(top, 1, 8 << 20, &at);
    map(top, 2, at, 2 << 20);
    fake_dispatch(top, &(struct vmm_call_mem_set_access){{VMM_CALL_mem_set_access, 0}, at, 2 << 20, &desc, 1}.head, 3);
    fake.result = VMM_ERROR_INVALID_VALUE;
    unmap(top, 4, at, 1 << 20);
    fake.result = VMM_SUCCESS;
    unmap(top, 5, at, 2 << 20);
    vmm_deviceptr memory = 0;
    fake.next = 0x20000000;
    fake_dispatch(top, &(struct vmm_call_mem_alloc){{VMM_CALL_mem_alloc, 0}, &memory, 0x1000}.head, 6);
    fake_dispatch(top, &(struct vmm_call_mem_free){{VMM_CALL_mem_free, 0}, memory}.head, 7);
    struct recording recording = read_of((long)getpid(), 0, false);
    char wants[900];
    snprintf(wants, sizeof wants,
             "history of 0x10000010:\n"
             "  call 1 (thread %ld) reserved [0x10000000, 0x10800000), 0x10 bytes into it\n"
             "  call 2 (thread %ld) mapped [0x10000000, 0x10200000), 0x10 bytes into it\n"
             "  call 3 (thread %ld) set the rights of [0x10000000, 0x10200000) to dev0 r-, 0x10 bytes into it\n"
             "  call 5 (thread %ld) unmapped [0x10000000, 0x10200000), 0x10 bytes into it\n",
             (long)getpid(), (long)getpid(), (long)getpid(), (long)getpid());
    history(&recording, 0x10000010, wants);
    snprintf(wants, sizeof wants,
             "history of 0x20000fff:\n  call 6 (thread %ld) allocated [0x20000000, 0x20001000), 0xfff bytes into it\n"
             "  call 7 (thread %ld) freed [0x20000000, 0x20001000), 0xfff bytes into it\n", (long)getpid(), (long)getpid());
    history(&recording, 0x20000fff, wants);
    history(&recording, 0x20001000,
            "history of 0x20001000:\n  no call that was kept has to do with it\n"
            "  0x0 bytes behind what call 6 allocated, [0x20000000, 0x20001000)\n");
    history(
        &recording, 0x0fffffff,
        "history of 0xfffffff:\n  no call that was kept has to do with it\n  0x1 bytes before what call 2 mapped, [0x10000000, 0x10200000)\n");
    recording_close(&recording);
    top->ops->close(top);
    remove_files();
}

static void test_wraps(void)
{
    struct fake fake;
    struct vmm_backend *top = open_over(&fake);
    for (uint64_t i = 1; i <= 10000; i++)
        unmap(top, i, i << 21, 2 << 20);
    struct recording recording = read_of((long)getpid(), 0, false);
    bool right = recording.count == RECORDER_CALLS && recording.calls == 10000;
    for (unsigned i = 0; i < recording.count; i++)
        right = right && recording.entry[i].number == 10000 - RECORDER_CALLS + 1 + i &&
                recording.entry[i].argument[0] == recording.entry[i].number << 21;
    tap_ok(right, "the last 4,096 of 10,000, in order");
    recording_close(&recording);
    fake.result = VMM_ERROR_ILLEGAL_ADDRESS;
    unmap(top, 10001, 0x5000, 1);
    fake.result = VMM_SUCCESS;
    for (uint64_t i = 1; i <= 5000; i++)
        unmap(top, 10001 + i, 0, 0);
    fake.result = VMM_ERROR_ILLEGAL_ADDRESS;
    unmap(top, 20000, 0, 0);
    recording = read_of((long)getpid(), 0, false);
    tap_ok(recording.fault && recording.calls == 10001 && recording.count == RECORDER_CALLS &&
               recording.entry[RECORDER_CALLS - 1].number == 10001,
           "the first ILLEGAL_ADDRESS keeps the calls before it");
    recording_close(&recording);
    recording = read_of((long)getpid(), 0, true);
    tap_ok(!recording.fault && recording.entry[RECORDER_CALLS - 1].number == 20000, "the later ones are there as well");
    recording_close(&recording);
    top->ops->close(top);
    remove_files();
}

/* ---- ends ---- */

static void test_fork_that_closes(void)
{
    struct fake fake;
    struct vmm_backend *top = open_over(&fake);
    map(top, 1, 0x1000, 1);
    pid_t child = fork();
    if (child == 0) {
        map(top, 2, 0x2000, 2);
        top->ops->close(top);
        _exit(fake.closed == 1 ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child closes the system that it inherited");
    struct recording recording = read_of((long)child, 0, false);
    tap_ok(recording.calls == 1 && recording.entry[0].argument[0] == 0x2000 && atomic_load(&recording.file->closed) == 1,
           "its file has its call, and that it ended");
    recording_close(&recording);
    recording = read_of((long)getpid(), 0, false);
    tap_ok(recording.calls == 1 && !atomic_load(&recording.file->closed), "its parent's file has the parent's call, and stays open");
    recording_close(&recording);
    top->ops->close(top);
    remove_files();
}

static _Atomic int inside;

static vmm_result wait_for_ever(struct vmm_backend *self, struct vmm_call *call)
{
    (void)self, (void)call;
    atomic_store(&inside, 1);
    raise(SIGKILL);
    return VMM_SUCCESS;
}

static void test_killed(void)
{
    struct fake fake;
    struct vmm_backend *top = open_over(&fake);
    pid_t child = fork();
    if (child == 0) {
        struct vmm_backend_ops ops = *fake.base.ops;
        unmap(top, 1, 0x1000, 1);
        ops.call[VMM_CALL_mem_map] = wait_for_ever;
        fake.base.ops = &ops;
        map(top, 2, 0x2000, 1);
        _exit(1);
    }
    int status;
    waitpid(child, &status, 0);
    tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "a child is killed in a call");
    struct recording recording = read_of((long)child, 0, false);
    tap_ok(recording.count == 2 && recording.entry[1].result == RECORDER_PENDING && recording.entry[1].argument[0] == 0x2000 &&
               recording_is_inside(&recording) && recording.file->parent == getpid(),
           "its file has the calls, and the one that did not return");
    recording_close(&recording);
    recording = read_of((long)getpid(), 0, false);
    tap_u64(recording.count, 0, "a fork's calls are not in its parent's file");
    recording_close(&recording);
    top->ops->close(top);
    remove_files();
}

static vmm_result nothing(struct vmm_backend *self, struct vmm_call *call)
{
    (void)self, (void)call;
    return VMM_SUCCESS;
}

enum { THREADS = 300, EACH = 300 };

static void *call_often(void *user)
{
    for (uint64_t i = 0; i < EACH; i++)
        unmap(user, i, (uint64_t)(uintptr_t)&i, i);
    return NULL;
}

static void test_threads(void)
{
    struct fake fake;
    struct vmm_backend *top = open_over(&fake);
    struct vmm_backend_ops ops = *fake.base.ops;
    pthread_t thread[THREADS];
    ops.call[VMM_CALL_mem_unmap] = nothing; /* the fake keeps the last call of any thread */
    fake.base.ops = &ops;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, call_often, top))
            tap_bail("no thread");
    bool whole = true;
    for (int round = 0; round < 20; round++) { /* while they write */
        struct recording recording = read_of((long)getpid(), 0, false);
        for (unsigned i = 0; i < recording.count; i++)
            whole = whole && recording.entry[i].call == VMM_CALL_mem_unmap &&
                    recording.entry[i].argument[1] == recording.entry[i].number;
        recording_close(&recording);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    struct recording recording = read_of((long)getpid(), 0, false);
    tap_ok(whole && recording.calls == THREADS * EACH && recording.count == RECORDER_CALLS && !recording_is_inside(&recording),
           "three hundred threads, each entry whole");
    recording_close(&recording);
    top->ops->close(top);
    remove_files();
}

static void test_stacks(void)
{
    struct fake fake;
    stacks_set(STACKS_SHORT);
    struct vmm_backend *top = open_over(&fake);
    unmap(top, 1, 0x1000, 1);
    uint32_t here = stacks_here();
    struct recording recording = read_of((long)getpid(), 0, false);
    uint32_t stack = recording.entry[0].stack;
    if (!here) {
        tap_ok(stack == 0, "no stacks where the depot has none here");
    } else {
        char *text = text_of(print_few, &recording);
        tap_ok(stack && strstr(text, "+0x"), "the call's stack can be read without the process: %s", text);
        free(text);
    }
    recording_close(&recording);
    top->ops->close(top);
    stacks_set(STACKS_NONE);
    remove_files();
}

static void test_wrong(void)
{
    struct fake fake;
    struct vmm_backend *top = NULL;
    struct recording recording;
    char path[300], why[400];
    fake_init(&fake);
    tap_result(vmm_recorder_open("", &fake.base, &top), VMM_ERROR_INVALID_VALUE, "no folder");
    struct rlimit before, less = {1024, 1024};
    if (getrlimit(RLIMIT_FSIZE, &before))
        tap_bail("no limit");
    less.rlim_max = before.rlim_max;
    for (int limited = 0; limited < 2; limited++) {
        fflush(NULL);
        if (limited)
            setrlimit(RLIMIT_FSIZE, &less);
        vmm_result result = vmm_recorder_open(limited ? folder : "/no/such/folder", &fake.base, &top);
        setrlimit(RLIMIT_FSIZE, &before);
        tap_ok(result == VMM_SUCCESS && unmap(top, 1, 0x1000, 1) == VMM_SUCCESS && fake.seen == 1 + (uint64_t)limited,
               "%s: calls are passed on", limited ? "a file that may not be as long" : "no such folder");
        if (top)
            top->ops->close(top);
    }
    DIR *all = opendir(folder);
    unsigned files = 0;
    for (const struct dirent *entry = all ? readdir(all) : NULL; entry; entry = readdir(all))
        files += entry->d_name[0] != '.';
    if (all)
        closedir(all);
    tap_u64(files, 0, "and nothing is left");
    snprintf(path, sizeof path, "%s/none", folder);
    tap_ok(!recording_open(&recording, path, false, why, sizeof why) && strstr(why, "No such file"),
           "a missing file: %s", why);
    FILE *file = fopen(path, "w");
    if (!file || fputs("short", file) < 0 || fclose(file))
        tap_bail("no file");
    tap_ok(!recording_open(&recording, path, false, why, sizeof why) && strstr(why, "not a whole file"),
           "one that is too short: %s", why);
    if (truncate(path, sizeof(struct recorder_file)))
        tap_bail("no file");
    tap_ok(!recording_open(&recording, path, false, why, sizeof why) && strstr(why, "not a file of this cuvmm's"),
           "one of zeros: %s", why);
    remove_files();
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* other tests run concurrently */
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void test_cost(void)
{
    enum { CALLS = 1000000 };
    struct fake fake;
    struct vmm_backend *top = open_over(&fake);
    struct vmm_backend_ops ops = *fake.base.ops;
    ops.call[VMM_CALL_mem_map] = nothing;
    fake.base.ops = &ops;
    struct vmm_call_mem_map call = {{VMM_CALL_mem_map, 0}, 0x1000, 1, 0, 0x77, 0};
    double bare = seconds();
    for (int i = 0; i < CALLS; i++)
        vmm_backend_call(&fake.base, &call.head);
    bare = seconds() - bare;
    double recorded = seconds();
    for (int i = 0; i < CALLS; i++)
        vmm_backend_call(top, &call.head);
    recorded = seconds() - recorded;
    tap_note("a call costs %.0f ns more", (recorded - bare) / CALLS * 1e9);
    tap_ok((recorded - bare) / CALLS < 5e-6, "recording is a small part of a call");
    top->ops->close(top);
    remove_files();
}

int main(void)
{
    const char *place = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.150s/recorder_test.XXXXXX", place && place[0] ? place : "/tmp");
    if (!mkdtemp(folder))
        tap_bail("no folder");
    test_calls();
    test_history();
    test_wraps();
    test_fork_that_closes();
    test_killed();
    test_threads();
    test_stacks();
    test_wrong();
    test_cost();
    rmdir(folder);
    return tap_done();
}
