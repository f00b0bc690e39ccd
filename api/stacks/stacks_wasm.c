/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h in a WebAssembly module, which cannot see its own stack: there are none. */
#include "stacks.h"

#include <stddef.h>

_Atomic int stacks_setting = STACKS_NONE;

uint32_t stacks_here(void)
{
    return 0;
}

unsigned stacks_frames(uint32_t stack, struct stacks_frame *frames, unsigned most)
{
    (void)stack, (void)frames, (void)most;
    return 0;
}

void stacks_keep(uint64_t key, uint32_t stack)
{
    (void)key, (void)stack;
}

uint32_t stacks_kept(uint64_t key)
{
    (void)key;
    return 0;
}

enum stacks_mode stacks_mode(void)
{
    return STACKS_NONE;
}

void stacks_set(enum stacks_mode mode)
{
    (void)mode;
}

const char *stacks_note(void)
{
    return NULL;
}
