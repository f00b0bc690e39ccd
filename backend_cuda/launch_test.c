/* SPDX-License-Identifier: Apache-2.0 */
/* A launch on the driver: the code is loaded once, each kernel is looked up once by name, and the driver gets the dimensions, the
 * stream and pointers to the arguments. A driver that cannot load code is reported. */
#include "fake/rig.h"
#include "kernels.h"

static bool is_rule(const char *rule)
{
    return vmm_last_detail()->rule && strcmp(vmm_last_detail()->rule, rule) == 0;
}

/* The order in which the driver's functions are called; a failing one shows how far a launch got. */
static void test_loading(struct rig *rig, vmm_system *sys)
{
    const uint64_t args[] = {0x1000, 16, 7};
    rig_reset(rig);
    rig->driver->result = 3;
    tap_result(vmm_launch(sys, VMM_KERNEL_FILL, 0, 0, NULL, 0, NULL), VMM_ERROR_NOT_INITIALIZED,
               "without initialisation, that is reported first");
    tap_u64(rig->driver->calls, 1, "the driver gets no other call");
    rig->driver->result = 0;
    tap_result(vmm_launch(sys, VMM_KERNEL_FILL, 2, 0, args, 3, NULL), VMM_ERROR_INVALID_VALUE, "wrong dimensions");
    tap_ok(is_rule("VMM-LAUNCH-DIMENSIONS"), "the launch is refused by the common rule");
    rig_reset(rig);
    tap_result(vmm_launch(sys, VMM_KERNEL_FILL, 2, 3, args, 3, (vmm_stream)(uintptr_t)0x77), VMM_SUCCESS, "a launch");
    tap_u64(rig->driver->calls, 4, "four driver calls: the query for initialisation, load, look up, launch");
    tap_text(rig->driver->symbol, "cuLaunchKernel", "the last call launches");
    const uint64_t *at = rig->driver->argument;
    tap_ok(strcmp((const char *)(uintptr_t)at[0], "fill") == 0, "the kernel has the right name");
    tap_ok(at[1] == 2 && at[2] == 1 && at[3] == 1, "the number of blocks");
    tap_ok(at[4] == 3 && at[5] == 1 && at[6] == 1 && at[7] == 0, "the number of threads per block");
    tap_ok(at[8] == 0x77 && at[9] == 0x1000 && at[10] == 16, "the stream and the arguments");
    rig_reset(rig);
    vmm_launch(sys, VMM_KERNEL_FILL, 1, 1, args, 3, NULL);
    tap_u64(rig->driver->calls, 2, "a second launch neither loads nor looks up");
    rig_reset(rig);
    vmm_launch(sys, VMM_KERNEL_PATTERN_WRITE, 1, 1, args, 3, NULL);
    tap_u64(rig->driver->calls, 3, "another kernel is looked up");
    tap_text((const char *)(uintptr_t)rig->driver->argument[0], "pattern_write", "the second kernel has its own name");
    tap_u64(vmm_last_detail()->severity, VMM_SEVERITY_NONE, "a successful launch leaves no message");
}

