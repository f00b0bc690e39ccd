/* SPDX-License-Identifier: Apache-2.0 */
#include "registered.h"

#include <stdatomic.h>

#include "lifecycle.h"

static struct {
    const char *name;
    kernels_code code;
    void *user;
    const struct kernels_ptx *ptx;
    bool interpreted, multimem;
} table[KERNELS_REGISTERED_MOST];

static _Atomic int count; /* rows below it are complete and do not change */
LIFE_LOCK(lock, LIFE_LEAF, NULL)

static vmm_kernel add(const char *name, kernels_code code, void *user, const struct kernels_ptx *ptx, bool interpreted,
                      bool multimem)
{
    vmm_kernel kernel = -1;
    life_acquire(&lock);
    int row = count;
    if (row < KERNELS_REGISTERED_MOST) {
        table[row].name = name;
        table[row].code = code;
        table[row].user = user;
        table[row].ptx = ptx;
        table[row].interpreted = interpreted;
        table[row].multimem = multimem;
        atomic_store(&count, row + 1);
        kernel = KERNELS_REGISTERED_FIRST + row;
    }
    life_release(&lock);
    return kernel;
}

vmm_kernel kernels_register(const char *name, kernels_code code, void *user)
{
    return add(name, code, user, NULL, false, false);
}

vmm_kernel kernels_register_interpreted(const char *name, kernels_code code, void *user, bool multimem)
{
    return add(name, code, user, NULL, true, multimem);
}

vmm_kernel kernels_register_ptx(const struct kernels_ptx *ptx, kernels_code code, void *user)
{
    return add(ptx->name, code, user, ptx, true, ptx->multimem);
}

const struct kernels_ptx *kernels_ptx_of(vmm_kernel kernel)
{
    return kernels_is_registered(kernel) ? table[kernel - KERNELS_REGISTERED_FIRST].ptx : NULL;
}

static void (*_Atomic on_end)(uint64_t process);

void kernels_on_end(void (*end)(uint64_t process))
{
    atomic_store(&on_end, end);
}

void kernels_process_ended(uint64_t process)
{
    void (*end)(uint64_t) = atomic_load(&on_end);
    if (end)
        end(process);
}

bool kernels_is_registered(vmm_kernel kernel)
{
    return kernel >= KERNELS_REGISTERED_FIRST && kernel - KERNELS_REGISTERED_FIRST < atomic_load(&count);
}

bool kernels_is_interpreted(vmm_kernel kernel)
{
    return kernels_is_registered(kernel) && table[kernel - KERNELS_REGISTERED_FIRST].interpreted;
}

bool kernels_uses_multimem(vmm_kernel kernel)
{
    return kernels_is_registered(kernel) && table[kernel - KERNELS_REGISTERED_FIRST].multimem;
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
