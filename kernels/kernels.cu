/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for the device; see kernels.def for their arguments and vmm.h for what they do. Each goes through its
 * range in strides of the whole grid, so any grid and block do the same work. */
#include <stdint.h>

#include "norm.h"
#include "pattern.h"
#include "vmm.h"

typedef unsigned long long word; /* what atomics take */

#define KERNEL extern "C" __global__ void

__device__ __forceinline__ uint64_t thread(void)
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ uint64_t threads(void)
{
    return (uint64_t)gridDim.x * blockDim.x;
}

/* The block's sum is written with one addition; every thread of the block gets here. */
__device__ void add_up(uint64_t value, uint64_t *out)
{
    __shared__ word total;
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned lanes = blockDim.x - warp * 32 < 32 ? blockDim.x - warp * 32 : 32;
    unsigned mask = lanes == 32 ? 0xffffffff : (1u << lanes) - 1;
    for (unsigned step = 16; step; step /= 2) {
        uint64_t other = __shfl_down_sync(mask, value, step);
        if (lane + step < lanes)
            value += other;
    }
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    if (lane == 0)
        atomicAdd(&total, (word)value);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd((word *)out, total);
}

/* A range of bytes as the widest accesses see it: [head bytes | vectors of 16 | tail bytes]. */
struct split {
    uint64_t head, vectors, tail;
};

__device__ split split_of(uint64_t address, uint64_t n)
{
    split s;
    s.head = (16 - address % 16) % 16;
    s.head = s.head < n ? s.head : n;
    s.vectors = (n - s.head) / 16;
    s.tail = n - s.head - 16 * s.vectors;
    return s;
}

KERNEL fill(unsigned char *dst, uint64_t n, uint64_t value)
{
    split s = split_of((uint64_t)dst, n);
    uint64_t eight = value * UINT64_C(0x0101010101010101);
    ulonglong2 *vector = (ulonglong2 *)(dst + s.head);
    for (uint64_t i = thread(); i < s.head; i += threads())
        dst[i] = (unsigned char)value;
    for (uint64_t i = thread(); i < s.vectors; i += threads())
        vector[i] = make_ulonglong2(eight, eight);
    for (uint64_t i = thread(); i < s.tail; i += threads())
        dst[n - s.tail + i] = (unsigned char)value;
}

KERNEL copy(unsigned char *dst, const unsigned char *src, uint64_t n)
{
    split s = split_of((uint64_t)dst, n);
    if ((uint64_t)dst % 16 != (uint64_t)src % 16) {
        for (uint64_t i = thread(); i < n; i += threads())
            dst[i] = src[i];
        return;
    }
    ulonglong2 *to = (ulonglong2 *)(dst + s.head);
    const ulonglong2 *from = (const ulonglong2 *)(src + s.head);
    for (uint64_t i = thread(); i < s.head; i += threads())
        dst[i] = src[i];
    for (uint64_t i = thread(); i < s.vectors; i += threads())
        to[i] = from[i];
    for (uint64_t i = thread(); i < s.tail; i += threads())
        dst[n - s.tail + i] = src[n - s.tail + i];
}

/* The sum of the eight bytes of a word. */
__device__ __forceinline__ uint64_t bytes_of(uint64_t w)
{
    w = (w & UINT64_C(0x00ff00ff00ff00ff)) + ((w >> 8) & UINT64_C(0x00ff00ff00ff00ff));
    return (w * UINT64_C(0x0001000100010001)) >> 48;
}

KERNEL sum(const unsigned char *src, uint64_t n, uint64_t *out)
{
    split s = split_of((uint64_t)src, n);
    const ulonglong2 *vector = (const ulonglong2 *)(src + s.head);
    uint64_t total = 0;
    for (uint64_t i = thread(); i < s.head; i += threads())
        total += src[i];
    for (uint64_t i = thread(); i < s.vectors; i += threads()) {
        ulonglong2 v = vector[i];
        total += bytes_of(v.x) + bytes_of(v.y);
    }
    for (uint64_t i = thread(); i < s.tail; i += threads())
        total += src[n - s.tail + i];
    add_up(total, out);
}

KERNEL stride_read(const unsigned char *src, uint64_t n, uint64_t stride, uint64_t *out)
{
    uint64_t reads = n / stride + (n % stride != 0), total = 0;
    for (uint64_t i = thread(); i < reads; i += threads())
        total += src[i * stride];
    add_up(total, out);
}

KERNEL random_read(const uint64_t *src, uint64_t n, uint64_t count, uint64_t seed, uint64_t *out)
{
    uint64_t base = pattern_base(seed), words = n / 8, total = 0;
    for (uint64_t i = thread(); words && i < count; i += threads())
        total += src[pattern_place(base, i, words)];
    add_up(total, out);
}

