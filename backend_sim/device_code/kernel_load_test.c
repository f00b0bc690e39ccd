/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a program's own through vmm.h: what is loaded, how launches are checked and run, what faults and refusals report,
 * and that a failing allocation leaves nothing half done. */
#define _GNU_SOURCE /* memfd_create, for inject_rig.h */
#include "inject_rig.h"

#include <inttypes.h>

#include "kernels.h"
#include "registered.h"
#include "tap.h"
#include "vmm.h"

#define G (UINT64_C(2) << 20)
#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static char *device; /* device.ptx */
static vmm_system *sys;
static vmm_context context;
static vmm_deviceptr at;

static bool is_rule(const char *rule)
{
    return vmm_last_detail()->rule && strcmp(vmm_last_detail()->rule, rule) == 0;
}

static bool notes(const char *text)
{
    bool has = strstr(vmm_last_detail()->note, text) != NULL;
    if (!has)
        tap_note("the note is: %s", vmm_last_detail()->note);
    return has;
}

static vmm_result load_as(const char *ptx, const char *name, vmm_ptx_kernel shape, vmm_kernel *kernel)
{
    shape.ptx = ptx;
    shape.size = strlen(ptx);
    shape.name = name;
    return vmm_kernel_load(&shape, kernel);
}

static vmm_kernel loaded(const char *ptx, const char *name)
{
    vmm_kernel kernel = -1;
    tap_result(load_as(ptx, name, (vmm_ptx_kernel){.grid_y = 0}, &kernel), VMM_SUCCESS, "%s is loaded", name);
    return kernel;
}

