/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of boxes with a row that leaves its memory: a driver starts them, and they fault when the stream reaches them; strict
 * mode refuses them. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "vmm.h"

enum { ROW = 64 };
static const uint64_t G = UINT64_C(2) << 20;

struct rig {
    vmm_system *sys;
    vmm_deviceptr mapped, memory; /* one granule that is mapped before one that is not; memory of vmm_mem_alloc */
};

static void begin(struct rig *rig, const char *spec)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    const vmm_mem_access_desc desc = {prop.location, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_mem_generic_allocation_handle handle;
    vmm_context ctx;
    if (vmm_open(spec, &rig->sys) || vmm_init(rig->sys, 0) || vmm_ctx_create(rig->sys, &ctx, 0, 0) ||
        vmm_mem_address_reserve(rig->sys, &rig->mapped, 2 * G, 0, 0, 0) || vmm_mem_create(rig->sys, &handle, G, &prop, 0) ||
        vmm_mem_map(rig->sys, rig->mapped, G, 0, handle, 0) || vmm_mem_set_access(rig->sys, rig->mapped, G, &desc, 1) ||
        vmm_mem_alloc(rig->sys, &rig->memory, G) || vmm_memset_d8(rig->sys, rig->memory, 1, ROW))
        tap_bail("no rig: %s", vmm_last_detail()->note);
}

/* Rows of mapped memory, from the last one of the granule on; y is ignored when they are checked. */
static vmm_memcpy3d leaving(const struct rig *rig)
{
    return (vmm_memcpy3d){.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = rig->mapped, .src_pitch = ROW,
                          .src_y = G / ROW - 1, .dst_memory_type = VMM_MEMORYTYPE_DEVICE, .dst_device = rig->memory,
                          .width_in_bytes = ROW, .height = 2, .depth = 1};
}

static void faults(int form)
{
    struct rig rig;
    vmm_memcpy3d_peer peer;
    unsigned char host[2 * ROW];
    begin(&rig, "sim:h100");
    vmm_memcpy3d box = leaving(&rig);
    if (form == 2) {
        box.dst_memory_type = VMM_MEMORYTYPE_HOST;
        box.dst_host = host;
    }
    memset(host, 7, sizeof host);
    memcpy(&peer, &box, sizeof peer);
    vmm_result result = form == 0   ? vmm_memcpy_3d(rig.sys, &box)
                        : form == 1 ? vmm_memcpy_3d_async(rig.sys, &box, NULL)
                        : form == 2 ? vmm_memcpy_3d(rig.sys, &box)
                                    : vmm_memcpy_3d_peer(rig.sys, &peer);
    if (form == 2)
        tap_result(result, VMM_ERROR_LAUNCH_FAILED, "a copy to the host waits for its fault");
    else
        tap_result(result, VMM_SUCCESS, "form %d: a copy is accepted although a row leaves its memory", form);
    tap_ok(form == 2 || vmm_ctx_synchronize(rig.sys) == VMM_ERROR_ILLEGAL_ADDRESS, "form %d: the next wait reports the fault", form);
    tap_ok(host[0] == 7 && host[2 * ROW - 1] == 7, "form %d: nothing is written", form);
    vmm_close(rig.sys);
}

static void refused(void)
{
    struct rig rig;
    unsigned char byte = 0;
    begin(&rig, "sim:h100,strict");
    vmm_memcpy3d box = leaving(&rig);
    tap_result(vmm_memcpy_3d(rig.sys, &box), VMM_ERROR_INVALID_VALUE, "strict mode refuses it");
    tap_ok(strcmp(vmm_last_detail()->rule, "VMM-ROWS-END") == 0 && strstr(vmm_last_detail()->note, "src: row 1,"), "and names the row: %s",
           vmm_last_detail()->note);
    box.height = 1;
    tap_result(vmm_memcpy_3d(rig.sys, &box), VMM_SUCCESS, "a row less is accepted");
    tap_result(vmm_memcpy_dtoh(rig.sys, &byte, rig.memory, 1), VMM_SUCCESS, "it is copied");
    tap_u64(byte, 0, "as the memory was");
    box.src_y = 0;
    box.dst_device = rig.mapped;
    box.dst_y = G / ROW;
    box.dst_pitch = ROW;
    box.src_device = rig.memory;
    tap_result(vmm_memcpy_3d(rig.sys, &box), VMM_ERROR_INVALID_VALUE, "nor may a row of the destination leave its memory");
    vmm_close(rig.sys);
}

