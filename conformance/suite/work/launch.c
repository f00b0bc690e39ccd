/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: what a launch refuses, and what kernels do with memory they have access to. fault.c tests faults. */
#include <string.h>

#include "form.h"
#include "test.h"

#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

#define ARGS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define LAUNCH(kernel, ...) vmm_launch(S, VMM_KERNEL_##kernel, 2, 96, ARGS(__VA_ARGS__), NULL)

/* Launches and waits. */
#define RUN(kernel, ...)                           \
    do {                                           \
        ACCEPTED(LAUNCH(kernel, __VA_ARGS__));     \
        ACCEPTED(vmm_ctx_synchronize(S));          \
    } while (0)

static uint64_t word_at(struct fix *f, vmm_deviceptr ptr)
{
    uint64_t word = 0;
    fix_need(f, vmm_memcpy_dtoh(S, &word, ptr, sizeof word));
    return word;
}

/* How many words of the pattern are missing. */
static uint64_t wrong_words(struct fix *f, vmm_deviceptr src, uint64_t n, uint64_t seed, vmm_deviceptr out)
{
    fix_need(f, vmm_memset_d8(S, out, 0, 24));
    RUN(PATTERN_VERIFY, src, n, seed, out);
    return word_at(f, out);
}

/* Two mappings side by side with rights. */
static vmm_deviceptr two_mappings(struct fix *f, vmm_mem_access_flags flags)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    fix_access(f, p, 2 * f->g, flags);
    return p;
}

TEST_BREAKS(LAUNCH_KERNEL, launch_of_no_kernel)
{
    REFUSED(vmm_launch(S, -1, 1, 1, ARGS(0), NULL), INVALID_VALUE, "f", UINT64_MAX);
    REFUSED(vmm_launch(S, vmm_kernel_count(), 1, 1, ARGS(0), NULL), INVALID_VALUE, "f", (uint64_t)vmm_kernel_count());
}

TEST_NEAR_MISS(LAUNCH_KERNEL, launch_of_the_last_kernel)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    CHECK_U64((uint64_t)vmm_kernel_count(), VMM_KERNEL_NORM_FINISH + 1);
    if (f->simulator) /* on a driver it needs multicast switched on, and no run has, so it uses none */
        RUN(NORM_FINISH, p, p, p + 64, 1, 1);
    else
        RUN(ALIAS_WRITE_READ, p, p, 8, 1, p + 64);
}

TEST_BREAKS(LAUNCH_DIMENSIONS, launch_of_no_or_too_many_threads)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    REFUSED(vmm_launch(S, VMM_KERNEL_FILL, 0, 1, ARGS(p, 1, 1), NULL), INVALID_VALUE, "gridDimX", 0);
    REFUSED(vmm_launch(S, VMM_KERNEL_FILL, 1u << 31, 1, ARGS(p, 1, 1), NULL), INVALID_VALUE, "gridDimX", 1u << 31);
    REFUSED(vmm_launch(S, VMM_KERNEL_FILL, 1, 0, ARGS(p, 1, 1), NULL), INVALID_VALUE, "blockDimX", 0);
    REFUSED(vmm_launch(S, VMM_KERNEL_FILL, 1, 1025, ARGS(p, 1, 1), NULL), INVALID_VALUE, "blockDimX", 1025);
}

