/* SPDX-License-Identifier: Apache-2.0 */
/* Group C: registered code, launches, functions, occupancy, symbols, libraries. Part of ../runtime.c, which includes
 * it. The program registers its own image like compilers do: PTX in a fat binary. */
#include <limits.h>
#include <stdint.h>

/* Declarations that the toolkit has only for its own compiler. */
extern void **__cudaRegisterFatBinary(void *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaUnregisterFatBinary(void **);
extern void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);
extern void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
extern char __cudaInitModule(void **);
extern unsigned int __cudaPushCallConfiguration(dim3, dim3, size_t, struct CUstream_st *);
extern cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
extern cudaError_t __cudaGetKernel(cudaKernel_t *, const void *);
extern cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);

#define C_PTX                                                                        \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                                \
    ".visible .global .align 4 .u32 counter = 42;\n"                                 \
    ".visible .const .align 4 .b8 table[100];\n"                                     \
    ".visible .entry fill(.param .u64 at, .param .u64 n, .param .u8 v)\n{\n"         \
    ".reg .pred %p<2>;\n.reg .b16 %r<2>;\n.reg .b64 %d<4>;\n"                        \
    "ld.param.u64 %d1, [at];\nld.param.u64 %d2, [n];\nld.param.u8 %r1, [v];\n"       \
    "cvta.to.global.u64 %d1, %d1;\n"                                                 \
    "L:\nsetp.eq.u64 %p1, %d2, 0;\n@%p1 bra E;\nst.global.u8 [%d1], %r1;\n"          \
    "add.u64 %d1, %d1, 1;\nsub.u64 %d2, %d2, 1;\nbra L;\nE:\nret;\n}\n"              \
    ".visible .entry nothing()\n{\nret;\n}\n"

/* A fat binary's header, its one entry, and what that holds. */
static struct {
    uint32_t magic;
    uint16_t version, header;
    uint64_t size;
    uint16_t kind, entry_version;
    uint32_t entry_header;
    uint64_t entry_size;
    uint32_t compressed, options;
    uint16_t minor, major;
    uint32_t architecture, name, name_size;
    uint64_t flags, unused[2];
    uint64_t option[2];
    char ptx[(sizeof C_PTX + 7) / 8 * 8];
} c_fat = {0xba55ed50, 1, 16, 0x50 + sizeof c_fat.ptx, 1, 0x101, 0x50, sizeof c_fat.ptx, 0, 0x40, 0, 8, 90, 0, 0, 0x11, {0}, {0x48, 0}, C_PTX};

_Static_assert(sizeof c_fat == 16 + 0x50 + sizeof c_fat.ptx, "the code begins where the header says");

static struct {
    int magic, version;
    const void *code, *more;
} c_wrapper = {0x466243b1, 1, &c_fat, NULL};

static char c_fill, c_nothing, c_missing, c_stranger; /* stand for functions */
static unsigned c_counter;
static int c_table[25];
static char c_no_variable;
static void **c_image;

static const dim3 c_one = {1, 1, 1};

