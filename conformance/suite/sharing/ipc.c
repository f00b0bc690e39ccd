/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of vmm_mem_alloc in other processes: what opens, what is refused, and that a refused call has written nothing. */
#include <string.h>

#include "house.h"
#include "other.h"
#include "test.h"

#define LAZY VMM_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
#define UNTOUCHED UINT64_C(0x7777)

enum { SIZE = 1 << 20, VALUE = 0x5a };

/* Memory of another process, and the handle that names it. */
static struct other_shared theirs_on(struct fix *f)
{
    return other_start_sharing(f, OTHER_ALLOC, SIZE, VALUE);
}

static vmm_deviceptr opened(struct fix *f, vmm_ipc_mem_handle handle)
{
    vmm_deviceptr at = 0;
    ACCEPTED(vmm_ipc_open_mem_handle(S, &at, handle, LAZY));
    return at;
}

static void closed(struct fix *f, vmm_deviceptr at)
{
    ACCEPTED(vmm_ipc_close_mem_handle(S, at));
}

static vmm_deviceptr allocated(struct fix *f)
{
    vmm_deviceptr at = 0;
    ACCEPTED(vmm_mem_alloc(S, &at, SIZE));
    return at;
}

static unsigned byte_at(struct fix *f, vmm_deviceptr at)
{
    unsigned char byte = 0;
    ACCEPTED(vmm_memcpy_dtoh(S, &byte, at, 1));
    return byte;
}

TEST_EXPECTS("ipc.memory", ipc_both_see_the_memory)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_deviceptr at = opened(f, t.handle.memory);
    CHECK_U64(byte_at(f, at + SIZE - 1), VALUE);
    CHECK_U64(opened(f, t.handle.memory), at);
    ACCEPTED(vmm_memset_d8(S, at, 7, SIZE));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(other_ask(&t.other, OTHER_PEEK, t.value, 0, -1).value, 7);
    CHECK(!other_ask(&t.other, OTHER_FREE_MEMORY, t.value, 0, -1).result, "the other process frees its memory");
    CHECK_U64(byte_at(f, at), 7);
    closed(f, at);
    closed(f, at);
    other_end(&t.other);
}

TEST_BREAKS(IPC_NULL, ipc_without_a_place)
{
    vmm_ipc_mem_handle handle = {{0}};
    vmm_deviceptr at = allocated(f);
    REFUSED(vmm_ipc_get_mem_handle(S, NULL, at), INVALID_VALUE, "pHandle", 0);
    REFUSED(vmm_ipc_open_mem_handle(S, NULL, handle, LAZY), INVALID_VALUE, "pdptr", 0);
    ACCEPTED(vmm_mem_free(S, at));
}

TEST_NEAR_MISS(IPC_NULL, ipc_of_any_byte_of_memory)
{
    vmm_ipc_mem_handle first, last;
    vmm_deviceptr at = allocated(f);
    ACCEPTED(vmm_ipc_get_mem_handle(S, &first, at));
    ACCEPTED(vmm_ipc_get_mem_handle(S, &last, at + SIZE - 1));
    CHECK(memcmp(&first, &last, sizeof first) == 0, "the handles of one allocation differ");
    ACCEPTED(vmm_mem_free(S, at));
}

/* The call writes nothing. */
static void no_handle(struct fix *f, vmm_deviceptr at)
{
    vmm_ipc_mem_handle handle, before;
    memset(&before, 0x77, sizeof before);
    handle = before;
    REFUSED(vmm_ipc_get_mem_handle(S, &handle, at), INVALID_VALUE, "dptr", at);
    CHECK(memcmp(&handle, &before, sizeof before) == 0, "the refused call wrote a handle");
}

TEST_BREAKS(IPC_ADDRESS, ipc_of_other_addresses)
{
    vmm_deviceptr mapped = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    vmm_deviceptr freed = allocated(f);
    ACCEPTED(vmm_mem_free(S, freed));
    no_handle(f, 0);
    no_handle(f, mapped);
    no_handle(f, freed);
    no_handle(f, fix_reserve(f, f->g));
}

