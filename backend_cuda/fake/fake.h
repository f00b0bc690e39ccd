/* SPDX-License-Identifier: Apache-2.0 */
/* fake.h - a stand-in for the driver's library that writes down what reaches it and answers as told.
 *
 *     test  --vmm_backend-->  backend_cuda  --dlopen, cuGetProcAddress-->  fake libcuda
 *       ^---------------------------- dlsym "fake_driver" ------------------------'
 *
 * Prototypes are written from the driver's manual, not from calls.def, so a mistake there shows. Under each name that
 * the driver keeps several signatures for, the others are present too, under "other ...", and are given for the
 * versions that the driver gives them for.
 */
#ifndef CUVMM_CUDA_FAKE_H
#define CUVMM_CUDA_FAKE_H

#include <stddef.h>
#include <stdint.h>

enum { FAKE_ARGUMENTS = 11, FAKE_LISTENERS = 8 };

typedef void (*fake_listener)(void *data, int level, char *message, size_t length);

struct fake_driver {
    /* What reached it. */
    unsigned calls;
    const char *symbol; /* of the last call, as exported; "other ..." for a signature that ours are not */
    unsigned arguments;
    uint64_t argument[FAKE_ARGUMENTS]; /* int sign-extended, unsigned zero-extended */

    /* What it does then. */
    int result;
    const char *log[4];        /* lines to the listeners during a call, up to a NULL */
    int log_from_another_thread;
    const char *hidden;        /* a name that cuGetProcAddress does not find */
    int register_result;       /* of cuLogsRegisterCallback */

    struct {
        fake_listener hear;
        void *data;
    } listener[FAKE_LISTENERS];
    unsigned registrations; /* ever */
};

/* Exported as "fake_driver": the one in the library. And "fake_log": the lines of log to the listeners, now. */
typedef struct fake_driver *(*fake_driver_fn)(void);
typedef void (*fake_log_fn)(void);

#endif