static void c_register(void **image, const void *host, const char *name)
{
    __cudaRegisterFunction(image, host, (char *)(uintptr_t)name, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static void c_begin(void)
{
    c_image = __cudaRegisterFatBinary(&c_wrapper);
    c_register(c_image, &c_fill, "fill");
    c_register(c_image, &c_nothing, "nothing");
    c_register(c_image, &c_missing, "missing");
    __cudaRegisterVar(c_image, (char *)&c_counter, NULL, "counter", 0, 4, 0, 0);
    __cudaRegisterVar(c_image, (char *)c_table, NULL, "table", 0, 100, 1, 0);
    __cudaRegisterVar(c_image, &c_no_variable, NULL, "no_variable", 0, 1, 0, 0);
    __cudaRegisterFatBinaryEnd(c_image);
}

static cudaError_t c_with(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
    cudaLaunchConfig_t config;
    memset(&config, 0, sizeof config);
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    return cudaLaunchKernelExC(&config, f, args);
}

static cudaError_t c_stub(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
    cudaKernel_t kernel = NULL;
    (void)__cudaGetKernel(&kernel, f);
    (void)cudaGetLastError();
    return __cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

static unsigned char *c_memory(void)
{
    void *made = NULL;
    need(cudaMalloc(&made, 64));
    need(cudaMemset(made, 0, 64));
    return made;
}

static int c_byte(const unsigned char *at)
{
    unsigned char byte = 77;
    need(cudaMemcpy(&byte, at, 1, cudaMemcpyDeviceToHost));
    return byte;
}

/* ---- launches ---- */

static void c_launches(const char *form, cudaError_t (*launch)(const void *, dim3, dim3, void **, size_t, cudaStream_t))
{
    c_begin();
    unsigned char *at = c_memory(), value = 5;
    unsigned long n = 64;
    void *args[] = {&at, &n, &value};
    A(with("C.%s(Success)", form), launch(&c_fill, c_one, c_one, args, 0, NULL));
    say(with("C.%s.byte", form), "%d", c_byte(at + 63));
    A(with("C.%s.null(InvalidDeviceFunction)", form), launch(NULL, c_one, c_one, args, 0, NULL));
    A(with("C.%s.stranger", form), launch(&c_stranger, c_one, c_one, args, 0, NULL));
    A(with("C.%s.missing", form), launch(&c_missing, c_one, c_one, args, 0, NULL));
    static const dim3 grids[] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {0x80000000u, 1, 1}, {1, 65536, 1}, {1, 1, 65536}};
    static const dim3 blocks[] = {{0, 1, 1}, {1025, 1, 1}, {1, 1025, 1}, {1, 1, 65}, {32, 33, 1}, {1, 0, 1}};
    for (int i = 0; i < 6; i++) {
        A(with("C.%s.grid.%d", form, i), launch(&c_nothing, grids[i], c_one, NULL, 0, NULL));
        A(with("C.%s.block.%d", form, i), launch(&c_nothing, c_one, blocks[i], NULL, 0, NULL));
    }
    A(with("C.%s.stream", form), launch(&c_nothing, c_one, c_one, NULL, 0, (cudaStream_t)(uintptr_t)&c_image));
    A(with("C.%s.shared.48k(Success)", form), launch(&c_nothing, c_one, c_one, NULL, 48 << 10, NULL));
    A(with("C.%s.shared.4g", form), launch(&c_nothing, c_one, c_one, NULL, (size_t)UINT_MAX + 1, NULL));
    A(with("C.%s.after(Success)", form), cudaDeviceSynchronize());
}

static void c_kernel(void)
{
    c_launches("launch", cudaLaunchKernel);
}

static void c_cooperative(void)
{
    c_launches("cooperative", cudaLaunchCooperativeKernel);
}

static void c_ex(void)
{
    c_launches("ex", c_with);
    A("C.ex.config.null", cudaLaunchKernelExC(NULL, &c_nothing, NULL));
}

static void c_compiled(void)
{
    c_launches("stub", c_stub);
}

static void c_configuration(void)
{
    dim3 grid = {0, 0, 0}, block = {0, 0, 0};
    size_t shared = 0;
    cudaStream_t stream = NULL;
    A("C.pop.empty(MissingConfiguration)", __cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    int pushed = 0, popped = 0;
    while (pushed < 1000 && !__cudaPushCallConfiguration(c_one, c_one, (size_t)pushed, NULL))
        pushed++;
    say("C.push", "%d", pushed);
    AV("C.pop(Success)", __cudaPopCallConfiguration(&grid, &block, &shared, &stream), "shared=%zu x=%u", shared, grid.x);
    while (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == cudaSuccess)
        popped++;
    say("C.pop.all", "%d shared=%zu", popped, shared);
}

/* ---- functions ---- */

static const char *c_what(const void *got, const void *before)
{
    return !got ? "0" : got == before ? "unchanged" : got == (const void *)&c_stranger ? "itself" : "new";
}

static void c_names(void)
{
    c_begin();
    const char *name = "none";
    cudaKernel_t kernel = (cudaKernel_t)(void *)&name;
    cudaFunction_t function = (cudaFunction_t)(void *)&name;
    AV("C.name(Success)", cudaFuncGetName(&name, &c_fill), "%s", name);
    A("C.name.null(InvalidValue)", cudaFuncGetName(NULL, &c_fill));
    A("C.name.stranger", cudaFuncGetName(&name, &c_stranger));
    A("C.name.missing", cudaFuncGetName(&name, &c_missing));
    A("C.name.of_null", cudaFuncGetName(&name, NULL));
    AV("C.stub.kernel.stranger", __cudaGetKernel(&kernel, &c_stranger), "k=%s", c_what(kernel, &name));
    kernel = (cudaKernel_t)(void *)&name;
    AV("C.kernel.stranger", cudaGetKernel(&kernel, &c_stranger), "k=%s", c_what(kernel, &name));
    A("C.kernel.null(InvalidValue)", cudaGetKernel(NULL, &c_fill));
    AV("C.kernel.of_null", cudaGetKernel(&kernel, NULL), "k=%s", c_what(kernel, &name));
    AV("C.kernel(Success)", cudaGetKernel(&kernel, &c_fill), "k=%s", c_what(kernel, &name));
    AV("C.name.kernel(Success)", cudaFuncGetName(&name, kernel), "%s", name);
    AV("C.function.stranger", cudaGetFuncBySymbol(&function, &c_stranger), "f=%s", function ? "kept" : "0");
    A("C.function.null", cudaGetFuncBySymbol(NULL, &c_fill));
    A("C.function(Success)", cudaGetFuncBySymbol(&function, &c_fill));
    DV("C.function.name", cuFuncGetName(&name, (CUfunction)function), "%s", name);
    for (size_t i = 0; i < 4; i++) {
        size_t offset = 77, size = 77;
        AV(with("C.param.%zu", i), cudaFuncGetParamInfo(&c_fill, i, &offset, &size), "offset=%zu size=%zu", offset, size);
    }
    size_t offset = 77;
    A("C.param.no_size", cudaFuncGetParamInfo(&c_fill, 0, &offset, NULL));
    A("C.param.null", cudaFuncGetParamInfo(&c_fill, 0, NULL, NULL));
    A("C.param.stranger", cudaFuncGetParamInfo(&c_stranger, 0, &offset, NULL));
}

static void c_attributes(void)
{
    c_begin();
    struct cudaFuncAttributes a;
    cudaKernel_t kernel = NULL;
    memset(&a, 0x55, sizeof a);
    AV("C.attributes.stranger", cudaFuncGetAttributes(&a, &c_stranger), "regs=%x", (unsigned)a.numRegs);
    A("C.attributes.null", cudaFuncGetAttributes(NULL, &c_fill));
    A("C.attributes.missing", cudaFuncGetAttributes(&a, &c_missing));
    AV("C.attributes(Success)", cudaFuncGetAttributes(&a, &c_fill), "threads=%d shared=%zu local=%zu ptx=%d binary=%d dynamic=%d carveout=%d "
       "cluster=%d,%d,%d,%d policy=%d portable=%d", a.maxThreadsPerBlock, a.sharedSizeBytes, a.localSizeBytes, a.ptxVersion,
       a.binaryVersion, a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout, a.clusterDimMustBeSet, a.requiredClusterWidth,
       a.requiredClusterHeight, a.requiredClusterDepth, a.clusterSchedulingPolicyPreference, a.nonPortableClusterSizeAllowed);
    for (int attribute = -1; attribute < 18; attribute++)
        A(with("C.set.%d", attribute), cudaFuncSetAttribute(&c_fill, (enum cudaFuncAttribute)attribute, 1));
    A("C.set.stranger", cudaFuncSetAttribute(&c_stranger, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    A("C.set.null(InvalidDeviceFunction)", cudaFuncSetAttribute(NULL, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    A("C.set.dynamic.most(Success)", cudaFuncSetAttribute(&c_fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10));
    A("C.set.dynamic.more(InvalidValue)", cudaFuncSetAttribute(&c_fill, cudaFuncAttributeMaxDynamicSharedMemorySize, (227 << 10) + 1));
    need(cudaGetKernel(&kernel, &c_nothing));
    A("C.set.device(Success)", cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 70000, 0));
    AV("C.set.device.seen", cudaFuncGetAttributes(&a, &c_nothing), "dynamic=%d", a.maxDynamicSharedSizeBytes);
    A("C.set.device.function(Success)", cudaFuncSetAttribute(&c_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    A("C.set.device.again(Success)", cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 80000, 0));
    AV("C.set.device.overridden", cudaFuncGetAttributes(&a, &c_nothing), "dynamic=%d", a.maxDynamicSharedSizeBytes);
    A("C.set.device.none(InvalidDevice)", cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1, 99));
    for (int config = -1; config < 5; config++)
        A(with("C.cache.%d", config), cudaFuncSetCacheConfig(&c_fill, (enum cudaFuncCache)config));
    A("C.cache.stranger", cudaFuncSetCacheConfig(&c_stranger, cudaFuncCachePreferL1));
    A("C.cache.kernel", cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferL1));
}

static void c_occupancy(void)
{
    c_begin();
    int blocks = 77;
    size_t shared = 77;
    for (int size = 0; size <= 1025; size = size ? 2 * size : 32)
        AV(with("C.blocks.%d", size), cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &c_nothing, size, 0), "n=%d", blocks);
    blocks = 77;
    AV("C.blocks.stranger", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &c_stranger, 32, 0), "n=%d", blocks);
    A("C.blocks.null(InvalidValue)", cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, &c_nothing, 32, 0));
    for (unsigned flags = 0; flags < 3; flags++)
        A(with("C.blocks.flags.%u", flags), cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, &c_nothing, 32, 0, flags));
    AV("C.shared(Success)", cudaOccupancyAvailableDynamicSMemPerBlock(&shared, &c_nothing, 8, 128), "n=%zu", shared);
    AV("C.shared.0(InvalidValue)", cudaOccupancyAvailableDynamicSMemPerBlock(&shared, &c_nothing, 0, 128), "n=%zu", shared);
    cudaLaunchConfig_t config;
    memset(&config, 0, sizeof config);
    config.gridDim.x = 64, config.gridDim.y = config.gridDim.z = config.blockDim.y = config.blockDim.z = 1, config.blockDim.x = 128;
    AV("C.cluster.size(Success)", cudaOccupancyMaxPotentialClusterSize(&blocks, &c_nothing, &config), "n=%d", blocks);
    A("C.cluster.size.stranger", cudaOccupancyMaxPotentialClusterSize(&blocks, &c_stranger, &config));
    A("C.cluster.size.null", cudaOccupancyMaxPotentialClusterSize(NULL, &c_nothing, &config));
    A("C.cluster.count", cudaOccupancyMaxActiveClusters(&blocks, &c_nothing, &config));
}

/* ---- variables ---- */

static void c_symbols(void)
{
    c_begin();
    void *at = (void *)0x77;
    size_t size = 77;
    unsigned value = 77;
    AV("C.symbol.size(Success)", cudaGetSymbolSize(&size, &c_counter), "n=%zu", size);
    AV("C.symbol.size.table(Success)", cudaGetSymbolSize(&size, c_table), "n=%zu", size);
    AV("C.symbol.stranger(InvalidSymbol)", cudaGetSymbolAddress(&at, &value), "p=%s", at == (void *)0x77 ? "unchanged" : "other");
    AV("C.symbol.missing", cudaGetSymbolAddress(&at, &c_no_variable), "p=%s", at == (void *)0x77 ? "unchanged" : "other");
    A("C.symbol.null(InvalidSymbol)", cudaGetSymbolAddress(&at, NULL));
    A("C.symbol.out_null", cudaGetSymbolAddress(NULL, &c_counter));
    A("C.symbol.size.out_null", cudaGetSymbolSize(NULL, &c_counter));
    A("C.symbol.address(Success)", cudaGetSymbolAddress(&at, &c_counter));
    AV("C.symbol.from(Success)", cudaMemcpyFromSymbol(&value, &c_counter, 4, 0, cudaMemcpyDeviceToHost), "v=%u", value);
    A("C.symbol.to(Success)", cudaMemcpyToSymbol(c_table, &value, 4, 96, cudaMemcpyHostToDevice));
    A("C.symbol.to.past(InvalidValue)", cudaMemcpyToSymbol(c_table, &value, 4, 97, cudaMemcpyHostToDevice));
    A("C.symbol.to.wraps(InvalidValue)", cudaMemcpyToSymbol(c_table, &value, 4, SIZE_MAX, cudaMemcpyHostToDevice));
    A("C.symbol.to.nothing", cudaMemcpyToSymbol(c_table, &value, 0, 100, cudaMemcpyHostToDevice));
    A("C.symbol.to.stranger(InvalidSymbol)", cudaMemcpyToSymbol(&value, &value, 4, 0, cudaMemcpyHostToDevice));
    for (int kind = -1; kind < 6; kind++) {
        A(with("C.symbol.to.kind.%d", kind), cudaMemcpyToSymbol(c_table, kind == 3 ? at : &value, 4, 0, (enum cudaMemcpyKind)kind));
        A(with("C.symbol.from.kind.%d", kind), cudaMemcpyFromSymbol(kind == 3 ? at : &value, c_table, 4, 0, (enum cudaMemcpyKind)kind));
    }
    A("C.symbol.async(Success)", cudaMemcpyFromSymbolAsync(&value, &c_counter, 4, 0, cudaMemcpyDefault, NULL));
    A("C.symbol.async.to(Success)", cudaMemcpyToSymbolAsync(&c_counter, &value, 4, 0, cudaMemcpyDefault, NULL));
    A("C.symbol.after(Success)", cudaDeviceSynchronize());
    say("C.init_module", "%d", __cudaInitModule(c_image));
}

/* ---- libraries, and images that end ---- */

static void c_library(void)
{
    cudaLibrary_t library = NULL;
    cudaKernel_t kernel = NULL;
    void *at = NULL;
    size_t size = 77;
    A("C.library.null(InvalidValue)", cudaLibraryLoadData(NULL, c_fat.ptx, NULL, NULL, 0, NULL, NULL, 0));
    A("C.library.no_code(InvalidValue)", cudaLibraryLoadData(&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
    A("C.library.file.none(FileNotFound)", cudaLibraryLoadFromFile(&library, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0));
    A("C.library.ptx(Success)", cudaLibraryLoadData(&library, c_fat.ptx, NULL, NULL, 0, NULL, NULL, 0));
    A("C.library.kernel.missing(SymbolNotFound)", cudaLibraryGetKernel(&kernel, library, "missing"));
    A("C.library.kernel.null", cudaLibraryGetKernel(NULL, library, "nothing"));
    A("C.library.kernel.no_name", cudaLibraryGetKernel(&kernel, library, NULL));
    A("C.library.kernel(Success)", cudaLibraryGetKernel(&kernel, library, "nothing"));
    A("C.library.launch(Success)", cudaLaunchKernel(kernel, c_one, c_one, NULL, 0, NULL));
    AV("C.library.global(Success)", cudaLibraryGetGlobal(&at, &size, library, "counter"), "n=%zu", size);
    A("C.library.global.missing(SymbolNotFound)", cudaLibraryGetGlobal(&at, &size, library, "missing"));
    A("C.library.global.nothing", cudaLibraryGetGlobal(NULL, NULL, library, "counter"));
    A("C.library.managed.missing(SymbolNotFound)", cudaLibraryGetManaged(&at, &size, library, "missing"));
    A("C.library.unified.missing", cudaLibraryGetUnifiedFunction(&at, library, "missing"));
    unsigned count = 77;
    cudaKernel_t kernels[3] = {NULL, NULL, NULL};
    AV("C.library.count(Success)", cudaLibraryGetKernelCount(&count, library), "n=%u", count);
    A("C.library.count.null(InvalidValue)", cudaLibraryGetKernelCount(NULL, library));
    AV("C.library.list(Success)", cudaLibraryEnumerateKernels(kernels, 3, library), "n=%d", !!kernels[0] + !!kernels[1] + !!kernels[2]);
    A("C.library.list.null", cudaLibraryEnumerateKernels(NULL, 1, library));
    A("C.library.unload(Success)", cudaLibraryUnload(library));
    A("C.library.unload.null", cudaLibraryUnload(NULL));
}

static void c_unregister(void)
{
    void **image = __cudaRegisterFatBinary(&c_wrapper);
    static char twice;
    const char *name = "none";
    c_begin();
    c_register(image, &twice, "fill");
    c_register(c_image, &twice, "nothing");
    __cudaRegisterFatBinaryEnd(image);
    AV("C.twice", cudaFuncGetName(&name, &twice), "%s", name);
    __cudaUnregisterFatBinary(c_image);
    name = "none";
    AV("C.unregistered", cudaFuncGetName(&name, &c_fill), "%s", name);
    __cudaUnregisterFatBinary(image);
    AV("C.unregistered.both", cudaFuncGetName(&name, &twice), "%s", name);
}

static void group_c(void)
{
    surviving("C.launch", c_kernel);
    surviving("C.cooperative", c_cooperative);
    surviving("C.ex", c_ex);
    surviving("C.stub", c_compiled);
    surviving("C.configuration", c_configuration);
    surviving("C.names", c_names);
    surviving("C.attributes", c_attributes);
    surviving("C.occupancy", c_occupancy);
    surviving("C.symbols", c_symbols);
    surviving("C.library", c_library);
    surviving("C.unregister", c_unregister);
}
