/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of a machine that are killed, or stopped and then continued or killed, at each of their stores to the shared state:
 * no process waits for two seconds, no byte changes, and nothing is left behind.
 *
 *   victim     join, create, export, import, map, read, release, close    its stores 1 .. N; it ends or stops at the Kth
 *   survivor   queries free memory, creates, reads its own and the victim sees it; all is as it was before the victim
 *
 * CUVMM_TEST_SCALE is a percentage: 100 tries every 40th store, 4000 each one, 12000 each one three times. */
#define _GNU_SOURCE /* registers of a signal's context, MAP_ANONYMOUS */
#include "store_rig.h"

#include <inttypes.h>
#include <sys/wait.h>

#include "process.h"
#include "random.h"
#include "share_census.h"
#include "state_rig.h"
#include "system.h"

#if CAN_STEP
typedef vmm_mem_generic_allocation_handle handle_t;

/* At least a third of the stores must lie inside the lock; with fewer than FEWEST samples that is not checked. */
enum { PIECE = 2 << 20, STEP = 40, FEWEST = 12, MOST = 2000, OF_SURVIVOR = 0x5a, OF_VICTIM = 0x33 };

static vmm_system *survivor;
static vmm_deviceptr kept; /* the survivor's memory, which the victims import */
static int passed;         /* the descriptor of that memory */
static uint64_t all_free;
static struct census before;
static struct share_state *state;

static struct share *share_of(const vmm_system *sys)
{
    return ((struct sim_process *)sys->top)->machine->share;
}

static bool has_bytes(vmm_system *sys, vmm_deviceptr at, int value)
{
    static unsigned char bytes[PIECE];
    if (vmm_memcpy_dtoh(sys, bytes, at, PIECE) != VMM_SUCCESS)
        return false;
    for (size_t i = 0; i < PIECE; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

/* ---- the victim ---- */

static bool lives(vmm_system *sys)
{
    handle_t own = 0, other = 0, copy = 0, again = 0;
    bool ok = rig_create(sys, PIECE, &own) == VMM_SUCCESS && rig_import(sys, passed, &copy) == VMM_SUCCESS;
    vmm_deviceptr at = rig_map(sys, own, PIECE), seen = rig_map(sys, copy, PIECE);
    ok = ok && at && seen && !vmm_memset_d8(sys, at, OF_VICTIM, PIECE);
    int fd = rig_export(sys, own);
    ok = ok && fd >= 0 && rig_import(sys, fd, &again) == VMM_SUCCESS && rig_create(sys, PIECE, &other) == VMM_SUCCESS;
    ok = ok && has_bytes(sys, seen, OF_SURVIVOR) && has_bytes(sys, at, OF_VICTIM);
    rig_unmap(sys, at, PIECE);
    ok = ok && !vmm_mem_release(sys, own) && rig_byte(sys, seen) == OF_SURVIVOR;
    close(fd);
    return ok && !vmm_mem_release(sys, again) && !vmm_mem_release(sys, other); /* closing releases the import */
}

static _Noreturn void victim(uint64_t target, int number, uint64_t *made)
{
    vmm_system *sys = NULL;
    vmm_context ctx;
    alarm(60);
    if (vmm_open("sim:" RIG_PROFILE ",machine=store", &sys))
        _exit(97);
    store_watch(rig_path("store", "state"), target, number);
    bool ok = !vmm_init(sys, 0) && !vmm_ctx_create(sys, &ctx, 0, 0) && lives(sys);
    rig_close(sys);
    *made = store.made;
    _exit(!ok);
}

/* How many stores a victim makes, in memory that both processes share. */
static uint64_t *stores;

static pid_t begin(uint64_t target, int number)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        tap_bail("no child");
    if (child == 0)
        victim(target, number, stores);
    return child;
}

/* ---- the survivor ---- */

static struct {
    unsigned ended, stopped, inside, refused, continued, wrong, late, left;
} seen;

static void wrong(uint64_t at, const char *what)
{
    if (seen.wrong++ < 10)
        tap_note("at store %" PRIu64 ": %s", at, what);
}

static vmm_result timed(vmm_result (*call)(void))
{
    uint64_t began = os_milliseconds();
    vmm_result result = call();
    seen.late += os_milliseconds() - began >= MOST;
    return result;
}

static vmm_result create_one(void)
{
    handle_t handle = 0;
    vmm_result result = rig_create(survivor, PIECE, &handle);
    return result == VMM_SUCCESS ? vmm_mem_release(survivor, handle) : result;
}

static uint64_t free_now;

static vmm_result ask_free(void)
{
    uint64_t total;
    return vmm_mem_get_info(survivor, &free_now, &total);
}

static bool is_inside(void)
{
    return atomic_load(&state->mutex.in.word) >> 32 != 0;
}

/* Checks everything after the victim's end. */
static void look_after(uint64_t at)
{
    if (timed(ask_free) != VMM_SUCCESS || free_now != all_free)
        wrong(at, "memory is missing");
    if (timed(create_one) != VMM_SUCCESS)
        wrong(at, "creation fails");
    if (!has_bytes(survivor, kept, OF_SURVIVOR))
        wrong(at, "bytes have changed");
    struct census now = census_now();
    if (memcmp(&now, &before, sizeof now) != 0 && seen.left++ < 10)
        tap_note("at store %" PRIu64 ": %u tokens, %u memories, %u files, %" PRIu64 " bytes are left", at, now.tokens,
                 now.memories,
                 now.files, now.bytes);
}

/* A second victim must clean up after the first. */
static void kill_at(uint64_t target, uint64_t corpse)
{
    int status = 0;
    if (corpse)
        waitpid(begin(corpse, SIGKILL), NULL, 0);
    pid_t child = begin(target, SIGKILL);
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        seen.ended++;
        seen.inside += is_inside();
    } else if (status) {
        wrong(target, "the victim failed on its own");
    }
    look_after(target);
}

