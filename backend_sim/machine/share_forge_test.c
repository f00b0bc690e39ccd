/* SPDX-License-Identifier: Apache-2.0 */
/* Forged values in the shared state while a process uses it: no call crashes the process, waits forever, or returns a code
 * other than its rule's; and after both processes have ended, nothing is left.
 *
 *     forger   state: [ ...... x ...... ]  x = 0, 1, all ones, a neighbour's ...   and back again, and again
 *     worker   create, export, import, map, read, release, query free memory, reopen
 *
 * The forger writes every word except the mutex, where a wrong holder would let two processes in at once. Forgery may lose bytes
 * of memory (a process whose slot looks free owns none), so the test does not compare them. CUVMM_TEST_SCALE is a percentage of
 * the rounds. */
#include "share_state.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "child.h"
#include "passing.h"
#include "random.h"
#include "share_census.h"
#include "state_rig.h"

typedef vmm_mem_generic_allocation_handle handle_t;

enum { ROUNDS = 2000, CALLS = 12, HELD = 4 };

/* ---- the worker ---- */

struct held {
    handle_t handle;
    vmm_deviceptr at;
    int fd;
};

struct worker {
    vmm_system *own;
    uint64_t seed;
    unsigned wrong, refused;
    struct held held[HELD];
};

/* Any result with a matching rule is fine: the forged state may cause any refusal. */
static void look(struct worker *w, vmm_result result)
{
    const vmm_detail *detail = vmm_last_detail();
    const struct vmm_rule *rule = result && detail->rule ? vmm_rule_find(detail->rule) : NULL;
    w->refused += result != VMM_SUCCESS;
    if (result && (!rule || rule->result != result)) {
        w->wrong++;
        fprintf(stderr, "# %s by %s\n", vmm_result_name(result), detail->rule ? detail->rule : "no rule");
    }
}

static void drop(struct worker *w, struct held *held)
{
    if (held->at)
        rig_unmap(w->own, held->at, RIG_G);
    if (held->handle)
        look(w, vmm_mem_release(w->own, held->handle));
    if (held->fd >= 0)
        close(held->fd);
    *held = (struct held){.fd = -1};
}

static void export(struct worker *w, struct held *held)
{
    int fd = -1;
    look(w, vmm_mem_export_to_shareable_handle(w->own, &fd, held->handle, RIG_FD, 0));
    if (held->fd >= 0)
        close(held->fd);
    held->fd = fd;
}

static void import(struct worker *w, int fd)
{
    handle_t copy = 0;
    vmm_result result = rig_import(w->own, fd, &copy);
    look(w, result);
    if (result == VMM_SUCCESS) {
        vmm_deviceptr at = rig_map(w->own, copy, RIG_G);
        if (at) {
            rig_byte(w->own, at);
            rig_unmap(w->own, at, RIG_G);
        }
        look(w, vmm_mem_release(w->own, copy));
    }
}

static void work(struct worker *w, vmm_system *other)
{
    struct held *held = &w->held[random_below(&w->seed, HELD)];
    uint64_t bytes, total;
    switch (random_below(&w->seed, 6)) {
    case 0: drop(w, held); break;
    case 1:
        if (held->handle)
            export(w, held);
        break;
    case 2:
        if (held->fd >= 0)
            import(w, held->fd);
        break;
    case 3: { /* another member of the machine, in this process, uses the same memory */
        struct worker guest = {.own = other, .seed = w->seed};
        if (held->fd >= 0)
            import(&guest, held->fd);
        w->wrong += guest.wrong;
        w->refused += guest.refused;
        break;
    }
    case 4: look(w, vmm_mem_get_info(w->own, &bytes, &total)); break;
    default:
        if (!held->handle)
            look(w, rig_create(w->own, RIG_G, &held->handle));
        else if (!held->at && (held->at = rig_map(w->own, held->handle, RIG_G)) != 0)
            look(w, vmm_memset_d8(w->own, held->at, 7, 4096));
    }
}