TEST_NEAR_MISS(IPC_ADDRESS, ipc_of_one_byte)
{
    vmm_ipc_mem_handle handle;
    vmm_deviceptr at = 0;
    ACCEPTED(vmm_mem_alloc(S, &at, 1));
    ACCEPTED(vmm_ipc_get_mem_handle(S, &handle, at));
    ACCEPTED(vmm_mem_free(S, at));
}

TEST_BREAKS(IPC_OPENED, ipc_of_what_was_opened)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_deviceptr at = opened(f, t.handle.memory);
    no_handle(f, at);
    closed(f, at);
    other_end(&t.other);
}

TEST_NEAR_MISS(IPC_OPENED, ipc_beside_what_was_opened)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_ipc_mem_handle handle;
    vmm_deviceptr at = opened(f, t.handle.memory), own = allocated(f);
    ACCEPTED(vmm_ipc_get_mem_handle(S, &handle, own));
    ACCEPTED(vmm_mem_free(S, own));
    closed(f, at);
    other_end(&t.other);
}

TEST_BREAKS(IPC_FLAGS, ipc_without_the_flag)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    const unsigned flags[] = {0, 2, 0x80000000u, 0xfffffffeu};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        vmm_deviceptr at = UNTOUCHED;
        REFUSED(vmm_ipc_open_mem_handle(S, &at, t.handle.memory, flags[i]), INVALID_VALUE, "Flags", flags[i]);
        CHECK_U64(at, UNTOUCHED);
    }
    other_end(&t.other);
}

TEST_NEAR_MISS(IPC_FLAGS, ipc_with_more_flags)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_deviceptr at = 0;
    ACCEPTED(vmm_ipc_open_mem_handle(S, &at, t.handle.memory, UINT32_MAX));
    closed(f, at);
    other_end(&t.other);
}

/* An open that is refused by the rule of the test, with that result. */
#define NOT_OPENED(handle, code)                                                                   \
    do {                                                                                           \
        vmm_deviceptr at_ = UNTOUCHED;                                                             \
        REFUSED(vmm_ipc_open_mem_handle(S, &at_, handle, LAZY), code, "handle", 0);                \
        CHECK_U64(at_, UNTOUCHED);                                                                 \
    } while (0)

TEST_BREAKS(IPC_HANDLE, ipc_of_other_bytes)
{
    vmm_ipc_mem_handle handle;
    memset(&handle, 0, sizeof handle);
    NOT_OPENED(handle, INVALID_VALUE);
    memset(&handle, 0xff, sizeof handle);
    NOT_OPENED(handle, INVALID_VALUE);
}

TEST_NEAR_MISS(IPC_HANDLE, ipc_of_the_bytes_as_sent)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    closed(f, opened(f, t.handle.memory));
    other_end(&t.other);
}

TEST_BREAKS(IPC_MACHINE, ipc_of_another_machine)
{
    fix_need_simulator(f, "all processes share a driver");
    struct other_shared t = theirs_on(fix_share(f));
    NOT_OPENED(t.handle.memory, INVALID_VALUE);
    other_end(&t.other);
}

TEST_NEAR_MISS(IPC_MACHINE, ipc_of_the_same_machine)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    closed(f, opened(f, t.handle.memory));
    other_end(&t.other);
}

TEST_BREAKS(IPC_OWN, ipc_of_its_own_memory)
{
    vmm_ipc_mem_handle handle;
    vmm_deviceptr at = allocated(f);
    ACCEPTED(vmm_ipc_get_mem_handle(S, &handle, at));
    NOT_OPENED(handle, INVALID_CONTEXT);
    ACCEPTED(vmm_mem_free(S, at));
    NOT_OPENED(handle, INVALID_CONTEXT);
}

TEST_NEAR_MISS(IPC_OWN, ipc_of_the_others_memory)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_ipc_mem_handle handle;
    vmm_deviceptr own = allocated(f);
    ACCEPTED(vmm_ipc_get_mem_handle(S, &handle, own));
    closed(f, opened(f, t.handle.memory));
    ACCEPTED(vmm_mem_free(S, own));
    other_end(&t.other);
}

