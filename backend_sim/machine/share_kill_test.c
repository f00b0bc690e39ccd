/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of a machine that are killed at random points, that compete for its memory, and that pass memory to each other: at
 * the end all of it is free, and none was allocated twice. Prints its seed; CUVMM_SEED sets another. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "passing.h"
#include "random.h"
#include "share_rig.h"
#include "share_inspect.h"
#include "vmm_fd.h"

typedef vmm_mem_generic_allocation_handle handle_t;

static vmm_system *sys; /* the test's own system; forked children leave their copy alone */

/* ---- killed at random points ---- */

/* The steps of a victim until it is killed: it sends a byte before each step, so that the killer knows how far it is. */
static _Noreturn void victim(int out, uint64_t seed)
{
    enum { HELD = 6 };
    handle_t held[HELD] = {0};
    int fd[HELD];
    vmm_system *own = rig_open("kill");
    for (int i = 0; i < HELD; i++)
        fd[i] = -1;
    alarm(60);
    for (;;) {
        unsigned i = (unsigned)random_below(&seed, HELD), what = (unsigned)random_below(&seed, 4);
        if (write(out, "s", 1) != 1)
            _exit(1);
        if (!held[i]) {
            rig_create(own, RIG_G * (1 + random_below(&seed, 3)), &held[i]);
        } else if (what == 0) {
            vmm_mem_release(own, held[i]);
            held[i] = 0;
        } else if (what == 1 && fd[i] >= 0) {
            close(fd[i]);
            fd[i] = -1;
        } else if (what == 2 && fd[i] < 0) {
            fd[i] = rig_export(own, held[i]);
        } else if (fd[i] >= 0) {
            handle_t copy = 0;
            if (rig_import(own, fd[i], &copy) == VMM_SUCCESS)
                vmm_mem_release(own, copy);
        }
    }
}

/* Inspection must always get a whole snapshot. Counts how often a snapshot names a process, as a participant or as a holder. */
static unsigned looked, blind;

static unsigned named(pid_t pid)
{
    char why[SHARE_WHY];
    unsigned count = 0;
    struct share *share = share_open_there("m-kill", why);
    struct share_inspect *who = share ? share_inspect(share) : NULL;
    if (share ? !who : why[0] != 0) {
        tap_note("blind: %s", share ? "no snapshot" : why);
        blind++;
    }
    looked += who != NULL;
    for (unsigned i = 0; who && i < who->process_count; i++)
        count += who->process[i].pid == (uint64_t)pid;
    for (unsigned i = 0; who && i < who->hold_count; i++)
        count += who->hold[i].pid == (uint64_t)pid;
    share_inspect_free(who);
    if (share)
        share_close(share);
    return count;
}

/* Starts a victim and kills it some steps later, in the middle of the next one. Returns how often snapshots name it after
 * that. */
static unsigned kill_one(uint64_t *seed)
{
    int ends[2];
    char byte;
    if (pipe(ends))
        tap_bail("no pipe");
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        victim(ends[1], random_next(seed));
    }
    close(ends[1]);
    for (uint64_t steps = 1 + random_below(seed, 60); steps; steps--)
        if (read(ends[0], &byte, 1) != 1)
            break;
    if (random_below(seed, 2))
        named(child);
    for (volatile uint64_t spin = random_below(seed, 4000); spin; spin--) /* so that the kill hits different stores */
        ;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ends[0]);
    return named(child);
}

static void killed_anywhere(void)
{
    uint64_t seed = random_seed(20260521);
    unsigned rounds = random_rounds(150), wrong = 0, stuck = 0, dead = 0;
    sys = NULL;
    fflush(NULL);
    for (unsigned i = 0; i < rounds; i++) {
        if (!sys && i >= 2) { /* the first victims are alone on the machine, later ones are not */
            sys = rig_open("kill");
            wrong += !sys;
        }
        dead += kill_one(&seed);
        handle_t handle = 0;
        if (sys && i % 5 == 4) {
            uint64_t all = rig_free(sys);
            stuck += all == UINT64_MAX;
            wrong += rig_create(sys, all / RIG_G * RIG_G, &handle) != VMM_SUCCESS; /* all memory can be allocated */
            vmm_mem_release(sys, handle);
        }
    }
    vmm_system *fresh = rig_open("fresh");
    tap_u64(rig_free(sys), rig_free(fresh), "after %u processes were killed all memory is free", rounds);
    tap_u64(wrong, 0, "all memory could be allocated in between");
    tap_u64(stuck, 0, "no process was blocked");
    tap_ok(looked > 0 && blind == 0, "every snapshot was whole, during the runs and after the kills (%u of %u were not)",
           blind, looked + blind);
    tap_u64(dead, 0, "no snapshot lists a dead process as a holder");
    rig_close(fresh);
    rig_close(sys);
}