/* A machine with 2 MiB at `at`. */
static void open_machine(const char *spec)
{
    vmm_device dev = 0;
    if (vmm_open(spec, &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS || vmm_device_get(sys, &dev, 0) != VMM_SUCCESS ||
        vmm_ctx_create(sys, &context, 0, dev) != VMM_SUCCESS || vmm_mem_alloc(sys, &at, G) != VMM_SUCCESS ||
        vmm_memset_d8(sys, at, 0, G) != VMM_SUCCESS)
        tap_bail("no machine %s", spec);
}

static uint32_t word(uint64_t index)
{
    uint32_t value = 0;
    vmm_memcpy_dtoh(sys, &value, at + 4 * index, sizeof value);
    return value;
}

static vmm_result launch(vmm_kernel kernel, unsigned grid, unsigned block, const uint64_t *args, uint64_t count)
{
    vmm_result result = vmm_launch(sys, kernel, grid, block, args, count, NULL);
    return result == VMM_SUCCESS ? vmm_ctx_synchronize(sys) : result;
}

static void test_runs(void)
{
    const vmm_kernel scale = loaded(device, "scale"), count = loaded(device, "count"), fill = loaded(device, "fill");
    tap_ok(scale != count && kernels_is_registered(scale), "each kernel has a different number");
    tap_u64((uint64_t)loaded(device, "scale"), (uint64_t)scale, "a second load finds the first");
    tap_text(vmm_kernel_name(scale), "scale", "its name");
    tap_u64(vmm_kernel_arguments(fill), 2, "how many arguments it takes");
    tap_result(launch(scale, 1, 8, (uint64_t[]){at}, 1), VMM_SUCCESS, "it runs, with its variables");
    tap_u64(word(3), 4000, "variables have their initial values, including pointers");
    tap_result(launch(count, 1, 1, (uint64_t[]){UINT64_MAX}, 1), VMM_SUCCESS, "a negative argument of 4 bytes");
    tap_result(launch(scale, 1, 8, (uint64_t[]){at}, 1), VMM_SUCCESS, "kernels of a module");
    tap_u64(word(0), 999, "share their variables");
    vmm_context second = NULL;
    tap_result(vmm_ctx_create(sys, &second, 0, 0), VMM_SUCCESS, "another context");
    tap_result(launch(scale, 1, 8, (uint64_t[]){at}, 1), VMM_SUCCESS, "in which the kernel is launched");
    tap_u64(word(0), 1000, "has its own copy");
    vmm_ctx_destroy(sys, second);
    vmm_ctx_set_current(sys, context);
    vmm_system *mine = sys;
    const vmm_context first = context;
    const vmm_deviceptr before = at;
    open_machine("sim:h100");
    tap_result(launch(scale, 1, 8, (uint64_t[]){at}, 1), VMM_SUCCESS, "another machine takes the same number");
    tap_u64(word(0), 1000, "and has its own copy");
    vmm_close(sys);
    sys = mine, context = first, at = before;
    vmm_ctx_set_current(sys, context);
    tap_result(launch(scale, 1, 8, (uint64_t[]){at}, 1), VMM_SUCCESS, "the first machine");
    tap_u64(word(0), 999, "keeps its own when the other one is closed");
}

#define SHAPES                                                                                                             \
    HEAD ".visible .entry shapes(.param .u64 out, .param .align 8 .b8 more[20]) {\n"                                       \
    ".reg .b32 %r<9>; .reg .b64 %d<4>;\n"                                                                                  \
    "ld.param.u64 %d1, [out]; ld.param.u32 %r1, [more+16]; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %nctaid.z;\n"              \
    "mov.u32 %r4, %ntid.y; mov.u32 %r5, %ntid.z; mov.u32 %r6, %dynamic_smem_size; mov.u32 %r7, %nsmid;\n"                  \
    "st.global.u32 [%d1], %r1; st.global.u32 [%d1+4], %r2; st.global.u32 [%d1+8], %r3; st.global.u32 [%d1+12], %r4;\n"     \
    "st.global.u32 [%d1+16], %r5; st.global.u32 [%d1+20], %r6; st.global.u32 [%d1+24], %r7; ret; }\n"

#define STATIC                                                                                                              \
    HEAD ".visible .entry most() { .reg .b32 %r1; .shared .b8 s[49148]; ld.shared.u32 %r1, [s]; ret; }\n"                  \
         ".visible .entry more() { .reg .b32 %r1; .shared .b8 t[60000]; ld.shared.u32 %r1, [t]; ret; }\n"

static void test_shapes(void)
{
    static const uint32_t want[] = {77, 2, 3, 4, 5, 128, 132};
    const vmm_ptx_kernel shape = {.grid_y = 2, .grid_z = 3, .block_y = 4, .block_z = 5, .shared_bytes = 128};
    static const struct {
        vmm_ptx_kernel shape;
        const char *note;
    } wrong[] = {
        {{.grid_y = 65536}, "grid_y is 65536, and 65535 at most"},
        {{.grid_z = 65536}, "grid_z is 65536, and 65535 at most"},
        {{.block_y = 1025}, "block_y is 1025, and 1024 at most"},
        {{.block_z = 65}, "block_z is 65, and 64 at most"},
        {{.shared_bytes = 49153}, "shared_bytes is 49153, and 49152 at most"},
    };
    vmm_kernel kernel = -1, other = -1;
    tap_result(load_as(SHAPES, "shapes", shape, &kernel), VMM_SUCCESS, "a kernel with dimensions and shared memory");
    tap_result(load_as(SHAPES, "shapes", (vmm_ptx_kernel){.grid_y = 1}, &other), VMM_SUCCESS, "the same with others");
    tap_ok(kernel != other, "is another kernel");
    tap_u64((uint64_t)loaded(SHAPES, "shapes"), (uint64_t)other, "0 is 1");
    tap_u64(vmm_kernel_arguments(kernel), 4, "a parameter of 20 bytes takes three words");
    tap_result(launch(kernel, 1, 1, (uint64_t[]){at, 5, 6, 77}, 4), VMM_SUCCESS, "it runs");
    for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++)
        tap_u64(word(i), want[i], "what the kernel sees, %u", i);
    tap_result(vmm_launch(sys, kernel, 1, 52, (uint64_t[]){at, 5, 6, 77}, 4, NULL), VMM_ERROR_INVALID_VALUE, "52x4x5 threads");
    tap_ok(is_rule("VMM-LAUNCH-DIMENSIONS") && notes("1040 threads, 52x4x5: a block of shapes has at most 1024"), "are too many");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        tap_result(load_as(SHAPES, "shapes", wrong[i].shape, &kernel), VMM_ERROR_INVALID_VALUE, "a dimension that no device has");
        tap_ok(is_rule("VMM-LAUNCH-DIMENSIONS") && notes(wrong[i].note), "is refused: %s", wrong[i].note);
    }
    tap_result(load_as(STATIC, "most", (vmm_ptx_kernel){.shared_bytes = 8}, &kernel), VMM_ERROR_INVALID_VALUE, "8 bytes beside 49148");
    tap_ok(notes("shared_bytes is 8, and 4 at most"), "are too many");
    tap_result(load_as(STATIC, "more", (vmm_ptx_kernel){.shared_bytes = 1}, &kernel), VMM_ERROR_INVALID_VALUE, "1 beside 60000");
    tap_ok(notes("shared_bytes is 1, and 0 at most"), "too");
}

