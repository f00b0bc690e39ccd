/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_call.h - the common beginning and end of every function of libnvidia-ml.so.1.
 *
 *     nvmlDeviceGetName(device, name, length)
 *         NVML(work)   initialised? else UNINITIALIZED; the one lock; work; unlock
 *         nvml_refuse the code, and with CUVMM_EXPLAIN=1 a line with the mistake and the fix
 *
 * One lock protects the count of initialisations and the machine. A forked child keeps its parent's count, and looks
 * at the machine again.
 */
#ifndef SIM_NVML_CALL_H
#define SIM_NVML_CALL_H

#include <stdatomic.h>
#include <stdbool.h>

#pragma GCC visibility push(default)
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include "abi/nvml.h"
#pragma GCC visibility pop

#include "nvml_machine.h"

struct nvml_call {
    const char *name;
    struct nvml_machine *machine;
    int cancel;
};

/* Begins a call: takes the lock if it returns NVML_SUCCESS. */
nvmlReturn_t nvml_enter(struct nvml_call *call, const char *name);
void nvml_leave(const struct nvml_call *call);

/* The complete body of a function: enters the call, does the work, which may use `call`, and leaves. */
#define NVML(work)                                            \
    do {                                                      \
        struct nvml_call call_, *const call = &call_;         \
        nvmlReturn_t result_ = nvml_enter(&call_, __func__);  \
        if (result_ != NVML_SUCCESS)                          \
            return result_;                                   \
        result_ = (work);                                     \
        nvml_leave(call);                                     \
        return result_;                                       \
    } while (0)

/* Returns the code; with CUVMM_EXPLAIN=1, prints the text with the function's name. */
nvmlReturn_t nvml_refuse(const char *function, nvmlReturn_t code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Prints a line regardless of the environment: for limits of this library rather than mistakes of the program. */
void nvml_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- checks ---- */

/* INVALID_ARGUMENT if the pointer passed for argument is NULL. */
nvmlReturn_t nvml_null(const struct nvml_call *call, const char *argument);
/* Finds the number of a device; INVALID_ARGUMENT for an invalid handle. */
nvmlReturn_t nvml_place(const struct nvml_call *call, nvmlDevice_t device, int *place);
/* The same, and checks a pointer for the result. */
nvmlReturn_t nvml_asks(const struct nvml_call *call, nvmlDevice_t device, const void *answer, const char *argument, int *place);
nvmlDevice_t nvml_handle(int place);
/* INSUFFICIENT_SIZE if length bytes are too few for the text and its terminator. */
nvmlReturn_t nvml_text(const struct nvml_call *call, const char *text, char *to, unsigned length, const char *argument);
/* ARGUMENT_VERSION_MISMATCH. */
nvmlReturn_t nvml_version(const struct nvml_call *call, unsigned given, unsigned expected);
/* NOT_SUPPORTED, because the machine lacks the feature. */
nvmlReturn_t nvml_lacks(const struct nvml_call *call, const char *what);

/* The bus address of a device; for the number after the last device, that of the NVSwitch. */
void nvml_fill_pci(const struct nvml_machine *machine, int place, nvmlPciInfo_t *pci);

#endif
