/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_kernel.h - kernels of your own for libcuda.so.1 on the simulator: a few lines of C in place of device code.
 *
 *     vector_add.c                                                    cc -shared -fPIC -o kernels.so vector_add.c
 *     #include <cuvmm/vmm_kernel.h>                                   CUVMM_KERNELS=./kernels.so LD_LIBRARY_PATH=... ./program
 *     VMM_KERNEL_THREADS(vectorAdd, vmm_ptr, vmm_ptr, vmm_ptr, int)
 *     {
 *         uint64_t i = vmm_thread(k);
 *         if (i < vmm_param_u32(k, 3))
 *             vmm_store_f32(k, vmm_param_ptr(k, 2) + 4 * i, vmm_load_f32(k, vmm_param_ptr(k, 0) + 4 * i) + ...);
 *     }
 *
 * cuModuleGetFunction and cuLibraryGetKernel then find it by that name, and by the name that a C++ compiler mangles
 * from it. The types of the kernel's parameters follow the name, at most 16; pointers are vmm_ptr.
 *
 *   VMM_KERNEL_THREADS(name, types...)   called once for each thread of the grid, one after the other: as a kernel is
 *                                        written, but without barriers and shared memory
 *   VMM_KERNEL(name, types...)           called once for the whole launch: loops over everything itself
 *
 * Variables of device memory, which each module and library has for itself, and cuModuleGetGlobal and cuLibraryGetGlobal find:
 *
 *   VMM_VARIABLE(float, table, 256)           __device__ float table[256];   zeros
 *   VMM_VARIABLE_OF(uint32_t, limit, 1, 42)   __device__ uint32_t limit = 42;   the values follow the number of elements
 *   vmm_variable(k, table)                    in a kernel: the variable's address in the module of this launch
 *
 * k is the launch. The kernel accesses memory by vmm_load_, vmm_store_ and vmm_add_, and by vmm_span for many bytes
 * at once, with the rights of the device that the launch runs on. At an access that is not allowed the kernel ends
 * without returning, as it would on a device: hold nothing that must be released (memory, locks) across an access. A
 * kernel must not call the driver.
 *
 * Loads and stores of bytes, 16, 32 and 64 bits, signed or not, and floats:  u8 i8 u16 i16 u32 i32 u64 i64 f32 f64.
 */
#ifndef CUVMM_VMM_KERNEL_H
#define CUVMM_VMM_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t vmm_ptr; /* an address of device memory */

typedef struct vmm_dim {
    unsigned int x, y, z;
} vmm_dim;

struct vmm_variable_entry;

/* A launch as a kernel sees it. */
typedef struct vmm_kernel_launch vmm_kernel_launch;
struct vmm_kernel_launch {
    vmm_dim grid_dim, block_dim;
    vmm_dim block_idx, thread_idx; /* of VMM_KERNEL_THREADS; zeros for the other kind */
    unsigned int shared_bytes;     /* dynamic shared memory that the launch requested */
    const unsigned char *params;   /* the parameters as the launch gave them, each at offset[i] */
    const size_t *offset;
    /* Moves size bytes between memory and the kernel. */
    void (*load)(vmm_kernel_launch *k, vmm_ptr from, void *to, size_t size);
    void (*store)(vmm_kernel_launch *k, vmm_ptr to, const void *from, size_t size);
    /* Bytes at address, at most *size; *size returns how many. Read them, or with write also write them. */
    void *(*span)(vmm_kernel_launch *k, vmm_ptr address, size_t *size, int write);
    void (*take_time)(vmm_kernel_launch *k, uint64_t nanoseconds);
    vmm_ptr (*variable)(vmm_kernel_launch *k, const struct vmm_variable_entry *entry);
};

/* What a plugin exports for each kernel; the macros define it. */
enum { VMM_KERNEL_VERSION = 1, VMM_KERNEL_PARAMS = 16, VMM_KERNEL_NO_PARAM = 1 << 16 };

typedef struct vmm_kernel_entry {
    unsigned int version;
    int per_thread;
    void (*run)(vmm_kernel_launch *k);
    struct {
        size_t size, align;
    } param[VMM_KERNEL_PARAMS + 1]; /* ended by one of size VMM_KERNEL_NO_PARAM */
} vmm_kernel_entry;

/* What a plugin exports for its variables: a list, to which the macros add each when the plugin is loaded. */
typedef struct vmm_variable_entry vmm_variable_entry;
struct vmm_variable_entry {
    const char *name;
    size_t size, align;
    const void *initial; /* NULL: zeros */
    vmm_variable_entry *next;
};