#define TYPES HEAD ".visible .entry types(.param .u8 a, .param .u32 b, .param .u64 c) { ret; }\n"
#define WHOLE HEAD ".visible .entry whole() .reqntid 8, 2 { ret; }\n.visible .entry atmost() .maxntid 64 { ret; }\n"

static void test_arguments(void)
{
    const vmm_kernel types = loaded(TYPES, "types"), whole = loaded(WHOLE, "whole"), most = loaded(WHOLE, "atmost");
    static const struct {
        uint64_t args[3], count;
        const char *note; /* NULL: it runs */
    } calls[] = {
        {{255, UINT32_MAX, UINT64_MAX}, 3, NULL},
        {{UINT64_MAX, UINT64_MAX - 0x7fffffff, 0}, 3, NULL},
        {{256, 0, 0}, 3, "argument 1 of types, 0x100, does not fit into its 1 byte"},
        {{UINT64_MAX - 128, 0, 0}, 3, "argument 1 of types"},
        {{0, UINT64_C(1) << 32, 0}, 3, "argument 2 of types, 0x100000000, does not fit into its 4 bytes"},
        {{0, UINT64_MAX - 0x80000000, 0}, 3, "argument 2 of types"},
        {{0, 0, 0}, 2, "types takes 3 arguments"},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        vmm_result want = calls[i].note ? VMM_ERROR_INVALID_VALUE : VMM_SUCCESS;
        tap_result(launch(types, 1, 1, calls[i].args, calls[i].count), want, "arguments %zu", i);
        if (calls[i].note)
            tap_ok(is_rule("VMM-LAUNCH-ARGUMENTS") && notes(calls[i].note), "%s", calls[i].note);
    }
    tap_result(launch(types, 1, 1, NULL, 3), VMM_ERROR_INVALID_VALUE, "no arguments");
    tap_ok(is_rule("VMM-LAUNCH-ARGUMENTS"), "are refused");
    tap_result(launch(most, 1, 64, NULL, 0), VMM_SUCCESS, "as many threads as .maxntid says, and no arguments");
    tap_result(launch(most, 1, 65, NULL, 0), VMM_ERROR_INVALID_VALUE, "one more");
    tap_ok(is_rule("VMM-LAUNCH-DIMENSIONS") && notes("65 threads, 65x1x1: a block of atmost has at most 64"), "is refused");
    tap_result(launch(whole, 1, 8, NULL, 0), VMM_ERROR_INVALID_VALUE, "another block than .reqntid says");
    tap_ok(notes("whole requires blocks of 8x2x1 threads (.reqntid), not 8x1x1"), "is refused");
    vmm_kernel right = -1;
    load_as(WHOLE, "whole", (vmm_ptx_kernel){.block_y = 2}, &right);
    tap_result(launch(right, 1, 8, NULL, 0), VMM_SUCCESS, "a block of the right shape runs");
    tap_result(launch(right, 1, 4, NULL, 0), VMM_ERROR_INVALID_VALUE, "a block with another x is refused");
    load_as(WHOLE, "whole", (vmm_ptx_kernel){.block_y = 2, .block_z = 2}, &right);
    tap_result(launch(right, 1, 8, NULL, 0), VMM_ERROR_INVALID_VALUE, "and one with another z");
}

