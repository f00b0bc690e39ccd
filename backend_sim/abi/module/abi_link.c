/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points of the linker of device code. Modules of PTX are linked as text (PTX_LINKED), and the image that comes out is that text:
 *
 *     cuLinkCreate                         "// cuvmm: linked modules"
 *     cuLinkAddData(PTX, "kernel")         ".version 8.0 ... .extern .func twice ..."
 *     cuLinkAddData(fat binary, "twice")   ".version 8.0 ... .visible .func twice ..."    the PTX in it
 *     cuLinkComplete                       translates it, for what is wrong only with all of them together
 *
 * Of a library nothing is read: it stands for the device's runtime, and a name that is still missing is reported by cuLinkComplete.
 * Any other input without PTX is refused. */
#include "abi_code_parts.h"

#include <stdio.h>
#include <string.h>

#include "abi_jit.h"
#include "abi_parts.h"
#include "abi_ptx.h"
#include "heap.h"
#include "image.h"
#include "lifecycle.h"
#include "ptx_parse.h"

/* A link that is not destroyed. Its address is the handle; one thread at a time may use it. */
struct CUlinkState_st {
    char *text; /* the modules so far, and a zero */
    size_t size;
    bool complete, broken; /* broken: inputs do not fit together, and it cannot be completed */
    unsigned count;
    CUjit_option *options;
    void **values, **callers; /* as they were passed, and where the caller reads the outputs */
    struct CUlinkState_st *next;
};

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct CUlinkState_st *links;

static struct CUlinkState_st **place_of(const void *handle)
{
    struct CUlinkState_st **link = &links;
    while (*link && *link != handle)
        link = &(*link)->next;
    return link;
}

static void free_link(struct CUlinkState_st *link)
{
    heap.free(link->text);
    heap.free(link->options);
    heap.free(link->values);
    heap.free(link);
}

void abi_links_close(void)
{
    while (links) {
        struct CUlinkState_st *next = links->next;
        free_link(links);
        links = next;
    }
}

/* INVALID_HANDLE where it is none, or complete and to be changed. */
static CUresult find(const char *function, const void *handle, bool changes, struct CUlinkState_st **found)
{
    life_acquire(&lock);
    *found = *place_of(handle);
    life_release(&lock);
    if (!*found)
        return abi_refuse(VMM_RULE_CODE_HANDLE, function, "%p is no link, or was destroyed", handle);
    if (changes && (*found)->complete)
        return abi_refuse(VMM_RULE_LINK_COMPLETE, function, "the link %p", handle);
    return CUDA_SUCCESS;
}

/* ---- text ---- */

static bool append(struct CUlinkState_st *link, const char *text, size_t size)
{
    char *longer = heap.realloc(link->text, link->size + size + 2);
    if (!longer)
        return false;
    memcpy(longer + link->size, text, size);
    link->text = longer;
    link->size += size;
    link->text[link->size++] = '\n';
    link->text[link->size] = '\0';
    return true;
}

/* The outputs in the caller's options. The size of a buffer is what was passed, not what an earlier call wrote there. */
static CUresult answered(struct CUlinkState_st *link, CUresult result, const char *log)
{
    if (!link->count)
        return result;
    void **values = link->values + link->count; /* the second half */
    memcpy(values, link->values, link->count * sizeof *values);
    abi_jit_answered(result, log, link->options, values, link->count);
    memcpy(link->callers, values, link->count * sizeof *values);
    return result;
}

static CUresult refuse_text(struct CUlinkState_st *link, enum vmm_rule_id rule, const char *function, const char *name,
                            const struct ptx_error *error)
{
    char why[336], log[352];
    if (error->no_memory)
        return abi_no_memory(function);
    if (error->place.line)
        snprintf(why, sizeof why, "%.60s, line %u, column %u: %s", name, error->place.line, error->place.column, error->text);
    else
        snprintf(why, sizeof why, "%.60s: %s", name, error->text);
    snprintf(log, sizeof log, "error: %s\n", why);
    return answered(link, abi_refuse(rule, function, "%.200s", why), log);
}

static bool parses(const char *text, size_t size, const struct abi_ptx_device *device, struct ptx_error *error)
{
    struct ptx_context context;
    ptx_context_open(&context, error);
    context.newest = device->version;
    const struct ptx_module *module = ptx_parse(&context, (struct ptx_text){text, (uint32_t)size});
    const uint32_t capability = module ? module->capability : 0;
    ptx_context_close(&context);
    if (capability > (uint32_t)device->capability)
        snprintf(error->text, sizeof error->text, "the PTX is for sm_%u, and the device is sm_%d", capability, device->capability);
    return module && capability <= (uint32_t)device->capability;
}

