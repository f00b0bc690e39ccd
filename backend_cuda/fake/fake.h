/* SPDX-License-Identifier: Apache-2.0 */
/* fake.h - a stand-in for the driver's library that records the calls it gets and returns what the test has set up.
 *
 *     test  --vmm_backend-->  backend_cuda  --dlopen, cuGetProcAddress-->  fake libcuda
 *       ^---------------------------- dlsym "fake_driver" ------------------------'
 *
 * Prototypes are written from the driver's manual, not from calls.def, so a mistake there is detected. If the driver has several
 * signatures of a name, the fake has those as well, as "other ...", and returns them for the same versions as the driver.
 */
#ifndef CUVMM_CUDA_FAKE_H
#define CUVMM_CUDA_FAKE_H

#include <stddef.h>
#include <stdint.h>

enum { FAKE_ARGUMENTS = 11, FAKE_LISTENERS = 8 };

typedef void (*fake_listener)(void *data, int level, char *message, size_t length);

struct fake_driver {
    /* The recorded calls. */
    unsigned calls;
    const char *symbol; /* the last call's symbol as exported; "other ..." for a signature that we do not use */
    unsigned arguments;
    uint64_t argument[FAKE_ARGUMENTS]; /* int sign-extended, unsigned zero-extended */

    /* The result to return. */
    int result;
    const char *refuse;        /* a symbol that answers INVALID_PTX instead */
    const char *log[4];        /* lines for the log during a call, up to a NULL */
    int log_from_another_thread;
    const char *hidden;        /* a name that cuGetProcAddress does not find */
    int register_result;       /* the result of cuLogsRegisterCallback */

    struct {
        fake_listener hear;
        void *data;
    } listener[FAKE_LISTENERS];
    unsigned registrations; /* in total */
};

/* Exported as "fake_driver": the library's own structure. "fake_log": sends the lines of log now. */
typedef struct fake_driver *(*fake_driver_fn)(void);
typedef void (*fake_log_fn)(void);

#endif
