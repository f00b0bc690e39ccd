/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* syscall */
#include "os_thread.h"

#include <sys/syscall.h>
#include <unistd.h>

uint64_t os_thread_number(void)
{
    return (uint64_t)syscall(SYS_gettid);
}
