/* SPDX-License-Identifier: Apache-2.0 */
/* abi_query: the results of the driver ABI's queries; a query changes nothing. */
#include "abi_query.h"

#include "tap.h"

#define G (UINT64_C(2) << 20)

static void test_contexts(vmm_system *sys)
{
    struct abi_query_context found;
    vmm_context primary, own;
    tap_u64(abi_query_current(sys), 0, "at first no context is current");
    tap_ok(!abi_query_primary(sys, 1), "the primary context has no retain");
    vmm_device_primary_ctx_retain(sys, &primary, 1);
    tap_ok(abi_query_primary(sys, 1) && !abi_query_primary(sys, 0), "the primary context of one device is retained");
    tap_ok(abi_query_context(sys, (uint64_t)(uintptr_t)primary, &found) && found.device == 1 && found.primary && found.alive &&
               found.id == 1,
           "a primary context has its device and is alive");
    vmm_ctx_create(sys, &own, 0, 0);
    tap_u64(abi_query_current(sys), (uint64_t)(uintptr_t)own, "a created context is current");
    tap_ok(abi_query_context(sys, (uint64_t)(uintptr_t)own, &found) && found.device == 0 && !found.primary && found.alive &&
               found.id == 2,
           "the created context is the second and not primary");
    vmm_ctx_destroy(sys, own);
    tap_ok(abi_query_context(sys, (uint64_t)(uintptr_t)own, &found) && found.device == 0 && !found.primary && !found.alive &&
               found.id == 2,
           "an ended context is known and not alive");
    vmm_ctx_create(sys, &own, 0, 1);
    tap_ok(abi_query_context(sys, (uint64_t)(uintptr_t)own, &found) && found.device == 1 && !found.primary && found.id == 3,
           "a context of the other device");
    vmm_ctx_destroy(sys, own);
    tap_ok(!abi_query_context(sys, 0x1234, &found), "a value that names no context is not found");
    vmm_device_primary_ctx_release(sys, 1);
    tap_ok(!abi_query_primary(sys, 1), "after the release the primary context has no retain");
    tap_ok(abi_query_context(sys, (uint64_t)(uintptr_t)primary, &found) && found.primary && !found.alive,
           "a primary context without a retain is not alive");
    vmm_device_primary_ctx_retain(sys, &primary, 0);
    tap_ok(abi_query_context(sys, (uint64_t)(uintptr_t)primary, &found) && found.device == 0 && found.primary && found.alive &&
               abi_query_primary(sys, 0) && !abi_query_primary(sys, 1),
           "the primary context of the first device");
    vmm_device_primary_ctx_release(sys, 0);
}

static void test_streams(vmm_system *sys)
{
    struct abi_query_stream found;
    vmm_context context;
    vmm_stream stream;
    vmm_event event;
    vmm_deviceptr at;
    bool recorded = true, reached = false;
    vmm_ctx_create(sys, &context, 0, 0);
    vmm_stream_create(sys, &stream, VMM_STREAM_NON_BLOCKING);
    tap_ok(abi_query_stream(sys, (uint64_t)(uintptr_t)stream, &found) && found.flags == VMM_STREAM_NON_BLOCKING &&
               found.context == (uint64_t)(uintptr_t)context, "a stream has its context and flags");
    tap_ok(!abi_query_stream(sys, 0, &found) && !abi_query_stream(sys, 1, &found), "default streams are not found");
    vmm_event_create(sys, &event, 0);
    tap_ok(abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached) && !recorded && reached,
           "an event that was never recorded is reached");
    vmm_mem_alloc(sys, &at, 64);
    vmm_memset_d8_async(sys, at, 1, 64, stream);
    vmm_event_record(sys, event, stream);
    tap_ok(abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached) && recorded && !reached,
           "a recorded event with undone work is not reached");
    tap_ok(abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached) && !reached,
           "a query of the event does no work");
    vmm_event_synchronize(sys, event);
    tap_ok(abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached) && reached, "the event is reached after a wait");
    vmm_stream_destroy(sys, stream);
    vmm_event_destroy(sys, event);
    tap_ok(!abi_query_stream(sys, (uint64_t)(uintptr_t)stream, &found), "a destroyed stream is not found");
    tap_ok(!abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached), "a destroyed event is not found");
}

