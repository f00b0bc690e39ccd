/* SPDX-License-Identifier: Apache-2.0 */
#include "rt_callback.h"

#include <pthread.h>

#include "heap.h"
#include "posix.h"

struct rt_callback {
    struct rt_callback *next, **to_it;
    cudaStreamCallback_t function;
    void *data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rt_callback *first;

struct rt_callback *rt_callback_keep(cudaStreamCallback_t function, void *data)
{
    struct rt_callback *kept = heap.malloc(sizeof *kept);
    if (!kept)
        return NULL;
    pthread_mutex_lock(&lock);
    *kept = (struct rt_callback){.next = first, .to_it = &first, .function = function, .data = data};
    if (first)
        first->to_it = &kept->next;
    first = kept;
    posix.pthread_mutex_unlock(&lock);
    return kept;
}

void rt_callback_drop(struct rt_callback *kept)
{
    pthread_mutex_lock(&lock);
    *kept->to_it = kept->next;
    if (kept->next)
        kept->next->to_it = kept->to_it;
    posix.pthread_mutex_unlock(&lock);
    heap.free(kept);
}

void rt_callback_run(CUstream stream, CUresult status, void *kept)
{
    const struct rt_callback *callback = kept;
    cudaStreamCallback_t function = callback->function;
    void *data = callback->data;
    rt_callback_drop(kept);
    function(stream, rt_code(status), data);
}
