/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes pass memory to each other, again and again: create, map, write, export, send, import, map, verify, write, verify,
 * release. Nothing must remain: no descriptor, no byte of the device, no file, no space in the file system.
 *
 *     side 0   creates, writes x, exports --- SCM_RIGHTS ---> imports, finds x, writes y   side 1
 *     side 0   finds y, releases        <------------------ done, releases               side 1     and vice versa
 *
 * The second part kills either side at random points, and gives the survivor a new partner.
 *
 * CI runs a twentieth of the full test, which is 10000 rounds and 1000 killed processes: CUVMM_TEST_SCALE=2000.
 * CUVMM_SEED sets another seed: it determines every size, value and order, and the step of each kill; the system determines the
 * point within that step. */
#include <signal.h>
#include <sys/wait.h>

#include "child.h"
#include "passing.h"
#include "random.h"
#include "share_census.h"

typedef vmm_mem_generic_allocation_handle handle_t;

enum { ROUNDS = 500, KILLS = 50, PATIENT = 60 };

/* One of the two sides, in its own process. */
struct side {
    vmm_system *own;
    int socket;        /* to the other side */
    int control;       /* to its parent; -1 for none */
    unsigned steps;    /* steps until it reports that it has arrived; 0: never */
    unsigned wrong;    /* calls that were refused, and bytes with another value */
    uint64_t all;      /* the free memory while neither side has any */
};

struct piece {
    handle_t handle;
    vmm_deviceptr at;
    uint64_t size;
    int fd;
};

/* Called before each step: the parent may be waiting to kill this process in it. */
static void step(struct side *side)
{
    if (side->steps && --side->steps == 0)
        passing_go_on(side->control);
}

static bool well(struct side *side, bool ok, const char *what)
{
    if (!ok)
        fprintf(stderr, "# %s: %s %s\n", what, vmm_last_detail()->rule ? vmm_last_detail()->rule : "no rule",
                vmm_last_detail()->note);
    side->wrong += !ok;
    return ok;
}

/* ---- one piece of memory ---- */

/* Releases everything, in an order that varies: the last holder is the handle, the mapping or the descriptor. */
static void let_go(struct side *side, struct piece *piece, uint64_t order)
{
    for (unsigned i = 0; i < 3; i++, order++) {
        step(side);
        if (order % 3 == 0 && piece->at)
            rig_unmap(side->own, piece->at, piece->size);
        else if (order % 3 == 1 && piece->handle)
            well(side, vmm_mem_release(side->own, piece->handle) == VMM_SUCCESS, "release");
        else if (order % 3 == 2 && piece->fd >= 0)
            close(piece->fd);
    }
    *piece = (struct piece){.fd = -1};
}

static bool map(struct side *side, struct piece *piece)
{
    step(side);
    return well(side, (piece->at = rig_map(side->own, piece->handle, piece->size)) != 0, "map and set access");
}

/* Fills the whole piece one time in eight, else only its two ends. */
static bool fill(struct side *side, const struct piece *piece, unsigned char value, bool whole)
{
    uint64_t n = whole ? piece->size : 4096, last = piece->at + piece->size - n;
    step(side);
    bool ok = vmm_memset_d8(side->own, piece->at, value, n) == VMM_SUCCESS &&
              (whole || vmm_memset_d8(side->own, last, value, n) == VMM_SUCCESS);
    return well(side, ok, "fill");
}

static bool holds(struct side *side, vmm_deviceptr at, uint64_t n, unsigned char value)
{
    static unsigned char bytes[2 * RIG_G];
    if (vmm_memcpy_dtoh(side->own, bytes, at, n) != VMM_SUCCESS)
        return false;
    return bytes[0] == value && !memcmp(bytes, bytes + 1, n - 1);
}

static bool verify(struct side *side, const struct piece *piece, unsigned char value, bool whole)
{
    uint64_t n = whole ? piece->size : 4096;
    step(side);
    return well(side, holds(side, piece->at, n, value) && holds(side, piece->at + piece->size - n, n, value),
                "the bytes differ");
}

/* ---- a round; false when the other side has ended, or on an error ---- */

/* The choices that both sides derive from the seed. */
struct plan {
    uint64_t size, order[2];
    unsigned char value[2];
    bool whole;
};

static struct plan plan_of(uint64_t *seed)
{
    struct plan plan = {.size = RIG_G * (1 + random_below(seed, 2))};
    plan.order[0] = random_below(seed, 3);
    plan.order[1] = random_below(seed, 3);
    plan.value[0] = (unsigned char)(1 + random_below(seed, 127));
    plan.value[1] = (unsigned char)(128 + random_below(seed, 127));
    plan.whole = random_below(seed, 8) == 0;
    return plan;
}

