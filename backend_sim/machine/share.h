/* SPDX-License-Identifier: Apache-2.0 */
/* share.h - a machine's part in what is shared between processes: a machine with a name from vmm_init on, one without from
 * its first export on.
 *
 *                       machine of process A                      machine of process B
 *   private memory      blocks, counted in A's slot               blocks, counted in B's slot
 *   exported            block H --- state: block 7, held by A, B ---  block H'      counted once
 *   bytes               in A's file  <----------------------------- seen through the same file
 *
 * A block that was exported ends when no process holds it and no descriptor is left. Nobody is told when that happens: it
 * is looked for (share_tidy) when it matters, which is when free memory is asked for or lacks, and when a block is let go.
 * All of it is called with the machine's lock held; the state's mutex is taken inside that, alone, and never held over a
 * call of the program.
 *
 * A process that is stopped while it has the mutex keeps it, and goes on when it is continued. Others find that out once:
 *
 *   call       share_lock: 20 ms in vain, with the machine's lock -> the call fails and has changed nothing
 *   sim.c      share_await, without the machine's lock, so that calls of other threads go on: 1.2 s
 *   again      the call is made again; while it is still the same turn of the same holder it is refused at once (share_why)
 */
#ifndef SIM_SHARE_H
#define SIM_SHARE_H

#include "fabric_handle.h"
#include "backing_file.h"
#include "share_folder.h"

#define SHARE_NOT_TOLD "the system does not let the descriptor's file be looked at or read"
#define SHARE_STATE_LOST "its state was damaged"

struct sim_block;
struct sim_machine;

/* The file of another process's memory. */
struct share_memory {
    uint64_t home;
    unsigned users;
    struct backing_file frames;
    struct share_memory *next;
};

struct share {
    struct share_folder folder;
    const struct sim_profile *profile;
    uint64_t stamp;                /* of the process that opened it (lifecycle.h) */
    char name[SHARE_NAME_MAX + 1]; /* "" for none */
    uint64_t owner;                /* the process that has joined; 0: not yet */
    int life;                      /* the slot's file */
    struct os_own life_own;
    unsigned slot, depth;
    uint64_t serial;
    struct backing_file memory;       /* of this machine's blocks that may be exported, where it has a name */
    struct share_memory *others;
    struct sim_block *blocks;   /* this machine's of the exported ones */
    struct share *next;         /* of another machine: the next of those (share_nodes.h) */
    struct share **busy;        /* where a call leaves a note that share_lock failed of another process's turn; NULL: nowhere */
    unsigned awaited;           /* threads in share_await */
    unsigned unchecked;         /* turns until the state is checked again */
    unsigned patience;          /* milliseconds of share_await */
    _Atomic uint64_t turn, since; /* the turn that was waited for in vain, and from when on */
    _Atomic uint64_t stuck;       /* it, once all patience was spent on it */
    char text[SHARE_WHY];
};

enum { SHARE_PATIENCE = 1200 };

/* NULL, with the reason in why, when the machine cannot be had. name NULL: one of its own. */
struct share *share_open(const char *name, const struct sim_profile *profile, char why[SHARE_WHY]);

/* Another machine, by its id. NULL: why, "" when there is none. */
struct share *share_open_other(uint64_t id, const struct sim_profile *profile, char why[SHARE_WHY]);

/* One to look at, by its folder's entry; nothing is made, and no slot taken. NULL: why, "" when there is none. */
struct share *share_open_there(const char *entry, char why[SHARE_WHY]);

/* Takes a slot, unless this process has one. NULL, or what is in the way. */
const char *share_join(struct share *share);

/* Gives back what this machine has in the state; blocks have no holder any more. */
void share_close(struct share *share);

/* May be taken several times. False when the state is not to be had; then nothing in it may be used. */
bool share_lock(struct share *share);
void share_unlock(struct share *share);

/* The same for those whom nobody has to wait for, with all patience; and with so many milliseconds. */
bool share_lock_patiently(struct share *share);
bool share_lock_within(struct share *share, unsigned milliseconds);

/* Without the machine's lock: waits until the turn that share_lock failed of is over, or all patience is spent. Until it
 * returns, awaited keeps the share there. */
void share_await(struct share *share);

/* Did the last share_lock fail of another process's turn? */
static inline bool share_held_up(const struct share *share)
{
    return atomic_load(&share->turn) != 0;
}

/* What is in the way where share_lock failed. */
const char *share_why(struct share *share);

/* Is the slot this machine's still? A program that closes descriptors it does not know loses the lock on it, and others
 * take it for one that has ended. */
bool share_has_slot(const struct share *share);

/* Tells the others what the machine uses by itself. */
void share_publish(struct share *share, const struct sim_machine *machine);

/* Gives back what ended processes had, and exported blocks that nobody can reach. With the lock. */
void share_tidy(struct share *share);

/* A descriptor for a block. NULL, or what is in the way. With the lock. */
const char *share_export(struct share *share, struct sim_machine *machine, struct sim_block *block, int *file);

/* What others name a block by; nothing holds it then but those who have it. NULL, or what is in the way. With the lock. */
const char *share_name(struct share *share, struct sim_machine *machine, struct sim_block *block,
                       struct share_label *label);

enum share_found { SHARE_FOUND, SHARE_NO_TOKEN, SHARE_OTHER_MACHINE, SHARE_UNKNOWN, SHARE_NO_FILE, SHARE_NO_MEMORY };

/* The block that a descriptor stands for, with one holder more. With the lock, where there is a share (it may be NULL).
 * text: the machine's name, or why. */
enum share_found share_import(struct share *share, struct sim_machine *machine, int file, struct sim_block **block,
                              char text[SHARE_WHY]);

/* The same of a block that was named to the fabric; SHARE_UNKNOWN when it is gone, or was named to others. */
enum share_found share_import_named(struct share *share, struct sim_machine *machine, const struct share_label *label,
                                    const struct imex_place *place, struct sim_block **block, char text[SHARE_WHY]);

/* For people (share_mark.h): how many handles this machine has of a block now, and by which call the first came; 0: that is
 * told later, or was. And which call exported it first. */
void share_count(struct share *share, const struct sim_block *block, uint64_t call);
void share_exported_by(struct share *share, const struct sim_block *block, uint64_t call);

/* The last holder in this machine let it go. */
void share_drop(struct share *share, struct sim_block *block);

/* A watcher (team.h) sees an exported block without holding it: others' binds do. */
void share_watch(struct sim_block *block);
void share_unwatch(struct sim_block *block);

#endif
