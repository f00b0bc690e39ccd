/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <stdbool.h>

#include "detail.h"
#include "registered.h"

struct argument {
    const char *name;
    enum kernel_arg kind;
};

struct kernel {
    const char *name;
    struct argument argument[KERNEL_MAX_ARGS]; /* ended by one without a name */
};

static const struct kernel kernels[] = {
#define VMM_KERNEL(name, NUMBER) [VMM_KERNEL_##NUMBER] = {#name, {
#define VMM_ARG(name, kind, arg) {#arg, KERNEL_ARG_##kind},
#define VMM_KERNEL_END(name) {NULL, KERNEL_ARG_ANY}}},
#include "kernels.def"
};

enum { KERNELS = (int)(sizeof kernels / sizeof kernels[0]) };

static bool exists(vmm_kernel kernel)
{
    return kernel >= 0 && kernel < KERNELS;
}

int vmm_kernel_count(void)
{
    return KERNELS;
}

const char *vmm_kernel_name(vmm_kernel kernel)
{
    if (kernels_is_registered(kernel))
        return kernels_registered_name(kernel);
    return exists(kernel) ? kernels[kernel].name : NULL;
}

uint64_t vmm_kernel_arguments(vmm_kernel kernel)
{
    const struct kernels_ptx *ptx = kernels_ptx_of(kernel);
    uint64_t count = ptx ? ptx->words : 0;
    while (exists(kernel) && kernels[kernel].argument[count].name)
        count++;
    return count;
}

bool kernels_is_multimem(vmm_kernel kernel)
{
    return (kernel >= VMM_KERNEL_MULTIMEM_STORE && kernel <= VMM_KERNEL_NORM_FINISH) || kernels_uses_multimem(kernel);
}

const char *kernels_address_argument(vmm_kernel kernel, uint64_t argument)
{
    if (!exists(kernel) || argument >= vmm_kernel_arguments(kernel))
        return NULL;
    const struct argument *a = &kernels[kernel].argument[argument];
    return a->kind == KERNEL_ARG_ADDRESS || a->kind == KERNEL_ARG_WORD_ADDRESS ? a->name : NULL;
}

static vmm_result refuse_dimension(const char *argument, uint64_t value, uint64_t limit)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_LAUNCH_DIMENSIONS, value, limit, NULL);
    vmm_detail_argument(argument);
    return result;
}

/* What is wrong with a value; NULL if nothing is. first is the kernel's first argument. */
static const char *wrong(enum kernel_arg kind, uint64_t value, uint64_t first)
{
    switch (kind) {
    case KERNEL_ARG_WORD_ADDRESS:
    case KERNEL_ARG_WORDS: return value % 8 ? "is not a multiple of 8" : NULL;
    case KERNEL_ARG_BYTE: return value > 255 ? "does not fit a byte" : NULL;
    case KERNEL_ARG_POSITIVE: return value ? NULL : "is 0";
    case KERNEL_ARG_FLAG: return value > 1 ? "is neither 0 nor 1" : NULL;
    case KERNEL_ARG_WIDTH:
        if (value != 1 && value != 4 && value != 8)
            return "is none of 1, 4 and 8";
        return first % value ? "does not divide the address" : NULL;
    case KERNEL_ARG_ADDRESS:
    case KERNEL_ARG_ANY: break;
    }
    return NULL;
}

/* How many there are. */
static vmm_result check_count(const struct vmm_call_launch *call)
{
    uint64_t wanted = vmm_kernel_arguments(call->kernel);
    if (call->count != wanted) {
        vmm_result result = vmm_detail_refuse(VMM_RULE_LAUNCH_ARGUMENTS, call->count, wanted, NULL);
        vmm_detail_argument("count");
        vmm_detail_note("%.60s takes %llu argument%s", vmm_kernel_name(call->kernel), (unsigned long long)wanted, wanted == 1 ? "" : "s");
        return result;
    }
    return wanted && !call->args ? vmm_detail_refuse(VMM_RULE_LAUNCH_ARGUMENTS, 0, 0, NULL) : VMM_SUCCESS;
}