static _Noreturn void worker(int socket, uint64_t seed)
{
    struct worker w = {.own = rig_open("forge"), .seed = seed};
    vmm_system *other = rig_open("forge");
    for (unsigned i = 0; i < HELD; i++)
        w.held[i].fd = -1;
    passing_go_on(socket);
    while (passing_wait(socket)) {
        alarm(60);
        for (unsigned i = 0; i < CALLS; i++)
            work(&w, other);
        passing_go_on(socket);
    }
    for (unsigned i = 0; i < HELD; i++)
        drop(&w, &w.held[i]);
    rig_close(other);
    rig_close(w.own);
    _exit(w.wrong ? 1 : w.refused ? 0 : 2); /* the test proves nothing without a refusal */
}

/* ---- the forger ---- */

/* A random word of the part of the state that is in use; never one of the mutex. */
static _Atomic uint64_t *word_of(struct share_state *state, uint64_t *seed)
{
    uint64_t slot = random_below(seed, 4), block = random_below(seed, 6);
    char *start[] = {(char *)state, (char *)&state->serials, (char *)&state->slot[slot], (char *)&state->block[block]};
    const uint64_t size[] = {offsetof(struct share_state, mutex),
                             offsetof(struct share_state, slot) - offsetof(struct share_state, serials),
                             sizeof state->slot[0], sizeof state->block[0]};
    static const unsigned parts[] = {0, 1, 1, 2, 3, 3, 3, 3}; /* most of them blocks */
    unsigned part = parts[random_below(seed, sizeof parts / sizeof parts[0])];
    return (_Atomic uint64_t *)(void *)(start[part] + 8 * random_below(seed, size[part] / 8));
}

static uint64_t value_of(uint64_t old, uint64_t *seed)
{
    static const uint64_t some[] = {0, 1, 2, 5, 4095, 4096, RIG_G, 7 * RIG_G, INT64_MAX, UINT64_MAX, UINT64_C(1) << 32};
    switch (random_below(seed, 5)) {
    case 0: return random_next(seed);
    case 1: return old + (random_below(seed, 2) ? 1 : UINT64_MAX);
    case 2: return old ^ UINT64_C(1) << random_below(seed, 64);
    default: return some[random_below(seed, sizeof some / sizeof some[0])];
    }
}

/* While the worker runs: forges and restores words, so that a value changes between its check and its use. */
static void forge(struct share_state *state, uint64_t *seed, int socket)
{
    enum { WORDS = 3 };
    _Atomic uint64_t *word[WORDS];
    uint64_t old[WORDS], forged[WORDS];
    bool stays = random_below(seed, 2); /* or it changes back at once */
    struct pollfd ready = {.fd = socket, .events = POLLIN};
    for (unsigned i = 0; i < WORDS; i++) {
        word[i] = word_of(state, seed);
        old[i] = atomic_load(word[i]);
        forged[i] = value_of(old[i], seed);
    }
    for (unsigned i = 0; i < WORDS; i++)
        atomic_store(word[i], forged[i]);
    passing_go_on(socket);
    for (unsigned turn = 0; poll(&ready, 1, stays ? -1 : 0) == 0; turn++)
        for (unsigned i = 0; i < WORDS; i++)
            atomic_store(word[i], turn % 2 ? forged[i] : old[i]);
    for (unsigned i = WORDS; i--;)
        atomic_store(word[i], old[i]);
}

int main(void)
{
    int socket, status = 1;
    unsigned rounds = random_rounds(ROUNDS), done = 0;
    signal(SIGPIPE, SIG_IGN);
    checks_spare_shared();
    rig_begin();
    uint64_t seed = random_seed(3001);
    pid_t child = child_begin(&socket, 0);
    if (child == 0)
        worker(socket, random_next(&seed));
    bool on = passing_wait(socket);
    struct share_state *state = on ? rig_state("forge") : NULL;
    for (; on && done < rounds; done += on) {
        forge(state, &seed, socket);
        on = passing_wait(socket);
    }
    tap_u64(done, rounds, "a process keeps working while its machine's state is forged");
    close(socket);
    waitpid(child, &status, 0);
    tap_ok(status == 0, "every result had a matching rule, and some were refusals: %d", status);
    munmap(state, sizeof *state);
    rig_close(rig_open("next")); /* sweeps the leftovers */
    struct census none = {.descriptors = census_descriptors()};
    census_same(&none, "no file of the machine is left");
    rig_end();
    return tap_done();
}
