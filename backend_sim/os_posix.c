#include "os.h"

#include <pthread.h>
#include <stdatomic.h>

static _Atomic uint64_t depth;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
    atomic_fetch_add(&depth, 1);
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

uint64_t os_fork_depth(void)
{
    pthread_once(&once, watch);
    return atomic_load_explicit(&depth, memory_order_relaxed);
}
