/* SPDX-License-Identifier: Apache-2.0 */
/* share.h - a machine's part in the shared state: from vmm_init on for a machine with a name, from the first export on for a
 * machine without one.
 *
 *                       machine of process A                      machine of process B
 *   private memory      blocks, counted in A's slot               blocks, counted in B's slot
 *   exported            block H --- state: block 7, held by A, B ---  block H'      counted once
 *   bytes               in A's file  <----------------------------- seen through the same file
 *
 * An exported block ends when no process holds it and no descriptor is left. No event reports that: share_tidy looks for such
 * blocks when it matters, which is when free memory is queried or runs out, and when a block is released. All functions are
 * called with the machine's lock held; the state's mutex is taken inside it, one mutex at a time, and never held across a call
 * into the program.
 *
 * A process that is stopped while it holds the mutex keeps it until it is continued. Other processes find that out once:
 *
 *   call       share_lock: no success in 20 ms, with the machine's lock -> the call fails and has changed nothing
 *   sim.c      share_await, without the machine's lock, so that calls of other threads go on: 1.2 s
 *   again      the call is repeated; during the same turn of the same holder it is refused at once (share_why)
 *
 * Invariant (share_check), under the state's mutex, for a process that has a slot:
 *     used of a device in its slot = used of that device in its machine, wherever the process sees it; compressed, nodes alike
 */
#ifndef SIM_SHARE_H
#define SIM_SHARE_H

#include "fabric_handle.h"
#include "backing_file.h"
#include "share_folder.h"

#define SHARE_UNREADABLE "the system refuses access to the descriptor's file"
#define SHARE_STATE_LOST "the machine's state was damaged"

struct sim_block;
struct sim_machine;

/* The file of another process's memory. */
struct share_memory {
    uint64_t home;
    unsigned users;
    struct backing_file backing;
    struct share_memory *next;
};

struct share {
    struct share_folder folder;
    const struct sim_profile *profile;
    uint64_t stamp;                /* the process that opened it (life_stamp, lifecycle.h) */
    char name[SHARE_NAME_MAX + 1]; /* "" if it has none */
    uint64_t owner;                /* the process that joined; 0: not yet */
    int life;                      /* the slot's file */
    struct os_own life_own;
    unsigned slot, depth;
    uint64_t serial;
    struct backing_file memory;       /* holds this machine's exportable blocks, if the machine has a name */
    struct share_memory *others;
    struct sim_block *blocks;   /* the exported blocks of this machine */
    struct share *next;         /* of another machine: the next one (share_nodes.h) */
    const struct sim_machine *machine; /* whose use the slot shows; NULL: none, as in another machine of the fabric */
    struct share **busy;        /* where share_lock stores the share when another process holds its mutex; NULL: nowhere */
    bool events;                /* has this process made a shared event? */
    unsigned awaited;           /* threads in share_await */
    unsigned unchecked;         /* turns until the state is checked again */
    unsigned unused_checked;    /* the part of the unused entries that was checked then */
    unsigned patience;          /* the longest wait of share_await, in milliseconds */
    _Atomic uint64_t turn, since; /* the turn of the last failed wait, and when that wait began */
    _Atomic uint64_t stuck;       /* that turn, once a full share_await has not outlasted it */
    char text[SHARE_WHY];
};

enum { SHARE_PATIENCE = 1200 };

/* Opens a machine; name NULL: a private one. NULL, with the reason in why, on failure. */
struct share *share_open(const char *name, const struct sim_profile *profile, char why[SHARE_WHY]);

/* Opens another machine by its id. NULL, with the reason in why, or "" when there is none. */
struct share *share_open_other(uint64_t id, const struct sim_profile *profile, char why[SHARE_WHY]);

/* Opens a machine for inspection, by its folder's entry; creates nothing and takes no slot. NULL, with the reason in why, or ""
 * when there is none. */
struct share *share_open_there(const char *entry, char why[SHARE_WHY]);

/* Takes a slot, unless this process has one, and publishes the machine's private use there. Returns NULL, or the reason for a
 * failure. */
const char *share_join(struct share *share);

