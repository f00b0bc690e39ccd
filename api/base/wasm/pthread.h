/* SPDX-License-Identifier: Apache-2.0 */
/* pthread.h - POSIX threads in a single-threaded environment: no other thread can hold a mutex, and none can be created.
 *
 * A build for WebAssembly finds the headers in this folder before wasi-libc's; they declare the parts of POSIX that this project
 * uses and wasi-libc lacks.
 */
#ifndef CUVMM_WASM_PTHREAD_H
#define CUVMM_WASM_PTHREAD_H

#define __NEED_pthread_t
#define __NEED_pthread_attr_t
#define __NEED_pthread_key_t
#define __NEED_pthread_mutex_t
#define __NEED_pthread_mutexattr_t
#define __NEED_pthread_cond_t
#define __NEED_pthread_condattr_t
#define __NEED_pthread_once_t
#include <bits/alltypes.h>
#include <errno.h>
#include <sched.h>
#include <time.h>

#define PTHREAD_MUTEX_INITIALIZER {{{0}}}
#define PTHREAD_COND_INITIALIZER  {{{0}}}
#define PTHREAD_ONCE_INIT         0
enum { PTHREAD_CANCEL_ENABLE, PTHREAD_CANCEL_DISABLE, PTHREAD_KEYS_MAX = 128 };

int pthread_create(pthread_t *thread, const pthread_attr_t *kind, void *(*code)(void *), void *user);
int pthread_key_create(pthread_key_t *key, void (*end)(void *value));
int pthread_key_delete(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *value);
void *pthread_getspecific(pthread_key_t key);
int pthread_once(pthread_once_t *once, void (*code)(void));

/* The one thread; pthread_t may be a pointer or a number. */
static inline pthread_t pthread_self(void)
{
    return (pthread_t)1;
}

static inline int pthread_equal(pthread_t a, pthread_t b)
{
    return a == b;
}

static inline int pthread_join(pthread_t thread, void **value)
{
    (void)thread, (void)value;
    return 0;
}

static inline int pthread_detach(pthread_t thread)
{
    (void)thread;
    return 0;
}

static inline int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
    (void)before, (void)parent, (void)child;
    return 0;
}

static inline int pthread_setcancelstate(int state, int *before)
{
    if (before)
        *before = state;
    return 0;
}

#define pthread_cleanup_push(code, user) do { (void)(code), (void)(user);
#define pthread_cleanup_pop(run)         (void)(run); } while (0)

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *kind)
{
    (void)mutex, (void)kind;
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_cond_init(pthread_cond_t *changed, const pthread_condattr_t *kind)
{
    (void)changed, (void)kind;
    return 0;
}

static inline int pthread_cond_destroy(pthread_cond_t *changed)
{
    (void)changed;
    return 0;
}

static inline int pthread_cond_broadcast(pthread_cond_t *changed)
{
    (void)changed;
    return 0;
}

/* No other thread could change what the caller waits for, so a wait would never end; the module aborts instead. */
static inline int pthread_cond_wait(pthread_cond_t *changed, pthread_mutex_t *mutex)
{
    (void)changed, (void)mutex;
    __builtin_trap();
}

/* It times out at once, because no other thread could change what the caller waits for. */
static inline int pthread_cond_timedwait(pthread_cond_t *changed, pthread_mutex_t *mutex, const struct timespec *until)
{
    (void)changed, (void)mutex, (void)until;
    return ETIMEDOUT;
}

#endif