TEST_NEAR_MISS(LAUNCH_DIMENSIONS, launch_of_few_and_many_threads)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    ACCEPTED(vmm_launch(S, VMM_KERNEL_FILL, 1, 1, ARGS(p, 100, 1), NULL));
    ACCEPTED(vmm_launch(S, VMM_KERNEL_FILL, 1, 1024, ARGS(p + 100, 100, 2), NULL));
    ACCEPTED(vmm_launch(S, VMM_KERNEL_FILL, 65536, 1, ARGS(p + 200, 100, 3), NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK(fix_peek(f, p + 99) == 1 && fix_peek(f, p + 100) == 2 && fix_peek(f, p + 299) == 3 &&
              fix_peek(f, p + 300) == 0,
          "the bytes differ from those filled");
}

TEST_BREAKS(LAUNCH_ARGUMENTS, launch_with_wrong_arguments)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    REFUSED(vmm_launch(S, VMM_KERNEL_FILL, 1, 1, ARGS(p, 1), NULL), INVALID_VALUE, "count", 2);
    REFUSED(vmm_launch(S, VMM_KERNEL_FILL, 1, 1, ARGS(p, 1, 1, 1), NULL), INVALID_VALUE, "count", 4);
    REFUSED(vmm_launch(S, VMM_KERNEL_FILL, 1, 1, NULL, 3, NULL), INVALID_VALUE, "kernelParams", 0);
    REFUSED(LAUNCH(FILL, p, 1, 256), INVALID_VALUE, "kernelParams", 256);
    REFUSED(LAUNCH(PATTERN_WRITE, p + 4, 8, 1), INVALID_VALUE, "kernelParams", p + 4);
    REFUSED(LAUNCH(PATTERN_WRITE, p, 12, 1), INVALID_VALUE, "kernelParams", 12);
    REFUSED(LAUNCH(STRIDE_READ, p, 8, 0, p), INVALID_VALUE, "kernelParams", 0);
    REFUSED(LAUNCH(TOUCH, p + 4, 1, 8, p), INVALID_VALUE, "kernelParams", 8);
    REFUSED(LAUNCH(TOUCH, p, 2, 8, p), INVALID_VALUE, "kernelParams", 2);
}

TEST_NEAR_MISS(LAUNCH_ARGUMENTS, launch_with_unusual_arguments)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    RUN(FILL, p + 1, 5, 255);
    RUN(FILL, 0, 0, 0); /* an empty request accesses nothing */
    RUN(PATTERN_WRITE, 8, 0, 0);
    RUN(TOUCH, p + 12, 1, 4, 0);
    CHECK_U64(word_at(f, p), UINT64_C(0x0000ffffffffff00));
    CHECK_U64(word_at(f, p + 8), VMM_KERNEL_TOUCH_VALUE << 32);
}

