/* SPDX-License-Identifier: Apache-2.0 */
/* The real driver as a backend: each call goes to the driver unchanged. The driver keeps all state, so several systems in one
 * process share handles, addresses and contexts. */
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "cuda_log.h"
#include "cuda_refusal.h"
#include "heap.h"
#include "launch.h"
#include "os_environment.h"

struct cuda_backend {
    struct vmm_backend backend; /* must be first */
    struct cuda_entries entries;
    struct cuda_words words;
    struct cuda_log log;
    struct cuda_kernels kernels;
    bool multicast; /* set if the user has enabled multicast: see closed() */
};

/* The driver's log may have a line about a successful call; only refusals are explained. */
static inline vmm_result finish(const struct cuda_backend *cuda, struct cuda_ear *ear, vmm_result result)
{
    ear->log = NULL;
    if (result != VMM_SUCCESS)
        return cuda_refused(&cuda->words, result);
    if (ear->heard)
        vmm_detail_here()->note[0] = '\0';
    return result;
}

/* Is the driver initialised? Like every call, one that is refused without the driver checks this first. */
static vmm_result initialised(const struct cuda_backend *cuda)
{
    int count = 0;
    struct cuda_ear *ear = cuda_log_listen(&cuda->log);
    return finish(cuda, ear, cuda->entries.device_get_count(&count));
}

/* A call that is newer than the driver. */
static vmm_result too_old(const struct cuda_backend *cuda, int version)
{
    vmm_result result = initialised(cuda);
    if (result != VMM_SUCCESS)
        return result;
    cuda_refused(&cuda->words, VMM_ERROR_NOT_SUPPORTED);
    vmm_detail_note("this driver is older than CUDA %d.%d, which introduced the call; update it", version / 1000,
                    version % 1000 / 10);
    return VMM_ERROR_NOT_SUPPORTED;
}

/* Multicast was never tried on a driver, and a mistake can stop the switch between the devices for all users. So it is off unless
 * the environment enables it; until then neither its calls nor its kernels reach the driver. */
static vmm_result refuse_closed(const struct cuda_backend *cuda)
{
    cuda_refused(&cuda->words, VMM_ERROR_NOT_SUPPORTED);
    vmm_detail_note("multicast is off on a driver unless CUVMM_REAL_MULTICAST=1 is set: it has never been tried there");
    return VMM_ERROR_NOT_SUPPORTED;
}

static vmm_result closed(const struct cuda_backend *cuda)
{
    vmm_result result = initialised(cuda);
    return result == VMM_SUCCESS ? refuse_closed(cuda) : result;
}

static bool opened(void)
{
    const char *value = os_environment("CUVMM_REAL_MULTICAST");
    return value && strcmp(value, "1") == 0;
}

