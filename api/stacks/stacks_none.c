/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h where nothing walks a stack: on macOS, whose unwind tables are not supported, and in a WebAssembly module, which
 * cannot see its own stack. No call has a stack, and stacks_note says so if stacks were requested. */
#include "stacks.h"

#include <stddef.h>
#include <string.h>

#include "os_environment.h"

_Atomic int stacks_setting = STACKS_NONE;
static _Atomic bool wanted;

enum stacks_mode stacks_mode(void)
{
    return STACKS_NONE;
}

void stacks_set(enum stacks_mode mode)
{
    atomic_store(&wanted, mode != STACKS_NONE);
}

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

const char *stacks_note(void)
{
    const char *set = os_environment("CUVMM_CHECK_STACKS");
    const bool asked = atomic_load(&wanted) || (set && (strcmp(set, "full") == 0 || strcmp(set, "short") == 0));
    return asked ? "stacks are not captured on this system" : NULL;
}
