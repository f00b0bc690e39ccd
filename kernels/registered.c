/* SPDX-License-Identifier: Apache-2.0 */
#include "registered.h"

#include <stdatomic.h>

#include "lifecycle.h"

static struct {
    const char *name;
    kernels_code code;
    void *user;
} table[KERNELS_REGISTERED_MOST];

static _Atomic int count; /* rows below it are whole and do not change */
LIFE_LOCK(lock, LIFE_LEAF, NULL)

vmm_kernel kernels_register(const char *name, kernels_code code, void *user)
{
    vmm_kernel kernel = -1;
    life_acquire(&lock);
    int row = count;
    if (row < KERNELS_REGISTERED_MOST) {
        table[row].name = name;
        table[row].code = code;
        table[row].user = user;
        atomic_store(&count, row + 1);
        kernel = KERNELS_REGISTERED_FIRST + row;
    }
    life_release(&lock);
    return kernel;
}

bool kernels_is_registered(vmm_kernel kernel)
{
    return kernel >= KERNELS_REGISTERED_FIRST && kernel - KERNELS_REGISTERED_FIRST < atomic_load(&count);
}

const char *kernels_registered_name(vmm_kernel kernel)
{
    return table[kernel - KERNELS_REGISTERED_FIRST].name;
}

void kernels_registered_run(struct twin_memory *memory, const struct vmm_call_launch *call)
{
    int row = call->kernel - KERNELS_REGISTERED_FIRST;
    table[row].code(memory, call, table[row].user);
}