/*  mapped | not mapped | mapped    two layers of a row each, of which only the first lies outside memory
 *                    ^ ^                                                                             */
static void refused_first_layer(void)
{
    struct rig rig;
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    const vmm_mem_access_desc desc = {prop.location, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr at;
    begin(&rig, "sim:h100,strict");
    if (vmm_mem_address_reserve(rig.sys, &at, 3 * G, 0, 0, 0) || vmm_mem_create(rig.sys, &handle, G, &prop, 0) ||
        vmm_mem_map(rig.sys, at, G, 0, handle, 0) || vmm_mem_map(rig.sys, at + 2 * G, G, 0, handle, 0) ||
        vmm_mem_set_access(rig.sys, at, G, &desc, 1) || vmm_mem_set_access(rig.sys, at + 2 * G, G, &desc, 1))
        tap_bail("no memory: %s", vmm_last_detail()->note);
    vmm_memcpy3d box = leaving(&rig);
    box.src_device = at;
    box.src_height = box.dst_height = box.height = 1;
    box.depth = 2;
    box.src_y = 2 * G / ROW - 1;
    tap_result(vmm_memcpy_3d(rig.sys, &box), VMM_ERROR_INVALID_VALUE, "strict mode refuses a first layer outside memory");
    tap_ok(!strcmp(vmm_last_detail()->rule, "VMM-ROWS-END") && vmm_last_detail()->value == at + 2 * G - ROW, "and says where: %s",
           vmm_last_detail()->note);
    box.src_y++;
    tap_result(vmm_memcpy_3d(rig.sys, &box), VMM_SUCCESS, "one row further, both are in memory");
    vmm_close(rig.sys);
}

/* Copies between contexts, one of which may have ended; the stream's context is used if none is current. */
static void between_contexts(void)
{
    struct rig rig;
    vmm_memcpy3d_peer peer;
    vmm_context primary = NULL, old = NULL;
    vmm_stream stream = NULL;
    unsigned char byte = 7;
    begin(&rig, "sim:h100");
    vmm_memcpy3d box = leaving(&rig);
    box.src_y = 0;
    memcpy(&peer, &box, sizeof peer);
    tap_result(vmm_ctx_get_current(rig.sys, &old), VMM_SUCCESS, "the context");
    tap_result(vmm_stream_create(rig.sys, &stream, 0), VMM_SUCCESS, "a stream");
    tap_result(vmm_ctx_set_current(rig.sys, NULL), VMM_SUCCESS, "none is current");
    tap_result(vmm_memcpy_3d_peer_async(rig.sys, &peer, NULL), VMM_ERROR_INVALID_CONTEXT, "a copy needs a context");
    tap_result(vmm_memcpy_3d_peer_async(rig.sys, &peer, stream), VMM_SUCCESS, "which may be the stream's");
    tap_result(vmm_ctx_set_current(rig.sys, old), VMM_SUCCESS, "the context again");
    tap_result(vmm_memcpy_dtoh(rig.sys, &byte, rig.memory, 1), VMM_SUCCESS, "read");
    tap_u64(byte, 0, "it is copied");
    tap_result(vmm_device_primary_ctx_retain(rig.sys, &primary, 0), VMM_SUCCESS, "a primary context");
    peer.src_context = primary;
    tap_result(vmm_memcpy_3d_peer(rig.sys, &peer), VMM_SUCCESS, "from it");
    tap_result(vmm_device_primary_ctx_release(rig.sys, 0), VMM_SUCCESS, "it ends");
    tap_ok(vmm_memcpy_3d_peer(rig.sys, &peer) == VMM_ERROR_INVALID_CONTEXT && !strcmp(vmm_last_detail()->rule, "VMM-PEER-CONTEXT"),
           "and a copy from it is refused: %s", vmm_last_detail()->rule);
    vmm_close(rig.sys);
}

/* A shadow checks a copy within host memory, and leaves the bytes to its backend. */
static void in_a_shadow(void)
{
    struct rig rig;
    unsigned char from[2 * ROW], to[2 * ROW] = {0};
    begin(&rig, "shadow|sim:h100");
    memset(from, 7, sizeof from);
    const vmm_memcpy3d box = {.src_memory_type = VMM_MEMORYTYPE_HOST, .src_host = from, .src_pitch = ROW,
                              .dst_memory_type = VMM_MEMORYTYPE_HOST, .dst_host = to, .dst_pitch = ROW,
                              .width_in_bytes = ROW - 1, .height = 2, .depth = 1};
    tap_result(vmm_memcpy_3d(rig.sys, &box), VMM_SUCCESS, "a copy between host addresses");
    tap_ok(!vmm_last_detail()->rule && to[0] == 7 && to[ROW - 2] == 7 && !to[ROW - 1] && to[ROW] == 7 && !to[2 * ROW - 1],
           "each row is copied, without a difference");
    vmm_close(rig.sys);
}

/* ---- a stream that another thread ends while a copy waits for it ---- */

struct stream {
    vmm_system *sys;
    vmm_stream stream;
    vmm_result ended;
};

static void *end_stream(void *user)
{
    struct stream *s = user;
    s->ended = vmm_stream_destroy(s->sys, s->stream);
    return NULL;
}

static void end_elsewhere(void *user)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, end_stream, user) || pthread_join(thread, NULL))
        tap_bail("no thread");
}

