/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of a state in memory: which process writes them, and what forged marks read as. */
#include "share_mark.h"

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "tap.h"

static struct share_state *fresh(void)
{
    struct share_state *state = calloc(1, sizeof *state);
    if (!state)
        tap_bail("no state");
    atomic_store(&state->slot[3].serial, 5);
    atomic_store(&state->block[9].number, 70);
    return state;
}

static bool reads(const struct share_state *state, bool there, uint64_t call, uint64_t handles)
{
    uint64_t got_call = 1, got_handles = 1;
    bool got = share_mark_read(state, 9, 3, &got_call, &got_handles);
    return got == there && got_call == call && got_handles == handles;
}

static void holding(void)
{
    struct share_state *state = fresh();
    tap_ok(reads(state, false, 0, 0), "a holder without a mark reads as none");
    share_mark_hold(state, 9, 3, 0, 1);
    tap_ok(reads(state, true, 0, 1), "a mark can exist before its call is known");
    share_mark_hold(state, 9, 3, 44, 1);
    share_mark_hold(state, 9, 3, 55, 2);
    tap_ok(reads(state, true, 44, 2), "the first call stays while the number of handles changes");
    atomic_store(&state->slot[3].serial, 6);
    tap_ok(reads(state, false, 0, 0), "a mark is not valid for the slot's next process");
    atomic_store(&state->slot[3].serial, 4);
    tap_ok(reads(state, false, 0, 0), "a mark is not valid for a process with a smaller serial");
    atomic_store(&state->slot[3].serial, 70);
    atomic_store(&state->block[9].number, 5);
    tap_ok(reads(state, false, 0, 0), "a mark is not valid where the serial and the block's number have changed places");
    atomic_store(&state->block[9].number, 70);
    atomic_store(&state->slot[3].serial, 6);
    share_mark_hold(state, 9, 3, 0, 1);
    tap_ok(reads(state, true, 0, 1), "the next process begins a new mark");
    share_mark_hold(state, 9, 3, 66, 1);
    atomic_store(&state->block[9].number, 71);
    tap_ok(reads(state, false, 0, 0), "a mark is not valid for the next block");
    share_mark_hold(state, 9, 3, 77, 1);
    share_mark_hold(state, 9, 3, 0, 0);
    tap_ok(reads(state, false, 0, 0), "a mark without handles reads as none");
    share_mark_hold(state, 9, 3, 0, 1);
    tap_ok(reads(state, true, 0, 1), "a later mark keeps nothing of it");
    free(state);
}

static void calls(void)
{
    uint64_t call = share_call(12345, VMM_CALL_mem_import_from_shareable_handle);
    tap_u64(share_call_number(call), 12345, "a packed call has its number");
    tap_ok(!strcmp(share_call_name(call), "cuMemImportFromShareableHandle"), "a packed call has its name");
    tap_ok(!share_call_name(0) && !share_call_name(share_call(1, VMM_CALL_COUNT)) && !share_call_name(UINT64_MAX),
           "a value that is not a call has no name");
}

static void persons(void)
{
    struct share_person who = {0};
    char program[OS_PROGRAM], want[OS_PROGRAM];
    share_mark_process(&who);
    os_program(os_pid(), want);
    tap_ok(share_person_read(&who, program) == os_pid() && !strcmp(program, want),
           "a process records its number and program name");
    atomic_store(&who.program[0], UINT64_C(0x0a1b5b324a7fff41));
    atomic_store(&who.program[1], UINT64_MAX);
    share_person_read(&who, program);
    tap_ok(strlen(program) == OS_PROGRAM - 1 && strspn(program, "A?J2[") == OS_PROGRAM - 1,
           "a forged name is made printable and terminated: %s", program);
}

int main(void)
{
    holding();
    calls();
    persons();
    return tap_done();
}
