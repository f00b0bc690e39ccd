/* SPDX-License-Identifier: Apache-2.0 */
/* Names, numbers of arguments, accepted values; and that the device code, if there is any, contains every kernel. */
#include <string.h>

#include "kernels.h"
#include "tap.h"

static struct vmm_call_launch launch_of(vmm_kernel kernel, const uint64_t *args, uint64_t count)
{
    return (struct vmm_call_launch){{VMM_CALL_launch, 1}, kernel, 1, 1, args, count, NULL};
}

static void test_names(void)
{
    bool named = true, different = true;
    for (int i = 0; i < vmm_kernel_count(); i++) {
        named = named && vmm_kernel_name(i) && vmm_kernel_name(i)[0] && vmm_kernel_arguments(i) > 0 &&
                vmm_kernel_arguments(i) <= KERNEL_MAX_ARGS;
        for (int j = 0; j < i; j++)
            different = different && strcmp(vmm_kernel_name(i), vmm_kernel_name(j)) != 0;
    }
    tap_u64((uint64_t)vmm_kernel_count(), VMM_KERNEL_NORM_FINISH + 1, "every number of vmm.h is a kernel");
    tap_ok(named, "each has a name and arguments");
    tap_ok(different, "no name occurs twice");
    tap_text(vmm_kernel_name(VMM_KERNEL_PATTERN_VERIFY), "pattern_verify", "numbers and names belong together");
    tap_u64(vmm_kernel_arguments(VMM_KERNEL_ALIAS_WRITE_READ), 5, "and arguments");
    unsigned multimem = 0;
    for (int i = -1; i <= vmm_kernel_count(); i++)
        multimem += kernels_is_multimem(i);
    tap_ok(multimem == 5 && kernels_is_multimem(VMM_KERNEL_NORM_ARRIVE) && !kernels_is_multimem(VMM_KERNEL_ATOMIC_ADD),
           "five of them use multimem instructions");
    tap_ok(!vmm_kernel_name(-1) && !vmm_kernel_name(vmm_kernel_count()), "others have no name");
    tap_ok(!vmm_kernel_arguments(-1) && !vmm_kernel_arguments(vmm_kernel_count()), "and no arguments");
}

static const struct {
    const char *what;
    vmm_kernel kernel;
    uint64_t args[KERNEL_MAX_ARGS];
    const char *noted; /* in the note of the refusal; NULL if the call is accepted */
} cases[] = {
    {"any address and size to fill", VMM_KERNEL_FILL, {1, 3, 255}, NULL},
    {"a value that is not a byte", VMM_KERNEL_FILL, {1, 3, 256}, "value of fill"},
    {"words", VMM_KERNEL_PATTERN_WRITE, {8, 16, 1}, NULL},
    {"words at an odd address", VMM_KERNEL_PATTERN_WRITE, {4, 16, 1}, "dst of pattern_write"},
    {"parts of words", VMM_KERNEL_PATTERN_WRITE, {8, 12, 1}, "n of pattern_write"},
    {"an odd place for the answer", VMM_KERNEL_SUM, {1, 1, 9}, "out of sum"},
    {"steps of one byte", VMM_KERNEL_STRIDE_READ, {1, 5, 1, 0}, NULL},
    {"steps of nothing", VMM_KERNEL_STRIDE_READ, {1, 5, 0, 0}, "stride of stride_read"},
    {"a byte anywhere", VMM_KERNEL_TOUCH, {7, 1, 1, 0}, NULL},
    {"eight bytes at a multiple of eight", VMM_KERNEL_TOUCH, {16, 0, 8, 0}, NULL},
    {"eight bytes at a multiple of four", VMM_KERNEL_TOUCH, {12, 0, 8, 0}, "width of touch"},
    {"four bytes at a multiple of four", VMM_KERNEL_TOUCH, {12, 0, 4, 0}, NULL},
    {"two bytes", VMM_KERNEL_TOUCH, {8, 0, 2, 0}, "width of touch"},
    {"no bytes", VMM_KERNEL_TOUCH, {8, 0, 0, 0}, "width of touch"},
    {"a third mode", VMM_KERNEL_TOUCH, {8, 2, 1, 0}, "mode of touch"},
    {"no look at the counter", VMM_KERNEL_NORM_FINISH, {8, 16, 8, 2, 0}, "tries of norm_finish"},
    {"a multicast address of no word", VMM_KERNEL_MULTIMEM_STORE, {4, 8, 8}, "mc of multimem_store"},
    {"a fence that is neither there nor not", VMM_KERNEL_ALIAS_WRITE_READ, {8, 16, 8, 2, 8}, "fence"},
};

static void test_arguments(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vmm_call_launch call =
            launch_of(cases[i].kernel, cases[i].args, vmm_kernel_arguments(cases[i].kernel));
        vmm_result result = kernels_check(&call);
        const vmm_detail *detail = vmm_last_detail();
        bool ok = cases[i].noted ? result == VMM_ERROR_INVALID_VALUE &&
                                       strcmp(detail->rule, "VMM-LAUNCH-ARGUMENTS") == 0 &&
                                       strstr(detail->note, cases[i].noted)
                                 : result == VMM_SUCCESS;
        if (!tap_ok(ok, "%s: %s", cases[i].what, cases[i].noted ? "refused" : "accepted"))
            tap_note("%s: %s", vmm_result_name(result), detail->note);
    }
}

/* The device code contains the names of the kernels verbatim. */
static void test_image(void)
{
    if (!kernels_image_size) {
        tap_skip("built without nvcc", "the device code has every kernel");
        return;
    }
    for (int k = 0; k < vmm_kernel_count(); k++) {
        const char *name = vmm_kernel_name(k);
        size_t length = strlen(name), at = 0;
        while (at + length < kernels_image_size &&
               (memcmp(kernels_image + at, name, length) != 0 || kernels_image[at + length] != 0))
            at++;
        tap_ok(at + length < kernels_image_size, "the device code has %s", name);
    }
}

int main(void)
{
    test_names();
    test_arguments();
    test_image();
    return tap_done();
}
