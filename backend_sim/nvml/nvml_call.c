/* SPDX-License-Identifier: Apache-2.0 */
#include "nvml_call.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lifecycle.h"
#include "os.h"
#include "os_environment.h"

struct nvmlDevice_st {
    char unused; /* a handle is the address of one of these, and its index the number of the device */
};

static struct nvmlDevice_st devices[VMM_MAX_DEVICES];
static struct nvml_machine machine;
static uint64_t inits; /* not yet undone by nvmlShutdown */

/* State that a thread of the parent may have been changing is not touched. */
static void forget(struct life_lock *lock, bool whole)
{
    (void)lock;
    if (!whole)
        machine.share = NULL;
}

LIFE_LOCK(lock, LIFE_OPENING, forget)

/* ---- words ---- */

static void print(const char *function, const char *format, va_list arguments)
{
    char text[1024];
    size_t end = (size_t)snprintf(text, sizeof text, "cuvmm: libnvidia-ml.so.1: %s%s", function, function[0] ? ": " : "");
    vsnprintf(text + end, sizeof text - end - 1, format, arguments);
    strcat(text, "\n");
    os_print(text, strlen(text));
}

void nvml_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print("", format, arguments);
    va_end(arguments);
}

nvmlReturn_t nvml_refuse(const char *function, nvmlReturn_t code, const char *format, ...)
{
    const char *wanted = os_environment("CUVMM_EXPLAIN");
    va_list arguments;
    va_start(arguments, format);
    if (wanted && wanted[0] && strcmp(wanted, "0") != 0)
        print(function, format, arguments);
    va_end(arguments);
    return code;
}

/* ---- entering and leaving a call ---- */

nvmlReturn_t nvml_enter(struct nvml_call *call, const char *name)
{
    *call = (struct nvml_call){.name = name, .machine = &machine, .cancel = life_no_cancel()};
    life_acquire(&lock);
    if (inits)
        return NVML_SUCCESS;
    nvml_leave(call);
    return nvml_refuse(name, NVML_ERROR_UNINITIALIZED, "nvmlInit_v2 has not been called, or was undone by nvmlShutdown");
}

void nvml_leave(const struct nvml_call *call)
{
    int cancel = call->cancel;
    life_release(&lock);
    life_may_cancel(cancel);
}

/* ---- initialisation ---- */

static nvmlReturn_t begin(const char *name)
{
    char why[SHARE_WHY];
    bool first = !inits;
    if (first && !nvml_machine_find(&machine, why)) {
        nvml_say("%s: there is no machine: %s", name, why);
        return NVML_ERROR_DRIVER_NOT_LOADED;
    }
    inits++;
    return NVML_SUCCESS;
}

static nvmlReturn_t init(const char *name)
{
    int cancel = life_no_cancel();
    life_acquire(&lock);
    nvmlReturn_t result = begin(name);
    life_release(&lock);
    life_may_cancel(cancel);
    return result;
}

nvmlReturn_t nvmlInit(void)
{
    return init(__func__);
}

nvmlReturn_t nvmlInit_v2(void)
{
    return init(__func__);
}

/* Known flags have no effect here, and unknown ones are accepted, as recorded. */
nvmlReturn_t nvmlInitWithFlags(unsigned flags)
{
    (void)flags;
    return init(__func__);
}

static nvmlReturn_t undo(const struct nvml_call *call)
{
    if (--inits == 0)
        nvml_machine_close(call->machine);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown(void)
{
    NVML(undo(call));
}

/* A program need not call nvmlShutdown. If a thread is inside a call, the machine stays open until the process ends. */
__attribute__((destructor)) static void close_machine(void)
{
    if (!life_try_acquire(&lock)) /* LCOV_EXCL_BR_LINE: unless a thread is inside a call */
        return; /* LCOV_EXCL_LINE: as above */
    inits = 0;
    nvml_machine_close(&machine);
    life_release(&lock);
}

/* ---- checks ---- */

nvmlReturn_t nvml_null(const struct nvml_call *call, const char *argument)
{
    return nvml_refuse(call->name, NVML_ERROR_INVALID_ARGUMENT, "%s is NULL", argument);
}

nvmlDevice_t nvml_handle(int place)
{
    return &devices[place];
}

nvmlReturn_t nvml_place(const struct nvml_call *call, nvmlDevice_t device, int *place)
{
    for (*place = 0; *place < call->machine->profile.devices; ++*place)
        if (device == &devices[*place])
            return NVML_SUCCESS;
    return nvml_refuse(call->name, NVML_ERROR_INVALID_ARGUMENT,
                       "%p is not a device: nvmlDeviceGetHandleByIndex_v2 returns one for an index below %d", (void *)device,
                       call->machine->profile.devices);
}

nvmlReturn_t nvml_asks(const struct nvml_call *call, nvmlDevice_t device, const void *answer, const char *argument, int *place)
{
    nvmlReturn_t result = nvml_place(call, device, place);
    return result == NVML_SUCCESS && !answer ? nvml_null(call, argument) : result;
}

nvmlReturn_t nvml_text(const struct nvml_call *call, const char *text, char *to, unsigned length, const char *argument)
{
    size_t size = strlen(text) + 1;
    if (!to)
        return nvml_null(call, argument);
    if (length < size)
        return nvml_refuse(call->name, NVML_ERROR_INSUFFICIENT_SIZE, "length is %u, but %s needs %zu bytes", length, argument,
                           size);
    memcpy(to, text, size);
    return NVML_SUCCESS;
}

nvmlReturn_t nvml_version(const struct nvml_call *call, unsigned given, unsigned expected)
{
    return given == expected ? NVML_SUCCESS
                             : nvml_refuse(call->name, NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "version is 0x%x, expected 0x%x",
                                           given, expected);
}

nvmlReturn_t nvml_lacks(const struct nvml_call *call, const char *what)
{
    return nvml_refuse(call->name, NVML_ERROR_NOT_SUPPORTED, "the profile %s does not specify %s",
                       call->machine->profile.name, what);
}