static void ended_meanwhile(void)
{
    struct rig rig;
    unsigned char host[4 * ROW];
    begin(&rig, "sim:h100,schedule=late");
    struct stream s = {rig.sys, NULL, VMM_ERROR_UNKNOWN};
    vmm_memcpy3d box = leaving(&rig);
    box.src_y = 0;
    box.depth = 2;
    box.dst_memory_type = VMM_MEMORYTYPE_HOST;
    box.dst_host = host;
    memset(host, 7, sizeof host);
    tap_result(vmm_stream_create(rig.sys, &s.stream, VMM_STREAM_NON_BLOCKING), VMM_SUCCESS, "a stream");
    tap_result(vmm_launch_host_func(rig.sys, s.stream, end_elsewhere, &s), VMM_SUCCESS, "a function in which it ends");
    tap_ok(vmm_memcpy_3d_async(rig.sys, &box, s.stream) == VMM_ERROR_INVALID_HANDLE &&
               !strcmp(vmm_last_detail()->rule, "VMM-STREAM-UNKNOWN"),
           "a copy that waits for it is refused: %s", vmm_last_detail()->rule);
    tap_result(s.ended, VMM_SUCCESS, "the stream has ended");
    tap_ok(host[0] == 7 && host[4 * ROW - 1] == 7, "nothing is copied");
    tap_result(vmm_ctx_synchronize(rig.sys), VMM_SUCCESS, "and nothing is lost");
    vmm_close(rig.sys);
}

/* Adjacent rows on the host whose total size wraps to 0: they are copied one by one, so the first one faults. */
#ifndef __SANITIZE_THREAD__
static void more_than_all_bytes(void)
{
    struct rig rig;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *none = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char host[ROW];
    int status = 0;
    const vmm_memcpy3d box = {.src_memory_type = VMM_MEMORYTYPE_HOST, .src_host = none, .src_pitch = UINT64_C(1) << 32,
                              .dst_memory_type = VMM_MEMORYTYPE_HOST, .dst_host = host, .dst_pitch = UINT64_C(1) << 32,
                              .width_in_bytes = UINT64_C(1) << 32, .height = UINT64_C(1) << 32, .depth = 1};
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        begin(&rig, "sim:h100");
        close(STDERR_FILENO); /* a sanitizer writes a long report about a fault */
        vmm_memcpy_3d(rig.sys, &box);
        _exit(0);
    }
    if (none == MAP_FAILED || waitpid(child, &status, 0) != child)
        tap_bail("no page, or no child");
    tap_ok(!(WIFEXITED(status) && WEXITSTATUS(status) == 0), "a copy of 2^64 bytes on the host does not come back: status %d", status);
    munmap(none, page);
}
#endif

int main(void)
{
    for (int form = 0; form < 4; form++)
        faults(form);
    refused();
    refused_first_layer();
    between_contexts();
    in_a_shadow();
    ended_meanwhile();
#ifdef __SANITIZE_THREAD__ /* its runtime notes each byte of the first row, 4 GiB, before that is read */
    tap_skip("ThreadSanitizer takes a minute for it", "a copy of 2^64 bytes on the host does not come back");
#else
    more_than_all_bytes();
#endif
    return tap_done();
}
