/* SPDX-License-Identifier: Apache-2.0 */
/* os_write.h where no signal is sent. */
#include "os_write.h"

#include "posix.h"

bool os_write_is_limited(void)
{
    return false;
}

ssize_t os_write_quietly(int file, const void *bytes, size_t length)
{
    return posix.write(file, bytes, length);
}
