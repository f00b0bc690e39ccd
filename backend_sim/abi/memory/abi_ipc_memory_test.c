/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of cuMemAlloc between processes of a machine: what opens, what is refused, and what holds the memory. */
#include "testing/peer.h"

static struct peer b, c, dying;
static CUcontext own;

static size_t free_bytes(void)
{
    size_t left = 0, all = 0;
    OK(cuMemGetInfo(&left, &all));
    return left;
}

static CUipcMemHandle named(CUdeviceptr at)
{
    CUipcMemHandle handle;
    memset(&handle, 0, sizeof handle);
    OK(cuIpcGetMemHandle(&handle, at));
    return handle;
}

static CUdeviceptr filled(size_t size, unsigned char value)
{
    CUdeviceptr at = 0;
    OK(cuMemAlloc(&at, size));
    OK(cuMemsetD8(at, value, size));
    OK(cuCtxSynchronize());
    return at;
}

static void test_both_see(void)
{
    CUdeviceptr at = filled(4 << 20, 0x11);
    CUipcMemHandle handle = named(at), again = named(at);
    EQUAL(memcmp(&handle, &again, sizeof handle), 0);
    EQUAL(peer_ask(&b, PEER_OPEN, &handle, 1), CUDA_SUCCESS);
    EQUAL(peer_byte(&b, 0), 0x11);
    EQUAL(peer_byte(&b, (4 << 20) - 1), 0x11);
    EQUAL(peer_byte(&b, 4 << 20), 256);
    EQUAL(peer_ask(&b, PEER_FILL, NULL, 0x22), CUDA_SUCCESS);
    EQUAL(byte_at(at), 0x22);
    EQUAL(byte_at(at + 4096), 0x11);
    OK(cuMemsetD8(at, 0x33, 1));
    EQUAL(peer_byte(&b, 0), 0x33);
    EQUAL(peer_ask(&c, PEER_OPEN, &handle, 1), CUDA_SUCCESS);
    EQUAL(peer_byte(&c, 0), 0x33);
    EQUAL(peer_ask(&c, PEER_CLOSE, NULL, 0), CUDA_SUCCESS);
    EQUAL(peer_byte(&b, 0), 0x33);
    EQUAL(peer_ask(&b, PEER_CLOSE, NULL, 0), CUDA_SUCCESS);
    EQUAL(peer_byte(&b, 0), 256);
    OK(cuMemFree(at));
}