static vmm_result check_arguments(const struct vmm_call_launch *call)
{
    const struct kernel *kernel = &kernels[call->kernel];
    for (uint64_t i = 0; i < call->count; i++) {
        const char *what = wrong(kernel->argument[i].kind, call->args[i], call->args[0]);
        if (!what)
            continue;
        vmm_result result = vmm_detail_refuse(VMM_RULE_LAUNCH_ARGUMENTS, call->args[i], 0, NULL);
        vmm_detail_note("%s of %s, argument %llu, %s", kernel->argument[i].name, kernel->name,
                        (unsigned long long)i + 1, what);
        return result;
    }
    return VMM_SUCCESS;
}

/* Does the value fit into that many bytes of a word, zero- or sign-extended above? */
static bool fits(uint64_t value, unsigned bytes)
{
    const unsigned above = bytes < sizeof value ? 8 * bytes : 0;
    return !above || !(value >> above) || ~value >> (above - 1) == 0;
}

static vmm_result check_ptx_arguments(const struct kernels_ptx *ptx, const struct vmm_call_launch *call)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < ptx->parameters; word += (ptx->bytes[i] + 7) / 8, i++) {
        if (fits(call->args[word], ptx->bytes[i]))
            continue;
        vmm_result result = vmm_detail_refuse(VMM_RULE_LAUNCH_ARGUMENTS, call->args[word], 0, NULL);
        vmm_detail_note("argument %u of %.60s, 0x%llx, does not fit into its %u byte%s", i + 1, ptx->name,
                        (unsigned long long)call->args[word],
                        ptx->bytes[i], ptx->bytes[i] == 1 ? "" : "s");
        return result;
    }
    return VMM_SUCCESS;
}

/* The block, with the dimensions that were given when the kernel was loaded. */
static vmm_result check_ptx_block(const struct kernels_ptx *ptx, unsigned x)
{
    const uint64_t threads = (uint64_t)x * ptx->block_y * ptx->block_z, most = ptx->most ? ptx->most : KERNEL_MAX_BLOCK;
    const unsigned *r = ptx->required;
    const bool other = r[0] && (x != r[0] || ptx->block_y != r[1] || ptx->block_z != r[2]);
    if (threads <= most && !other)
        return VMM_SUCCESS;
    vmm_result result = refuse_dimension("blockDimX", x, most);
    if (other)
        vmm_detail_note("%.60s requires blocks of %ux%ux%u threads (.reqntid), not %ux%ux%u", ptx->name, r[0], r[1], r[2], x,
                        ptx->block_y, ptx->block_z);
    else
        vmm_detail_note("%llu threads, %ux%ux%u: a block of %.60s has at most %llu", (unsigned long long)threads, x, ptx->block_y,
                        ptx->block_z, ptx->name, (unsigned long long)most);
    return result;
}

vmm_result kernels_check(const struct vmm_call_launch *call)
{
    const struct kernels_ptx *ptx = kernels_ptx_of(call->kernel);
    bool registered = kernels_is_registered(call->kernel);
    if (!exists(call->kernel) && !registered)
        return vmm_detail_refuse(VMM_RULE_LAUNCH_KERNEL, (uint64_t)(int64_t)call->kernel, KERNELS, NULL);
    if (!call->grid_dim || call->grid_dim > KERNEL_MAX_GRID)
        return refuse_dimension("gridDimX", call->grid_dim, KERNEL_MAX_GRID);
    if (!call->block_dim || call->block_dim > KERNEL_MAX_BLOCK)
        return refuse_dimension("blockDimX", call->block_dim, KERNEL_MAX_BLOCK);
    if (registered && !ptx)
        return VMM_SUCCESS; /* the code that registered it checks them */
    vmm_result result = ptx ? check_ptx_block(ptx, call->block_dim) : VMM_SUCCESS;
    if (result == VMM_SUCCESS)
        result = check_count(call);
    return result != VMM_SUCCESS ? result : ptx ? check_ptx_arguments(ptx, call) : check_arguments(call);
}
