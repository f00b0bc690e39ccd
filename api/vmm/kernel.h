/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - kernels that come with this library, and host functions as work. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_KERNELS_H
#define CUVMM_VMM_KERNELS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------ kernels
 * A fixed set of small kernels, the same for every backend, through which a program (or a test) uses memory as
 * kernels do: with the device's translation and rights, and no check beforehand. On a driver they are device code;
 * the simulator runs the same loops itself. All arguments are 64 bits wide. "adds to out" means an atomic addition,
 * so that several launches may share one out: set it to 0 first.
 *
 *   kernel            arguments
 *   FILL              dst n value                   n bytes at dst become value (0 to 255)
 *   PATTERN_WRITE     dst n seed                    n bytes at dst: 64-bit words, all different, computed from seed and place
 *   PATTERN_VERIFY    src n seed out                is the pattern still there? out[0]: adds how many words differ; out[1] and
 *                                                   out[2]: the first such place, in words from src, and what is there.
 *                                                   Nothing is written when all match: out[0] stays 0
 *   SUM               src n out                     adds the sum of n bytes to out
 *   COPY              dst src n                     n bytes; ranges that overlap are undefined
 *   STRIDE_READ       src n stride out              adds the bytes at src, src + stride, ... below src + n to out
 *   RANDOM_READ       src n count seed out          adds count words of [src, src + n) to out, at places given by seed
 *   TOUCH             address mode width out        one access of width bytes (1, 4 or 8): mode 0 reads it into out,
 *                                                   mode 1 writes the low bytes of VMM_KERNEL_TOUCH_VALUE
 *   ATOMIC_ADD        address times                 adds 1 to the word at address, times times
 *   ALIAS_WRITE_READ  write_addr read_addr n fence out   both addresses map the same memory: reads each word through the
 *                                                   second, writes it plus 1 through the first, reads it again through
 *                                                   the second, and adds to out how often the old value came back. fence
 *                                                   1 puts fence.proxy.alias between write and read; without it the
 *                                                   outcome is undefined in the documents [VMM-LAUNCH-ALIAS]. Observed
 *                                                   (580): 0, as here unless the spec says alias=stale:SEED
 *   MULTIMEM_STORE    mc src n                      the words at src go to every replica of the multicast address mc
 *   MULTIMEM_REDUCE   mc src n                      adds them to every replica, atomically
 *   MULTIMEM_LOAD_REDUCE   dst mc n                 each word at dst becomes the sum of its replicas
 *   NORM_ARRIVE       part counter_mc src n         the sum of the squares of n bytes of words at src goes to part, then
 *                                                   1 is added to every replica of counter_mc
 *   NORM_FINISH       out part_mc counter expected tries   reads counter, up to tries times, until it has reached
 *                                                   expected; then out[0] is the sum of the replicas of part_mc and out[1] its
 *                                                   square root, rounded down. out[2]: 1 if it was reached, else 0
 *
 * n is a number of bytes; for kernels that work on words, n and addresses are multiples of 8. out is in device memory
 * and a multiple of 8.
 *
 * mc, counter_mc and part_mc are addresses of a multicast object's mapping ("multicast") and are used by multimem
 * instructions, for which a device needs compute capability 9.0; all others are ordinary addresses. Using one kind in
 * place of the other is undefined in the documentation (PTX ISA, multimem). The simulator reports a fault
 * [VMM-FAULT-MULTICAST, VMM-FAULT-MULTIMEM], as it does for an offset at which some device of the team has bound nothing
 * [VMM-FAULT-UNBOUND].
 *
 * A kernel runs with its device's rights: READ to read, READWRITE to write and to add. They are checked at each access, not
 * at the launch. A kernel stops where it accesses an address that its device has no access to (what it and its
 * neighbours wrote before stays), and from then on the device is lost to the process:
 *
 *   vmm_launch -> SUCCESS ... vmm_ctx_synchronize -> ILLEGAL_ADDRESS [VMM-FAULT-ACCESS]      the kernel's fault
 *                             everything after it -> ILLEGAL_ADDRESS [VMM-FAULT-STICKY]      the device is lost
 *                             vmm_mem_unmap, vmm_mem_release, vmm_mem_address_free, ...      work as before
 *
 * VMM-FAULT-ACCESS is reported once, by the first call that waits for the work ("contexts and streams"), or by a
 * vmm_stream_query after it is done. Every other call that needs a context on that device (copies and
 * fills of 0 bytes, vmm_mem_free of 0 and vmm_mem_get_address_range too) is refused with VMM-FAULT-STICKY at once;
 * a driver may accept calls that only issue work until it notices the fault. Observed (580): the same holds for all other
 * contexts of the process on the device, and for vmm_ctx_create and vmm_device_primary_ctx_retain. Destroying
 * contexts does not clear the fault; only ending the process does. Physical memory, reservations, mappings, rights, pointer
 * attributes and vmm_ctx_destroy work as before. Not measured: contexts on other devices, which the simulator leaves
 * usable. An in-flight copy or fill whose memory was unmapped has the same effect [VMM-FAULT-COPY,
 * VMM-FAULT-COPY-STICKY]; copies from the host and fills of up to 512 bytes with LAUNCH_FAILED [VMM-FAULT-HOST-COPY,
 * VMM-FAULT-HOST-COPY-STICKY] (580). Work queued behind a fault never runs. For kernels, memory of vmm_mem_alloc ends
 * at its requested size; a device faults only beyond the last page. */
