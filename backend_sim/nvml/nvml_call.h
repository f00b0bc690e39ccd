/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_call.h - what every function of libnvidia-ml.so.1 begins and ends with.
 *
 *     nvmlDeviceGetName(device, name, length)
 *         NVML(work)   initialised? else UNINITIALIZED; the one lock; work; unlock
 *         nvml_refuse  the code, and with CUVMM_EXPLAIN=1 a line: what was wrong, and what is right
 *
 * One lock guards the count of initialisations and the machine. A child of a fork has the count of its parent, and looks at the
 * machine anew.
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

/* The whole of a function: enters it, does the work, which may use call, and leaves it. */
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
/* Prints a line regardless of the environment: for limits of this library, not mistakes of the program. */
void nvml_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- checks ---- */

/* INVALID_ARGUMENT for a NULL pointer, which was passed for argument. */
nvmlReturn_t nvml_null(const struct nvml_call *call, const char *argument);
/* Finds the number of a device: INVALID_ARGUMENT for what is none. */
nvmlReturn_t nvml_place(const struct nvml_call *call, nvmlDevice_t device, int *place);
/* The same, with a pointer for the answer. */
nvmlReturn_t nvml_asks(const struct nvml_call *call, nvmlDevice_t device, const void *answer, const char *argument, int *place);
nvmlDevice_t nvml_handle(int place);
/* INSUFFICIENT_SIZE where length bytes have no room for text and its end. */
nvmlReturn_t nvml_text(const struct nvml_call *call, const char *text, char *to, unsigned length, const char *argument);
/* ARGUMENT_VERSION_MISMATCH. */
nvmlReturn_t nvml_version(const struct nvml_call *call, unsigned given, unsigned expected);
/* NOT_SUPPORTED, since the machine has no such thing. */
nvmlReturn_t nvml_lacks(const struct nvml_call *call, const char *what);

/* The bus address of a device; at the place behind all devices, of the switch between them. */
void nvml_fill_pci(const struct nvml_machine *machine, int place, nvmlPciInfo_t *pci);

#endif