/* ---- competing ---- */

/* Allocates pieces of all sizes until memory is exhausted, reports the amount, and holds it until it gets a message. */
static _Noreturn void competitor(int socket, uint64_t seed)
{
    vmm_system *own = rig_open("full");
    uint64_t mine = 0;
    alarm(60);
    passing_go_on(socket);
    passing_wait(socket);
    for (uint64_t piece = 512; piece;) {
        handle_t handle = 0;
        uint64_t size = (1 + random_below(&seed, piece)) * RIG_G;
        if (rig_create(own, size, &handle) != VMM_SUCCESS) {
            piece /= 2;
            continue;
        }
        mine += size;
        if (random_below(&seed, 4) == 0) {
            vmm_mem_release(own, handle);
            mine -= size;
        } else if (random_below(&seed, 8) == 0) {
            handle_t copy = 0; /* exported memory counts once, for every process */
            int fd = size <= 2 * RIG_G ? rig_export(own, handle) : -1;
            if (fd >= 0 && rig_import(own, fd, &copy) == VMM_SUCCESS)
                vmm_mem_release(own, copy);
            if (fd >= 0)
                close(fd);
        }
    }
    if (write(socket, &mine, sizeof mine) != sizeof mine)
        _exit(1);
    passing_wait(socket);
    rig_close(own);
    _exit(0);
}

static void competing(void)
{
    enum { ALL = 3 };
    int socket[ALL];
    pid_t child[ALL];
    uint64_t sum = 0, seed = random_seed(4711);
    sys = rig_open("full");
    uint64_t all = rig_free(sys);
    fflush(NULL);
    for (int i = 0; i < ALL; i++) {
        int ends[2];
        if (vmm_fd_pair(ends) != VMM_SUCCESS)
            tap_bail("no sockets");
        child[i] = fork();
        if (child[i] == 0) {
            close(ends[0]);
            for (int j = 0; j < i; j++)
                close(socket[j]);
            competitor(ends[1], seed + (uint64_t)i);
        }
        close(ends[1]);
        socket[i] = ends[0];
    }
    for (int i = 0; i < ALL; i++)
        passing_wait(socket[i]);
    for (int i = 0; i < ALL; i++)
        passing_go_on(socket[i]);
    for (int i = 0; i < ALL; i++) {
        uint64_t mine = 0;
        if (read(socket[i], &mine, sizeof mine) != sizeof mine)
            tap_bail("a process has ended");
        sum += mine;
    }
    tap_ok(sum <= all && all - sum < RIG_G, "competing processes get all memory, and no more: %llu of %llu",
           (unsigned long long)sum, (unsigned long long)all);
    tap_u64(rig_free(sys), all - sum, "the free memory matches");
    kill(child[0], SIGKILL); /* one process is killed */
    for (int i = 0; i < ALL; i++) {
        close(socket[i]);
        waitpid(child[i], NULL, 0);
    }
    tap_u64(rig_free(sys), all, "all memory is free after the processes end");
    rig_close(sys);
}

/* ---- passing memory on ---- */

enum { PEERS = 4, KEPT = 8 };

struct kept {
    handle_t handle;
    vmm_deviceptr at;
    int fd;
    unsigned char value;
};

static void let_go(vmm_system *own, struct kept *k)
{
    if (k->at)
        rig_unmap(own, k->at, RIG_G);
    if (k->handle)
        vmm_mem_release(own, k->handle);
    if (k->fd >= 0)
        close(k->fd);
    *k = (struct kept){.fd = -1};
}

