/* SPDX-License-Identifier: Apache-2.0 */
/* share_inspect.h - a snapshot of the processes that hold a machine's memory: processes, what each uses, exported blocks, the
 * exporter of each, and the holders that keep it alive.
 *
 *   state  [ slots ][ blocks ][ marks ] --.
 *   token.7: is a descriptor left?  ------+--> process 4711 (server)
 *   every process's descriptors     ------'    block 7, 2 MiB, exported by 4711, call 5
 *                                                held by 4712 (worker), one handle since call 3
 *                                                held by 4713 (sender), descriptor 6
 *
 * Inspection changes only what share_tidy changes. The values read may be forged: those out of range are cut or reported as
 * they are, and no decision depends on them.
 */
#ifndef SIM_SHARE_INSPECT_H
#define SIM_SHARE_INSPECT_H

#include "os_inspect.h"
#include "share.h"

enum { SHARE_HOLD_TEXT = 160 };

struct share_inspect_process {
    unsigned slot;
    uint64_t pid;
    char program[OS_PROGRAM];
    bool stopped;
    uint64_t device[VMM_MAX_DEVICES], node[SIM_MAX_NODES]; /* private use */
};

/* A holder of a block: with handles, with a descriptor, or with a bind to a multicast object. */
struct share_inspect_hold {
    unsigned block; /* index in the list of blocks */
    unsigned slot;  /* of a holder with handles; otherwise SHARE_PROCESSES */
    uint64_t pid;
    char program[OS_PROGRAM];
    uint64_t call, handles; /* share_call; 0 where it is not known */
    int file;               /* a descriptor's number; -1: the holder has handles, or a bind */
    uint64_t object;        /* the number of the object it is bound to, by a process that may have ended; 0: not a bind */
};

struct share_inspect_block {
    uint64_t number, home, size;
    vmm_mem_location location;
    unsigned team, members; /* of a multicast object: devices wanted and added; 0: it is memory */
    bool fabric;  /* it may be imported by fabric handles */
    bool out;     /* there is a descriptor */
    bool found;   /* and a process was seen to have one */
    bool orphan;  /* its exporter has left the machine */
    uint64_t pid; /* the exporter's */
    char program[OS_PROGRAM];
    uint64_t call; /* share_call: of the first export; 0: not known */
    uint64_t file_device, file_number;
};

struct share_inspect {
    char profile[SIM_NAME_MAX];
    unsigned process_count, block_count, hold_count, hold_room;
    unsigned devices, nodes;
    uint64_t device_memory, node_memory, device_used[VMM_MAX_DEVICES], node_used[SIM_MAX_NODES];
    bool reported; /* this system reports which processes have descriptors */
    struct share_inspect_process *process;
    struct share_inspect_block *block;
    struct share_inspect_hold *hold; /* those with handles first */
};

/* Takes the state's lock meanwhile. NULL: the lock is unavailable, or memory is out. */
struct share_inspect *share_inspect(struct share *share);
/* The same with this process's own descriptors only: does not look at every process of the system. */
struct share_inspect *share_inspect_own(struct share *share);
void share_inspect_free(struct share_inspect *who);

/* Without the lock, for when it is unavailable: the processes only, one at a time from *slot on. False after the last. */
bool share_inspect_next(const struct share *share, unsigned *slot, struct share_inspect_process *process);

/* "process 4712 (worker)"; then for a hold ": call 3 (cuMemImportFromShareableHandle)" or ": descriptor 6". Return text. */
const char *share_inspect_named(uint64_t pid, const char *program, char text[SHARE_HOLD_TEXT]);
const char *share_inspect_hold_text(const struct share_inspect_hold *hold, char text[SHARE_HOLD_TEXT]);
/* "call 5 (cuMemCreate)", "a call that is not known". */
const char *share_inspect_call(uint64_t call, char text[SHARE_HOLD_TEXT]);

#endif