#define HANDLER_OWN(name, version, traits) /* call_launch */
#define HANDLER_SAME(name, version, traits)                                                         \
    static vmm_result call_##name(struct vmm_backend *self, struct vmm_call *head)                  \
    {                                                                                               \
        const struct cuda_backend *cuda = (const struct cuda_backend *)self;                        \
        const struct vmm_call_##name *call = (const struct vmm_call_##name *)(const void *)head;    \
        (void)call;                                                                                 \
        if (((traits) & CALL_MULTICAST) && !cuda->multicast)                                        \
            return closed(cuda);                                                                    \
        if ((version) > CUDA_NEEDED && !cuda->entries.name)                                         \
            return too_old(cuda, version);                                                          \
        struct cuda_ear *ear = cuda_log_listen(&cuda->log);                                         \
        return finish(cuda, ear, cuda->entries.name(VMM_LIST(VMM_MEMBER, VMM_PARAMS_##name)));      \
    }
#define VMM_CALL(name, symbol, form, traits) HANDLER_##form(name, VMM_ENTRY_VERSION(symbol), traits)
#include "calls.def"

/* The driver's answer to a valid launch. */
static vmm_result launch(struct cuda_backend *cuda, const struct vmm_call_launch *call)
{
    void *function = NULL;
    struct cuda_ear *ear = cuda_log_listen(&cuda->log);
    vmm_result result = cuda_kernels_find(&cuda->kernels, call->kernel, &function);
    if (result == VMM_SUCCESS)
        result = cuda_kernels_launch(&cuda->kernels, function, call);
    return finish(cuda, ear, result);
}

/* A launch takes several driver calls. It first checks for initialisation, like every call, then what all backends refuse
 * alike. */
static vmm_result call_launch(struct vmm_backend *self, struct vmm_call *call)
{
    struct cuda_backend *cuda = (struct cuda_backend *)self;
    const struct vmm_call_launch *c = (const struct vmm_call_launch *)(const void *)call;
    vmm_result result = initialised(cuda);
    if (result == VMM_SUCCESS)
        result = kernels_check(c);
    if (result == VMM_SUCCESS && kernels_is_multimem(c->kernel) && !cuda->multicast)
        result = refuse_closed(cuda);
    if (result == VMM_SUCCESS)
        result = cuda_kernels_available(&cuda->kernels, c->kernel);
    return result == VMM_SUCCESS ? launch(cuda, c) : result;
}

/* The same for a kernel that a graph will launch. */
static vmm_result kernel_node(struct cuda_backend *cuda, const struct vmm_call *call, const vmm_kernel_node_params *p)
{
    const struct vmm_call_launch launch = {{VMM_CALL_launch, 0}, p ? p->kernel : 0, p ? p->grid_dim : 0, p ? p->block_dim : 0,
                                           p ? p->args : NULL,   p ? p->count : 0,  NULL};
    void *function = NULL;
    vmm_result result = initialised(cuda);
    if (result == VMM_SUCCESS)
        result = p ? kernels_check(&launch) : vmm_detail_refuse(VMM_RULE_GRAPH_NULL, 0, 0, NULL);
    if (result == VMM_SUCCESS && kernels_is_multimem(p->kernel) && !cuda->multicast)
        result = refuse_closed(cuda);
    if (result == VMM_SUCCESS)
        result = cuda_kernels_available(&cuda->kernels, p->kernel);
    if (result != VMM_SUCCESS)
        return result;
    struct cuda_ear *ear = cuda_log_listen(&cuda->log);
    result = cuda_kernels_find(&cuda->kernels, p->kernel, &function);
    if (result == VMM_SUCCESS)
        result = cuda_kernels_node(&cuda->kernels, function, &launch, call);
    return finish(cuda, ear, result);
}

#define KERNEL_NODE(name)                                                                            \
    static vmm_result call_##name(struct vmm_backend *self, struct vmm_call *call)                   \
    {                                                                                                \
        const struct vmm_call_##name *c = (const struct vmm_call_##name *)(const void *)call;        \
        return kernel_node((struct cuda_backend *)self, call, c->node_params);                       \
    }
KERNEL_NODE(graph_add_kernel_node)
KERNEL_NODE(graph_kernel_node_set_params)
KERNEL_NODE(graph_exec_kernel_node_set_params)

static vmm_result visit(struct vmm_backend *self, vmm_visit_fn visitor, void *user)
{
    (void)self, (void)visitor, (void)user;
    return vmm_refuse_open(VMM_RULE_OPEN_UNSUPPORTED, "vmm_visit",
                           "the driver does not list live objects; only the simulator can");
}

static uint64_t leaks(struct vmm_backend *self, vmm_report_fn report, void *user)
{
    (void)self, (void)report, (void)user;
    return 0;
}

static vmm_result attach(struct vmm_backend *self, struct vmm_backend **peer)
{
    (void)self, (void)peer;
    return vmm_refuse_open(VMM_RULE_OPEN_UNSUPPORTED, "vmm_attach",
                           "on a driver a program is one process: start a second program, or use the simulator");
}

/* The library stays loaded: the driver's state belongs to the process, and other code may use it. */
static void close_backend(struct vmm_backend *self)
{
    struct cuda_backend *cuda = (struct cuda_backend *)self;
    cuda_kernels_close(&cuda->kernels);
    cuda_log_close(&cuda->log);
    heap.free(cuda);
}

static const struct vmm_backend_ops ops = {
    .size = sizeof(struct vmm_backend_ops),
    .name = "cuda",
    .call =
        {
#define VMM_CALL(name, ...) [VMM_CALL_##name] = call_##name,
#include "calls.def"
        },
    .visit = visit,
    .leaks = leaks,
    .attach = attach,
    .close = close_backend,
};

static const char *library_path(const char *args)
{
    const char *path = args[0] ? args : os_environment("CUVMM_LIBCUDA");
    return path && path[0] ? path : "libcuda.so.1";
}

vmm_result vmm_cuda_open(const char *args, struct vmm_backend **backend)
{
    struct cuda_library library;
    struct cuda_backend *cuda = heap.calloc(1, sizeof *cuda);
    if (!cuda)
        return vmm_refuse_open(VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open", "the host's memory is exhausted");
    vmm_result result = cuda_library_open(&library, library_path(args));
    if (result == VMM_SUCCESS) {
        result = cuda_library_entries(&library, &cuda->entries);
        if (result != VMM_SUCCESS)
            cuda_library_close(&library);
    }
    if (result != VMM_SUCCESS) {
        heap.free(cuda);
        return result;
    }
    cuda->backend.ops = &ops;
    cuda->multicast = opened();
    cuda_words_open(&cuda->words, &library);
    cuda_log_open(&cuda->log, &library);
    cuda_kernels_open(&cuda->kernels, &library);
    *backend = &cuda->backend;
    return VMM_SUCCESS;
}
