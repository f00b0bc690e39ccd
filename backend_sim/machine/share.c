/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the shared state, joins it, and leaves it. */
#include "share.h"

#include <stdio.h>
#include <stdlib.h>

#include "heap.h"
#include "lifecycle.h"
#include "machine.h"
#include "share_mark.h"
#include "share_parts.h"

bool share_joined(const struct share *share)
{
    return share->owner && share->owner == os_process_id() && share_folder_sound(&share->folder) && share_has_slot(share);
}

static int make_memory(void *user)
{
    const struct share *share = user;
    return share_folder_open_file(&share->folder, "mem", share->serial, OS_OPEN_MAKE);
}

/* Allocates before the folder is created, so that a failure leaves no folder to remove. */
static struct share *new_share(char why[SHARE_WHY])
{
    struct share *share = heap.calloc(1, sizeof *share);
    if (!share)
        snprintf(why, SHARE_WHY, SHARE_MEMORY_OUT);
    return share;
}

static struct share *opened(struct share *share, bool found, const char *name, const struct sim_profile *profile)
{
    if (!found) {
        heap.free(share);
        return NULL;
    }
    share->life = -1;
    share->profile = profile;
    share->stamp = life_stamp();
    share->patience = SHARE_PATIENCE;
    snprintf(share->name, sizeof share->name, "%s", name ? name : share_folder_name(&share->folder));
    backing_file_init(&share->memory);
    backing_file_open_with(&share->memory, make_memory, share);
    return share;
}

struct share *share_open(const char *name, const struct sim_profile *profile, char why[SHARE_WHY])
{
    struct share *share = new_share(why);
    return share ? opened(share, share_folder_open(&share->folder, name, profile, why), name ? name : "", profile) : NULL;
}

struct share *share_open_other(uint64_t id, const struct sim_profile *profile, char why[SHARE_WHY])
{
    struct share *share = new_share(why);
    return share ? opened(share, share_folder_open_other(&share->folder, id, profile, why), NULL, profile) : NULL;
}

struct share *share_open_there(const char *entry, char why[SHARE_WHY])
{
    struct share *share = new_share(why);
    return share ? opened(share, share_folder_open_there(&share->folder, entry, why), NULL, NULL) : NULL;
}

/* A child that was forked before any process initialised uses its parent's opening, without owning it. */
static const char *open_again(struct share *share)
{
    if (share->stamp == life_stamp())
        return NULL;
    share_folder_close(&share->folder, false);
    share->stamp = life_stamp();
    return share_folder_open(&share->folder, share->name, share->profile, share->text) ? NULL : share->text;
}

static bool open_life(struct share *share, unsigned index)
{
    share->life_own = (struct os_own){.file = &share->life};
    if (os_own_add(&share->life_own))
        share->life = share_folder_open_file(&share->folder, "slot", index, OS_OPEN_MAKE);
    return share->life >= 0;
}

static void close_life(struct share *share)
{
    os_own_remove(&share->life_own);
    if (share->life >= 0)
        os_file_close(share->life);
    share->life = -1;
}

static bool move_in(struct share *share, unsigned index)
{
    struct share_slot *slot = &share->folder.state->slot[index];
    if (atomic_load(&slot->taken))
        return false;
    if (!open_life(share, index) || !os_mark_alive(share->life)) {
        close_life(share);
        return false;
    }
    share->slot = index;
    share->owner = os_process_id();
    share->serial = atomic_load(&share->folder.state->serials) + 1;
    atomic_store(&share->folder.state->serials, share->serial);
    atomic_store(&slot->serial, share->serial);
    atomic_store(&slot->owner, share->owner);
    share_mark_process(&slot->who);
    if (share_slots(share->folder.state) <= index)
        atomic_store(&share->folder.state->slots_seen, index + 1);
    atomic_store(&slot->taken, 1);
    return true;
}

const char *share_join(struct share *share)
{
    if (share_joined(share))
        return NULL;
    if (!os_process_id())
        return "the system provides no random numbers";
    const char *wrong = open_again(share);
    if (wrong)
        return wrong;
    if (!share_lock(share))
        return share_why(share);
    bool in = false;
    close_life(share); /* of a slot that this process lost, or of its parent's slot */
    share->owner = 0;
    share_tidy(share);
    for (unsigned i = 0; !in && i < SHARE_PROCESSES; i++)
        in = move_in(share, i);
    if (in && share->machine)
        share_publish(share, share->machine);
    share_unlock(share);
    return in ? NULL : "256 processes have the machine open, or this process may open no more files";
}

/* Is it impossible for any other process to reach the machine? */
static bool deserted(const struct share *share)
{
    for (unsigned i = 0; i < share_slots(share->folder.state); i++)
        if (atomic_load(&share->folder.state->slot[i].taken))
            return false;
    for (unsigned i = 0; share->name[0] && i < share_blocks(share->folder.state); i++)
        if (atomic_load(&share->folder.state->block[i].number))
            return false;
    return true;
}

void share_close(struct share *share)
{
    bool last = false, member = share_joined(share);
    if (member && share_lock_patiently(share)) {
        share_tidy(share);
        share_leave_blocks(share);
        share_clear_slot(share, share->slot);
        share->owner = 0;
        share_tidy(share);
        last = deserted(share);
        share_unlock(share);
    } else if (!share->owner && share_lock_patiently(share)) {
        share_tidy(share);
        last = deserted(share);
        share_unlock(share);
    }
    share_leave_blocks(share);
    close_life(share);
    backing_file_clear(&share->memory);
    share_folder_close(&share->folder, last);
    heap.free(share);
}