/* A kernel as a graph node takes the same path as a launch. */
static void test_node(struct rig *rig, vmm_system *sys)
{
    const uint64_t args[] = {0x1000, 16, 7};
    vmm_kernel_node_params p = {VMM_KERNEL_FILL, 2, 3, args, 3};
    vmm_graph_node node = NULL;
    const vmm_graph graph = (vmm_graph)(uintptr_t)0x55;
    rig_reset(rig);
    rig->driver->result = 3;
    tap_result(vmm_graph_add_kernel_node(sys, &node, graph, NULL, 0, &p), VMM_ERROR_NOT_INITIALIZED,
               "a node, too, needs initialisation first");
    rig->driver->result = 0;
    tap_result(vmm_graph_add_kernel_node(sys, &node, graph, NULL, 0, NULL), VMM_ERROR_INVALID_VALUE, "no parameters");
    tap_ok(is_rule("VMM-GRAPH-NULL"), "by the common rule");
    const uint64_t store[] = {8, 8, 8};
    p = (vmm_kernel_node_params){VMM_KERNEL_MULTIMEM_STORE, 1, 1, store, 3};
    tap_result(vmm_graph_add_kernel_node(sys, &node, graph, NULL, 0, &p), VMM_ERROR_NOT_SUPPORTED, "multicast stays off in graphs");
    p = (vmm_kernel_node_params){VMM_KERNEL_FILL, 0, 3, args, 3};
    tap_result(vmm_graph_add_kernel_node(sys, &node, graph, NULL, 0, &p), VMM_ERROR_INVALID_VALUE, "wrong dimensions");
    tap_ok(is_rule("VMM-LAUNCH-DIMENSIONS"), "by the rule of launches");
    p.grid_dim = 2;
    rig_reset(rig);
    tap_result(vmm_graph_add_kernel_node(sys, &node, graph, NULL, 0, &p), VMM_SUCCESS, "a node with a kernel");
    tap_text(rig->driver->symbol, "cuGraphAddKernelNode_v2", "the last call adds it");
    const uint64_t *at = rig->driver->argument;
    tap_ok(at[0] == 0x55 && at[10] == 0, "to the graph, after nothing");
    tap_ok(at[2] == 2 && at[3] == 1 && at[4] == 1 && at[5] == 3 && at[6] == 1 && at[7] == 1, "with its dimensions");
    tap_ok(strcmp((const char *)(uintptr_t)at[1], "fill") == 0 && at[8] == 0x1000 && at[9] == 16, "its kernel and arguments");
}

/* Another kernel for a node is passed to the driver in the same way. */
static void test_other_kernel(struct rig *rig, vmm_system *sys)
{
    const uint64_t args[] = {0x1000, 16, 7};
    vmm_kernel_node_params p = {VMM_KERNEL_FILL, 2, 3, args, 2};
    const vmm_graph_node node = (vmm_graph_node)(uintptr_t)0x66;
    const vmm_graph_exec exec = (vmm_graph_exec)(uintptr_t)0x77;
    const uint64_t *at = rig->driver->argument;
    tap_result(vmm_graph_kernel_node_set_params(sys, node, NULL), VMM_ERROR_INVALID_VALUE, "no parameters");
    tap_result(vmm_graph_exec_kernel_node_set_params(sys, exec, node, &p), VMM_ERROR_INVALID_VALUE, "too few arguments");
    p.count = 3;
    rig_reset(rig);
    tap_result(vmm_graph_kernel_node_set_params(sys, node, &p), VMM_SUCCESS, "another kernel for a node");
    tap_text(rig->driver->symbol, "cuGraphKernelNodeSetParams_v2", "by the driver's call");
    tap_ok(at[0] == 0x66 && strcmp((const char *)(uintptr_t)at[1], "fill") == 0 && at[2] == 2 && at[3] == 0x1000, "the node's kernel");
    tap_result(vmm_graph_exec_kernel_node_set_params(sys, exec, node, &p), VMM_SUCCESS, "and for one of an instance");
    tap_text(rig->driver->symbol, "cuGraphExecKernelNodeSetParams_v2", "by its call");
    tap_ok(at[0] == 0x77 && at[1] == 0x66 && at[3] == 2 && at[4] == 0x1000, "the instance's node");
}

