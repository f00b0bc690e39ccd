/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that start or end outside of their memory. */
#include "buggy.h"

/* The classic: <= instead of <. */
PROGRAM(kernel_one_byte_past, .does = "lets a kernel write one byte past the end", .rule = "VMM-FAULT-ACCESS",
        .at = "cuCtxSynchronize", .way = "hold the kernel to the size that is mapped")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped_below_free(b, &memory);
    CAUSE(LAUNCH(NULL, FILL, p, BUG_OR_FIX(G + 1, G), 7));
    VALUE(p + G);
    REPORTED(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, p + G - 1) == 7));
    give_back_below_free(b, p, memory);
}

/* The reservation is larger than its mappings, as in every growing array. */
PROGRAM(fill_into_the_reserved_rest, .does = "clears the capacity of an array instead of what is mapped",
        .rule = "VMM-COPY-RUNS-PAST", .at = "cuMemsetD8", .way = "keep capacity and mapped size apart",
        .argument = "dstDevice")
{
    vmm_deviceptr p = reserve(b, 4 * G);
    vmm_handle memory = create(b, G);
    DO(vmm_mem_map(S, p, G, 0, memory, 0));
    DO(grant(b, p, G, DEVICE(0), RW));
    REPORTED(vmm_memset_d8(S, p, 1, BUG_OR_FIX(4 * G, G)));
    FIX(RIGHT(byte_at(b, p + G - 1) == 1));
    DO(vmm_mem_unmap(S, p, G));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, 4 * G));
}

PROGRAM(copy_over_a_hole, .does = "copies over a chunk that was unmapped in the middle", .rule = "VMM-COPY-RUNS-PAST",
        .at = "cuMemcpyDtoD", .way = "copy each run of mappings by itself", .argument = "srcDevice")
{
    vmm_handle memory;
    vmm_deviceptr p = chunks(b, 3, RW), copy = mapped(b, 3 * G, RW, &memory);
    DO(vmm_memset_d8(S, p, 6, 3 * G));
    DO(vmm_mem_unmap(S, p + G, G));
    BUG(REPORTED(vmm_memcpy_dtod(S, copy, p, 3 * G)));
    FIX(DO(vmm_memcpy_dtod(S, copy, p, G)); DO(vmm_memcpy_dtod(S, copy + 2 * G, p + 2 * G, G));
        RIGHT(byte_at(b, copy + G - 1) == 6 && byte_at(b, copy + G) == 0 && byte_at(b, copy + 2 * G) == 6));
    DO(vmm_mem_unmap(S, p, G));
    DO(vmm_mem_unmap(S, p + 2 * G, G));
    DO(vmm_mem_address_free(S, p, 3 * G));
    give_back(b, copy, 3 * G, memory);
}

PROGRAM(kernel_over_a_hole, .does = "lets a kernel go over a chunk that was unmapped in the middle",
        .rule = "VMM-FAULT-ACCESS", .at = "cuCtxSynchronize", .way = "launch for each run of mappings, or map the hole")
{
    vmm_deviceptr p = chunks(b, 3, RW);
    BUG(DO(vmm_mem_unmap(S, p + G, G)));
    CAUSE(LAUNCH(NULL, FILL, p, 3 * G, 3));
    VALUE(p + G);
    REPORTED(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, p + G) == 3); DO(vmm_mem_unmap(S, p + G, G)));
    DO(vmm_mem_unmap(S, p, G));
    DO(vmm_mem_unmap(S, p + 2 * G, G));
    DO(vmm_mem_address_free(S, p, 3 * G));
}

/* Reads a header word in front of a block that has none. */
PROGRAM(kernel_before_the_start, .does = "reads the word before a buffer (a header that is not there)",
        .rule = "VMM-FAULT-ACCESS", .at = "cuCtxSynchronize", .way = "map the header with the block")
{
    vmm_handle memory, answer;
    vmm_deviceptr arena = reserve(b, 2 * G), block = arena + G, out = mapped(b, G, RW, &answer);
    memory = create(b, G);
    DO(vmm_mem_map(S, block, G, 0, memory, 0));
    DO(grant(b, block, G, DEVICE(0), RW));
    CAUSE(LAUNCH(NULL, TOUCH, BUG_OR_FIX(block - 8, block), 0, 8, out));
    VALUE(block - 8);
    REPORTED(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, out) == 0));
    DO(vmm_mem_unmap(S, block, G));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, arena, 2 * G));
    give_back(b, out, G, answer);
}

/* 100 bytes are twelve words and a half, and the kernel's thirteenth goes over the seam. */
PROGRAM(word_over_the_seam, .does = "rounds the number of words up and writes half a word beyond the end",
        .rule = "VMM-FAULT-ACCESS", .at = "cuCtxSynchronize", .way = "round the number of elements down",
        .driver = "SUCCESS, unless the last page of the memory ends there", .near = VMM_OBJECT_ALLOCATION,
        .leaves = "A") /* cuMemFree would wait for the device, which is lost */
{
    const uint64_t size = 100;
    vmm_deviceptr p = 0;
    DO(vmm_mem_alloc(S, &p, size));
    vmm_deviceptr last = p + BUG_OR_FIX((size + 7) / 8 * 8, size / 8 * 8) - 8;
    CAUSE(LAUNCH(NULL, TOUCH, last, 1, 8, 0));
    VALUE(last);
    REPORTED(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, last) == (unsigned char)VMM_KERNEL_TOUCH_VALUE); DO(vmm_mem_free(S, p)));
}

