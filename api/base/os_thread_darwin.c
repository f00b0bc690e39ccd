/* SPDX-License-Identifier: Apache-2.0 */
#include "os_thread.h"

#include <pthread.h>

uint64_t os_thread_number(void)
{
    uint64_t number = 0;
    pthread_threadid_np(NULL, &number);
    return number;
}