/* Accesses of exactly this width, which compilers neither omit nor split. */
__device__ uint64_t load_width(uint64_t address, uint64_t width)
{
    if (width == 1)
        return *(volatile const uint8_t *)address;
    if (width == 4)
        return *(volatile const uint32_t *)address;
    return *(volatile const uint64_t *)address;
}

__device__ void store_width(uint64_t address, uint64_t width, uint64_t value)
{
    if (width == 1)
        *(volatile uint8_t *)address = (uint8_t)value;
    else if (width == 4)
        *(volatile uint32_t *)address = (uint32_t)value;
    else
        *(volatile uint64_t *)address = value;
}

KERNEL touch(uint64_t address, uint64_t mode, uint64_t width, uint64_t *out)
{
    if (thread())
        return;
    if (mode)
        store_width(address, width, VMM_KERNEL_TOUCH_VALUE);
    else
        *out = load_width(address, width);
}

KERNEL atomic_add(uint64_t *address, uint64_t times)
{
    for (uint64_t i = thread(); i < times; i += threads())
        atomicAdd((word *)address, (word)1);
}

KERNEL pattern_write(uint64_t *dst, uint64_t n, uint64_t seed)
{
    uint64_t base = pattern_base(seed), head = (uint64_t)dst % 16 / 8, words = n / 8;
    head = head < words ? head : words;
    uint64_t vectors = (words - head) / 2, x = base + (head + 2 * thread()) * PATTERN_STEP;
    ulonglong2 *vector = (ulonglong2 *)(dst + head);
    for (uint64_t i = thread(); i < vectors; i += threads(), x += 2 * threads() * PATTERN_STEP)
        vector[i] = make_ulonglong2(pattern_scramble(x), pattern_scramble(x + PATTERN_STEP));
    if (thread() == 0 && head)
        dst[0] = pattern_word(base, 0);
    if (thread() == 0 && (words - head) % 2)
        dst[words - 1] = pattern_word(base, words - 1);
}

/* What one thread found wrong. */
struct verdict {
    uint64_t bad, first, found;
};

__device__ __forceinline__ void judge(verdict *v, uint64_t got, uint64_t want, uint64_t at)
{
    if (got == want)
        return;
    if (!v->bad || at < v->first) {
        v->first = at;
        v->found = got;
    }
    v->bad++;
}

__device__ unsigned verdict_lock;

/* Adds to the results of other blocks and earlier launches; one thread of a block at a time. */
__device__ void add_verdict(volatile uint64_t *out, uint64_t bad, uint64_t first, uint64_t found)
{
    while (atomicCAS(&verdict_lock, 0, 1) != 0) {
    }
    __threadfence();
    uint64_t before = out[0];
    if (!before || first < out[1]) {
        out[1] = first;
        out[2] = found;
    }
    out[0] = before + bad;
    __threadfence();
    atomicExch(&verdict_lock, 0);
}

/* Sound memory costs one vote a block and writes nothing. */
__device__ void report(const verdict *v, uint64_t *out)
{
    __shared__ word bad, first, found;
    if (!__syncthreads_or(v->bad != 0))
        return;
    if (threadIdx.x == 0) {
        bad = 0;
        first = ~(word)0;
    }
    __syncthreads();
    if (v->bad) {
        atomicAdd(&bad, (word)v->bad);
        atomicMin(&first, (word)v->first);
    }
    __syncthreads();
    if (v->bad && v->first == first)
        found = v->found;
    __syncthreads();
    if (threadIdx.x == 0)
        add_verdict(out, bad, first, found);
}

#define VERIFY_AHEAD 4 /* loads in flight for each thread */

KERNEL pattern_verify(const uint64_t *src, uint64_t n, uint64_t seed, uint64_t *out)
{
    uint64_t base = pattern_base(seed), head = (uint64_t)src % 16 / 8, words = n / 8;
    head = head < words ? head : words;
    uint64_t vectors = (words - head) / 2, stride = threads(), i = thread();
    uint64_t x = base + (head + 2 * i) * PATTERN_STEP, step = 2 * stride * PATTERN_STEP;
    const ulonglong2 *vector = (const ulonglong2 *)(src + head);
    verdict v = {0, 0, 0};
    for (; i < vectors && vectors - i > (VERIFY_AHEAD - 1) * stride; i += VERIFY_AHEAD * stride) {
        ulonglong2 got[VERIFY_AHEAD];
#pragma unroll
        for (int k = 0; k < VERIFY_AHEAD; k++)
            got[k] = vector[i + k * stride];
#pragma unroll
        for (int k = 0; k < VERIFY_AHEAD; k++, x += step) {
            judge(&v, got[k].x, pattern_scramble(x), head + 2 * (i + k * stride));
            judge(&v, got[k].y, pattern_scramble(x + PATTERN_STEP), head + 2 * (i + k * stride) + 1);
        }
    }
    for (; i < vectors; i += stride, x += step) {
        ulonglong2 got = vector[i];
        judge(&v, got.x, pattern_scramble(x), head + 2 * i);
        judge(&v, got.y, pattern_scramble(x + PATTERN_STEP), head + 2 * i + 1);
    }
    if (thread() == 0 && head)
        judge(&v, src[0], pattern_word(base, 0), 0);
    if (thread() == 0 && (words - head) % 2)
        judge(&v, src[words - 1], pattern_word(base, words - 1), words - 1);
    report(&v, out);
}