static void test_addresses(vmm_system *sys)
{
    vmm_deviceptr at, reserved;
    vmm_context second;
    vmm_mem_alloc(sys, &at, 64);
    vmm_mem_address_reserve(sys, &reserved, 4 << 20, 0, 0, 0);
    tap_ok(abi_query_device_address(sys, at + 63) && abi_query_device_address(sys, reserved),
           "allocated and reserved addresses are device addresses");
    tap_ok(!abi_query_device_address(sys, 4096) && !abi_query_device_address(sys, (uint64_t)(uintptr_t)&at),
           "other addresses are not");
    tap_ok(!abi_query_backed(sys, 4096, 4096), "addresses outside the window are not backed");
    vmm_ctx_create(sys, &second, 0, 1);
    tap_result(vmm_memset_d8(sys, at, 1, 1), VMM_ERROR_INVALID_VALUE,
               "without peer access another device's memory is inaccessible");
    tap_ok(abi_query_open_peer(sys, 1, 0, true) && !abi_query_open_peer(sys, 1, 0, true), "peer access is enabled once");
    tap_result(vmm_memset_d8(sys, at, 1, 1), VMM_SUCCESS, "with peer access another device's memory can be filled");
    tap_ok(abi_query_open_peer(sys, 1, 0, false) && !abi_query_open_peer(sys, 1, 0, false), "peer access is disabled once");
    tap_result(vmm_memset_d8(sys, at, 1, 1), VMM_ERROR_INVALID_VALUE,
               "after disabling peer access the memory is inaccessible again");
}

/* Range queries, which refuse like the calls that use them. */
static void test_ranges(vmm_system *sys)
{
    vmm_context context;
    vmm_deviceptr at, piece;
    vmm_stream gone;
    vmm_ctx_create(sys, &context, 0, 0);
    vmm_mem_alloc(sys, &at, 4096);
    vmm_stream_create(sys, &gone, 0);
    vmm_mem_alloc_async(sys, &piece, 512, gone);
    vmm_stream_synchronize(sys, gone);
    vmm_stream_destroy(sys, gone);
    tap_result(abi_query_range(sys, 0, "cuPiece", "src", piece, 512, ABI_QUERY_READ), VMM_SUCCESS, "a pool's memory");
    tap_result(abi_query_range(sys, 0, "cuPiece", "src", piece, 513, ABI_QUERY_READ), VMM_ERROR_INVALID_VALUE, "a byte more");
    tap_text(vmm_last_detail()->rule, "VMM-COPY-RUNS-PAST", "runs past what is allocated");
    tap_text(vmm_last_detail()->function, "cuPiece", "the refusal names the querying call");
    tap_result(abi_query_range(sys, 0, "cuFirst", "src", 16, 1, ABI_QUERY_READ), VMM_ERROR_INVALID_VALUE, "a range of nothing");
    tap_text(vmm_last_detail()->function, "cuFirst", "the refusal names that call");
    tap_result(abi_query_range(sys, 0, "cuSecond", "src", at, 4096, ABI_QUERY_READ), VMM_SUCCESS, "a range of memory");
    tap_text(vmm_last_detail()->function, "cuFirst", "leaves the last refusal unchanged");
    tap_ok(abi_query_reachable(sys, NULL, at, 4096, ABI_QUERY_READ), "the memory is reachable");
    tap_ok(!abi_query_reachable(sys, NULL, at, G + 1, ABI_QUERY_WRITE) && !abi_query_reachable(sys, NULL, at, 0 - at, ABI_QUERY_READ),
           "a range past it is not, nor one to the end of the address space");
    tap_ok(!abi_query_reachable(sys, gone, at, 4096, ABI_QUERY_READ), "and nothing is, of a stream that is gone");
    tap_text(vmm_last_detail()->function, "cuFirst", "and no refusal is left");
    const union vmm_any_call fill = {.memset_d8_async = {{VMM_CALL_memset_d8_async, 0}, at, 1, 64, gone}};
    tap_result(abi_query_issue(sys, &fill, VMM_CALL_memset_d8_async, gone), VMM_ERROR_INVALID_HANDLE, "nothing is issued to it");
    tap_text(vmm_last_detail()->rule, "VMM-STREAM-UNKNOWN", "which is not a stream");
    vmm_mem_free(sys, piece);
}

/* An attribute set on one allocation does not affect other memory. */
static void test_sync(vmm_system *sys)
{
    vmm_deviceptr at;
    uint64_t left = 0;
    vmm_mem_alloc(sys, &at, 64);
    abi_query_set_sync(sys, at, true);
    abi_query_set_sync(sys, at - 1, true);
    tap_ok(abi_query_there(sys, at, &left) == ABI_QUERY_ALLOCATED && left == 64, "an allocation is unchanged");
    tap_ok(abi_query_there(sys, 16, &left) == ABI_QUERY_NOTHING && left == 64, "and there is none where nothing was");
    vmm_mem_free(sys, at);
}

int main(void)
{
    vmm_system *sys = NULL;
    vmm_open("trace=/dev/null | sim:h200x2", &sys);
    vmm_init(sys, 0);
    tap_u64((uint64_t)abi_query_profile(sys)->devices, 2, "the profile is found through the layers");
    test_contexts(sys);
    test_streams(sys);
    test_addresses(sys);
    test_ranges(sys);
    test_sync(sys);
    vmm_close(sys);
    return tap_done();
}
