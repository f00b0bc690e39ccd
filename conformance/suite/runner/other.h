/* SPDX-License-Identifier: Apache-2.0 */
/* other.h - another process on the same machine, which carries out a test's requests. It runs this program again
 * (exec), so it initialises a driver as any process does; on the simulator both open one machine under a name of the
 * test's.
 *
 *   test process                                        other process
 *   fix_share(f)         a fixture on the machine
 *   other_start(f)       ----- exec --other ------->    opens, initialises, makes a context
 *   other_ask(o, IMPORT, fd)  --- request, fd ----->    imports
 *                        <------ result, value ----
 */
#ifndef CUVMM_SUITE_OTHER_H
#define CUVMM_SUITE_OTHER_H

#include <sys/types.h>

#include "fixture.h"

enum other_op {
    OTHER_CREATE,    /* size, place: memory that can be exported -> handle */
    OTHER_EXPORT,    /* handle -> a descriptor */
    OTHER_IMPORT,    /* a descriptor -> handle */
    OTHER_KEEP,      /* a descriptor, which the other process keeps open -> its number there */
    OTHER_DROP,      /* closes the descriptor that was kept */
    OTHER_TYPES,     /* handle -> its handle types */
    OTHER_PLACE,     /* handle -> its place */
    OTHER_MAP,       /* handle, size -> address, with rights for device 0 (and for the host, where it can have any) */
    OTHER_UNMAP,     /* address, size */
    OTHER_RELEASE,   /* handle */
    OTHER_FILL,      /* address, value: one granule */
    OTHER_PEEK,      /* address -> the byte there */
    OTHER_POKE,      /* address, value: by the host, in place */
    OTHER_FREE,      /* -> free bytes of device 0 */
    OTHER_GRANDCHILD, /* size, a descriptor: a program that inherits it imports and maps it -> the first byte */
    OTHER_CREATE_FABRIC, /* size, place: memory for a fabric -> handle */
    OTHER_EXPORT_FABRIC, /* handle -> the 64 bytes */
    OTHER_IMPORT_FABRIC, /* the 64 bytes -> handle */
    OTHER_ALLOC,     /* size, value: ordinary memory, filled -> its address, and the 64 bytes of vmm_ipc_get_mem_handle */
    OTHER_FREE_MEMORY, /* address of ordinary memory */
    OTHER_EVENT,          /* -> a shared event, recorded and done, and the 64 bytes of vmm_ipc_get_event_handle */
    OTHER_RECORD,         /* event: after a fill of the address, and waited for */
    OTHER_WAIT,           /* event: until its last record, and after it in a stream */
    OTHER_IMPORT_POOL,    /* a descriptor -> pool */
    OTHER_IMPORT_POINTER, /* 64 bytes, into the pool that was imported last -> address */
    OTHER_FREE_POINTER,   /* address: in the order of the default stream, which it waits for */
    OTHER_DESTROY_POOL,   /* pool */
    OTHER_TEAM_DEVICE,   /* device; see other_team.h for these */
    OTHER_TEAM_ADD,      /* object */
    OTHER_TEAM_BIND,     /* object, handle types of the memory */
    OTHER_TEAM_UNBIND,   /* object, device: one unit from the start */
    OTHER_TEAM_SET,      /* offset, value */
    OTHER_TEAM_WORD,     /* offset -> value */
    OTHER_TEAM_ADD_WORD, /* offset in the object, offset of what is added */
    OTHER_TEAM_ARRIVE,
    OTHER_TEAM_FINISH    /* how many must have arrived */
};

/* A location as one word: its type and its id. A type alone means id 0. */
static inline uint64_t other_place(vmm_mem_location_type type, int id)
{
    return (uint64_t)(uint32_t)id << 32 | (uint32_t)type;
}

struct other {
    pid_t pid;
    int socket;
};

struct other_answer {
    int32_t result; /* vmm_result; -1: the process is gone */
    uint64_t value;
    char rule[48], note[240];
    int fd;         /* that came with it, or -1 */
    unsigned char fabric[VMM_FABRIC_HANDLE_SIZE];
};

/* A system on a machine that other processes can open as well; on a driver, f itself. */
struct fix *fix_share(struct fix *f);

/* From now on, while CUVMM_MACHINE is set, systems open the machine that other_start's processes open. */
void other_name_machine(void);

/* A second system on the same machine, in this process; simulator only. */
struct fix *fix_same(struct fix *f);

/* Fails the test when the process does not start. */
struct other other_start(struct fix *f);
/* A process that opens this spec: another node. */
struct other other_start_on(struct fix *f, const char *spec);
/* Kills the process with SIGKILL and waits for its end. */
void other_kill(struct other *other);
/* Makes the process close what it holds, and waits for its end. */
void other_end(struct other *other);

/* first and second are the operation's arguments, 0 where it takes fewer; fd is -1 where it takes none. */
struct other_answer other_ask(struct other *other, enum other_op op, uint64_t first, uint64_t second, int fd);

/* What another process made, and the 64 bytes that name it. */
struct other_shared {
    struct other other;
    uint64_t value; /* the address, or the event */
    union {
        vmm_ipc_mem_handle memory;
        vmm_ipc_event_handle event;
    } handle;
};

/* Starts a process and asks it to make that. Fails the test when it does not. */
struct other_shared other_start_sharing(struct fix *f, enum other_op op, uint64_t first, uint64_t second);

/* other_ask with a fabric handle. */
struct other_answer other_ask_fabric(struct other *other, enum other_op op, const unsigned char *fabric);

/* The whole run of such a process; returns its exit status. name: how this program was called. */
void other_program(const char *name);
int other_main(int socket);
int other_grandchild(int fd, uint64_t size);

#endif
