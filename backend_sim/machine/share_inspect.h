/* SPDX-License-Identifier: Apache-2.0 */
/* share_inspect.h - who holds the memory of a machine, as it was at one moment: processes, what each uses, exported blocks, who
 * exported them, and who keeps them alive.
 *
 *   state  [ slots ][ blocks ][ marks ] --.
 *   token.7: is a descriptor left?  ------+--> process 4711 (server)
 *   every process's descriptors     ------'    block 7, 2 MiB, exported by 4711, call 5
 *                                                held by 4712 (worker), one handle since call 3
 *                                                held by 4713 (sender), descriptor 6
 *
 * Looking changes nothing but what tidying does. Nothing that is read has to be true: what is out of range is cut or told as
 * it stands, and no decision hangs on it.
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
    uint64_t device[VMM_MAX_DEVICES], node[SIM_MAX_NODES]; /* by itself */
};

/* One that keeps a block: with handles, with a descriptor, or because it bound it to a multicast object. */
struct share_inspect_hold {
    unsigned block; /* index in the list of blocks */
    unsigned slot;  /* of one with handles; SHARE_PROCESSES */
    uint64_t pid;
    char program[OS_PROGRAM];
    uint64_t call, handles; /* share_call; 0 where it is not known */
    int file;               /* a descriptor's number; -1: it is handles, or a bind */
    uint64_t object;        /* the number of the object it is bound to, by a process that may have left; 0: it is no bind */
};

struct share_inspect_block {
    uint64_t number, home, size;
    vmm_mem_location location;
    unsigned team, members; /* of a multicast object: devices wanted and added; 0: it is memory */
    bool fabric;  /* it may be imported by fabric handles */
    bool out;     /* there is a descriptor */
    bool found;   /* and somebody was seen to have one */
    bool orphan;  /* its exporter takes part no more */
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
    bool reported; /* this system tells who has descriptors */
    struct share_inspect_process *process;
    struct share_inspect_block *block;
    struct share_inspect_hold *hold; /* those with handles first */
};

/* Takes the state's lock for that time. NULL: it is not to be had, or memory is out. */
struct share_inspect *share_inspect(struct share *share);
/* Of descriptors this process's own alone: without looking at every process of the system. */
struct share_inspect *share_inspect_own(struct share *share);
void share_inspect_free(struct share_inspect *who);

/* Without the lock, for when it is not to be had: the processes alone, one at a time from *slot on. False after the last. */
bool share_inspect_next(const struct share *share, unsigned *slot, struct share_inspect_process *process);

/* "process 4712 (worker)"; then for a hold ": call 3 (cuMemImportFromShareableHandle)" or ": descriptor 6". Return text. */
const char *share_inspect_named(uint64_t pid, const char *program, char text[SHARE_HOLD_TEXT]);
const char *share_inspect_hold_text(const struct share_inspect_hold *hold, char text[SHARE_HOLD_TEXT]);
/* "call 5 (cuMemCreate)", "a call that is not known". */
const char *share_inspect_call(uint64_t call, char text[SHARE_HOLD_TEXT]);

#endif