static void test_refusals(void)
{
    static const vmm_ptx_kernel none = {.grid_y = 0};
    vmm_kernel kernel = -1;
    tap_result(vmm_kernel_load(NULL, &kernel), VMM_ERROR_INVALID_VALUE, "no description");
    tap_ok(is_rule("VMM-CALL-NULL") && notes("what is NULL"), "is refused");
    tap_result(load_as(TYPES, "types", none, NULL), VMM_ERROR_INVALID_VALUE, "no output");
    tap_ok(notes("kernel is NULL"), "is refused");
    tap_result(vmm_kernel_load(&none, &kernel), VMM_ERROR_INVALID_VALUE, "no text");
    tap_ok(notes("ptx is NULL"), "is refused");
    tap_result(load_as(TYPES, NULL, none, &kernel), VMM_ERROR_INVALID_VALUE, "no name");
    tap_ok(notes("name is NULL"), "is refused");
    tap_result(load_as(HEAD ".entry k { ret }\n", "k", none, &kernel), VMM_ERROR_INVALID_PTX, "PTX with a mistake");
    tap_ok(is_rule("VMM-CODE-PTX") && notes("line 4, column "), "is refused with its place");
    tap_result(load_as(TYPES, "type", none, &kernel), VMM_ERROR_NOT_FOUND, "a missing kernel");
    tap_ok(is_rule("VMM-CODE-NAME") && notes("no kernel \"type\"; it has types"), "is refused, and the existing ones are listed");
    tap_result(load_as(HEAD, "k", none, &kernel), VMM_ERROR_NOT_FOUND, "a module without a kernel");
    tap_ok(notes("it has none"), "has none");
    load_as(device, "nothing", none, &kernel);
    tap_ok(notes("it has add, scale, "), "a long list is cut");
    tap_u64((uint64_t)kernel, UINT64_MAX, "no number was written");
    kernel = loaded(".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }\n", "k");
    tap_result(launch(kernel, 1, 1, NULL, 0), VMM_ERROR_INVALID_PTX, "PTX for a newer device");
    tap_ok(is_rule("VMM-CODE-PTX") && notes("the PTX of k is for sm_100, and the device is sm_90"), "is refused at the launch");
    kernel = loaded(device, "barriers");
    tap_result(launch(kernel, 1, 1, (uint64_t[]){0}, 1), VMM_ERROR_NOT_SUPPORTED, "an instruction that is not simulated");
    tap_ok(is_rule("VMM-LAUNCH-MISSING") && notes("barriers has an instruction that is not simulated: mbarrier"), "is named");
}

/* More parameters than a launch takes. */
static void test_many(void)
{
    enum { MANY = KERNELS_PTX_WORDS + 1, ROOM = 32 };
    char *text = calloc(MANY + 4, ROOM), *end = text;
    vmm_kernel kernel = -1;
    end += sprintf(end, HEAD ".visible .entry many(.param .u8 p");
    for (int i = 1; i < MANY; i++)
        end += sprintf(end, ", .param .u8 p%d", i);
    strcpy(end, ") { ret; }\n");
    tap_result(load_as(text, "many", (vmm_ptx_kernel){.grid_y = 0}, &kernel), VMM_ERROR_INVALID_VALUE, "4097 parameters");
    tap_ok(is_rule("VMM-LAUNCH-ARGUMENTS") && notes("many takes 4097 arguments, but the maximum is 4096"), "are too many");
    free(text);
}