/* An array can be empty, and a grid cannot. */
PROGRAM(empty_grid, .does = "launches a kernel with n / 256 blocks, which is 0 for small n",
        .rule = "VMM-LAUNCH-DIMENSIONS", .at = "cuLaunchKernel", .way = "round up; launch nothing for n = 0")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    const uint64_t n = 100, args[] = {p, n, 5};
    REPORTED(vmm_launch(S, VMM_KERNEL_FILL, (unsigned)BUG_OR_FIX(n / 256, (n + 255) / 256), 256, args, 3, NULL));
    DO(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, p + n - 1) == 5));
    give_back(b, p, G, memory);
}

PROGRAM(download_to_null, .does = "downloads into a buffer that malloc did not give", .rule = "VMM-COPY-NULL",
        .at = "cuMemcpyDtoH", .way = "look at what malloc returned", .argument = "dstHost")
{
    vmm_handle memory;
    unsigned char room[16] = {0};
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    DO(vmm_memset_d8(S, p, 2, 16));
    REPORTED(vmm_memcpy_dtoh(S, BUG_OR_FIX(NULL, room), p, 16));
    RIGHT(room[15] == 2);
    give_back(b, p, G, memory);
}

PROGRAM(unmap_half, .does = "shrinks an array by half of a mapping", .rule = "VMM-UNMAP-PARTIAL", .at = "cuMemUnmap",
        .way = "map in the pieces in which you unmap", .near = VMM_OBJECT_MAPPING, .leaves = "RMH")
{
    vmm_deviceptr p = reserve(b, 2 * G);
    const uint64_t piece = BUG_OR_FIX(2 * G, G);
    for (uint64_t at = 0; at < 2 * G; at += piece) {
        vmm_handle memory = create(b, piece);
        DO(vmm_mem_map(S, p + at, piece, 0, memory, 0));
        DO(vmm_mem_release(S, memory));
    }
    DO(grant(b, p, 2 * G, DEVICE(0), RW));
    REPORTED(vmm_mem_unmap(S, p + G, G));
    FIX(RIGHT(byte_at(b, p + G - 1) == 0); DO(vmm_mem_unmap(S, p, G)); DO(vmm_mem_address_free(S, p, 2 * G)));
}

PROGRAM(unmap_over_a_hole, .does = "unmaps a range after a part of it was unmapped before", .rule = "VMM-UNMAP-HOLE",
        .at = "cuMemUnmap", .way = "unmap each run of mappings by itself")
{
    vmm_deviceptr p = chunks(b, 3, RW);
    RIGHT(byte_at(b, p + G) == 0);
    DO(vmm_mem_unmap(S, p + G, G));
    BUG(REPORTED(vmm_mem_unmap(S, p, 3 * G)));
    FIX(DO(vmm_mem_unmap(S, p, G)); DO(vmm_mem_unmap(S, p + 2 * G, G)));
    DO(vmm_mem_address_free(S, p, 3 * G));
}

/* end - start with the two swapped. */
PROGRAM(size_that_wraps, .does = "copies start - end bytes, which wraps to almost 2^64",
        .rule = "VMM-COPY-OVERFLOW", .at = "cuMemcpyDtoD", .way = "end - start; check start <= end")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory), start = p, end = p + 4096;
    DO(vmm_memset_d8(S, start, 4, 4096));
    REPORTED(vmm_memcpy_dtod(S, p + 8192, start, BUG_OR_FIX(start - end, end - start)));
    FIX(RIGHT(byte_at(b, p + 8192 + 4095) == 4));
    give_back(b, p, G, memory);
}

PROGRAM(fill_at_an_unaligned_address, .does = "fills 32-bit words at an address that is not a multiple of 4",
        .rule = "VMM-SET-ALIGNMENT", .at = "cuMemsetD32", .way = "align the address, or fill bytes",
        .argument = "dstDevice")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory), to = BUG_OR_FIX(p + 2, p + 4);
    VALUE(to);
    REPORTED(vmm_memset_d32(S, to, 0x07070707, 16));
    FIX(RIGHT(byte_at(b, to) == 7 && byte_at(b, p) == 0));
    give_back(b, p, G, memory);
}

PROGRAM(fill_counted_in_bytes, .does = "passes bytes to cuMemsetD32, which counts words", .rule = "VMM-COPY-RUNS-PAST",
        .at = "cuMemsetD32", .way = "divide by the size of an element", .argument = "dstDevice")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    REPORTED(vmm_memset_d32(S, p, 0x07070707, BUG_OR_FIX(G, G / 4)));
    FIX(RIGHT(byte_at(b, p + G - 1) == 7));
    give_back(b, p, G, memory);
}

/* -1 as a number of words: times four it wraps, and the driver fills the remainder. */
PROGRAM(fill_count_that_wraps, .does = "passes a number of words that wraps when it becomes bytes",
        .rule = "VMM-SET-COUNT-WRAPS", .at = "cuMemsetD32", .way = "check the count before the call")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    REPORTED(vmm_memset_d32(S, p, 0x07070707, BUG_OR_FIX((UINT64_C(1) << 62) + 16, 16)));
    FIX(RIGHT(byte_at(b, p + 63) == 7 && byte_at(b, p + 64) == 0));
    give_back(b, p, G, memory);
}

PROGRAM(download_past_the_end, .does = "downloads one element more than there is", .rule = "VMM-COPY-RUNS-PAST",
        .at = "cuMemcpyDtoH", .way = "count from the first element that is copied", .argument = "srcDevice")
{
    vmm_handle memory;
    unsigned char tail[64] = {0};
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    DO(vmm_memset_d8(S, p, 2, G));
    REPORTED(vmm_memcpy_dtoh(S, tail, BUG_OR_FIX(p + G - 63, p + G - 64), sizeof tail));
    RIGHT(tail[63] == 2);
    give_back(b, p, G, memory);
}