TEST_BREAKS(IPC_GONE, ipc_of_freed_memory)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    other_ask(&t.other, OTHER_FREE_MEMORY, t.value, 0, -1);
    NOT_OPENED(t.handle.memory, INVALID_VALUE);
    other_end(&t.other);
}

TEST_NEAR_MISS(IPC_GONE, ipc_of_freed_memory_that_is_open)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_deviceptr at = opened(f, t.handle.memory);
    other_ask(&t.other, OTHER_FREE_MEMORY, t.value, 0, -1);
    CHECK_U64(opened(f, t.handle.memory), at);
    closed(f, at);
    closed(f, at);
    other_end(&t.other);
}

TEST_BREAKS(IPC_ENDED, ipc_of_a_process_that_ended)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    other_kill(&t.other);
    NOT_OPENED(t.handle.memory, INVALID_HANDLE);
}

TEST_NEAR_MISS(IPC_ENDED, ipc_of_a_process_that_ended_while_it_is_open)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_deviceptr at = opened(f, t.handle.memory);
    other_kill(&t.other);
    CHECK_U64(opened(f, t.handle.memory), at);
    CHECK_U64(byte_at(f, at), VALUE);
    closed(f, at);
    closed(f, at);
}

TEST_BREAKS(IPC_CONTEXT, ipc_in_a_second_context)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_context own = NULL, second = NULL;
    vmm_deviceptr at = opened(f, t.handle.memory);
    ACCEPTED(vmm_ctx_get_current(S, &own));
    ACCEPTED(vmm_ctx_create(S, &second, 0, 0));
    NOT_OPENED(t.handle.memory, INVALID_HANDLE);
    ACCEPTED(vmm_ctx_destroy(S, second));
    ACCEPTED(vmm_ctx_set_current(S, own));
    closed(f, at);
    other_end(&t.other);
}

TEST_NEAR_MISS(IPC_CONTEXT, ipc_in_a_second_context_after_the_close)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_context own = NULL, second = NULL;
    closed(f, opened(f, t.handle.memory));
    ACCEPTED(vmm_ctx_get_current(S, &own));
    ACCEPTED(vmm_ctx_create(S, &second, 0, 0));
    closed(f, opened(f, t.handle.memory));
    ACCEPTED(vmm_ctx_destroy(S, second));
    ACCEPTED(vmm_ctx_set_current(S, own));
    other_end(&t.other);
}

TEST_BREAKS(IPC_CLOSE, ipc_close_of_other_addresses)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_deviceptr own = allocated(f), at = opened(f, t.handle.memory);
    REFUSED(vmm_ipc_close_mem_handle(S, 0), INVALID_VALUE, "dptr", 0);
    REFUSED(vmm_ipc_close_mem_handle(S, own), INVALID_VALUE, "dptr", own);
    REFUSED(vmm_ipc_close_mem_handle(S, at + 1), INVALID_VALUE, "dptr", at + 1);
    closed(f, at);
    REFUSED(vmm_ipc_close_mem_handle(S, at), INVALID_VALUE, "dptr", at);
    ACCEPTED(vmm_mem_free(S, own));
    other_end(&t.other);
}

TEST_NEAR_MISS(IPC_CLOSE, ipc_close_as_often_as_opened)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_deviceptr at = opened(f, t.handle.memory);
    CHECK_U64(opened(f, t.handle.memory), at);
    closed(f, at);
    closed(f, at);
    other_end(&t.other);
}

TEST_BREAKS(IPC_FREE, ipc_free_of_what_was_opened)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_deviceptr at = opened(f, t.handle.memory);
    REFUSED_NEAR(vmm_mem_free(S, at), INVALID_VALUE, "dptr", at, ALLOCATION, at);
    CHECK_U64(byte_at(f, at), VALUE);
    closed(f, at);
    other_end(&t.other);
}

TEST_NEAR_MISS(IPC_FREE, ipc_free_of_its_own_beside_it)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_deviceptr at = opened(f, t.handle.memory), own = allocated(f);
    ACCEPTED(vmm_mem_free(S, own));
    closed(f, at);
    other_end(&t.other);
}
