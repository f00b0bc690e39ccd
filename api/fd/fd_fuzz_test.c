/* SPDX-License-Identifier: Apache-2.0 */
/* Thousands of invalid messages: bytes that are nearly right, truncated, too long, in pieces, with any number of descriptors of
 * any kind. The receiver returns a descriptor only for a whole message, and leaks none. CUVMM_TEST_SCALE is a percentage of the
 * rounds, CUVMM_SEED sets another seed. */
#define _GNU_SOURCE /* SO_PASSCRED */
#include <stdlib.h>

#include "fd_rig.h"
#include "random.h"

enum { EXPECTED = 24, PIECES = 4 };

static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM};

static unsigned scale(unsigned rounds)
{
    const char *text = getenv("CUVMM_TEST_SCALE");
    unsigned long percent = text && *text ? strtoul(text, NULL, 10) : 100;
    return percent < 100 ? (unsigned)(rounds * percent / 100) + 50 : rounds;
}

/* A valid message, damaged in some way or intact; returns its length. */
static size_t some_bytes(uint64_t *seed, unsigned char *bytes)
{
    unsigned char about[VMM_FD_MOST];
    for (size_t i = 0; i < sizeof about; i++)
        about[i] = (unsigned char)random_next(seed);
    size_t size = random_below(seed, 3) ? EXPECTED : random_below(seed, VMM_FD_MOST + 1),
        length = rig_message(bytes, about, size);
    switch (random_below(seed, 6)) {
    case 0: bytes[random_below(seed, FD_HEAD)] ^= (unsigned char)(1U << random_below(seed, 8)); break;
    case 1: return 1 + random_below(seed, length);
    case 2: memset(bytes + length, 'v', 300); return length + 1 + random_below(seed, 299);
    case 3: memcpy(bytes, about, 1 + random_below(seed, FD_HEAD)); break;
    default: break;
    }
    return length;
}

/* The message of one round, and whether it was a single valid message with one descriptor and the expected bytes. */
struct round {
    int ends[2], type;
    unsigned fds;
    bool good;
};

static void send_round(struct round *round, uint64_t *seed, int fd)
{
    unsigned char bytes[4096];
    size_t length = some_bytes(seed, bytes), at = 0;
    size_t pieces = round->type == SOCK_STREAM ? 1 + random_below(seed, PIECES) : 1;
    round->good = length == FD_HEAD + EXPECTED && !memcmp(bytes, fd_mark, sizeof fd_mark) && bytes[6] == EXPECTED && !bytes[7];
    for (size_t i = 0; i < pieces && at < length; i++) {
        size_t some = i + 1 == pieces ? length - at : 1 + random_below(seed, length - at);
        size_t count = random_below(seed, 3) ? i == 0 : random_below(seed, random_below(seed, 20) ? 4 : RIG_MOST_FDS + 1);
        rig_send(round->ends[0], bytes + at, some, fd, count);
        round->fds += (unsigned)count;
        at += some;
    }
    round->good = round->good && round->fds == 1;
}

/* Returns a description of the error, or NULL. */
static const char *one_round(uint64_t *seed, unsigned *passed)
{
    struct round round = {.type = types[random_below(seed, 3)]};
    int file[2], fd = -7;
    char got[EXPECTED];
    const char *wrong = NULL;
    rig_pair(round.type, round.ends);
#ifdef SO_PASSCRED
    if (random_below(seed, 4) == 0) /* control messages of other kinds besides ours */
        setsockopt(round.ends[1], SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int));
#endif
    rig_pipe(file);
    send_round(&round, seed, file[1]);
    close(file[1]);
    if (random_below(seed, 2))
        close(round.ends[0]), round.ends[0] = -1;
    vmm_result result = vmm_fd_receive(round.ends[1], &fd, got, sizeof got, 0);
    /* A stream has no boundaries: a valid message may precede the bytes that were to damage it. */
    if ((result == VMM_SUCCESS) != round.good && (round.type != SOCK_STREAM || round.good))
        wrong = round.good ? "a valid message was refused" : "an invalid message passed";
    else if ((fd != -7) != (result == VMM_SUCCESS) || (result != VMM_SUCCESS && !vmm_last_detail()->note[0]))
        wrong = "a descriptor without success, or a refusal without words";
    else if (result == VMM_SUCCESS && fcntl(fd, F_GETFD) != FD_CLOEXEC)
        wrong = "not close-on-exec";
    *passed += result == VMM_SUCCESS;
    if (fd != -7)
        close(fd);
    close(round.ends[1]);
    if (round.ends[0] >= 0)
        close(round.ends[0]);
    if (!wrong && !rig_nobody_writes(file[0]))
        wrong = "a descriptor leaked";
    close(file[0]);
    return wrong;
}

int main(void)
{
    uint64_t seed = random_seed(20);
    unsigned rounds = scale(20000), passed = 0, before = rig_open_now(), failures = 0;
    alarm(RIG_ALARM);
    for (unsigned i = 0; i < rounds && failures < 5; i++) {
        uint64_t from = seed;
        const char *wrong = one_round(&seed, &passed);
        if (wrong) {
            failures++;
            tap_ok(false, "round %u, CUVMM_SEED=%" PRIu64 ": %s (%s)", i, from, wrong, vmm_last_detail()->note);
        }
    }
    tap_ok(!failures && passed > rounds / 20 && passed < rounds, "%u rounds, of which %u valid messages passed", rounds, passed);
    tap_u64(rig_open_now(), before, "the number of open descriptors is unchanged");
    return tap_done();
}
