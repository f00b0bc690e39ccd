/* SPDX-License-Identifier: Apache-2.0 */
/* touch.h in a WebAssembly module: the addresses are those of a table (os_wasm.h), which says where a program's access would be a
 * SIGSEGV. */
#include "touch.h"

#include "os_wasm.h"

void touch_begin(void)
{
}

void touch_end(void)
{
}

bool touch_read(uint64_t address, unsigned char *value)
{
    const unsigned char *byte = os_host_byte(address, false);
    if (byte)
        *value = *byte;
    return byte != NULL;
}

bool touch_write(uint64_t address, unsigned char value)
{
    unsigned char *byte = os_host_byte(address, true);
    if (byte)
        *byte = value;
    return byte != NULL;
}