/* Arguments are checked before the context. */
TEST_EXPECTS("launch.needs_a_context", launch_without_context)
{
    fix_need(f, vmm_ctx_set_current(S, NULL));
    REFUSED_BY("VMM-CTX-CURRENT", LAUNCH(FILL, 0, 0, 0), INVALID_CONTEXT, NULL, 0);
    REFUSED_BY("VMM-LAUNCH-ARGUMENTS", LAUNCH(FILL, 0, 0), INVALID_VALUE, "count", 2);
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    vmm_stream stream = fix_stream(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    ACCEPTED(vmm_launch(S, VMM_KERNEL_FILL, 1, 32, ARGS(p, 8, 9), stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    CHECK_U64(fix_peek(f, p + 7), 9);
    if (!f->simulator)
        return; /* a driver crashes on destroyed streams */
    fix_stream_destroy(f, stream);
    REFUSED_BY("VMM-STREAM-UNKNOWN", vmm_launch(S, VMM_KERNEL_FILL, 1, 32, ARGS(p, 8, 1), stream), INVALID_HANDLE,
               "stream", (uintptr_t)stream);
    CHECK_U64(fix_peek(f, p), 9);
}

/* Kernels and copies see the same bytes, across the seam between two mappings and at odd addresses. */
TEST_EXPECTS("launch.sees_what_copies_see", kernels_and_copies)
{
    vmm_deviceptr p = two_mappings(f, RW), out = fix_mapped(f, f->g, RW, NULL), seam = p + f->g;
    unsigned char bytes[64];
    RUN(FILL, seam - 19, 38, 0xa5);
    fix_need(f, vmm_memcpy_dtoh(S, bytes, seam - 32, sizeof bytes));
    for (int i = 0; i < 64; i++)
        CHECK(bytes[i] == (i >= 13 && i < 51 ? 0xa5 : 0), "byte %d is %d", i, bytes[i]);
    for (unsigned i = 0; i < 64; i++)
        bytes[i] = (unsigned char)(i * 5 + 1);
    fix_need(f, vmm_memcpy_htod(S, seam - 32, bytes, sizeof bytes));
    fix_need(f, vmm_memset_d8(S, out, 0, 256));
    RUN(SUM, seam - 31, 61, out);
    RUN(STRIDE_READ, seam - 32, 64, 7, out + 8);
    uint64_t sum = 0, strides = 0;
    for (unsigned i = 0; i < 64; i++) {
        sum += i >= 1 && i < 62 ? bytes[i] : 0;
        strides += i % 7 ? 0 : bytes[i];
    }
    CHECK_U64(word_at(f, out), sum);
    CHECK_U64(word_at(f, out + 8), strides);
    RUN(COPY, out + 65, seam - 32, 63);
    RUN(COPY, out + 144, seam - 16, 32);
    unsigned char copied[128];
    fix_need(f, vmm_memcpy_dtoh(S, copied, out + 64, sizeof copied));
    CHECK(copied[0] == 0 && memcmp(copied + 1, bytes, 63) == 0 && copied[64] == 0, "copy at odd addresses");
    CHECK(memcmp(copied + 80, bytes + 16, 32) == 0 && copied[112] == 0, "copy at even ones");
    RUN(ATOMIC_ADD, out, 1000);
    CHECK_U64(word_at(f, out), sum + 1000);
    fix_need(f, vmm_memset_d8(S, p, 1, f->g));
    fix_need(f, vmm_memset_d8(S, out, 0, 8));
    RUN(RANDOM_READ, p, f->g, 500, 3, out);
    CHECK_U64(word_at(f, out), 500 * UINT64_C(0x0101010101010101));
}

/* A pattern over two mappings; a wrong word is found at its place. */
TEST_EXPECTS("launch.pattern_finds_wrong_words", patterns)
{
    vmm_deviceptr p = two_mappings(f, RW), out = fix_mapped(f, f->g, RW, NULL);
    uint64_t n = 2 * f->g - 16, place = f->g / 8 + 5;
    RUN(PATTERN_WRITE, p + 8, n, 11);
    CHECK(word_at(f, p) == 0 && word_at(f, p + 8 + n) == 0, "written outside its range");
    CHECK_U64(wrong_words(f, p + 8, n, 11, out), 0);
    CHECK_U64(wrong_words(f, p + 8, n, 12, out), n / 8);
    CHECK_U64(wrong_words(f, p + 16, n - 8, 11, out), n / 8 - 1);
    fix_fill(f, p + 8 + 8 * place, 0x77, 1);
    fix_fill(f, p + 8 + 8 * place + 800, 0x66, 8);
    CHECK_U64(wrong_words(f, p + 8, n, 11, out), 2);
    CHECK_U64(word_at(f, out + 8), place);
    CHECK_U64(word_at(f, out + 16), word_at(f, p + 8 + 8 * place));
    RUN(PATTERN_VERIFY, p + 8, n, 11, out); /* adds to the same result */
    CHECK_U64(word_at(f, out), 4);
    CHECK_U64(word_at(f, out + 8), place);
}

/* The memory behind the addresses changes; the pattern shows which memory is mapped. */
TEST_EXPECTS("launch.pattern_follows_memory", pattern_moves_with_memory)
{
    vmm_mem_generic_allocation_handle first = fix_create(f, f->g), second = fix_create(f, f->g);
    vmm_deviceptr p = fix_reserve(f, 2 * f->g), out = fix_mapped(f, f->g, RW, NULL);
    fix_map(f, p, f->g, first);
    fix_map(f, p + f->g, f->g, second);
    fix_access(f, p, 2 * f->g, RW);
    RUN(PATTERN_WRITE, p, f->g, 1);
    RUN(PATTERN_WRITE, p + f->g, f->g, 2);
    fix_unmap(f, p, 2 * f->g);
    fix_map(f, p, f->g, second);
    fix_map(f, p + f->g, f->g, first);
    fix_access(f, p, 2 * f->g, RW);
    CHECK_U64(wrong_words(f, p, f->g, 2, out), 0);
    CHECK_U64(wrong_words(f, p + f->g, f->g, 1, out), 0);
    CHECK_U64(wrong_words(f, p, f->g, 1, out), f->g / 8);
}

/* Two mappings of one memory: a write through one is visible through the other, in a later launch without any fence and
 * in the same launch with one. Without a fence it is undefined: on the measured driver, and so here, nothing is
 * stale. */
TEST_EXPECTS("launch.aliases", kernels_on_aliases)
{
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    vmm_deviceptr p = fix_reserve(f, 2 * f->g), out = fix_mapped(f, f->g, RW, NULL);
    fix_map(f, p, f->g, handle);
    fix_map(f, p + f->g, f->g, handle);
    fix_access(f, p, f->g, RW);
    fix_access(f, p + f->g, f->g, READ);
    RUN(PATTERN_WRITE, p, f->g, 5);
    CHECK_U64(wrong_words(f, p + f->g, f->g, 5, out), 0);
    fix_need(f, vmm_memset_d8(S, out, 0, 24));
    RUN(ALIAS_WRITE_READ, p, p + f->g, f->g, 1, out);
    CHECK_U64(word_at(f, out), 0);
    CHECK_U64(wrong_words(f, p + f->g, f->g, 5, out), f->g / 8); /* each word is one more now */
    fix_need(f, vmm_memset_d8(S, out, 0, 24));
    fix_need(f, LAUNCH(ALIAS_WRITE_READ, p, p + f->g, f->g, 0, out)); /* warned about below */
    ACCEPTED(vmm_ctx_synchronize(S));
    bool fresh = f->simulator && !strstr(f->spec, "alias=stale");
    CHECK(word_at(f, out) == 0 || !fresh, "stale words without a fence");
}

/* The launch succeeds with a warning that names the second address and its mapping. */
static void check_alias(struct fix *f, int line, vmm_result result, vmm_deviceptr address, vmm_deviceptr mapping)
{
    const vmm_detail detail = *vmm_last_detail();
    if (result != VMM_SUCCESS)
        fix_failed(f, __FILE__, line, "%s", vmm_result_name(result));
    else if (f->simulator && (!detail.rule || strcmp(detail.rule, "VMM-LAUNCH-ALIAS") != 0))
        fix_failed(f, __FILE__, line, "expected a warning, got %s", detail.rule ? detail.rule : "none");
    else if (f->simulator && (detail.severity != VMM_SEVERITY_WARNING || detail.value != address ||
                              detail.nearest.kind != VMM_OBJECT_MAPPING || detail.nearest.start != mapping))
        fix_failed(f, __FILE__, line, "value 0x%llx, mapping at 0x%llx: %s", (unsigned long long)detail.value,
                   (unsigned long long)detail.nearest.start, detail.note);
    ACCEPTED(vmm_ctx_synchronize(S));
}

/* In both forms of the kernel. */
#define LAUNCH_FORM(kernel, ...) vmm_launch(S, form_of(f, VMM_KERNEL_##kernel, ptx), 2, 96, ARGS(__VA_ARGS__), NULL)
#define ALIASED(address, mapping, kernel, ...) check_alias(f, __LINE__, LAUNCH_FORM(kernel, __VA_ARGS__), address, mapping)
#define APART(kernel, ...)                         \
    do {                                           \
        ACCEPTED(LAUNCH_FORM(kernel, __VA_ARGS__)); \
        ACCEPTED(vmm_ctx_synchronize(S));          \
    } while (0)

static void use_two_addresses(struct fix *f, bool ptx)
{
    vmm_deviceptr p = fix_mapped_twice(f), q = p + f->g, other = p + 2 * f->g;
    ALIASED(q + 8, q, ALIAS_WRITE_READ, p, q + 8, 64, 0, other);
    ALIASED(q, q, COPY, p, q, 64);
    ALIASED(q + 32, q, COPY, p, q + 32, 64);       /* the last half of what is written is read */
    ALIASED(q + 100, q, COPY, p + 100, q + 37, 64); /* one byte */
    ALIASED(p + 8, p, SUM, p, 64, q + 8);
    ALIASED(p + 4096, p, STRIDE_READ, p, 8192, 4096, q + 4096);
    ALIASED(p + 64, p, PATTERN_VERIFY, p, 128, 1, q + 64);
    vmm_deviceptr single = fix_mapped(f, f->g, RW, NULL);
    fix_need(f, vmm_mem_unmap(S, single, f->g));
    ALIASED(q, q, COPY, p, q, 64); /* other mappings do not matter */
    vmm_mem_generic_allocation_handle memory = 0; /* nor how often this memory is mapped */
    vmm_deviceptr third = fix_reserve(f, 2 * f->g);
    fix_need(f, vmm_mem_retain_allocation_handle(S, &memory, p));
    for (int i = 0; i < 2; i++) {
        fix_map(f, third + (uint64_t)i * f->g, f->g, memory);
        fix_access_at(f, third, f->g, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW);
        ALIASED(q + 32, q, COPY, p, q + 32, 64);
        ALIASED(third, third, COPY, q, third, 64);
    }
    for (uint64_t i = 0; i < 2; i++)
        fix_unmap(f, third + i * f->g, f->g);
    ALIASED(q + 32, q, COPY, p, q + 32, 64); /* two are left */
    fix_need(f, vmm_mem_release(S, memory));
}

TEST_BREAKS(LAUNCH_ALIAS, kernels_that_use_two_addresses)
{
    use_two_addresses(f, false);
}

TEST_BREAKS(LAUNCH_ALIAS, kernels_of_ptx_that_use_two_addresses)
{
    form_need(f);
    use_two_addresses(f, true);
}

static void use_other_bytes(struct fix *f, bool ptx)
{
    vmm_deviceptr p = fix_mapped_twice(f), q = p + f->g, other = p + 2 * f->g;
    APART(ALIAS_WRITE_READ, p, q, 64, 1, other); /* with a fence */
    APART(COPY, p, q + 64, 64);
    APART(COPY, p + 64, q, 64);
    APART(COPY, p, p + 64, 64);
    APART(SUM, p, 64, p + 8); /* through one address */
    APART(SUM, p, 64, q + 64);
    APART(STRIDE_READ, p, 8192, 4096, q + 8);
    APART(COPY, other, p, f->g);
    vmm_deviceptr plain = 0; /* memory that has no mapping at all */
    fix_need(f, vmm_mem_alloc(S, &plain, 4096));
    APART(COPY, plain, p, 64);
    APART(SUM, plain, 64, other);
    fix_need(f, vmm_mem_free(S, plain));
    ACCEPTED(LAUNCH_FORM(FILL, p, 64, 1)); /* in two launches */
    APART(SUM, q, 64, other);
}

TEST_NEAR_MISS(LAUNCH_ALIAS, kernels_that_use_other_bytes)
{
    use_other_bytes(f, false);
}

TEST_NEAR_MISS(LAUNCH_ALIAS, kernels_of_ptx_that_use_other_bytes)
{
    form_need(f);
    use_other_bytes(f, true);
}

/* Each device works with its own rights. */
TEST_EXPECTS_ON("launch.peer_memory", kernels_on_peer_memory, "devices = 2\npeers = all", TEST_AS_GIVEN, 0)
{
    fix_need_devices(f, 2);
    fix_need_link(f, true);
    vmm_mem_allocation_prop prop = fix_prop(0);
    vmm_deviceptr p = fix_reserve(f, f->g), q = fix_reserve(f, f->g);
    fix_map(f, p, f->g, fix_create_prop(f, f->g, &prop));
    fix_access(f, p, f->g, RW);
    RUN(PATTERN_WRITE, p, f->g, 21);
    fix_access_at(f, p, f->g, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 1), RW);
    prop = fix_prop(1);
    fix_map(f, q, f->g, fix_create_prop(f, f->g, &prop));
    fix_access_at(f, q, f->g, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 1), RW);
    vmm_context other = fix_context(f, 1);
    RUN(COPY, q, p, f->g);
    CHECK_U64(wrong_words(f, p, f->g - 64, 21, q + f->g - 64), 0);
    RUN(TOUCH, p + f->g - 8, 1, 8, 0);
    fix_context_destroy(f, other);
    CHECK_U64(word_at(f, p + f->g - 8), VMM_KERNEL_TOUCH_VALUE);
}

/* A kernel accesses host memory like any other, with the device's rights. */
TEST_EXPECTS("launch.host_memory", kernels_on_host_memory)
{
    fix_need_host(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    uint64_t unit = fix_host_unit(f);
    vmm_deviceptr p = fix_reserve(f, unit), out = fix_mapped(f, f->g, RW, NULL);
    fix_map(f, p, unit, fix_create_prop(f, unit, &prop));
    fix_access(f, p, unit, RW);
    RUN(PATTERN_WRITE, p, 65536, 9);
    CHECK_U64(wrong_words(f, p, 65536, 9, out), 0);
}