/* As a node of a graph, and of a captured stream. */
static void test_graph(void)
{
    vmm_graph graph = NULL;
    vmm_graph_exec exec = NULL;
    vmm_graph_node node = NULL;
    const vmm_kernel fill = loaded(device, "fill"), bad = loaded(device, "barriers");
    const vmm_kernel_node_params no = {bad, 1, 1, (uint64_t[]){0}, 1}, p = {fill, 1, 2, (uint64_t[]){at + 64, 41}, 2};
    vmm_graph_create(sys, &graph, 0);
    tap_result(vmm_graph_add_kernel_node(sys, &node, graph, NULL, 0, &no), VMM_ERROR_NOT_SUPPORTED, "a node that cannot run is refused");
    tap_result(vmm_graph_add_kernel_node(sys, &node, graph, NULL, 0, &p), VMM_SUCCESS, "one that can is added");
    vmm_graph_instantiate(sys, &exec, graph, 0);
    vmm_graph_launch(sys, exec, NULL);
    tap_result(vmm_ctx_synchronize(sys), VMM_SUCCESS, "and runs");
    tap_u64(word(18), 42, "with its arguments");
    vmm_graph_exec_destroy(sys, exec);
    vmm_graph_destroy(sys, graph);
}

/* Each fault on its own machine, because it costs the device. */
static void test_faults(void)
{
    static const struct {
        const char *kernel;
        unsigned block;
        vmm_result result;
        const char *rule, *note;
    } faults[] = {
        {"fill", 4, VMM_ERROR_ILLEGAL_ADDRESS, "VMM-FAULT-ACCESS", "writing 8 bytes at 0x"},
        {"unaligned", 4, VMM_ERROR_MISALIGNED_ADDRESS, "VMM-FAULT-MISALIGNED", "by thread (0,0,0) and 3 more of block (0,0,0), device.cu:4"},
        {"hold", 1, VMM_ERROR_ASSERT, "VMM-FAULT-ASSERT", "*word == wanted"},
        {"wait_for", 1, VMM_ERROR_LAUNCH_TIMEOUT, "VMM-FAULT-TIMEOUT", "the limit of steps"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        vmm_close(sys);
        open_machine("sim:h100,kernel_steps=5000");
        const bool fill = i == 0;
        const vmm_kernel kernel = loaded(device, faults[i].kernel);
        tap_result(launch(kernel, 1, faults[i].block, (uint64_t[]){fill ? at + G : at, 3}, vmm_kernel_arguments(kernel)), faults[i].result,
                   "%s faults", faults[i].kernel);
        tap_ok(is_rule(faults[i].rule) && notes(faults[i].note), "%s: %s", faults[i].rule, faults[i].note);
    }
    vmm_close(sys);
    open_machine("sim:h100");
}

/* The memory next to a variable does not belong to the kernel. */
static void test_beside(void)
{
    static const char text[] = HEAD ".visible .global .align 4 .u32 v = 5;\n.visible .entry k(.param .u64 out, .param .u64 off) {\n"
                               ".reg .b64 %d<5>; .reg .b32 %r1; ld.param.u64 %d1, [out]; ld.param.u64 %d2, [off];\n"
                               "mov.u64 %d3, v; add.u64 %d3, %d3, %d2; ld.global.u32 %r1, [%d3]; st.global.u32 [%d1], %r1; ret; }\n";
    const vmm_kernel kernel = loaded(text, "k");
    tap_result(launch(kernel, 1, 1, (uint64_t[]){at, 0}, 2), VMM_SUCCESS, "a variable");
    tap_u64(word(0), 5, "is read");
    tap_result(launch(kernel, 1, 1, (uint64_t[]){at, 64}, 2), VMM_ERROR_ILLEGAL_ADDRESS, "what lies behind it is not the kernel's");
    vmm_close(sys);
    open_machine("sim:h100");
    static const char many[] = ".version 8.1\n.target sm_90\n.address_size 64\n.visible .global .u32 w = 5;\n"
                               ".visible .entry m(.param .u64 out) { .reg .b64 %d<3>; .reg .b32 %r1; ld.param.u64 %d1, [out];\n"
                               "ld.global.u32 %r1, [w]; multimem.red.global.add.u64 [%d1], 1; ret; }\n";
    tap_result(launch(loaded(many, "m"), 1, 1, &at, 1), VMM_ERROR_ILLEGAL_ADDRESS, "multimem where there is no team, beside a variable");
    tap_ok(is_rule("VMM-FAULT-MULTIMEM"), "is the fault of any such access");
    vmm_close(sys);
    open_machine("sim:h100");
}

/* Blocks on several host threads, or on one despite the option, because time passes for other threads there. */
static void test_threads(void)
{
    static const char text[] = HEAD ".visible .entry c(.param .u64 out) { .reg .b64 %d<3>; .reg .b32 %r<3>; ld.param.u64 %d1, [out];\n"
                               "mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2; add.u32 %r2, %r1, 5;\n"
                               "st.global.u32 [%d2], %r2; red.global.add.u32 [%d1+4096], 1; ret; }\n";
    static const char *const specs[] = {"sim:h100,kernel_threads=3", "sim:h100,kernel_threads=3,schedule=device"};
    for (size_t i = 0; i < 2; i++) {
        vmm_close(sys);
        open_machine(specs[i]);
        tap_result(launch(loaded(text, "c"), 1000, 1, &at, 1), VMM_SUCCESS, "a grid on %s", specs[i]);
        tap_ok(word(0) == 5 && word(999) == 1004 && word(1024) == 1000, "all its blocks have run");
    }
    vmm_close(sys);
    open_machine("sim:h100");
}

/* Every allocation of a load and of a launch fails once. */
static void test_no_memory(void)
{
    static const char text[] = HEAD ".visible .global .align 64 .u32 w = 9;\n.visible .entry j(.param .u64 out) { .reg .b64 %d1; .reg .b32 %r1;\n"
                               "ld.param.u64 %d1, [out]; ld.global.u32 %r1, [w]; st.global.u32 [%d1], %r1; ret; }\n";
    vmm_kernel kernel = -1;
    unsigned refused = 0;
    vmm_result result;
    do {
        inject_arm(refused + 1);
        result = load_as(text, "j", (vmm_ptx_kernel){.grid_y = 0}, &kernel);
        inject_disarm();
        refused += result == VMM_ERROR_OUT_OF_MEMORY;
    } while (result == VMM_ERROR_OUT_OF_MEMORY);
    tap_ok(result == VMM_SUCCESS && refused > 5, "a load is refused while memory is out, and then succeeds (%u)", refused);
    refused = 0;
    do { /* allocations for the variables (the record, the bytes, the addresses), and for running a kernel */
        tap_result(vmm_launch(sys, kernel, 1, 1, &at, 1, NULL), VMM_SUCCESS, "a launch");
        inject_arm(refused + 1);
        result = vmm_ctx_synchronize(sys);
        inject_disarm();
        refused += result == VMM_ERROR_OUT_OF_MEMORY;
    } while (result == VMM_ERROR_OUT_OF_MEMORY);
    tap_ok(result == VMM_SUCCESS && refused > 3, "memory that is out at the launch is reported (%u)", refused);
    tap_result(launch(kernel, 1, 1, &at, 1), VMM_SUCCESS, "then it runs");
    tap_u64(word(0), 9, "on whole variables");
}

int main(void)
{
    FILE *file = fopen("backend_sim/abi/testing/device.ptx", "r");
    device = calloc(1, 1 << 16);
    if (!file || fread(device, 1, (1 << 16) - 1, file) == 0)
        tap_bail("device.ptx cannot be read");
    fclose(file);
    open_machine("sim:h100");
    test_runs();
    test_shapes();
    test_arguments();
    test_refusals();
    test_many();
    test_graph();
    test_faults();
    test_beside();
    test_threads();
    test_no_memory();
    vmm_close(sys);
    free(device);
    return tap_done();
}