/* A second open gives the same address; each open needs its close. */
static void test_counts(void)
{
    CUdeviceptr at = filled(4096, 0x44);
    CUipcMemHandle handle = named(at);
    EQUAL(peer_ask(&b, PEER_OPEN, &handle, 1), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_OPEN, &handle, 1), CUDA_SUCCESS);
    EQUAL(b.said.same, true);
    EQUAL(peer_ask(&b, PEER_CLOSE, NULL, 0), CUDA_SUCCESS);
    EQUAL(peer_byte(&b, 0), 0x44);
    EQUAL(peer_ask(&b, PEER_CLOSE, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    EQUAL(peer_ask(&b, PEER_CLOSE, NULL, 0), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_CLOSE, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(at));
}

static void test_refused(void)
{
    CUdeviceptr at = filled(4096, 0x55), out = 0x77;
    CUipcMemHandle handle = named(at), wrong = handle, zero;
    memset(&zero, 0, sizeof zero);
    wrong.reserved[9] ^= 4;
    IS(cuIpcGetMemHandle(NULL, at), ERROR_INVALID_VALUE);
    IS(cuIpcGetMemHandle(&zero, 0), ERROR_INVALID_VALUE);
    IS(cuIpcGetMemHandle(&zero, at + (64 << 20)), ERROR_INVALID_VALUE);
    IS(cuIpcOpenMemHandle(NULL, handle, 1), ERROR_INVALID_VALUE);
    IS(cuIpcOpenMemHandle(&out, handle, 0), ERROR_INVALID_VALUE);
    IS(cuIpcOpenMemHandle(&out, handle, 1), ERROR_INVALID_CONTEXT); /* its own */
    IS(cuIpcOpenMemHandle(&out, wrong, 1), ERROR_INVALID_VALUE);
    IS(cuIpcCloseMemHandle(at), ERROR_INVALID_VALUE);
    IS(cuIpcCloseMemHandle(0), ERROR_INVALID_VALUE);
    EQUAL(out, 0x77);
    EQUAL(peer_ask(&b, PEER_OPEN, &wrong, 1), CUDA_ERROR_INVALID_VALUE);
    EQUAL(peer_ask(&b, PEER_OPEN, &zero, 1), CUDA_ERROR_INVALID_VALUE);
    EQUAL(peer_ask(&b, PEER_OPEN, &handle, 1), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_NAME, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    EQUAL(peer_ask(&b, PEER_FREE, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    EQUAL(peer_byte(&b, 0), 0x55);
    EQUAL(peer_ask(&b, PEER_CLOSE, NULL, 0), CUDA_SUCCESS);
    OK(cuCtxSetCurrent(NULL));
    IS(cuIpcGetMemHandle(&zero, at), ERROR_INVALID_CONTEXT);
    IS(cuIpcOpenMemHandle(&out, handle, 1), ERROR_INVALID_CONTEXT);
    IS(cuIpcCloseMemHandle(at), ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(own));
    OK(cuMemFree(at));
}

/* Freed memory, or that of a dead process, cannot be opened; open memory stays. Shared memory counts once, and becomes free
 * when no process holds it. */
static void test_lives(void)
{
    size_t before = free_bytes();
    CUdeviceptr at = filled(8 << 20, 0x66);
    CUipcMemHandle handle = named(at);
    EQUAL(before - free_bytes(), 8 << 20);
    EQUAL(peer_ask(&b, PEER_OPEN, &handle, 1), CUDA_SUCCESS);
    EQUAL(before - free_bytes(), 8 << 20);
    OK(cuMemFree(at));
    EQUAL(peer_byte(&b, 0), 0x66);
    EQUAL(before - free_bytes(), 8 << 20);
    EQUAL(peer_ask(&c, PEER_OPEN, &handle, 1), CUDA_ERROR_INVALID_VALUE);
    EQUAL(peer_ask(&b, PEER_CLOSE, NULL, 0), CUDA_SUCCESS);
    EQUAL(before - free_bytes(), 0);

    at = filled(8 << 20, 0x67);
    handle = named(at);
    EQUAL(peer_ask(&dying, PEER_OPEN, &handle, 1), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_OPEN, &handle, 1), CUDA_SUCCESS);
    peer_ask(&dying, PEER_ALLOC, NULL, 0x68);
    memcpy(&handle, dying.said.handle, sizeof handle);
    EQUAL(peer_ask(&c, PEER_OPEN, &handle, 1), CUDA_SUCCESS);
    EQUAL(peer_byte(&c, 0), 0x68);
    peer_end(&dying, true);
    EQUAL(peer_byte(&b, 0), 0x67);
    EQUAL(peer_byte(&c, 0), 0x68);
    EQUAL(peer_ask(&b, PEER_CLOSE, NULL, 0), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_OPEN, &handle, 1), CUDA_ERROR_INVALID_HANDLE);
    EQUAL(peer_ask(&c, PEER_OPEN, &handle, 1), CUDA_SUCCESS); /* open there already */
    EQUAL(c.said.same, true);
    EQUAL(peer_ask(&c, PEER_CLOSE, NULL, 0), CUDA_SUCCESS);
    EQUAL(peer_ask(&c, PEER_CLOSE, NULL, 0), CUDA_SUCCESS);
    OK(cuMemFree(at));
    EQUAL(before - free_bytes(), 0);
}

int main(void)
{
    peer_machine();
    b = peer_begin();
    c = peer_begin();
    dying = peer_begin();
    own = begin();
    test_both_see();
    test_counts();
    test_refused();
    test_lives();
    peer_end(&b, false);
    peer_end(&c, true);
    return tap_done();
}
