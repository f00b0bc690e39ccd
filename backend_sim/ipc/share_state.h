/* SPDX-License-Identifier: Apache-2.0 */
/* share_state.h - what the processes of a machine know about each other, in a file that all of them map.
 *
 *   state    [ header: profile, id, mutex ][ slots ][ blocks ][ teams ][ binds ][ marks ]
 *   slot     one process: its private memory use on each device and node
 *   block    exported memory: where its bytes are, and a bit for each process that holds it; or a multicast
 *            object, which has a team instead of bytes; gets space in the file before its first use, as its marks do
 *   team     the devices of an object, including those of other machines (share_team.h)
 *   bind     a block of this machine behind an object of any machine; the bind holds the block
 *   event    one that processes share: by which record it is complete (share_event.h)
 *   mark     since which call a process holds a block (share_mark.h); allocated when the block is exported
 *
 *   used of a device  =  the private use of all slots  +  the exported blocks, each counted once
 *
 * A process can be killed between any two stores here, so their order matters: a block exists from the store of its number until
 * the number is 0 again; each number or sum has one writer, which stores it and never adds to it; the entries of a slot whose
 * process has ended do not count, and the next process that finds them clears them. Readers check the range of every value.
 *
 * Invariants (share_state_check); under the mutex they hold wherever a process was killed, unless another program forges a word:
 *     slots_seen, blocks_seen, binds_seen   > the index of every existing slot, block and bind
 *     a slot that is taken  has an owner and a unique serial from 1 to serials
 *     a block               has a number up to numbers, holders only in taken slots, and bytes with a home and an existing
 *                           location, or a team that has its number and at most as many devices as it wants
 *     a bind                has a number up to bind_numbers, and lies inside an existing block
 */
#ifndef SIM_SHARE_STATE_H
#define SIM_SHARE_STATE_H

#include <stdatomic.h>

#include "imex.h"
#include "os_mutex.h"
#include "open_options.h"
#include "profile.h"

enum {
    SHARE_PROCESSES = 256,
    SHARE_BLOCKS = 8192,
    SHARE_TEAMS = 256,
    SHARE_MEMBERS = 64, /* devices of one team */
    SHARE_BINDS = 4096,
    SHARE_EVENTS = 1024,
    SHARE_CHECK_PARTS = 256
};

#define SHARE_MAGIC UINT64_C(0x3165686873756376)
#define SHARE_VERSION 6

/* How much of the machine's memory is in use, in bytes. */
struct share_use {
    _Atomic uint64_t device[VMM_MAX_DEVICES], compressed[VMM_MAX_DEVICES], node[SIM_MAX_NODES];
};

/* Identifies a process to users. */
struct share_person {
    _Atomic uint64_t pid, program[2];
};

struct share_slot {
    _Atomic uint64_t taken;  /* 1: a process has this slot */
    _Atomic uint64_t owner;  /* os_process_id() */
    _Atomic uint64_t serial; /* never reused in this machine; part of the name of its memory file */
    struct share_use use;
    struct share_person who;
};

/* Since which call a slot's process holds a block; out of date unless its key matches. */
struct share_mark {
    _Atomic uint64_t key, call, handles;
};

struct share_block {
    _Atomic uint64_t number; /* never reused; 0: this block does not exist */
    uint64_t nonce[2];
    uint64_t file_device, file_number; /* the file of its token (share_token.h) */
    uint64_t home, place, size;        /* the serial of the slot whose memory file has the bytes, and their place in that file */
    int32_t location_type, location_id; /* INVALID, 0: a pool's table (pool_table.h), which is no use of memory */
    uint32_t compression;
    uint32_t team;                     /* of a multicast object: 1 + the index of its team; 0 for memory */
    struct imex_place fabric;          /* the channel through which it may be imported; domain 0: by descriptor only */
    _Atomic uint64_t holder[SHARE_PROCESSES / 64];
    struct share_person maker;
    _Atomic uint64_t exported; /* the exporter's call (share_call) */
};

