/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's log lines about a refusal are in the detail: only those of this call, this thread and this system. */
#include <pthread.h>
#include <stdlib.h>

#include "fake/rig.h"

#define REPEATS "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemUnmap"

static vmm_system *open_or_bail(const struct rig *rig)
{
    vmm_system *sys = NULL;
    if (vmm_open(rig->spec, &sys) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    return sys;
}

/* A call for which the driver returns `result` and logs `first` and `second`. */
static const vmm_detail *call_with(struct rig *rig, vmm_system *sys, int result, const char *first, const char *second)
{
    rig_reset(rig);
    rig->driver->result = result;
    rig->driver->log[0] = first;
    rig->driver->log[1] = first ? second : NULL;
    tap_u64((uint64_t)vmm_mem_unmap(sys, 0x200000, 4096), (uint64_t)result, "the driver's code %d is returned", result);
    return vmm_last_detail();
}

static void remember(void *user, const vmm_detail *detail)
{
    *(vmm_detail *)user = *detail;
}

static void test_lines(struct rig *rig, vmm_system *sys)
{
    char text[600], line[400];
    vmm_detail seen = {0};
    vmm_set_report(sys, remember, &seen);
    const vmm_detail *detail = call_with(rig, sys, 1, "Range is not mapped", REPEATS);
    vmm_set_report(sys, NULL, NULL);
    tap_text(detail->note, "Range is not mapped", "the note has the driver's message, without the repeated code");
    tap_text(seen.note, "Range is not mapped", "the report function gets the same note");
    tap_ok(detail->severity == VMM_SEVERITY_ERROR && detail->result == VMM_ERROR_INVALID_VALUE && !detail->rule &&
               !detail->argument && detail->call == 1 && strcmp(detail->function, "cuMemUnmap") == 0,
           "the record has call and result, and no rule");
    vmm_detail_text(detail, text, sizeof text);
    tap_text(text, "error: cuMemUnmap (call 1) -> CUDA_ERROR_INVALID_VALUE\n  what      Range is not mapped\n",
             "the text has the driver's message");
    tap_text(call_with(rig, sys, 1, REPEATS, NULL)->note, "", "a line that only repeats the code is dropped");
    tap_text(call_with(rig, sys, 1, "One", "Two")->note, "One; Two", "two lines");
    tap_text(call_with(rig, sys, 1, "A\nB\tC\n", NULL)->note, "A B C", "the note is one line, whatever the driver logs");
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    detail = call_with(rig, sys, 1, line, "more");
    tap_u64(strlen(detail->note), sizeof detail->note - 1, "a long line is truncated");
    detail = call_with(rig, sys, 0, "A warning", NULL);
    tap_ok(detail->severity == VMM_SEVERITY_NONE && !detail->note[0], "a successful call leaves no note");
}

static void test_whose(struct rig *rig, vmm_system *sys)
{
    const vmm_detail *detail = call_with(rig, sys, 1, NULL, NULL);
    rig->driver->log[0] = "Of the program's own call";
    rig->log();
    tap_text(detail->note, "", "a line between our calls is ignored");
    rig_reset(rig);
    rig->driver->result = 1;
    rig->driver->log[0] = "Of another thread";
    rig->driver->log_from_another_thread = 1;
    vmm_mem_unmap(sys, 0x200000, 4096);
    tap_text(vmm_last_detail()->note, "", "a line about another thread's call is ignored");
    rig_reset(rig);
    vmm_system *second = open_or_bail(rig);
    tap_u64(rig_listeners(rig), 2, "two systems are registered");
    tap_text(call_with(rig, sys, 1, "Once", NULL)->note, "Once", "only the calling system gets the line");
    tap_text(call_with(rig, second, 1, "Once", NULL)->note, "Once", "whichever of the two it is");
    vmm_close(second);
    tap_u64(rig_listeners(rig), 1, "closing unregisters a system");
}

enum { THREADS = 4, CALLS = 2000 };

struct caller {
    pthread_t thread;
    vmm_system *sys;
    unsigned heard;
};

static void *call_often(void *data)
{
    struct caller *caller = data;
    for (int i = 0; i < CALLS; i++) {
        vmm_mem_unmap(caller->sys, 0x200000, 4096);
        caller->heard += strcmp(vmm_last_detail()->note, "Mine") == 0;
    }
    return NULL;
}

static void test_threads(struct rig *rig, vmm_system *sys)
{
    struct caller caller[THREADS];
    call_with(rig, sys, 1, "Mine", NULL);
    for (int i = 0; i < THREADS; i++) {
        caller[i] = (struct caller){.sys = sys};
        if (pthread_create(&caller[i].thread, NULL, call_often, &caller[i]) != 0)
            tap_bail("no thread is available");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(caller[i].thread, NULL);
        tap_u64(caller[i].heard, CALLS, "thread %d of %d received the message of each of its calls", i, THREADS);
    }
}

static void test_without(struct rig *rig)
{
    setenv("CUVMM_DRIVER_LOG", "0", 1);
    vmm_system *sys = open_or_bail(rig);
    tap_u64(rig_listeners(rig), 0, "CUVMM_DRIVER_LOG=0 registers nothing");
    tap_text(call_with(rig, sys, 1, "Unheard", NULL)->note, "", "no note is written");
    vmm_close(sys);
    setenv("CUVMM_DRIVER_LOG", "1", 1);
    sys = open_or_bail(rig);
    tap_u64(rig_listeners(rig), 1, "CUVMM_DRIVER_LOG=1 is the default");
    vmm_close(sys);
    unsetenv("CUVMM_DRIVER_LOG");
    rig_reset(rig);
    rig->driver->register_result = 1;
    sys = open_or_bail(rig);
    tap_u64(rig_listeners(rig), 0, "a driver that refuses the registration is used without its log");
    tap_text(call_with(rig, sys, 1, "Unheard", NULL)->note, "", "no note is written then");
    vmm_close(sys);
}

/* Codes that the call's arguments did not cause, and codes that this library does not list. */
static void test_codes(struct rig *rig, vmm_system *sys)
{
    const vmm_detail *detail = call_with(rig, sys, VMM_ERROR_NOT_READY, "Busy", NULL);
    tap_ok(detail->severity == VMM_SEVERITY_NONE && !detail->note[0], "NOT_READY is not treated as a refusal");
    tap_text(call_with(rig, sys, VMM_ERROR_NO_DEVICE, NULL, NULL)->note,
             "check nvidia-smi, /dev/nvidia* and CUDA_VISIBLE_DEVICES", "NO_DEVICE says where to look");
    tap_text(call_with(rig, sys, VMM_ERROR_NO_DEVICE, "None here", NULL)->note,
             "None here; check nvidia-smi, /dev/nvidia* and CUDA_VISIBLE_DEVICES", "the fix follows the driver's message");
    static const struct {
        vmm_result code;
        const char *way_out;
    } set_up[] = {{VMM_ERROR_STUB_LIBRARY, "this is the toolkit's stub"},
                  {VMM_ERROR_DEVICE_UNAVAILABLE, "another process uses the device"},
                  {VMM_ERROR_SYSTEM_DRIVER_MISMATCH, "different versions: reboot"}};
    for (size_t i = 0; i < sizeof set_up / sizeof set_up[0]; i++)
        tap_ok(strstr(call_with(rig, sys, (int)set_up[i].code, NULL, NULL)->note, set_up[i].way_out) != NULL,
               "%s: the note has a fix for the system", vmm_result_name(set_up[i].code));
    tap_text(call_with(rig, sys, 12345, NULL, NULL)->note, "CUDA_ERROR_OF_THE_FAKE (12345); only the fake has it",
             "an unlisted code is named by the driver");
    tap_text(call_with(rig, sys, 12345, "The log knows more", NULL)->note,
             "CUDA_ERROR_OF_THE_FAKE (12345); The log knows more", "followed by the log's message");
    tap_text(call_with(rig, sys, 54321, NULL, NULL)->note, "a code that the driver has no name for (54321)",
             "a code that the driver cannot name");
}

int main(int argc, char **argv)
{
    struct rig rig, old;
    (void)argc;
    unsetenv("CUVMM_LAYERS");
    unsetenv("CUVMM_DRIVER_LOG");
    rig_load(&rig, argv[0], "libcuda.so");
    vmm_system *sys = open_or_bail(&rig);
    tap_u64(rig_listeners(&rig), 1, "one system is registered");
    test_lines(&rig, sys);
    test_whose(&rig, sys);
    test_threads(&rig, sys);
    test_codes(&rig, sys);
    vmm_close(sys);
    tap_u64(rig_listeners(&rig), 0, "nothing is left registered");
    test_without(&rig);
    rig_load(&old, argv[0], "libcuda-old.so");
    sys = open_or_bail(&old);
    tap_text(call_with(&old, sys, 1, "Unheard", NULL)->note, "", "a driver before 12.9 has no log");
    vmm_close(sys);
    return tap_done();
}