#define VMM_KERNEL_FILL 0
#define VMM_KERNEL_PATTERN_WRITE 1
#define VMM_KERNEL_PATTERN_VERIFY 2
#define VMM_KERNEL_SUM 3
#define VMM_KERNEL_COPY 4
#define VMM_KERNEL_STRIDE_READ 5
#define VMM_KERNEL_RANDOM_READ 6
#define VMM_KERNEL_TOUCH 7
#define VMM_KERNEL_ATOMIC_ADD 8
#define VMM_KERNEL_ALIAS_WRITE_READ 9
#define VMM_KERNEL_MULTIMEM_STORE 10
#define VMM_KERNEL_MULTIMEM_REDUCE 11
#define VMM_KERNEL_MULTIMEM_LOAD_REDUCE 12
#define VMM_KERNEL_NORM_ARRIVE 13
#define VMM_KERNEL_NORM_FINISH 14

#define VMM_KERNEL_TOUCH_VALUE UINT64_C(0xc3a5c3a5c3a5c3a5)

/* A kernel of your own, from PTX, as nvcc -ptx writes it: on a driver the driver runs it, on the simulator it is translated and
 * run warp by warp (docs/ptx.md).
 *
 *     vmm_kernel_load({"... .visible .entry scale(.param .u64 p, .param .f32 by) ...", size, "scale"}, &scale)
 *     vmm_launch(sys, scale, 4, 128, (uint64_t[]){p, by}, 2, stream)
 *
 * Each argument is a word of args. A parameter smaller than 8 bytes uses the word's low bytes, and the rest are zeros or the
 * sign extension; a larger one takes as many words as it needs. */
typedef struct {
    const char *ptx;           /* the text of a module */
    uint64_t size;             /* its bytes */
    const char *name;          /* the kernel's name after .entry; C++ names are mangled unless declared extern "C" */
    unsigned int grid_y, grid_z, block_y, block_z; /* the grid's other dimensions in its launches, which give only x; 0 means 1 */
    unsigned int shared_bytes; /* of dynamic shared memory */
} vmm_ptx_kernel;

