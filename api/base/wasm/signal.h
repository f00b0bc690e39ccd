/* SPDX-License-Identifier: Apache-2.0 */
/* signal.h - signals in an environment that never sends any: masks can be set, but block nothing. */
#ifndef CUVMM_WASM_SIGNAL_H
#define CUVMM_WASM_SIGNAL_H

#include <__typedef_sigset_t.h>

typedef int sig_atomic_t;

enum { SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK };
enum { SIGBUS = 7, SIGSEGV = 11, SIGPIPE = 13, SIGXFSZ = 25 };

struct sigaction {
    void (*sa_handler)(int number);
    sigset_t sa_mask;
    int sa_flags;
};

static inline int sigfillset(sigset_t *set)
{
    (void)set;
    return 0;
}

static inline int sigdelset(sigset_t *set, int number)
{
    (void)set, (void)number;
    return 0;
}

static inline int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    (void)how, (void)set, (void)before;
    return 0;
}

#endif
