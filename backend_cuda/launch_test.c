/* SPDX-License-Identifier: Apache-2.0 */
/* A launch on the driver: the code is loaded once, each kernel looked up once by its name, and the driver gets the
 * dimensions, the stream and pointers to the arguments. Where the driver cannot load code, that is said. */
#include "fake/rig.h"
#include "kernels.h"

static bool is_rule(const char *rule)
{
    return vmm_last_detail()->rule && strcmp(vmm_last_detail()->rule, rule) == 0;
}

/* In which order the driver's functions are reached: a failing one shows where a launch has got to. */
static void test_loading(struct rig *rig, vmm_system *sys)
{
    const uint64_t args[] = {0x1000, 16, 7};
    rig_reset(rig);
    rig->driver->result = 3;
    tap_result(vmm_launch(sys, VMM_KERNEL_FILL, 0, 0, NULL, 0, NULL), VMM_ERROR_NOT_INITIALIZED,
               "a driver that is not initialised says so first");
    tap_u64(rig->driver->calls, 1, "and is asked for nothing else");
    rig->driver->result = 0;
    tap_result(vmm_launch(sys, VMM_KERNEL_FILL, 2, 0, args, 3, NULL), VMM_ERROR_INVALID_VALUE, "wrong dimensions");
    tap_ok(is_rule("VMM-LAUNCH-DIMENSIONS"), "by the rule that holds everywhere");
    rig_reset(rig);
    tap_result(vmm_launch(sys, VMM_KERNEL_FILL, 2, 3, args, 3, (vmm_stream)(uintptr_t)0x77), VMM_SUCCESS, "a launch");
    tap_u64(rig->driver->calls, 4, "initialised? load, look up, launch");
    tap_text(rig->driver->symbol, "cuLaunchKernel", "the last of them launches");
    const uint64_t *at = rig->driver->argument;
    tap_ok(strcmp((const char *)(uintptr_t)at[0], "fill") == 0, "the kernel of that name");
    tap_ok(at[1] == 2 && at[2] == 1 && at[3] == 1, "with that many blocks");
    tap_ok(at[4] == 3 && at[5] == 1 && at[6] == 1 && at[7] == 0, "of that many threads");
    tap_ok(at[8] == 0x77 && at[9] == 0x1000 && at[10] == 16, "on the stream, with the arguments");
    rig_reset(rig);
    vmm_launch(sys, VMM_KERNEL_FILL, 1, 1, args, 3, NULL);
    tap_u64(rig->driver->calls, 2, "the second launch needs neither");
    rig_reset(rig);
    vmm_launch(sys, VMM_KERNEL_PATTERN_WRITE, 1, 1, args, 3, NULL);
    tap_u64(rig->driver->calls, 3, "another kernel is looked up");
    tap_text((const char *)(uintptr_t)rig->driver->argument[0], "pattern_write", "by its own name");
    tap_u64(vmm_last_detail()->severity, VMM_SEVERITY_NONE, "nothing is said of a launch that succeeds");
}

static void test_new_driver(struct rig *rig)
{
    vmm_system *sys;
    if (vmm_open(rig->spec, &sys) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    test_loading(rig, sys);
    rig_reset(rig);
    vmm_close(sys);
    tap_text(rig->driver->symbol, "cuLibraryUnload", "closing lets the code go");
    if (vmm_open(rig->spec, &sys) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    rig_reset(rig);
    vmm_close(sys);
    tap_u64(rig->driver->calls, 0, "and calls nothing where there was none");
}

static void test_unavailable(const struct rig *rig, const char *note)
{
    vmm_system *sys;
    const uint64_t args[] = {0x1000, 16, 7};
    if (vmm_open(rig->spec, &sys) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    tap_result(vmm_launch(sys, VMM_KERNEL_FILL, 1, 1, args, 3, NULL), VMM_ERROR_NOT_SUPPORTED, "a launch is refused");
    tap_ok(is_rule("VMM-LAUNCH-UNAVAILABLE"), "by its rule");
    tap_ok(strstr(vmm_last_detail()->note, note), "for the right reason: %s", vmm_last_detail()->note);
    vmm_close(sys);
}

int main(int argc, char **argv)
{
    struct rig rig;
    (void)argc;
    rig_load(&rig, argv[0], "libcuda.so");
    if (kernels_image_size)
        test_new_driver(&rig);
    else
        test_unavailable(&rig, "");
    rig_load(&rig, argv[0], "libcuda-old.so");
    test_unavailable(&rig, kernels_image_size ? "12.0" : "");
    return tap_done();
}
