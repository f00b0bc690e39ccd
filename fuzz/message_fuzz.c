/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on a socket where a descriptor is expected: any bytes in any pieces with any number of descriptors. No
 * refusal returns one or leaves one open.
 *
 *   input   [ socket ][ descriptors, length | bytes ][ ... ] ... */
#include "fuzz.h"

#include "fd_rig.h"

enum { EXPECTED = 24, PIECES = 8, MOST = 600 };

static void send_pieces(int socket, int fd, struct fuzz_bytes *in)
{
    for (unsigned i = 0; i < PIECES && in->left; i++) {
        unsigned count = fuzz_byte(in) % 5, length = fuzz_byte(in), most = in->left > MOST ? MOST : (unsigned)in->left;
        length = length < most ? length : most;
        if (length)
            rig_send(socket, in->at, length, fd, count);
        in->at += length;
        in->left -= length;
    }
}

static void receive(int socket)
{
    unsigned char about[EXPECTED];
    int fd = -7;
    vmm_result result = vmm_fd_receive(socket, &fd, about, sizeof about, 0);
    if ((fd >= 0) != (result == VMM_SUCCESS))
        fuzz_finding("%s, and descriptor %d", vmm_result_name(result), fd);
    if (result && (!vmm_last_detail()->note[0] || vmm_last_detail()->result != result))
        fuzz_finding("%s without words", vmm_result_name(result));
    if (!result && fcntl(fd, F_GETFD) != FD_CLOEXEC)
        fuzz_finding("descriptor %d is not close-on-exec", fd);
    if (fd >= 0)
        close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM};
    struct fuzz_bytes in = {data, size};
    unsigned kind = fuzz_byte(&in);
    int ends[2], file[2];
    rig_pair(types[kind % 3], ends);
    rig_pipe(file);
    send_pieces(ends[0], file[1], &in);
    close(file[1]);
    if (kind & 4)
        close(ends[0]);
    for (unsigned i = 0; i < 3; i++)
        receive(ends[1]);
    close(ends[1]);
    if (!(kind & 4))
        close(ends[0]);
    if (!rig_nobody_will_write(file[0]))
        fuzz_finding("a descriptor was left open");
    close(file[0]);
    return 0;
}