/* While the victim is stopped, the survivor uses its private memory; calls that need the lock succeed or are refused. */
static void beside(uint64_t target)
{
    bool inside = is_inside();
    vmm_result result = timed(create_one);
    seen.inside += inside;
    seen.refused += result != VMM_SUCCESS;
    if (inside ? result != VMM_ERROR_OPERATING_SYSTEM || !rig_reported("VMM-SHARE-STATE") ||
        !strstr(vmm_last_detail()->note, "has held the machine")
               : result != VMM_SUCCESS)
        wrong(target, "creation beside a stopped process");
    if (!has_bytes(survivor, kept, OF_SURVIVOR))
        wrong(target, "bytes have changed while the victim is stopped");
}

static void stop_at(uint64_t target, bool go_on)
{
    int status = 0;
    pid_t child = begin(target, SIGSTOP);
    waitpid(child, &status, WUNTRACED);
    if (!WIFSTOPPED(status)) {
        if (status)
            wrong(target, "the victim failed on its own");
        return;
    }
    seen.stopped++;
    beside(target);
    kill(child, go_on ? SIGCONT : SIGKILL);
    waitpid(child, &status, 0);
    seen.continued += go_on;
    if (go_on && status)
        wrong(target, "the victim failed after it was continued");
    look_after(target);
}

/* ---- the whole test ---- */

static void furnish(void)
{
    handle_t handle = 0;
    survivor = rig_open("store");
    if (!survivor || rig_create(survivor, PIECE, &handle))
        tap_bail("no machine");
    kept = rig_map(survivor, handle, PIECE);
    vmm_memset_d8(survivor, kept, OF_SURVIVOR, PIECE);
    passed = rig_export(survivor, handle);
    state = rig_state("store");
    stores = mmap(NULL, sizeof *stores, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    waitpid(begin(0, SIGKILL), &status, 0);
    tap_ok(status == 0 && *stores > 300, "an undisturbed victim makes %" PRIu64 " stores", *stores);
    ask_free();
    all_free = free_now;
    before = census_now();
}

/* The ith of the stores to try: spread over all of them, or each in turn, several times if necessary. */
static uint64_t store_of(uint64_t first, uint64_t i, uint64_t tried)
{
    return 1 + (first + (tried < *stores ? i * *stores / tried : i)) % *stores;
}

static void each_store(uint64_t *seed)
{
    uint64_t first = random_below(seed, STEP), tried = random_rounds((unsigned)*stores / STEP);
    if (tried < FEWEST)
        tried = FEWEST;
    for (uint64_t i = 0; i < tried; i++)
        kill_at(store_of(first, i, tried), random_below(seed, 2) ? 1 + random_below(seed, *stores) : 0);
    unsigned killed = seen.inside;
    tap_ok(!seen.wrong && !seen.left, "%u victims were killed, %u of them inside the lock", seen.ended, killed);
    tap_ok(seen.ended > tried * 9 / 10 && killed > tried / 3, "the kills cover all of a victim's stores");
    share_of(survivor)->patience = 0; /* the next test waits for the full time */
    for (uint64_t i = 0; i < tried; i++)
        stop_at(store_of(first, i, tried), random_below(seed, 4) != 0);
    share_of(survivor)->patience = SHARE_PATIENCE;
    tap_ok(!seen.wrong && !seen.left,
           "%u victims were stopped, %u of them inside the lock; %u of all were continued, the others killed",
           seen.stopped, seen.inside - killed, seen.continued);
    tap_ok(seen.stopped > tried * 9 / 10 && seen.refused == seen.inside - killed && seen.refused > tried / 3,
           "exactly the calls that need the lock were refused meanwhile");
}

/* Some stops last for the full waiting time. */
static void with_patience(uint64_t *seed)
{
    unsigned refused = seen.refused, most = random_rounds(1), rounds = most < 10 ? most : 10;
    for (unsigned i = 0; i < 1000 && seen.refused < refused + rounds; i++)
        stop_at(1 + random_below(seed, *stores), i % 2);
    tap_u64(seen.refused - refused, rounds, "%u stops cost the survivor the full waiting time", rounds);
}
#endif

int main(void)
{
    if (!rig_can_step("killed and stopped at each store"))
        return tap_done();
#if CAN_STEP
    uint64_t seed = random_seed(20261122);
    rig_begin();
    furnish();
    each_store(&seed);
    with_patience(&seed);
    tap_u64(seen.wrong, 0, "no check failed");
    tap_u64(seen.late, 0, "no call took two seconds");
    tap_u64(seen.left, 0, "nothing was left behind");
    close(passed);
    munmap(state, sizeof *state);
    rig_close(survivor);
    rig_end();
#endif
    return tap_done();
}
