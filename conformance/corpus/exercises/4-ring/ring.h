/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h - bytes from one process to another through device memory that both have mapped, twice in a row. Exercise 4; task.md
 * says what to do.
 *
 *     memory            [ 0 ......... size )           once; the writer makes it, the reader imports it
 *     addresses         [ 0 ......... size | 0 ......... size )        2 * size, in both processes
 *                            wrap: [------- one copy ------)           what passes the end needs no second copy
 *
 *     writer            the memory                                         reader
 *     write 300         [300 bytes ..................]    --[ 300 ]-->     read 100, tells: 100 are read
 *     write size        waits: 200 are in the way         <--[ 100 ]--     read 200, tells
 *                       [..........]                      <--[ 200 ]--
 *
 * The bytes go through memory, the numbers through the socket (talk.h): neither side polls.
 */
#ifndef EXERCISE_RING_H
#define EXERCISE_RING_H

#include <cuvmm/vmm.h>
#include <cuvmm/vmm_fd.h>

#include "talk.h"

struct ring {
    vmm_system *sys;
    vmm_device device;
    int socket;             /* to the other side; the caller's, who closes it after ring_close */
    vmm_deviceptr at;       /* 2 * size bytes of addresses */
    uint64_t size;          /* bytes of memory: the requested size, rounded up to whole units of the minimum granularity */
    uint64_t written, read; /* bytes since the beginning, as far as this side knows */
    void *yours;            /* for whatever else you want to keep */
};

/* The writer's side: creates memory that can be exported as a file descriptor, maps it twice, read-write for device, and
 * finally sends the descriptor and the data that the reader needs over the socket (vmm_fd_send). Does not wait for another
 * process. No descriptor stays open. On failure: the first result that is not VMM_SUCCESS, nothing was sent and nothing is
 * left behind. */
vmm_result ring_create(struct ring *r, vmm_system *sys, vmm_device device, int socket, uint64_t size);

/* The reader's side: receives what ring_create sent, and maps it twice, read-only for device. Waits for it. No descriptor stays
 * open. On failure: the first result that is not VMM_SUCCESS, and nothing is left behind. */
vmm_result ring_join(struct ring *r, vmm_system *sys, vmm_device device, int socket);

/* Writes n bytes, which may exceed size. Waits only if there is no room; size bytes fit. Bytes that were reported to the reader
 * are in memory. VMM_ERROR_NOT_FOUND: the reader is gone and there is no room; else the driver's result. */
vmm_result ring_write(struct ring *r, const void *bytes, uint64_t n);

/* Reads n bytes, which may exceed size. Waits until they are written. VMM_ERROR_NOT_FOUND: the writer is gone, and
 * has written fewer; else the driver's result. */
vmm_result ring_read(struct ring *r, void *bytes, uint64_t n);

/* Frees everything of this side, even if something fails. Returns the first result that is not VMM_SUCCESS. */
vmm_result ring_close(struct ring *r);

#endif
