/* SPDX-License-Identifier: Apache-2.0 */
/* Registration by constructors of programs and libraries. No call here touches the driver before code is used. */
#include "rt_image.h"

#include <pthread.h>
#include <stdlib.h>

#include "heap.h"
#include "posix.h"
#include "rt_code.h"

enum { CHUNK = 32, WRAPPER = 0x466243b1 };

/* A fat binary as compilers emit it. */
struct wrapper {
    int magic, version;
    const void *code;
    const void *more;
};

struct chunk {
    struct chunk *next;
    int used;
    struct rt_symbol symbol[CHUNK];
};

struct rt_image {
    const struct wrapper *wrapper; /* first: a compiler's handle points here */
    struct chunk *chunks;
    CUlibrary library; /* NULL: not loaded */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;    /* of the tables */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER; /* protects the images' libraries; held while the driver loads one */
static struct rt_table functions, variables, hosts;

static struct rt_table *table_of(enum rt_kind kind)
{
    return kind == RT_FUNCTION ? &functions : &variables;
}

struct rt_symbol *rt_symbol_find(enum rt_kind kind, const void *host)
{
    return host ? rt_table_get(table_of(kind), host) : NULL;
}

void rt_symbol_note(const void *handle, const void *host)
{
    if (rt_table_get(&hosts, handle) == host)
        return;
    pthread_mutex_lock(&lock);
    (void)rt_table_put(&hosts, handle, (void *)(uintptr_t)host);
    posix.pthread_mutex_unlock(&lock);
}

const void *rt_host_of(const void *handle)
{
    const void *host = handle ? rt_table_get(&hosts, handle) : NULL;
    return host ? host : handle;
}

/* ---- registration ---- */

static void *no_memory(const char *function)
{
    rt_say("%s: out of memory. Symbols registered with it are missing", function);
    return NULL;
}

void **__cudaRegisterFatBinary(void *fatCubin)
{
    struct rt_image *image = heap.calloc(1, sizeof *image);
    if (!image)
        return no_memory(__func__);
    image->wrapper = fatCubin;
    return (void **)(void *)image;
}

/* Nothing is deferred until the end of registration, because images are loaded after it. */
void __cudaRegisterFatBinaryEnd(void **fatCubinHandle)
{
    (void)fatCubinHandle;
}

static struct rt_symbol *new_symbol(struct rt_image *image)
{
    struct chunk *chunk = image->chunks;
    if (!chunk || chunk->used == CHUNK) {
        chunk = heap.malloc(sizeof *chunk);
        if (!chunk)
            return NULL;
        chunk->next = image->chunks;
        chunk->used = 0;
        image->chunks = chunk;
    }
    return &chunk->symbol[chunk->used++];
}

/* Of two symbols with the same address, the one registered first is found. Called under the lock. */
static bool add(struct rt_image *image, enum rt_kind kind, const void *host, const char *name)
{
    struct rt_table *table = table_of(kind);
    struct rt_symbol *symbol = new_symbol(image), *first = rt_table_get(table, host);
    if (!symbol)
        return false;
    *symbol = (struct rt_symbol){.kind = kind, .host = host, .name = name, .image = image, .older = first ? first->older : NULL};
    if (first)
        first->older = symbol;
    if (first || rt_table_put(table, host, symbol))
        return true;
    symbol->host = NULL;
    return false;
}

static void add_symbol(const char *function, void **handle, enum rt_kind kind, const void *host, const char *name)
{
    if (!handle)
        return;
    pthread_mutex_lock(&lock);
    bool added = add((struct rt_image *)(void *)handle, kind, host, name);
    posix.pthread_mutex_unlock(&lock);
    if (!added)
        no_memory(function);
}

void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun, const char *deviceName,
                            int thread_limit, uint3 *tid, uint3 *bid, dim3 *bDim, dim3 *gDim, int *wSize)
{
    (void)deviceFun, (void)thread_limit, (void)tid, (void)bid, (void)bDim, (void)gDim, (void)wSize;
    add_symbol(__func__, fatCubinHandle, RT_FUNCTION, hostFun, deviceName);
}

void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress, const char *deviceName, int ext, size_t size,
                       int constant, int global)
{
    (void)deviceAddress, (void)ext, (void)size, (void)constant, (void)global;
    add_symbol(__func__, fatCubinHandle, RT_VARIABLE, hostVar, deviceName);
}

void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress, const char *deviceName,
                              int ext, size_t size, int constant, int global)
{
    (void)deviceAddress, (void)ext, (void)size, (void)constant, (void)global;
    add_symbol(__func__, fatCubinHandle, RT_MANAGED, hostVarPtrAddress, deviceName);
}

/* ---- the end ---- */

