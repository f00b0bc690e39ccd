/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver-ABI face asks the engine: answers, and that nothing changes by asking. */
#include "abi_query.h"

#include "tap.h"

static void test_contexts(vmm_system *sys)
{
    struct abi_query_context found;
    vmm_context primary, own;
    tap_u64(abi_query_current(sys), 0, "no context is current");
    tap_ok(!abi_query_primary(sys, 1), "nobody retains the primary one");
    vmm_device_primary_ctx_retain(sys, &primary, 1);
    tap_ok(abi_query_primary(sys, 1) && !abi_query_primary(sys, 0), "one is retained");
    tap_ok(abi_query_context(sys, (uint64_t)(uintptr_t)primary, &found) && found.device == 1 && found.primary && found.alive &&
               found.id == 1,
           "it is on its device");
    vmm_ctx_create(sys, &own, 0, 0);
    tap_u64(abi_query_current(sys), (uint64_t)(uintptr_t)own, "a created one is current");
    tap_ok(abi_query_context(sys, (uint64_t)(uintptr_t)own, &found) && found.device == 0 && !found.primary && found.alive &&
               found.id == 2,
           "it is the second, and not a primary one");
    vmm_ctx_destroy(sys, own);
    tap_ok(abi_query_context(sys, (uint64_t)(uintptr_t)own, &found) && found.device == 0 && !found.primary && !found.alive &&
               found.id == 2,
           "one that ended is known, and not alive");
    vmm_ctx_create(sys, &own, 0, 1);
    tap_ok(abi_query_context(sys, (uint64_t)(uintptr_t)own, &found) && found.device == 1 && !found.primary && found.id == 3,
           "one of the other device");
    vmm_ctx_destroy(sys, own);
    tap_ok(!abi_query_context(sys, 0x1234, &found), "what is none is not");
    vmm_device_primary_ctx_release(sys, 1);
    tap_ok(!abi_query_primary(sys, 1), "nobody retains it any more");
    tap_ok(abi_query_context(sys, (uint64_t)(uintptr_t)primary, &found) && found.primary && !found.alive, "it is not alive then");
    vmm_device_primary_ctx_retain(sys, &primary, 0);
    tap_ok(abi_query_context(sys, (uint64_t)(uintptr_t)primary, &found) && found.device == 0 && found.primary && found.alive &&
               abi_query_primary(sys, 0) && !abi_query_primary(sys, 1),
           "the primary one of the first device");
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
               found.context == (uint64_t)(uintptr_t)context, "a stream's context and flags");
    tap_ok(!abi_query_stream(sys, 0, &found) && !abi_query_stream(sys, 1, &found), "the default streams are not created");
    vmm_event_create(sys, &event, 0);
    tap_ok(abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached) && !recorded && reached, "an event without work");
    vmm_mem_alloc(sys, &at, 64);
    vmm_memset_d8_async(sys, at, 1, 64, stream);
    vmm_event_record(sys, event, stream);
    tap_ok(abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached) && recorded && !reached, "with work to be done");
    tap_ok(abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached) && !reached, "and asking does nothing for it");
    vmm_event_synchronize(sys, event);
    tap_ok(abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached) && reached, "done");
    vmm_stream_destroy(sys, stream);
    vmm_event_destroy(sys, event);
    tap_ok(!abi_query_stream(sys, (uint64_t)(uintptr_t)stream, &found), "a stream that ended");
    tap_ok(!abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached), "an event that ended");
}

static void test_addresses(vmm_system *sys)
{
    vmm_deviceptr at, reserved;
    vmm_context second;
    vmm_mem_alloc(sys, &at, 64);
    vmm_mem_address_reserve(sys, &reserved, 4 << 20, 0, 0, 0);
    tap_ok(abi_query_device_address(sys, at + 63) && abi_query_device_address(sys, reserved), "addresses of the machine");
    tap_ok(!abi_query_device_address(sys, 4096) && !abi_query_device_address(sys, (uint64_t)(uintptr_t)&at), "and others");
    tap_ok(!abi_query_backed(sys, 4096, 4096), "no host memory is behind the first page");
    vmm_ctx_create(sys, &second, 0, 1);
    tap_result(vmm_memset_d8(sys, at, 1, 1), VMM_ERROR_INVALID_VALUE, "memory of another device is closed");
    tap_ok(abi_query_open_peer(sys, 1, 0, true) && !abi_query_open_peer(sys, 1, 0, true), "it is opened, once");
    tap_result(vmm_memset_d8(sys, at, 1, 1), VMM_SUCCESS, "and may be filled");
    tap_ok(abi_query_open_peer(sys, 1, 0, false) && !abi_query_open_peer(sys, 1, 0, false), "and closed, once");
    tap_result(vmm_memset_d8(sys, at, 1, 1), VMM_ERROR_INVALID_VALUE, "as before");
}

int main(void)
{
    vmm_system *sys = NULL;
    vmm_open("trace=/dev/null | sim:h200x2", &sys);
    vmm_init(sys, 0);
    tap_u64((uint64_t)abi_query_profile(sys)->devices, 2, "the machine, through the layers");
    test_contexts(sys);
    test_streams(sys);
    test_addresses(sys);
    vmm_close(sys);
    return tap_done();
}
