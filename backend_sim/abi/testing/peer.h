/* SPDX-License-Identifier: Apache-2.0 */
/* peer.h - for tests of several processes: other processes of the test's machine, which carry out requests.
 *
 *     struct peer b = peer_begin();                  before the test's first call of the driver, which does not live on in a fork
 *     peer_ask(&b, PEER_OPEN, &handle, 1)            its cuIpcOpenMemHandle: the result, and in b.byte, b.same what it saw
 */
#ifndef SIM_ABI_TESTING_PEER_H
#define SIM_ABI_TESTING_PEER_H

#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "testing/rig.h"

enum peer_step {
    PEER_OPEN,      /* flags: cuIpcOpenMemHandle; same: the previous address */
    PEER_CLOSE,     /* offset into the opened memory */
    PEER_FREE,      /* cuMemFree of it */
    PEER_READ,      /* the byte at an offset */
    PEER_FILL,      /* all of the first page, with a value */
    PEER_NAME,      /* cuIpcGetMemHandle of it, at an offset */
    PEER_ALLOC,     /* its own memory, named by a handle */
    PEER_EVENT,     /* its own event, named by a handle */
    PEER_OPEN_EVENT,
    PEER_RECORD,    /* that event; value 1: after a host function that waits for PEER_GO */
    PEER_GO,
    PEER_QUERY,
    PEER_SYNC,
    PEER_WAIT,      /* a stream waits for it; then PEER_QUERY_STREAM, PEER_SYNC_STREAM */
    PEER_QUERY_STREAM,
    PEER_SYNC_STREAM,
    PEER_DESTROY
};

struct peer_ask {
    enum peer_step step;
    uint64_t value;
    unsigned char handle[CU_IPC_HANDLE_SIZE];
};

struct peer_said {
    CUresult result;
    unsigned byte;
    bool same;
    unsigned char handle[CU_IPC_HANDLE_SIZE];
};

struct peer {
    pid_t pid;
    int socket;
    struct peer_said said;
};

struct peer_state {
    CUdeviceptr at;
    CUevent event;
    CUstream stream;
};

static atomic_int peer_gate;

static inline void peer_nap(void)
{
    const struct timespec moment = {0, 200000};
    nanosleep(&moment, NULL);
}

static inline void CUDA_CB peer_wait_for_go(void *unused)
{
    (void)unused;
    while (!peer_gate)
        peer_nap();
}