static bool hand_out(struct side *side, const struct plan *plan, struct piece *piece)
{
    piece->size = plan->size;
    step(side);
    if (!well(side, rig_create(side->own, piece->size, &piece->handle) == VMM_SUCCESS, "create") || !map(side, piece) ||
        !fill(side, piece, plan->value[0], plan->whole))
        return false;
    step(side);
    if (!well(side, (piece->fd = rig_export(side->own, piece->handle)) >= 0, "export"))
        return false;
    step(side);
    return passing_send(side->socket, piece->fd) && passing_wait(side->socket) &&
           verify(side, piece, plan->value[1], plan->whole);
}

static bool take_in(struct side *side, const struct plan *plan, struct piece *piece)
{
    piece->size = plan->size;
    if ((piece->fd = passing_receive(side->socket)) < 0)
        return false;
    step(side);
    if (!well(side, rig_import(side->own, piece->fd, &piece->handle) == VMM_SUCCESS, "import") || !map(side, piece) ||
        !verify(side, piece, plan->value[0], plan->whole) || !fill(side, piece, plan->value[1], plan->whole))
        return false;
    return passing_go_on(side->socket);
}

static bool all_free(struct side *side)
{
    uint64_t now = rig_free(side->own);
    if (now != side->all)
        fprintf(stderr, "# %" PRIu64 " bytes are free, not %" PRIu64 "\n", now, side->all);
    return well(side, now == side->all, "some of the memory is not free");
}

/* The exporting side checks, after both have released, that all memory is free, and starts the next round. */
static bool play(struct side *side, const struct plan *plan, bool out)
{
    struct piece piece = {.fd = -1};
    bool on = out ? hand_out(side, plan, &piece) : take_in(side, plan, &piece);
    let_go(side, &piece, plan->order[out]);
    step(side);
    if (!on || side->wrong)
        return false;
    if (!out)
        return passing_go_on(side->socket) && passing_wait(side->socket);
    return passing_wait(side->socket) && all_free(side) &&
           passing_go_on(side->socket);
}

/* Opens a machine, with everything that is created on first use and kept. */
static vmm_system *enter(const char *machine)
{
    vmm_system *own = rig_open(machine);
    handle_t handle = 0;
    rig_create(own, RIG_G, &handle);
    close(rig_export(own, handle));
    vmm_mem_release(own, handle);
    return own;
}

/* Both sides are present and hold nothing: the free memory is all of it. */
static bool meet(struct side *side)
{
    if (!passing_go_on(side->socket) || !passing_wait(side->socket))
        return false;
    side->all = side->all ? side->all : rig_free(side->own);
    return passing_go_on(side->socket) && passing_wait(side->socket);
}

/* ---- ten thousand rounds ---- */

static _Noreturn void partner(int socket, uint64_t seed, unsigned rounds)
{
    struct side side = {.socket = socket, .control = -1};
    side.own = enter("soak");
    unsigned before = census_descriptors();
    bool on = meet(&side);
    for (unsigned i = 0; on && i < rounds; i++) {
        struct plan plan = plan_of(&seed);
        alarm(PATIENT);
        on = play(&side, &plan, i % 2);
    }
    side.wrong += census_descriptors() != before;
    if (on)
        passing_wait(socket); /* after the leftovers were counted */
    rig_close(side.own);
    _exit(side.wrong != 0);
}

static void rounds_leave_nothing(void)
{
    int socket, status = 1;
    unsigned rounds = random_rounds(ROUNDS), played = 0;
    uint64_t seed = random_seed(1005);
    pid_t child = child_begin(&socket, 0);
    if (child == 0)
        partner(socket, seed, rounds);
    struct side side = {.own = enter("soak"), .socket = socket, .control = -1};
    struct census before = {0};
    bool on = meet(&side);
    for (; on && played < rounds; played += on) {
        struct plan plan = plan_of(&seed);
        if (played == 8) /* each side has created what it keeps */
            before = census_now();
        on = play(&side, &plan, played % 2 == 0);
    }
    tap_ok(played == rounds && !side.wrong,
           "%u of %u rounds between two processes, every byte as written, all memory free after each", played, rounds);
    if (rounds > 8)
        census_same(&before, "descriptors and files are the same as after eight rounds");
    close(socket);
    tap_ok(waitpid(child, &status, 0) == child && status == 0,
           "the other process exits normally, with the descriptors that it began with");
    tap_u64(rig_free(side.own), side.all, "all memory is free");
    rig_close(side.own);
    struct census none = {.descriptors = census_descriptors()};
    census_same(&none, "no file is left");
}

/* ---- a thousand kills ---- */

/* The survivor's report after its partner was killed. */
struct verdict {
    uint64_t free, all;
    unsigned wrong, descriptors;
};