/* Frees what this machine has in the state. No block may have a holder. */
void share_close(struct share *share);

/* Takes the recursive lock. False when the state is unavailable; then its contents must not be used. */
bool share_lock(struct share *share);
void share_unlock(struct share *share);

/* Like share_lock, for callers that block no other thread: waits for the full time, or for that many milliseconds. */
bool share_lock_patiently(struct share *share);
bool share_lock_within(struct share *share, unsigned milliseconds);

/* Without the machine's lock: waits until the turn on which share_lock failed is over, or the full time is spent. Until it
 * returns, awaited keeps the share alive. */
void share_await(struct share *share);

/* Did the last share_lock fail because of another process's turn? */
static inline bool share_held_up(const struct share *share)
{
    return atomic_load(&share->turn) != 0;
}

/* The reason why share_lock failed. */
const char *share_why(struct share *share);

/* Does this machine still own its slot? A program that closes descriptors it does not own loses the lock on the slot, and other
 * processes then consider it ended. */
bool share_has_slot(const struct share *share);

/* Publishes the machine's private use in the state. */
void share_publish(struct share *share, const struct sim_machine *machine);

/* With the lock. */
const char *share_check(const struct share *share);

/* Frees what ended processes left behind, and exported blocks that no process can reach. With the lock. */
void share_tidy(struct share *share);

/* Exports a block as a descriptor. Returns NULL, or the reason for a failure. With the lock. */
const char *share_export(struct share *share, struct sim_machine *machine, struct sim_block *block, int *file);

/* Names a block for the fabric; the name does not hold the block, only its holders do. Returns NULL, or the reason for a
 * failure. With the lock. */
const char *share_name(struct share *share, struct sim_machine *machine, struct sim_block *block,
                       struct share_label *label);

/* The same for memory that was not created to be exported: its bytes move to where other processes find them. */
const char *share_name_any(struct share *share, struct sim_machine *machine, struct sim_block *block,
                           struct share_label *label);

enum share_found { SHARE_FOUND, SHARE_NO_TOKEN, SHARE_OTHER_MACHINE, SHARE_UNKNOWN, SHARE_NO_FILE, SHARE_NO_MEMORY };

/* Imports the block of a descriptor, with one more holder. With the lock if there is a share (it may be NULL). text: the
 * machine's name, or the reason for a failure. */
enum share_found share_import(struct share *share, struct sim_machine *machine, int file, struct sim_block **block,
                              char text[SHARE_WHY]);

/* Imports a block that was named to the fabric; SHARE_UNKNOWN when the block has ended, or was named for another channel. */
enum share_found share_import_named(struct share *share, struct sim_machine *machine, const struct share_label *label,
                                    const struct imex_place *place, struct sim_block **block, char text[SHARE_WHY]);

/* Imports a block of this machine that was named to its processes, while the process that named it holds it; home: that one's
 * serial. SHARE_UNKNOWN when the block or the process has ended. */
enum share_found share_import_from(struct share *share, struct sim_machine *machine, const struct share_label *label,
                                   uint64_t home, struct sim_block **block, char text[SHARE_WHY]);

/* Imports the block that a label names, whichever process holds it; SHARE_UNKNOWN when it has ended. */
enum share_found share_import_labelled(struct share *share, struct sim_machine *machine, const struct share_label *label,
                                       struct sim_block **block, char text[SHARE_WHY]);

/* The label of a block that has one, because this process or another has named it. */
struct share_label share_label_of(const struct sim_block *block);

/* For messages (share_mark.h). share_count records how many handles this machine now has of a block, and the call that made the
 * first one (0: recorded later, or already); the other function records the call that first exported the block. */
void share_count(struct share *share, const struct sim_block *block, uint64_t call);
void share_exported_by(struct share *share, const struct sim_block *block, uint64_t call);

/* Call it when the last holder in this machine has released the block. */
void share_drop(struct share *share, struct sim_block *block);

/* A watcher (team.h) sees an exported block without holding it, because the binds in the state hold it. */
void share_watch(struct sim_block *block);
void share_unwatch(struct sim_block *block);

#endif