struct share_member {
    uint64_t machine; /* the machine's id */
    int64_t device;   /* the device's ordinal in that machine */
};

/* Devices are only ever added. */
struct share_team {
    _Atomic uint64_t number; /* the number of its block; 0: this team does not exist */
    uint64_t wanted, handle_types;
    _Atomic uint64_t members;
    struct share_member member[SHARE_MEMBERS];
};

struct share_bind {
    _Atomic uint64_t number;  /* never reused; 0: this bind does not exist */
    uint64_t machine, object; /* the machine of the object, and the number of its block there */
    uint64_t index, block;    /* the memory in this machine: index and number of its block */
    uint64_t device, offset, size, at;
    uint64_t made, made_by;   /* the call that made the bind */
    struct share_person who;  /* the process that made the bind */
};

/* Records are numbered for the whole machine, so an old one never completes the event that has its entry later. */
struct share_event {
    _Atomic uint64_t number;                    /* never reused; 0: this event does not exist */
    uint64_t nonce[2];
    uint64_t home, context;                     /* the serial of the process that created it, and its context there */
    _Atomic uint64_t recorder;                  /* that of the process that recorded it last */
    _Atomic uint64_t recorded, reached;         /* its last record, and the last one that is complete */
    _Atomic uint64_t holder[SHARE_PROCESSES / 64];
};

struct share_state {
    uint64_t magic, version, bytes;
    uint64_t id, profile;
    char profile_name[SIM_NAME_MAX];
    os_mutex mutex;
    _Atomic uint64_t serials, numbers;         /* the last ones assigned */
    _Atomic uint64_t slots_seen, blocks_seen;  /* no slot or block from this index on was ever used */
    _Atomic uint64_t binds_seen, bind_numbers;
    _Atomic uint64_t changes;                  /* incremented before a team or a bind changes */
    struct share_slot slot[SHARE_PROCESSES];
    struct share_block block[SHARE_BLOCKS];
    struct share_team team[SHARE_TEAMS];
    struct share_bind bind[SHARE_BINDS];
    _Atomic uint64_t events_seen, event_numbers, event_records;
    struct share_event event[SHARE_EVENTS];
    uint64_t devices, device_memory, nodes, node_memory; /* the machine's size, for share inspection */
    struct share_mark mark[SHARE_BLOCKS][SHARE_PROCESSES];
};

/* A hash of the profile, including its name. */
uint64_t share_profile_number(const struct sim_profile *profile);

/* Initialises a state that is all zero. */
void share_state_init(struct share_state *state, const struct sim_profile *profile, uint64_t id);

/* The number of slots, blocks and binds to visit. */
unsigned share_slots(const struct share_state *state);
unsigned share_blocks(const struct share_state *state);
unsigned share_binds(const struct share_state *state);

/* The bytes that all processes use at a location of type DEVICE or HOST_NUMA; compressed: on a device, only compressible
 * memory. */
uint64_t share_used(const struct share_state *state, vmm_mem_location location, bool compressed);

bool share_holds(const struct share_block *block, unsigned slot);
void share_hold(struct share_block *block, unsigned slot, bool held);
bool share_is_held(const struct share_block *block);

/* Is the process of the slot with that serial alive, and how many other blocks have their bytes in its file? */
bool share_home_lives(const struct share_state *state, uint64_t serial);
unsigned share_home_blocks(const struct share_state *state, uint64_t serial, const struct share_block *but);

/* Call it under the mutex. Reads each word that other processes may write only once, and terminates whatever the words
 * contain. */
const char *share_state_check(const struct share_state *state);

/* The same without most of the entries that were never used, whose pages the system would have to make for it: of those, one
 * part, 0 to SHARE_CHECK_PARTS - 1. file is what the state is a mapping of: a block that was never used has no space there, and
 * gets none by the check. */
const char *share_state_check_part(const struct share_state *state, int file, unsigned part);

#endif