__device__ __forceinline__ uint64_t plain_load(uint64_t address)
{
    uint64_t value;
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}

/* The read before the write leaves an old copy where one could be kept; the fence makes writes through one address
 * visible to reads through another of the same memory. */
KERNEL alias_write_read(uint64_t write_addr, uint64_t read_addr, uint64_t n, uint64_t fence, uint64_t *out)
{
    uint64_t stale = 0;
    for (uint64_t i = 8 * thread(); i < n; i += 8 * threads()) {
        uint64_t old = plain_load(read_addr + i);
        asm volatile("st.global.u64 [%0], %1;" ::"l"(write_addr + i), "l"(old + 1) : "memory");
        if (fence)
            asm volatile("fence.proxy.alias;" ::: "memory");
        stale += plain_load(read_addr + i) != old + 1;
    }
    add_up(stale, out);
}

/* Multimem instructions came with compute capability 9.0. Code for older devices is built as well, where these kernels
 * must not run: they trap there, and no call of the library gets that far. */
__device__ __forceinline__ void store_all(uint64_t mc, uint64_t value)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("multimem.st.relaxed.sys.global.u64 [%0], %1;" ::"l"(mc), "l"(value) : "memory");
#else
    __trap();
#endif
}

__device__ __forceinline__ void add_all(uint64_t mc, uint64_t value)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("multimem.red.relaxed.sys.global.add.u64 [%0], %1;" ::"l"(mc), "l"(value) : "memory");
#else
    __trap();
#endif
}

/* Earlier writes of this thread are visible to any thread that sees the addition. */
__device__ __forceinline__ void arrive_all(uint64_t mc)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.alias;" ::: "memory");
    asm volatile("multimem.red.release.sys.global.add.u64 [%0], %1;" ::"l"(mc), "l"(UINT64_C(1)) : "memory");
#else
    __trap();
#endif
}

__device__ __forceinline__ uint64_t sum_all(uint64_t mc)
{
    uint64_t sum = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u64 %0, [%1];" : "=l"(sum) : "l"(mc) : "memory");
#else
    __trap();
#endif
    return sum;
}

/* Writes of other threads are visible once their additions are. */
__device__ __forceinline__ uint64_t look(uint64_t counter)
{
    uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(counter) : "memory");
    return value;
}

KERNEL multimem_store(uint64_t mc, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = thread(); i < n / 8; i += threads())
        store_all(mc + 8 * i, src[i]);
}

KERNEL multimem_reduce(uint64_t mc, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = thread(); i < n / 8; i += threads())
        add_all(mc + 8 * i, src[i]);
}

KERNEL multimem_load_reduce(uint64_t *dst, uint64_t mc, uint64_t n)
{
    for (uint64_t i = thread(); i < n / 8; i += threads())
        dst[i] = sum_all(mc + 8 * i);
}

/* One thread does it all: the part must be written before the arrival, and a grid has no other barrier. */
KERNEL norm_arrive(uint64_t *part, uint64_t counter_mc, const uint64_t *src, uint64_t n)
{
    uint64_t sum = 0;
    if (thread())
        return;
    for (uint64_t i = 0; i < n / 8; i++)
        sum += src[i] * src[i];
    *part = sum;
    __threadfence_system();
    arrive_all(counter_mc);
}

/* It gives up after `tries` checks, because the others may not have been launched yet. */
KERNEL norm_finish(uint64_t *out, uint64_t part_mc, uint64_t counter, uint64_t expected, uint64_t tries)
{
    bool complete = false;
    if (thread())
        return;
    for (uint64_t i = 0; i < tries && !complete; i++)
        complete = look(counter) >= expected;
    if (complete) {
#if __CUDA_ARCH__ >= 900
        asm volatile("fence.proxy.alias;" ::: "memory");
#endif
        out[0] = sum_all(part_mc);
        out[1] = norm_root(out[0]);
    }
    out[2] = complete;
}