/* What is wrong with it alone, and then what does not fit what is there. */
static CUresult add_text(vmm_system *sys, struct CUlinkState_st *link, const char *function, const char *name, const char *text, size_t size)
{
    const struct abi_ptx_device device = abi_ptx_device(sys);
    struct ptx_error error;
    const size_t before = link->size;
    if (!parses(text, size, &device, &error))
        return refuse_text(link, error.too_new ? VMM_RULE_CODE_VERSION : VMM_RULE_CODE_PTX, function, name, &error);
    if (!append(link, text, size))
        return abi_no_memory(function);
    if (parses(link->text, link->size, &device, &error))
        return answered(link, CUDA_SUCCESS, "");
    link->size = before;
    link->text[before] = '\0';
    link->broken = !error.no_memory;
    return refuse_text(link, VMM_RULE_LINK_SYMBOL, function, name, &error);
}

/* The PTX of any image that has some. */
static CUresult add_image(vmm_system *sys, struct CUlinkState_st *link, const char *function, const char *name, const void *data, size_t size)
{
    size_t length = 0;
    struct image *image = image_new(data, size, abi_capability(sys));
    int cancel = life_no_cancel(); /* loading a library is a cancellation point */
    bool read = image && image_read(image);
    life_may_cancel(cancel);
    const char *text = read ? image_ptx(image, &length) : NULL;
    CUresult result;
    if (!read)
        result = abi_no_memory(function);
    else if (!text)
        result = abi_refuse(VMM_RULE_LAUNCH_MISSING, function, "%.60s has no PTX that could be linked: %.100s", name,
                            image_why(image)[0] ? image_why(image) : "it is machine code");
    else
        result = add_text(sys, link, function, name, text, length);
    image_free(image);
    return result;
}

/* What programs call by name of the device's runtime: waiting for the whole grid, as sync.h of the toolkit's cooperative groups does. A
 * launch that is not cooperative has no handle of it. */
static const char device_runtime[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".weak .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p;\n"
    "ld.param.u32 %r1, [scope]; setp.eq.u32 %p, %r1, 1; mov.u32 %r2, %envreg1; mov.u32 %r3, %envreg2; mov.b64 %rd1, {%r3, %r2};\n"
    "selp.b64 %rd1, %rd1, 0, %p; st.param.b64 [result], %rd1; ret;\n}\n"
    ".weak .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<2>; .reg .pred %p<4>;\n"
    "ld.param.u64 %rd1, [handle]; setp.eq.u64 %p1, %rd1, 0; mov.u32 %r1, 1; @%p1 bra DONE;\n"
    "barrier.sync 0; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; or.b32 %r1, %r1, %r2; or.b32 %r1, %r1, %r3;\n"
    "setp.ne.u32 %p2, %r1, 0; @%p2 bra MEET;\n"
    "mov.u32 %r1, %nctaid.x; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %nctaid.z; mul.lo.u32 %r1, %r1, %r2; mul.lo.u32 %r1, %r1, %r3;\n"
    "sub.u32 %r1, 0x80000001, %r1; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y; or.b32 %r2, %r2, %r3; mov.u32 %r3, %ctaid.z;\n"
    "or.b32 %r2, %r2, %r3; setp.eq.u32 %p3, %r2, 0; selp.b32 %r1, %r1, 1, %p3; atom.add.release.gpu.u32 %r4, [%rd1+4], %r1;\n"
    "LOOK: ld.acquire.gpu.u32 %r5, [%rd1+4]; xor.b32 %r6, %r4, %r5; setp.ge.s32 %p3, %r6, 0; @%p3 bra LOOK;\n"
    "MEET: barrier.sync 0; mov.u32 %r1, 0;\n"
    "DONE: st.param.b32 [result], %r1; ret;\n}\n";

/* ---- entry points ---- */

static bool take_options(struct CUlinkState_st *link, unsigned count, const CUjit_option *options, void **values)
{
    link->count = options && values ? count : 0;
    if (!link->count)
        return true;
    link->options = heap.malloc(count * sizeof *options);
    link->values = heap.malloc(2 * count * sizeof *values);
    if (!link->options || !link->values)
        return false;
    memcpy(link->options, options, count * sizeof *options);
    memcpy(link->values, values, count * sizeof *values);
    link->callers = values;
    return true;
}

/* What a link of no inputs is. */
static const char nothing[] = PTX_LINKED ".version 1.0\n.target sm_10\n.address_size 64";

static CUresult create(vmm_system *sys, unsigned count, const CUjit_option *options, void **values, CUlinkState *out)
{
    static const char function[] = "cuLinkCreate";
    uint64_t current;
    struct abi_query_context context;
    if (!out)
        return abi_null(function, "stateOut");
    CUresult result = abi_current(sys, function, &current, &context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUlinkState_st *link = heap.calloc(1, sizeof *link);
    if (!link || !take_options(link, count, options, values) || !append(link, nothing, sizeof nothing - 1)) {
        if (link)
            free_link(link);
        return abi_no_memory(function);
    }
    life_acquire(&lock);
    link->next = links;
    links = link;
    life_release(&lock);
    *out = link;
    return CUDA_SUCCESS;
}

CUresult cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut)
{
    ABI_INITIALISED(create(sys, numOptions, options, optionValues, stateOut));
}

static CUresult add(vmm_system *sys, struct CUlinkState_st *link, const char *function, CUjitInputType type, const void *data, size_t size,
                    const char *name)
{
    name = name ? name : "an input";
    if (!data || !size)
        return abi_null(function, "data");
    if (type == CU_JIT_INPUT_PTX)
        return add_text(sys, link, function, name, data, strnlen(data, size));
    if (type == CU_JIT_INPUT_LIBRARY)
        return add_text(sys, link, function, "the device's runtime", device_runtime, sizeof device_runtime - 1);
    return add_image(sys, link, function, name, data, size);
}

static CUresult add_data(vmm_system *sys, const void *state, CUjitInputType type, const void *data, size_t size, const char *name)
{
    static const char function[] = "cuLinkAddData";
    struct CUlinkState_st *link;
    CUresult result = find(function, state, true, &link);
    return result == CUDA_SUCCESS ? add(sys, link, function, type, data, size, name) : result;
}

/* Options of an input are for a compiler that makes machine code. */
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name, unsigned int numOptions,
                       CUjit_option *options, void **optionValues)
{
    (void)numOptions, (void)options, (void)optionValues;
    ABI_INITIALISED(add_data(sys, state, type, data, size, name));
}

