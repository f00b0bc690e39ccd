/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that are registered while the program runs: numbers, names, and that they are launched like other kernels. */
#include "registered.h"

#include "kernels.h"
#include "tap.h"

struct seen {
    int runs;
    uint64_t first, count;
};

/* Writes its second argument to the address in its first. */
static void code(struct twin_memory *memory, const struct vmm_call_launch *call, void *user)
{
    struct seen *seen = user;
    seen->runs++;
    seen->first = call->args[0];
    seen->count = call->count;
    twin_store(memory, call->args[0], 8, call->args[1]);
}

static void test_numbers(vmm_kernel kernel)
{
    tap_ok(kernel >= KERNELS_REGISTERED_FIRST && kernels_is_registered(kernel), "it has a number");
    tap_text(vmm_kernel_name(kernel), "mine", "and its name");
    tap_u64(vmm_kernel_arguments(kernel), 0, "the number of its arguments is unknown");
    tap_ok(!kernels_is_registered(kernel + 1) && !kernels_is_registered(VMM_KERNEL_FILL) && !kernels_is_registered(-1),
           "other numbers are not");
    tap_ok(kernels_register("other", code, NULL) == kernel + 1, "the next has the next");
}

static void test_launch(vmm_kernel kernel, const struct seen *seen)
{
    vmm_system *sys = NULL;
    vmm_context context;
    vmm_deviceptr at = 0;
    uint64_t back = 0, args[3] = {0, 77, 0};
    vmm_open("sim:h100", &sys);
    vmm_init(sys, 0);
    vmm_device_primary_ctx_retain(sys, &context, 0);
    vmm_ctx_set_current(sys, context);
    vmm_mem_alloc(sys, &at, 64);
    args[0] = at;
    tap_result(vmm_launch(sys, kernel, 1, 1, args, 3, NULL), VMM_SUCCESS, "it is launched");
    tap_ok(seen->runs == 0, "and done later");
    tap_result(vmm_memcpy_dtoh(sys, &back, at, sizeof back), VMM_SUCCESS, "when a call waits");
    tap_ok(seen->runs == 1 && seen->first == at && seen->count == 3 && back == 77, "with its arguments");
    tap_result(vmm_launch(sys, kernel, 0, 1, args, 3, NULL), VMM_ERROR_INVALID_VALUE, "dimensions are checked");
    tap_result(vmm_launch(sys, kernel + 2, 1, 1, args, 3, NULL), VMM_ERROR_INVALID_VALUE, "and that there is one");
    args[0] = 4096;
    tap_result(vmm_launch(sys, kernel, 1, 1, args, 3, NULL), VMM_SUCCESS, "it is launched even if its memory is inaccessible");
    tap_result(vmm_ctx_synchronize(sys), VMM_ERROR_ILLEGAL_ADDRESS, "and takes the device");
    tap_text(vmm_last_detail()->rule, "VMM-FAULT-ACCESS", "by the rule of all kernels");
    vmm_close(sys);
}

int main(void)
{
    struct seen seen = {0, 0, 0};
    vmm_kernel kernel = kernels_register("mine", code, &seen);
    test_numbers(kernel);
    test_launch(kernel, &seen);
    vmm_kernel dry = kernels_register_interpreted("dry", code, &seen, false), all = kernels_register_interpreted("all", code, &seen, true);
    tap_ok(!kernels_is_interpreted(kernel) && kernels_is_interpreted(dry) && !kernels_is_interpreted(VMM_KERNEL_FILL),
           "one that is interpreted is told from the others");
    tap_ok(kernels_is_multimem(all) && !kernels_is_multimem(dry) && !kernels_is_multimem(kernel) && !kernels_is_multimem(all + 1),
           "and one that uses multicast addresses");
    int more = 0;
    while (kernels_register("more", code, &seen) >= 0)
        more++;
    tap_ok(more == KERNELS_REGISTERED_MOST - 4, "there is an end to them");
    return tap_done();
}