static inline void peer_make(struct peer_state *is, const struct peer_ask *ask, struct peer_said *said)
{
    CUipcMemHandle memory;
    CUipcEventHandle event;
    CUdeviceptr before = is->at;
    memcpy(&memory, ask->handle, sizeof memory);
    memcpy(&event, ask->handle, sizeof event);
    switch (ask->step) {
    case PEER_OPEN:
        said->result = cuIpcOpenMemHandle(&is->at, memory, (unsigned)ask->value);
        said->same = is->at == before;
        break;
    case PEER_CLOSE: said->result = cuIpcCloseMemHandle(is->at + ask->value); break;
    case PEER_FREE: said->result = cuMemFree(is->at); break;
    case PEER_READ:
        said->byte = byte_at(is->at + ask->value);
        said->result = CUDA_SUCCESS;
        break;
    case PEER_FILL:
        said->result = cuMemsetD8(is->at, (unsigned char)ask->value, 4096);
        cuCtxSynchronize();
        break;
    case PEER_ALLOC:
        cuMemAlloc(&is->at, 4096);
        cuMemsetD8(is->at, (unsigned char)ask->value, 4096);
        cuCtxSynchronize(); /* fall through */
    case PEER_NAME:
        said->result = cuIpcGetMemHandle(&memory, is->at + (ask->step == PEER_NAME ? ask->value : 0));
        memcpy(said->handle, &memory, sizeof memory);
        break;
    case PEER_EVENT:
        cuEventCreate(&is->event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
        said->result = cuIpcGetEventHandle(&event, is->event);
        memcpy(said->handle, &event, sizeof event);
        break;
    case PEER_OPEN_EVENT: said->result = cuIpcOpenEventHandle(&is->event, event); break;
    case PEER_RECORD:
        peer_gate = 0;
        if (ask->value)
            cuLaunchHostFunc(is->stream, peer_wait_for_go, NULL);
        said->result = cuEventRecord(is->event, is->stream);
        break;
    case PEER_GO:
        peer_gate = 1;
        said->result = CUDA_SUCCESS;
        break;
    case PEER_QUERY: said->result = cuEventQuery(is->event); break;
    case PEER_SYNC: said->result = cuEventSynchronize(is->event); break;
    case PEER_WAIT: said->result = cuStreamWaitEvent(is->stream, is->event, 0); break;
    case PEER_QUERY_STREAM: said->result = cuStreamQuery(is->stream); break;
    case PEER_SYNC_STREAM: said->result = cuStreamSynchronize(is->stream); break;
    case PEER_DESTROY: said->result = cuEventDestroy(is->event); break;
    }
}

static inline void peer_serve(int socket)
{
    struct peer_ask ask;
    struct peer_state is = {0};
    CUcontext context;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuStreamCreate(&is.stream, CU_STREAM_NON_BLOCKING);
    while (recv(socket, &ask, sizeof ask, MSG_WAITALL) == (ssize_t)sizeof ask) {
        struct peer_said said = {.result = CUDA_ERROR_UNKNOWN};
        peer_make(&is, &ask, &said);
        if (send(socket, &said, sizeof said, MSG_NOSIGNAL) != (ssize_t)sizeof said)
            break;
    }
    peer_gate = 1;
}

/* A machine's other process. It ends with its socket. */
static inline struct peer peer_begin(void)
{
    static int earlier[8]; /* sockets of other peers, which this one would keep open */
    static unsigned count;
    int ends[2];
    struct peer peer = {0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        tap_bail("no sockets");
    fflush(NULL);
    peer.pid = fork();
    if (peer.pid == 0) {
        for (unsigned i = 0; i < count; i++)
            close(earlier[i]);
        close(ends[0]);
        peer_serve(ends[1]);
        exit(0);
    }
    close(ends[1]);
    peer.socket = ends[0];
    if (count < sizeof earlier / sizeof earlier[0])
        earlier[count++] = ends[0];
    return peer;
}

static inline CUresult peer_ask(struct peer *peer, enum peer_step step, const void *handle, uint64_t value)
{
    struct peer_ask ask = {.step = step, .value = value};
    if (handle)
        memcpy(ask.handle, handle, sizeof ask.handle);
    peer->said = (struct peer_said){.result = CUDA_ERROR_UNKNOWN};
    if (send(peer->socket, &ask, sizeof ask, MSG_NOSIGNAL) != (ssize_t)sizeof ask ||
        recv(peer->socket, &peer->said, sizeof peer->said, MSG_WAITALL) != (ssize_t)sizeof peer->said)
        tap_bail("a peer is gone");
    return peer->said.result;
}

/* The byte at an offset of the peer's memory. */
static inline unsigned peer_byte(struct peer *peer, uint64_t offset)
{
    peer_ask(peer, PEER_READ, NULL, offset);
    return peer->said.byte;
}

static inline void peer_end(struct peer *peer, bool killed)
{
    if (killed)
        kill(peer->pid, SIGKILL);
    close(peer->socket);
    waitpid(peer->pid, NULL, 0);
}

/* A machine folder of the test's own, and a name for its machine. The test continues in a child process, because the folder
 * is removed after the child has ended. Before the first peer. */
static inline void peer_machine(void)
{
    static char root[64];
    int status = 0;
    snprintf(root, sizeof root, "/dev/shm/cuvmm-test-XXXXXX");
    if (!mkdtemp(root)) {
        snprintf(root, sizeof root, "/tmp/cuvmm-test-XXXXXX");
        if (!mkdtemp(root))
            tap_bail("no folder for the test's machines");
    }
    setenv("CUVMM_MACHINES", root, 1);
    setenv("CUVMM_MACHINE", "peers", 1);
    fflush(NULL);
    pid_t test = fork();
    if (test == 0)
        return;
    waitpid(test, &status, 0);
    bool empty = rmdir(root) == 0;
    if (!empty)
        fprintf(stderr, "# a machine is left behind in %s\n", root);
    _exit(empty && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

#endif