static CUresult add_file(vmm_system *sys, const void *state, CUjitInputType type, const char *path)
{
    static const char function[] = "cuLinkAddFile";
    struct CUlinkState_st *link;
    struct abi_code_bytes code = {.at = NULL};
    CUresult result = find(function, state, true, &link);
    if (result == CUDA_SUCCESS)
        result = abi_code_take(function, path, &code);
    if (result == CUDA_SUCCESS)
        result = add(sys, link, function, type, code.at, code.size, path);
    heap.free(code.bytes);
    return result;
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions, CUjit_option *options,
                       void **optionValues)
{
    (void)numOptions, (void)options, (void)optionValues;
    ABI_INITIALISED(add_file(sys, state, type, path));
}

/* The most registers that a thread may have; 0: it was not said. */
static unsigned registers_of(const struct CUlinkState_st *link)
{
    unsigned most = 0;
    for (unsigned i = 0; i < link->count; i++)
        if (link->options[i] == CU_JIT_MAX_REGISTERS)
            most = (unsigned)(uintptr_t)link->values[i];
    return most;
}

/* What the options say of all modules goes behind the last one. */
static bool append_options(struct CUlinkState_st *link)
{
    char text[80];
    const unsigned registers = registers_of(link);
    if (!registers || link->complete)
        return true;
    int length = snprintf(text, sizeof text, ".pragma \"" PTX_LINKED_REGISTERS "%u\";", registers);
    return append(link, text, (size_t)length);
}

/* A variable that code uses and no input defines; NULL: there is none. */
static const char *undefined_in(const struct ptx_program *program)
{
    for (uint32_t i = 0; i < program->routine_count; i++)
        for (uint32_t k = 0; k < program->routines[i].reference_count; k++) {
            const struct ptx_reference *r = &program->routines[i].references[k];
            if (r->kind == PTX_R_VARIABLE && program->globals[r->number].is_extern)
                return program->globals[r->number].name;
        }
    return NULL;
}

/* As at its load, for what is wrong only with all inputs together. */
static bool translate(vmm_system *sys, const struct CUlinkState_st *link, struct ptx_error *error)
{
    const struct ptx_options options = {.let_unsupported_stay = true, .newest = abi_ptx_device(sys).version};
    struct ptx_program *program = ptx_program_new(link->text, link->size, &options, error);
    const char *undefined = program ? undefined_in(program) : NULL;
    if (undefined)
        snprintf(error->text, sizeof error->text, "%.100s is used, and no module defines it", undefined);
    ptx_program_free(program);
    return program && !undefined;
}

static CUresult complete(vmm_system *sys, const void *state, void **image, size_t *size)
{
    static const char function[] = "cuLinkComplete";
    struct CUlinkState_st *link;
    struct ptx_error error = {.no_memory = false};
    if (!image)
        return abi_null(function, "cubinOut");
    CUresult result = find(function, state, false, &link);
    if (result != CUDA_SUCCESS)
        return result;
    if (link->broken)
        return abi_refuse(VMM_RULE_LINK_SYMBOL, function, "the link %p has inputs that do not fit together", state);
    if (!translate(sys, link, &error))
        return refuse_text(link, VMM_RULE_LINK_SYMBOL, function, "what is linked", &error);
    if (!append_options(link))
        return abi_no_memory(function);
    link->complete = true;
    *image = link->text;
    if (size)
        *size = link->size + 1;
    return answered(link, CUDA_SUCCESS, "");
}

CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    ABI_INITIALISED(complete(sys, state, cubinOut, sizeOut));
}

static CUresult destroy(const void *state)
{
    life_acquire(&lock);
    struct CUlinkState_st **place = place_of(state), *link = *place;
    if (link)
        *place = link->next;
    life_release(&lock);
    if (!link)
        return abi_refuse(VMM_RULE_CODE_HANDLE, "cuLinkDestroy", "%p is no link, or was destroyed", state);
    free_link(link);
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state)
{
    ABI_INITIALISED(((void)sys, destroy(state)));
}
