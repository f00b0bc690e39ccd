/* SPDX-License-Identifier: Apache-2.0 */
/* Locks the shared state's mutex, and waits for it. */
#include <inttypes.h>
#include <stdio.h>

#include "checks.h"
#include "lifecycle.h"
#include "os_inspect.h"
#include "share.h"

enum {
    GRACE = 20,  /* milliseconds to wait with the machine's lock held: longer than a running process needs */
    CHECK_EVERY = 16, /* the fewest turns between checks of the state */
    SLICE = 100  /* milliseconds between checks of the state's file in share_await */
};

bool share_has_slot(const struct share *share)
{
    const struct share_slot *slot = &share->folder.state->slot[share->slot];
    return atomic_load(&slot->taken) && atomic_load(&slot->owner) == share->owner &&
           atomic_load(&slot->serial) == share->serial;
}

/* ---- lock and unlock ---- */

/* Has another process taken over this process's slot? */
static bool moved_out(const struct share *share)
{
    return share->owner && share->owner == os_process_id() && !share_has_slot(share);
}

static bool take(struct share *share, unsigned milliseconds, uint64_t *turn)
{
    struct share_folder *folder = &share->folder;
    bool there = share->stamp == life_stamp() && share_folder_sound(folder); /* a forked child is not a party */
    if (there && !folder->party.ticket)
        there = os_party_join(&folder->party, &folder->state->mutex, folder->file);
    if (!there) {
        *turn = 0;
        return false;
    }
    if (!os_mutex_lock(&folder->state->mutex, &folder->party, milliseconds, turn))
        return false;
    *turn = 0;
    if (!moved_out(share))
        return true;
    os_mutex_unlock(&folder->state->mutex, &folder->party);
    return false;
}

bool share_lock_within(struct share *share, unsigned milliseconds)
{
    uint64_t before = atomic_load(&share->turn), turn = before;
    if (share->depth)
        return ++share->depth;
    share->depth = take(share, milliseconds, &turn);
    if (turn != before) {
        atomic_store(&share->since, os_milliseconds() - milliseconds);
        atomic_store(&share->turn, turn);
    }
    return share->depth != 0;
}

bool share_lock(struct share *share)
{
    if (share_lock_within(share, GRACE))
        return true;
    uint64_t turn = atomic_load(&share->turn);
    if (share->busy && turn && atomic_load(&share->stuck) != turn)
        *share->busy = share;
    return false;
}

bool share_lock_patiently(struct share *share)
{
    const uint64_t began = os_milliseconds();
    while (!share_lock_within(share, GRACE)) {
        uint64_t turn = atomic_load(&share->turn);
        if (!turn || os_milliseconds() - began >= share->patience) /* LCOV_EXCL_BR_LINE: the mutex becomes free just now */
            return false;
        share_await(share);
        if (atomic_load(&share->stuck) == turn) /* LCOV_EXCL_BR_LINE: the mutex becomes free just now */
            return false;
    }
    return true;
}

/* Checks this process's published use after each turn, and the state after some turns, less often the more blocks there are. Of
 * the entries that were never used, each check takes the next part. */
static void check_state(struct share *share)
{
    const struct share_state *state = share->folder.state;
    checks_failed(check_in(share_check(share), "the state of machine \"%s\"", share->name));
    if (share->unchecked) {
        share->unchecked--;
        return;
    }
    share->unchecked = CHECK_EVERY + share_blocks(state);
    share->unused_checked = (share->unused_checked + 1) % SHARE_CHECK_PARTS;
    checks_failed(check_in(share_state_check_part(state, share->folder.file, share->unused_checked),
                           "the state of machine \"%s\"", share->name));
}

void share_unlock(struct share *share)
{
    if (share->depth == 1 && checks_wanted() == CHECKS_ALL)
        check_state(share);
    if (--share->depth == 0)
        os_mutex_unlock(&share->folder.state->mutex, &share->folder.party);
}

/* ---- after a failure to lock ---- */

void share_await(struct share *share)
{
    struct share_folder *folder = &share->folder;
    uint64_t turn = atomic_load(&share->turn), since = atomic_load(&share->since);
    while (turn && atomic_load(&share->stuck) != turn && share_folder_sound(folder) &&
           !os_mutex_await(&folder->state->mutex, &folder->party, SLICE, turn))
        if (os_milliseconds() - since >= share->patience)
            atomic_store(&share->stuck, turn);
}

static void name_holder(struct share *share, const struct os_holder *holder, uint64_t seconds)
{
    char program[OS_PROGRAM] = "";
    unsigned long long number = holder->process, for_so_long = seconds;
    if (!number || holder->elsewhere) {
        snprintf(share->text, sizeof share->text, "%s has held the machine for %llu s: continue it or end it",
                 number ? "a process of another PID namespace" : "a process whose number is not known yet", for_so_long);
        return;
    }
    os_program(number, program);
    if (os_is_stopped(number))
        snprintf(share->text, sizeof share->text,
                 "process %llu (%s) is stopped and has held the machine for %llu s: continue it (kill -CONT %llu) or end it",
                 number,
                 program, for_so_long, number);
    else
        snprintf(share->text, sizeof share->text, "process %llu (%s) has held the machine for %llu s without releasing it",
                 number,
                 program, for_so_long);
}

const char *share_why(struct share *share)
{
    uint64_t turn = atomic_load(&share->turn);
    if (!share_folder_sound(&share->folder))
        return SHARE_STATE_LOST;
    if (!share->folder.party.ticket)
        return "the system supports no locks on its files";
    if (!turn)
        return "this process has lost its slot: the program closed descriptors that it did not open, or the state was damaged";
    struct os_holder holder = os_mutex_holder(&share->folder.state->mutex, &share->folder.party, turn);
    name_holder(share, &holder, (os_milliseconds() - atomic_load(&share->since)) / 1000);
    return share->text;
}
