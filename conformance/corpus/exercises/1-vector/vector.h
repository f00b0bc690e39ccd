/* SPDX-License-Identifier: Apache-2.0 */
/* vector.h - bytes of device memory that grow and shrink without moving. Exercise 1; task.md says what to do.
 *
 *     open, most = 5 units     [ at ................................ ]   addresses only
 *     resize to 2.5 units      [ at == unit == | == unit == | == unit == | ...... ]   size 2.5, backed 3 units
 *     resize to 0.5 units      [ at == unit == | ........................ ]   the rest of the memory is returned to the device
 */
#ifndef EXERCISE_VECTOR_H
#define EXERCISE_VECTOR_H

#include <cuvmm/vmm.h>

struct vector {
    vmm_system *sys;
    vmm_device device;
    vmm_deviceptr at;    /* the first byte; stays the same from open to close */
    uint64_t unit;       /* bytes of a piece of memory: the minimum granularity */
    uint64_t room;       /* bytes of addresses: most, rounded up to whole units */
    uint64_t size;       /* bytes that the user asked for */
    uint64_t backed;     /* bytes with memory behind them: size, rounded up to whole units */
    void *yours;         /* for whatever else you want to keep */
};

/* A vector of 0 bytes on device that can grow to most bytes (more than 0). It takes addresses but no memory. On failure: the
 * driver's result, nothing is left behind. */
vmm_result vector_open(struct vector *v, vmm_system *sys, vmm_device device, uint64_t most);

/* Makes it size bytes long. Bytes below the smaller of both sizes keep their values and addresses, and are not
 * copied; only device has access, to read and write all of it. Memory beyond the last unit that is needed is freed,
 * once work in flight of the current context is done.
 * A size above room: VMM_ERROR_OUT_OF_MEMORY. On failure: that or the driver's result, and the vector is as it was. */
vmm_result vector_resize(struct vector *v, uint64_t size);

/* Waits for work in flight and frees everything, even if waiting fails. Returns the first result that is not
 * VMM_SUCCESS. */
vmm_result vector_close(struct vector *v);

#endif