/* A kernel of PTX: its text is loaded once, with all its kernels; dimensions and parameters come from where it was loaded. */
static void test_ptx(struct rig *rig, vmm_system *sys)
{
    static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                               ".visible .entry one(.param .align 8 .b8 a[12], .param .u32 b) { ret; }\n"
                               ".visible .entry two(.param .u64 a, .param .u8 b) { ret; }\n";
    const vmm_ptx_kernel first = {.ptx = text, .size = sizeof text - 1, .name = "one", .grid_y = 4, .grid_z = 5, .block_y = 6,
                                  .block_z = 7, .shared_bytes = 99},
                         second = {.ptx = text, .size = sizeof text - 1, .name = "two"};
    const uint64_t args[] = {11, 12, 13}, *at = rig->driver->argument;
    vmm_graph_node node = NULL;
    vmm_kernel one = -1, two = -1;
    tap_result(vmm_kernel_load(&first, &one), VMM_SUCCESS, "a kernel of PTX");
    tap_result(vmm_kernel_load(&second, &two), VMM_SUCCESS, "another one of the same text");
    rig_reset(rig);
    tap_result(vmm_launch(sys, one, 2, 3, args, 3, (vmm_stream)(uintptr_t)0x77), VMM_SUCCESS, "a launch");
    tap_u64(rig->driver->calls, 4, "loads the text, looks up and launches");
    tap_text((const char *)(uintptr_t)at[0], "one", "the kernel, by its name");
    tap_ok(at[1] == 2 && at[2] == 4 && at[3] == 5 && at[4] == 3 && at[5] == 6 && at[6] == 7 && at[7] == 99, "with its dimensions");
    tap_ok(at[8] == 0x77 && at[9] == 11 && at[10] == 13, "a parameter of 12 bytes is two words");
    rig_reset(rig);
    tap_result(vmm_launch(sys, two, 1, 1, args, 2, NULL), VMM_SUCCESS, "a launch of the other one");
    tap_u64(rig->driver->calls, 3, "does not load the text again");
    rig_reset(rig);
    vmm_launch(sys, one, 2, 3, args, 3, NULL);
    tap_u64(rig->driver->calls, 2, "a second launch neither loads nor looks up");
    tap_result(vmm_launch(sys, two, 1, 1, (uint64_t[]){1, 256}, 2, NULL), VMM_ERROR_INVALID_VALUE, "a value that does not fit");
    tap_ok(is_rule("VMM-LAUNCH-ARGUMENTS"), "is refused by the common rule");
    const vmm_kernel_node_params p = {two, 1, 1, args, 2};
    tap_result(vmm_graph_add_kernel_node(sys, &node, (vmm_graph)(uintptr_t)0x55, NULL, 0, &p), VMM_SUCCESS, "and as a node");
    tap_ok(strcmp((const char *)(uintptr_t)at[1], "two") == 0 && at[8] == 11 && at[9] == 12, "the kernel and its arguments");
}

/* If the driver refuses the text, it is tried again. */
static void test_ptx_refused(struct rig *rig)
{
    static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b) { ret; }\n";
    const uint64_t args[] = {1, 2};
    vmm_system *sys;
    vmm_kernel kernel = -1;
    if (vmm_open(rig->spec, &sys) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    vmm_kernel_load(&(vmm_ptx_kernel){.ptx = text, .size = sizeof text - 1, .name = "k"}, &kernel);
    rig_reset(rig);
    rig->driver->refuse = "cuLibraryLoadData";
    tap_result(vmm_launch(sys, kernel, 1, 1, args, 2, NULL), VMM_ERROR_INVALID_PTX, "a driver that does not take the text");
    rig->driver->refuse = "cuLibraryGetKernel";
    tap_result(vmm_launch(sys, kernel, 1, 1, args, 2, NULL), VMM_ERROR_INVALID_PTX, "or does not find the kernel");
    rig->driver->refuse = NULL;
    tap_result(vmm_launch(sys, kernel, 1, 1, args, 2, NULL), VMM_SUCCESS, "is asked again at the next launch");
    vmm_close(sys);
}

static void test_new_driver(struct rig *rig)
{
    vmm_system *sys;
    if (vmm_open(rig->spec, &sys) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    test_loading(rig, sys);
    test_node(rig, sys);
    test_other_kernel(rig, sys);
    test_ptx(rig, sys);
    rig_reset(rig);
    vmm_close(sys);
    tap_u64(rig->driver->calls, 2, "closing unloads both texts");
    tap_text(rig->driver->symbol, "cuLibraryUnload", "closing unloads the code");
    if (vmm_open(rig->spec, &sys) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    rig_reset(rig);
    vmm_close(sys);
    tap_u64(rig->driver->calls, 0, "closing makes no call when nothing was loaded");
}

static void test_unavailable(const struct rig *rig, const char *note)
{
    vmm_system *sys;
    const uint64_t args[] = {0x1000, 16, 7};
    if (vmm_open(rig->spec, &sys) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    tap_result(vmm_launch(sys, VMM_KERNEL_FILL, 1, 1, args, 3, NULL), VMM_ERROR_NOT_SUPPORTED, "a launch is refused");
    tap_ok(is_rule("VMM-LAUNCH-UNAVAILABLE"), "the refusal has its rule");
    tap_ok(strstr(vmm_last_detail()->note, note), "the refusal has the right reason: %s", vmm_last_detail()->note);
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
    test_ptx_refused(&rig);
    rig_load(&rig, argv[0], "libcuda-old.so");
    test_unavailable(&rig, kernels_image_size ? "12.0" : "");
    return tap_done();
}