/* Stores in *kernel the number that vmm_launch takes, on every system of this process. The text is not used afterwards.
 * A text that was loaded before is not loaded again. Its kernels share their variables, of which each context has its
 * own copy. It stays loaded until the process ends. INVALID_VALUE [VMM-CALL-NULL] for a NULL pointer; INVALID_PTX
 * [VMM-CODE-PTX], with line and column in the note; NOT_FOUND [VMM-CODE-NAME]; OUT_OF_MEMORY. NOT_SUPPORTED
 * [VMM-LAUNCH-UNAVAILABLE] in WebAssembly. A driver gets the text at the first launch.
 *
 * Its launches are checked like all others: VMM-LAUNCH-DIMENSIONS, also for the limits of .maxntid and .reqntid,
 * VMM-LAUNCH-ARGUMENTS, also for a value that does not fit its parameter. The simulator refuses INVALID_PTX [VMM-CODE-PTX]
 * if the PTX targets a newer device, and NOT_SUPPORTED [VMM-LAUNCH-MISSING] if the kernel may reach an instruction that
 * the simulator does not support. */
VMM_API vmm_result vmm_kernel_load(const vmm_ptx_kernel *what, vmm_kernel *kernel);

/* The number of kernels in the library; a kernel's name, NULL if there is none; the number of its arguments, 0 if there is no
 * such kernel. */
VMM_API int vmm_kernel_count(void);
VMM_API const char *vmm_kernel_name(vmm_kernel kernel);
VMM_API uint64_t vmm_kernel_arguments(vmm_kernel kernel);

/* Runs kernel with grid_dim blocks (1 to 2^31 - 1) of block_dim threads (1 to 1024), ordered on a stream; the result
 * is the same for every grid. args has count elements. Checked in this order: INVALID_VALUE [VMM-LAUNCH-KERNEL,
 * VMM-LAUNCH-DIMENSIONS, VMM-LAUNCH-ARGUMENTS]; NOT_SUPPORTED [VMM-LAUNCH-UNAVAILABLE] on a driver where the library
 * was built without a compiler for device code, and for the multimem kernels without CUVMM_REAL_MULTICAST=1;
 * INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE [VMM-STREAM-UNKNOWN]; ILLEGAL_ADDRESS [VMM-FAULT-STICKY]. Warned
 * of: [VMM-LAUNCH-ALIAS], a kernel that writes memory through one address and uses the same bytes through another,
 * judged by the mappings at the launch. cuLaunchKernel, with cuLibraryGetKernel before it. */
VMM_API vmm_result vmm_launch(vmm_system *sys, vmm_kernel kernel, unsigned int grid_dim, unsigned int block_dim,
                              const uint64_t *args, uint64_t count, vmm_stream stream);

/* Calls fn(user_data) on the host, ordered on a stream like other work. Work issued earlier on the stream is done
 * by then; later work waits for fn to return. After a fault fn is not called.
 *
 *   stream   fill F   fn(user_data)   launch K        F is done, fn runs, then K
 *
 * fn should make no calls. Documents: calls in it may be refused. Observed (580): all are refused with NOT_PERMITTED
 * [VMM-HOSTFUNC-CALL], including pure queries, except vmm_init, vmm_stream_query, vmm_event_query, work issued on a
 * stream (kernels, host functions, _async copies and fills) and calls on existing events; the last two draw a warning
 * [VMM-HOSTFUNC-WORK]. Refused calls have no effect. On a driver, waiting for the stream in which fn runs never
 * ends; here it is refused, as is waiting for an event that the stream has not reached. A driver calls fn on a thread of its
 * own; the simulator on the thread of the call that lets it run (one that waits, a query, or with schedule=eager this call),
 * with schedule=device on a thread of its own as well. No lock of the system is held while fn runs. INVALID_CONTEXT
 * [VMM-CTX-CURRENT], INVALID_HANDLE [VMM-STREAM-UNKNOWN], ILLEGAL_ADDRESS [VMM-FAULT-STICKY], INVALID_VALUE
 * [VMM-HOSTFUNC-NULL]. cuLaunchHostFunc; cuda.h 13.0. */
VMM_API vmm_result vmm_launch_host_func(vmm_system *sys, vmm_stream stream, vmm_host_fn fn, void *user_data);

#ifdef __cplusplus
}
#endif

#endif