/* The number of threads in the grid, and the index of this one, counted along x, then y, then z. */
static inline uint64_t vmm_threads(const vmm_kernel_launch *k)
{
    return (uint64_t)k->grid_dim.x * k->grid_dim.y * k->grid_dim.z * k->block_dim.x * k->block_dim.y * k->block_dim.z;
}

static inline uint64_t vmm_thread(const vmm_kernel_launch *k)
{
    uint64_t block = k->block_idx.x + (uint64_t)k->grid_dim.x * (k->block_idx.y + (uint64_t)k->grid_dim.y * k->block_idx.z);
    uint64_t in_block = k->thread_idx.x +
                        (uint64_t)k->block_dim.x * (k->thread_idx.y + (uint64_t)k->block_dim.y * k->thread_idx.z);
    return block * k->block_dim.x * k->block_dim.y * k->block_dim.z + in_block;
}

static inline void *vmm_span(vmm_kernel_launch *k, vmm_ptr address, size_t *size, int write)
{
    return k->span(k, address, size, write);
}

/* Declares that the kernel takes that long on a device. The simulator lets as much time pass, while the program
 * continues (only with schedule=device, the default of libcuda.so.1). Pointers from earlier vmm_span calls are no
 * longer valid. */
static inline void vmm_take_time(vmm_kernel_launch *k, uint64_t nanoseconds)
{
    k->take_time(k, nanoseconds);
}

/* vmm_param_u32(k, 3): the fourth parameter. vmm_load_u32(k, at), vmm_store_u32(k, at, value). vmm_add_u32(k, at, value)
 * adds to memory and returns what was there, as atomicAdd does. */
#define VMM_KERNEL_TYPE(type, name)                                                       \
    static inline type vmm_param_##name(const vmm_kernel_launch *k, unsigned int i)       \
    {                                                                                     \
        type value;                                                                       \
        memcpy(&value, k->params + k->offset[i], sizeof value);                           \
        return value;                                                                     \
    }                                                                                     \
    static inline type vmm_load_##name(vmm_kernel_launch *k, vmm_ptr from)                \
    {                                                                                     \
        type value;                                                                       \
        k->load(k, from, &value, sizeof value);                                           \
        return value;                                                                     \
    }                                                                                     \
    static inline void vmm_store_##name(vmm_kernel_launch *k, vmm_ptr to, type value)     \
    {                                                                                     \
        k->store(k, to, &value, sizeof value);                                            \
    }                                                                                     \
    static inline type vmm_add_##name(vmm_kernel_launch *k, vmm_ptr to, type value)       \
    {                                                                                     \
        type before = vmm_load_##name(k, to);                                             \
        vmm_store_##name(k, to, (type)(before + value));                                  \
        return before;                                                                    \
    }
VMM_KERNEL_TYPE(uint8_t, u8)
VMM_KERNEL_TYPE(int8_t, i8)
VMM_KERNEL_TYPE(uint16_t, u16)
VMM_KERNEL_TYPE(int16_t, i16)
VMM_KERNEL_TYPE(uint32_t, u32)
VMM_KERNEL_TYPE(int32_t, i32)
VMM_KERNEL_TYPE(uint64_t, u64)
VMM_KERNEL_TYPE(int64_t, i64)
VMM_KERNEL_TYPE(vmm_ptr, ptr)
VMM_KERNEL_TYPE(float, f32)
VMM_KERNEL_TYPE(double, f64)

/* ---- implementation of the macros ---- */

#ifdef __cplusplus
#define VMM_KERNEL_EXTERN extern "C"
#define VMM_KERNEL_ALIGN(type) alignof(type)
#else
#define VMM_KERNEL_EXTERN extern
#define VMM_KERNEL_ALIGN(type) _Alignof(type)
#endif
#if defined(__GNUC__)
#define VMM_KERNEL_EXPORT __attribute__((visibility("default")))
#else
#define VMM_KERNEL_EXPORT
#endif

/* One list for each plugin, in whichever of its sources the linker finds it first. */
#if defined(__GNUC__) && !defined(VMM_KERNEL_READER)
#define VMM_KERNEL_ONCE __attribute__((weak))
VMM_KERNEL_EXTERN VMM_KERNEL_ONCE __attribute__((visibility("hidden"))) vmm_variable_entry *vmm_plugin_list;
VMM_KERNEL_ONCE vmm_variable_entry *vmm_plugin_list = NULL;
VMM_KERNEL_EXTERN VMM_KERNEL_EXPORT VMM_KERNEL_ONCE const vmm_variable_entry *vmm_plugin_variables(void);
VMM_KERNEL_ONCE const vmm_variable_entry *vmm_plugin_variables(void)
{
    return vmm_plugin_list;
}