/* Plays with each new partner, until none comes. Its first step is to open the machine. */
static _Noreturn void survivor(int control)
{
    struct side side = {.control = control};
    uint64_t order[3]; /* seed, steps, side */
    unsigned before = 0;
    while ((side.socket = passing_receive(control)) >= 0 && read(control, order, sizeof order) == sizeof order) {
        alarm(PATIENT);
        side.steps = (unsigned)order[1];
        step(&side);
        if (!side.own) {
            side.own = enter("kill");
            before = census_descriptors() - 1; /* without the socket */
        }
        bool on = meet(&side);
        for (uint64_t i = order[2]; on; i++) {
            struct plan plan = plan_of(&order[0]);
            on = play(&side, &plan, i % 2);
        }
        close(side.socket);
        if (!passing_wait(control)) /* until the partner is dead */
            break;
        uint64_t free = rig_free(side.own);
        struct verdict verdict = {free, side.all ? side.all : free, side.wrong, census_descriptors() - before};
        if (write(control, &verdict, sizeof verdict) != sizeof verdict)
            break;
    }
    if (side.own)
        rig_close(side.own);
    _exit(side.wrong != 0);
}

struct pair {
    pid_t child[2];
    int control[2];
};

static void start(struct pair *pair, unsigned which)
{
    int socket;
    pair->child[which] = child_begin(&socket, 0);
    if (pair->child[which] == 0) {
        if (pair->control[!which] >= 0)
            close(pair->control[!which]);
        survivor(socket);
    }
    pair->control[which] = socket;
}

/* Connects the two; the victim reports after that many steps. */
static void acquaint(struct pair *pair, uint64_t seed, unsigned victim, unsigned steps)
{
    int ends[2];
    if (!passing_pair(ends))
        tap_bail("no sockets");
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t order[3] = {seed, i == victim ? steps : 0, i};
        if (!passing_send(pair->control[i], ends[i]) || write(pair->control[i], order, sizeof order) != sizeof order)
            tap_bail("a survivor has ended");
    }
    close(ends[0]);
    close(ends[1]);
}

/* Did the process exit normally? A killed one did not. */
static bool end(struct pair *pair, unsigned which)
{
    int status = 1;
    close(pair->control[which]);
    waitpid(pair->child[which], &status, 0);
    pair->control[which] = -1;
    return status == 0;
}

/* Kills one of the two in the middle of a step; the survivor reports its state. */
static struct verdict kill_one(struct pair *pair, uint64_t *seed)
{
    struct verdict verdict = {.wrong = UINT32_MAX};
    unsigned victim = (unsigned)random_below(seed, 2), steps = 1 + (unsigned)random_below(seed, 120);
    acquaint(pair, random_next(seed), victim, steps);
    if (!passing_wait(pair->control[victim]))
        return verdict;
    for (volatile uint64_t spin = random_below(seed, 20000); spin; spin--) /* so that the kill hits different stores */
        ;
    kill(pair->child[victim], SIGKILL);
    end(pair, victim);
    if (!passing_go_on(pair->control[!victim]) ||
        read(pair->control[!victim], &verdict, sizeof verdict) != sizeof verdict)
        return (struct verdict){.wrong = UINT32_MAX};
    start(pair, victim);
    return verdict;
}

static void killed_leave_nothing(void)
{
    struct pair pair = {.control = {-1, -1}};
    struct verdict verdict = {0};
    unsigned kills = random_rounds(KILLS), killed = 0, descriptors = 0, tokens = 0, memories = 0;
    uint64_t seed = random_seed(1006), all = 0, missing = 0;
    start(&pair, 0);
    start(&pair, 1);
    for (; killed < kills && !verdict.wrong; killed += !verdict.wrong) {
        verdict = kill_one(&pair, &seed);
        all = all ? all : verdict.all;
        missing += verdict.free != all;
        descriptors += verdict.descriptors != 0;
        tokens += census_now().tokens;
        memories += census_now().memories > 1;
    }
    tap_ok(killed == kills, "%u of %u processes were killed, and the other continued", killed, kills);
    tap_u64(missing, 0, "all memory was free after each kill");
    tap_u64(descriptors, 0, "the survivor had the descriptors that it began with");
    tap_ok(!tokens && !memories, "no file of a dead process was left: %u tokens, %u memories", tokens, memories);
    bool first = end(&pair, 0), second = end(&pair, 1);
    tap_ok(first && second, "the last two processes exit normally");
    struct census none = {.descriptors = census_descriptors()};
    census_same(&none, "no file is left after both have ended");
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    rig_begin();
    rounds_leave_nothing();
    killed_leave_nothing();
    rig_end();
    return tap_done();
}