/* The creator fills each piece with a value of its own before the export, and no process writes to it afterwards. */
static unsigned take_in(vmm_system *own, struct kept *k, int fd)
{
    int first, last;
    let_go(own, k);
    if (rig_import(own, fd, &k->handle) != VMM_SUCCESS || !(k->at = rig_map(own, k->handle, RIG_G))) {
        close(fd);
        return 1;
    }
    k->fd = fd;
    first = rig_byte(own, k->at);
    last = rig_byte(own, k->at + RIG_G - 1);
    return first <= 0 || first != last;
}

static bool make(vmm_system *own, struct kept *k, unsigned char value)
{
    let_go(own, k);
    if (rig_create(own, RIG_G, &k->handle) != VMM_SUCCESS || !(k->at = rig_map(own, k->handle, RIG_G)) ||
        vmm_memset_d8(own, k->at, value, RIG_G) != VMM_SUCCESS)
        return false;
    k->fd = rig_export(own, k->handle);
    return k->fd >= 0;
}

/* Receives what has arrived so far. */
static unsigned receive(vmm_system *own, int left, struct kept kept[KEPT], uint64_t *seed)
{
    unsigned wrong = 0;
    int fd;
    while (vmm_fd_receive(left, &fd, NULL, 0, 0) == VMM_SUCCESS)
        wrong += take_in(own, &kept[random_below(seed, KEPT)], fd);
    return wrong;
}

static _Noreturn void peer(int right, int left, uint64_t seed, unsigned rounds)
{
    struct kept kept[KEPT];
    unsigned wrong = 0;
    static vmm_system *own; /* some processes end without closing it */
    own = rig_open("ring");
    alarm(120);
    for (int i = 0; i < KEPT; i++)
        kept[i] = (struct kept){.fd = -1};
    for (unsigned round = 0; round < rounds; round++) {
        struct kept *k = &kept[random_below(&seed, KEPT)];
        switch (random_below(&seed, 5)) {
        case 0: wrong += !make(own, k, (unsigned char)(1 + random_below(&seed, 255))); break;
        case 1:
        case 2: /* own or imported: pass the descriptor on */
            if (k->fd >= 0)
                vmm_fd_send(right, k->fd, NULL, 0, 0); /* if the socket has room */
            break;
        case 3: let_go(own, k); break;
        default:
            if (k->fd >= 0) {
                close(k->fd);
                k->fd = -1;
            }
        }
        wrong += receive(own, left, kept, &seed);
    }
    if (seed % 3) /* some processes end without closing */
        rig_close(own);
    _exit(wrong != 0);
}

static void handed_round(void)
{
    int ends[PEERS][2];
    pid_t child[PEERS];
    uint64_t seed = random_seed(99);
    unsigned failed = 0, rounds = random_rounds(400);
    sys = rig_open("ring");
    uint64_t all = rig_free(sys);
    fflush(NULL);
    for (int i = 0; i < PEERS; i++)
        if (vmm_fd_pair(ends[i]) != VMM_SUCCESS)
            tap_bail("no sockets");
    for (int i = 0; i < PEERS; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            for (int j = 0; j < PEERS; j++) {
                if (j != i)
                    close(ends[j][0]);
                if (j != (i + 1) % PEERS)
                    close(ends[j][1]);
            }
            peer(ends[i][0], ends[(i + 1) % PEERS][1], seed + (uint64_t)i, rounds);
        }
    }
    for (int i = 0; i < PEERS; i++) {
        close(ends[i][0]);
        close(ends[i][1]);
    }
    for (int i = 0; i < PEERS; i++) {
        int status = 1;
        waitpid(child[i], &status, 0);
        failed += status != 0;
    }
    tap_u64(failed, 0, "%d processes pass memory on, %u rounds each, and always find its bytes", PEERS, rounds);
    tap_u64(rig_free(sys), all, "at the end all memory is free");
    rig_close(sys);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    rig_begin();
    killed_anywhere();
    competing();
    handed_round();
    rig_end();
    return tap_done();
}
