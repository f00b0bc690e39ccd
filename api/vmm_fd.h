/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_fd.h - a file descriptor, and some bytes about it, from one process to another over a UNIX socket. Needs no system.
 *
 *     exporter                                                       importer
 *     vmm_mem_export_to_shareable_handle -> 7
 *     vmm_fd_send(s, 7, &about, sizeof about, -1)  == one message ==>  vmm_fd_receive(s, &fd, &about, sizeof about, -1) -> 5
 *     close(7)                                                       vmm_mem_import_from_shareable_handle(.., 5, ..), close(5)
 *
 *     before   process A   7: what was exported    socket  [ ]              process B
 *     sent     process A   7: as it was            socket  [7, about]       process B
 *     received process A   7: as it was            socket  [ ]              process B   5: the same open file, close-on-exec
 *
 * What holds for all functions here:
 *   - socket is a connected UNIX socket of type SOCK_STREAM, SOCK_SEQPACKET or SOCK_DGRAM (one that only receives datagrams
 *     may be bound instead). O_NONBLOCK makes no difference; timeout_ms decides: -1 waits without limit, 0 not at
 *     all, and a positive value is milliseconds for the whole call.
 *   - A call that fails leaves no new descriptor open, and writes no output. vmm_last_detail() names the argument and
 *     the fix. Signals do not end a call, and SIGPIPE is not raised.
 *   - Any thread may call, on different sockets at once. On a SOCK_STREAM socket only one thread at a time may send,
 *     and one receive, because a stream does not separate messages.
 *   - A stream that is left inside a message (VMM_ERROR_ILLEGAL_STATE) is shut down in both directions, so that
 *     neither side misreads the rest. Close it. Sockets of the other types cannot get into this state.
 *
 * On the socket a message is 'v' 'm' 'f' 'd', a byte 1 (the version), a byte 0, size as two bytes, the lower first; then size
 * bytes. The descriptor comes with it as SCM_RIGHTS. A program in any language can do the same.
 */
#ifndef CUVMM_VMM_FD_H
#define CUVMM_VMM_FD_H

#include "vmm.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VMM_FD_MOST 1024 /* bytes that may accompany a descriptor */

/* Two connected stream sockets, close-on-exec. For a child that calls exec, clear the flag of its end:
 * fcntl(ends[1], F_SETFD, 0).
 * VMM_ERROR_INVALID_VALUE: ends is NULL. VMM_ERROR_OPERATING_SYSTEM: the system refused. ends is then untouched. */
VMM_API vmm_result vmm_fd_pair(int ends[2]);

/* Sends a descriptor and size bytes at about as one message. fd stays open, and the caller closes it: the message
 * holds its own reference to the open file until it is received or its socket is gone. about may be NULL where size
 * is 0.
 * Success means that the message was sent, not that it was received.
 *   VMM_ERROR_INVALID_VALUE     socket is no connected UNIX socket, fd is not open, size is above VMM_FD_MOST, about is NULL
 *   VMM_ERROR_NOT_READY         there was no room within the time; nothing was sent, so try again
 *   VMM_ERROR_NOT_FOUND         the other side is gone
 *   VMM_ERROR_ILLEGAL_STATE     the time ran out within the message; the stream was shut down (see above)
 *   VMM_ERROR_OPERATING_SYSTEM  any other refusal by the system; the detail has its message */
VMM_API vmm_result vmm_fd_send(int socket, int fd, const void *about, size_t size, int timeout_ms);

/* Receives one message: exactly one descriptor, which the caller closes, and exactly size bytes, into about. Other
 * ancillary data that the receiver enabled, such as SCM_CREDENTIALS, is ignored.
 *   VMM_ERROR_INVALID_VALUE     socket is no connected UNIX socket, fd is NULL, size is above VMM_FD_MOST, about is NULL
 *   VMM_ERROR_NOT_READY         no message came within the time; nothing was consumed
 *   VMM_ERROR_NOT_FOUND         the other side is gone, and all that it sent was received. Datagram sockets cannot detect this
 *   VMM_ERROR_INVALID_HANDLE    a message came that is not one descriptor with size bytes: none or several
 *                               descriptors, another number of bytes, another program's. It is discarded and its
 *                               descriptors are closed; the next one can be received
 *   VMM_ERROR_ILLEGAL_STATE     a stream ended, or the time ran out, within a message, or the data does not begin
 *                               like a message; the stream was shut down (see above)
 *   VMM_ERROR_OPERATING_SYSTEM  this process can have no more descriptors (the message is lost), or any other refusal
 *                               by the system; the detail has its message */
VMM_API vmm_result vmm_fd_receive(int socket, int *fd, void *about, size_t size, int timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