/* Removes the symbol from the chain of its address. Called under the lock. */
static void remove_symbol(struct rt_symbol *symbol)
{
    struct rt_table *table = table_of(symbol->kind);
    struct rt_symbol *first = symbol->host ? rt_table_get(table, symbol->host) : NULL;
    const void *kernel = atomic_load(&symbol->kernel);
    if (kernel)
        rt_table_remove(&hosts, kernel);
    if (symbol->managed)
        rt_table_remove(&variables, symbol->managed);
    if (first == symbol && symbol->older)
        (void)rt_table_put(table, symbol->host, symbol->older);
    else if (first == symbol)
        rt_table_remove(table, symbol->host);
    for (; first; first = first->older)
        if (first->older == symbol)
            first->older = symbol->older;
}

/* Called when a program closes a library, and finally for the program itself. By then the driver may have shut down. */
void __cudaUnregisterFatBinary(void **fatCubinHandle)
{
    struct rt_image *image = (struct rt_image *)(void *)fatCubinHandle;
    if (!image)
        return;
    pthread_mutex_lock(&lock);
    for (struct chunk *chunk = image->chunks; chunk; chunk = chunk->next)
        for (int i = 0; i < chunk->used; i++)
            remove_symbol(&chunk->symbol[i]);
    posix.pthread_mutex_unlock(&lock);
    if (image->library)
        (void)DRIVER(cuLibraryUnload, image->library);
    while (image->chunks) {
        struct chunk *next = image->chunks->next;
        heap.free(image->chunks);
        image->chunks = next;
    }
    heap.free(image);
}

/* ---- first use ---- */

/* The image stays in place until it is unloaded, so the driver needs no copy. Call it under `loading`. */
static cudaError_t load(struct rt_image *image)
{
    CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED;
    void *value = NULL;
    const struct wrapper *wrapper = image->wrapper;
    if (!wrapper || wrapper->magic != WRAPPER)
        return cudaErrorInvalidKernelImage;
    /* version 2: linked device code; the list of its parts follows */
    const void *code = wrapper->version == 1 ? wrapper->code : wrapper;
    return DRIVER(cuLibraryLoadData, &image->library, code, NULL, NULL, 0, &option, &value, 1);
}

cudaError_t rt_image_library(struct rt_image *image, CUlibrary *library)
{
    pthread_mutex_lock(&loading);
    cudaError_t result = image->library ? cudaSuccess : load(image);
    *library = image->library;
    posix.pthread_mutex_unlock(&loading);
    return result;
}

cudaError_t rt_symbol_kernel(struct rt_symbol *symbol, CUkernel *kernel)
{
    CUlibrary library = NULL;
    *kernel = atomic_load_explicit(&symbol->kernel, memory_order_acquire);
    if (*kernel)
        return cudaSuccess;
    cudaError_t result = rt_image_library(symbol->image, &library);
    if (result == cudaSuccess)
        result = DRIVER(cuLibraryGetKernel, kernel, library, symbol->name);
    if (result != cudaSuccess)
        return result;
    rt_symbol_note(*kernel, symbol->host);
    atomic_store_explicit(&symbol->kernel, *kernel, memory_order_release);
    return cudaSuccess;
}

/* ---- managed variables: compiled code reads their addresses through pointers that are set here ---- */

static cudaError_t init_variable(CUlibrary library, struct rt_symbol *symbol)
{
    CUdeviceptr address = 0;
    cudaError_t result = DRIVER(cuLibraryGetManaged, &address, NULL, library, symbol->name);
    if (result != cudaSuccess)
        return result == cudaErrorSymbolNotFound ? cudaErrorInvalidSymbol : result;
    *(void **)(uintptr_t)symbol->host = (void *)(uintptr_t)address;
    pthread_mutex_lock(&lock);
    symbol->managed = (const void *)(uintptr_t)address;
    bool added = rt_table_put(&variables, symbol->managed, symbol);
    posix.pthread_mutex_unlock(&lock);
    return added ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t init_image(struct rt_image *image)
{
    CUlibrary library = NULL;
    cudaError_t result = image ? rt_image_library(image, &library) : cudaErrorInvalidResourceHandle;
    for (struct chunk *chunk = image ? image->chunks : NULL; chunk; chunk = chunk->next)
        for (int i = 0; result == cudaSuccess && i < chunk->used; i++)
            if (chunk->symbol[i].kind == RT_MANAGED)
                result = init_variable(library, &chunk->symbol[i]);
    return result;
}

static cudaError_t init_module(void **handle)
{
    RT(init_image((struct rt_image *)(void *)handle));
}

char __cudaInitModule(void **fatCubinHandle)
{
    return init_module(fatCubinHandle) == cudaSuccess;
}
