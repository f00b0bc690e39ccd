/* SPDX-License-Identifier: Apache-2.0 */
/* share_inspect.h - a snapshot of the processes that hold a machine's memory: the processes and their memory use, the exported
 * blocks, and each block's exporter and holders.
 *
 *   state  [ slots ][ blocks ][ marks ] --.
 *   token.7: is a descriptor left?  ------+--> process 4711 (server)
 *   every process's descriptors     ------'    block 7, 2 MiB, exported by 4711, call 5
 *                                                held by 4712 (worker), one handle since call 3
 *                                                held by 4713 (sender), descriptor 6
 *
 * Inspection changes only what share_tidy changes. The values read may be forged: a value out of range is clamped or reported as
 * it is, and no decision depends on it.
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
    uint64_t device[VMM_MAX_DEVICES], node[SIM_MAX_NODES]; /* private memory use */
};

/* A holder of a block: with handles, with a descriptor, or with a bind to a multicast object. */
struct share_inspect_hold {
    unsigned block; /* index in the list of blocks */
    unsigned slot;  /* of a holder with handles; else SHARE_PROCESSES */
    uint64_t pid;
    char program[OS_PROGRAM];
    uint64_t call, handles; /* call: share_call, or 0 if unknown */
    int file;               /* the descriptor's number; -1: the holder has handles, or is a bind */
    uint64_t object;        /* the number of the object that the block is bound to, maybe by an ended process; 0: not a bind */
};

struct share_inspect_block {
    uint64_t number, home, size;
    vmm_mem_location location;
    unsigned team, members; /* of a multicast object: devices wanted and added; 0 for memory */
    bool fabric;  /* fabric handles can import it */
    bool out;     /* a descriptor of it exists */
    bool found;   /* and a process has that descriptor */
    bool orphan;  /* its exporter has left the machine */
    uint64_t pid; /* the exporter's process number */
    char program[OS_PROGRAM];
    uint64_t call; /* share_call of the first export; 0: unknown */
    uint64_t file_device, file_number;
};

struct share_inspect {
    char profile[SIM_NAME_MAX];
    unsigned process_count, block_count, hold_count;
    size_t hold_room;
    unsigned devices, nodes;
    uint64_t device_memory, node_memory, device_used[VMM_MAX_DEVICES], node_used[SIM_MAX_NODES];
    bool reported; /* this system reports which processes have descriptors */
    struct share_inspect_process *process;
    struct share_inspect_block *block;
    struct share_inspect_hold *hold; /* holders with handles come first */
};

/* Takes the state's lock meanwhile. NULL when the lock is unavailable or memory is exhausted. */
struct share_inspect *share_inspect(struct share *share);
/* Takes a snapshot with this process's own descriptors only, without looking at every process of the system. */
struct share_inspect *share_inspect_own(struct share *share);
void share_inspect_free(struct share_inspect *who);

/* The memory of one device in use, in total and by each process: its private memory, and the memory that it exported,
 * regardless of the holder. Memory whose exporter has left the machine has no holder. */
struct share_inspect_use {
    uint64_t used;
    unsigned processes; /* those that use any */
    struct {
        uint64_t pid, bytes;
    } process[SHARE_PROCESSES];
};

/* Costs a pass over processes and blocks, and allocates nothing. False when the lock is unavailable. */
bool share_inspect_use(struct share *share, int device, struct share_inspect_use *use);

/* Works without the lock, for when it is unavailable: reads only the processes, one at a time from *slot on. False after the last
 * one. */
bool share_inspect_next(const struct share *share, unsigned *slot, struct share_inspect_process *process);

/* "process 4712 (worker)"; for a hold also ": call 3 (cuMemImportFromShareableHandle)" or ": descriptor 6". Returns text. */
const char *share_inspect_named(uint64_t pid, const char *program, char text[SHARE_HOLD_TEXT]);
const char *share_inspect_hold_text(const struct share_inspect_hold *hold, char text[SHARE_HOLD_TEXT]);
/* "call 5 (cuMemCreate)", or "an unknown call". */
const char *share_inspect_call(uint64_t call, char text[SHARE_HOLD_TEXT]);

#endif