#define VMM_VARIABLE(type, ...) VMM_VARIABLE_PICK(__VA_ARGS__, VMM_VARIABLE_ROW, VMM_VARIABLE_ONE, 0)(type, __VA_ARGS__)
#define VMM_VARIABLE_PICK(a, b, pick, ...) pick
#define VMM_VARIABLE_ONE(type, name) VMM_VARIABLE_ENTRY(type, name, 1, NULL)
#define VMM_VARIABLE_ROW(type, name, count) VMM_VARIABLE_ENTRY(type, name, count, NULL)
#define VMM_VARIABLE_OF(type, name, count, ...)                                  \
    static const type vmm_initial_##name[count] = {__VA_ARGS__};                 \
    VMM_VARIABLE_ENTRY(type, name, count, vmm_initial_##name)
#define VMM_VARIABLE_ENTRY(type, name, count, initial)                                                                 \
    static vmm_variable_entry vmm_variable_##name = {#name, sizeof(type) * (count), VMM_KERNEL_ALIGN(type), initial, NULL}; \
    __attribute__((constructor)) static void vmm_variable_add_##name(void)                                             \
    {                                                                                                                  \
        vmm_variable_##name.next = vmm_plugin_list;                                                                    \
        vmm_plugin_list = &vmm_variable_##name;                                                                        \
    }                                                                                                                  \
    struct vmm_variable_end
#define vmm_variable(k, name) ((k)->variable((k), &vmm_variable_##name))
#endif

typedef struct vmm_kernel_end {
    unsigned char bytes[VMM_KERNEL_NO_PARAM]; /* ends a list of types: no parameter is that large */
} vmm_kernel_end;

#define VMM_KERNEL(...) VMM_KERNEL_OPEN(0, __VA_ARGS__, vmm_kernel_end)
#define VMM_KERNEL_THREADS(...) VMM_KERNEL_OPEN(1, __VA_ARGS__, vmm_kernel_end)
#define VMM_KERNEL_OPEN(threads, name, ...)                                                                    \
    static void vmm_kernel_run_##name(vmm_kernel_launch *k);                                                   \
    VMM_KERNEL_EXTERN VMM_KERNEL_EXPORT const vmm_kernel_entry vmm_kernel_##name;                              \
    const vmm_kernel_entry vmm_kernel_##name = {                                                               \
        VMM_KERNEL_VERSION, threads, vmm_kernel_run_##name, {VMM_KERNEL_SIZES(__VA_ARGS__)}};                  \
    static void vmm_kernel_run_##name(vmm_kernel_launch *k)

#define VMM_KERNEL_SIZES(...)                                                                                          \
    VMM_KERNEL_PICK(__VA_ARGS__, VMM_KERNEL_17, VMM_KERNEL_16, VMM_KERNEL_15, VMM_KERNEL_14, VMM_KERNEL_13,            \
                    VMM_KERNEL_12, VMM_KERNEL_11, VMM_KERNEL_10, VMM_KERNEL_9, VMM_KERNEL_8, VMM_KERNEL_7,             \
                    VMM_KERNEL_6, VMM_KERNEL_5, VMM_KERNEL_4, VMM_KERNEL_3, VMM_KERNEL_2, VMM_KERNEL_1, 0)             \
    (__VA_ARGS__)
#define VMM_KERNEL_PICK(a, b, c, d, e, f, g, h, i, j, l, m, n, o, p, q, r, pick, ...) pick
#define VMM_KERNEL_1(a) {sizeof(a), VMM_KERNEL_ALIGN(a)}
#define VMM_KERNEL_2(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_1(__VA_ARGS__)
#define VMM_KERNEL_3(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_2(__VA_ARGS__)
#define VMM_KERNEL_4(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_3(__VA_ARGS__)
#define VMM_KERNEL_5(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_4(__VA_ARGS__)
#define VMM_KERNEL_6(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_5(__VA_ARGS__)
#define VMM_KERNEL_7(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_6(__VA_ARGS__)
#define VMM_KERNEL_8(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_7(__VA_ARGS__)
#define VMM_KERNEL_9(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_8(__VA_ARGS__)
#define VMM_KERNEL_10(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_9(__VA_ARGS__)
#define VMM_KERNEL_11(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_10(__VA_ARGS__)
#define VMM_KERNEL_12(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_11(__VA_ARGS__)
#define VMM_KERNEL_13(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_12(__VA_ARGS__)
#define VMM_KERNEL_14(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_13(__VA_ARGS__)
#define VMM_KERNEL_15(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_14(__VA_ARGS__)
#define VMM_KERNEL_16(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_15(__VA_ARGS__)
#define VMM_KERNEL_17(a, ...) {sizeof(a), VMM_KERNEL_ALIGN(a)}, VMM_KERNEL_16(__VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
