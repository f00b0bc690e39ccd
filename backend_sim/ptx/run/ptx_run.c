/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of a launch. A block that spins in loops that may be waits yields to the next one, so
 * that blocks which wait for each other finish, provided that they all fit on a device. */
#include "ptx_run.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "heap.h"
#include "posix.h"
#include "ptx_block.h"
#include "ptx_counts.h"
#include "ptx_grid.h"
#include "ptx_memory.h"
#include "ptx_overlay.h"
#include "ptx_steps.h"

enum {
    RESIDENT_MOST = 4096, /* running blocks per thread */
    IDLE_MOST = 32,       /* points from rounds in which no block ended, until another block starts */
    IDLE_SPUN = 16,       /* points of a round in which all blocks only waited; other rounds count 1 */
    PAUSE_NANOSECONDS = 2000
};

const uint32_t ptx_lane_bit[PTX_LANES] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,  1u << 8,  1u << 9,  1u << 10,
    1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21,
    1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

const ptx_step_function *ptx_step_functions(bool narrow)
{
    static const ptx_step_function table[PTX_STEPS] = {
#define PTX_STEP(NAME, fields) [STEP_##NAME] = STEP_##NAME < STEP_SHFL ? ptx_step_##NAME : NULL,
#include "ptx_steps.def"
    };
    const ptx_step_function *wide = narrow ? NULL : ptx_step_functions_wide();
    return wide ? wide : table;
}

void ptx_grid_lock(struct ptx_grid *grid)
{
    if (grid->locked)
        pthread_mutex_lock(&grid->lock);
}

void ptx_grid_unlock(struct ptx_grid *grid)
{
    if (grid->locked)
        posix.pthread_mutex_unlock(&grid->lock);
}

void ptx_grid_fail(struct ptx_grid *grid, const struct ptx_outcome *outcome)
{
    ptx_grid_lock(grid);
    if (!atomic_load(&grid->ended)) {
        *grid->outcome = *outcome;
        atomic_store(&grid->ended, true);
    }
    if (grid->locked)
        pthread_cond_broadcast(&grid->changed);
    ptx_grid_unlock(grid);
}

/* ---- constants ---- */

static uint64_t address_of(const struct ptx_grid *grid, const struct ptx_reference *r)
{
    const struct ptx_launch *launch = grid->launch;
    uint64_t at = 0;
    switch ((enum ptx_reference_kind)r->kind) {
    case PTX_R_VARIABLE: at = launch->globals[r->number]; break;
    case PTX_R_SHARED: at = PTX_SHARED_BASE + launch->kernel->shared[r->number]; break;
    default: at = PTX_FUNCTIONS + 16 * (uint64_t)r->number; break;
    }
    return at + (uint64_t)r->offset;
}

static void fill(unsigned char *slot, uint64_t value, unsigned bytes)
{
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        memcpy(slot + (size_t)lane * bytes, &value, bytes);
}

static unsigned char *make_constants(const struct ptx_grid *grid, const struct ptx_routine *r)
{
    unsigned char *all = heap.malloc((size_t)r->constant_units * PTX_UNIT + 1);
    for (uint32_t i = 0; all && i < r->constant_count; i++)
        fill(all + (size_t)r->constants[i].at * PTX_UNIT, r->constants[i].value, r->constants[i].bytes);
    for (uint32_t i = 0; all && i < r->reference_count; i++)
        fill(all + (size_t)r->references[i].at * PTX_UNIT, address_of(grid, &r->references[i]), r->references[i].bytes);
    return all;
}

const unsigned char *ptx_grid_constants(struct ptx_grid *grid, uint32_t routine)
{
    ptx_grid_lock(grid);
    if (!grid->constants[routine])
        grid->constants[routine] = make_constants(grid, &grid->launch->program->routines[routine]);
    const unsigned char *all = grid->constants[routine];
    ptx_grid_unlock(grid);
    return all;
}

/* ---- blocks ---- */

/* The blocks that run on one host thread. */
struct crew {
    struct ptx_grid *grid;
    struct ptx_port *port;
    struct ptx_block *blocks;
    uint32_t count, room;
    bool is_caller;         /* the thread that called ptx_run */
    _Atomic uint64_t *next; /* the first block that no thread has started */
};

static void fail_memory(struct ptx_grid *grid)
{
    ptx_grid_fail(grid, &(struct ptx_outcome){.end = PTX_END_MEMORY});
}

/* Starts the next block in a new slot. False: there is no block or no slot left. */
static bool begin_block(struct crew *crew)
{
    struct ptx_grid *grid = crew->grid;
    if (crew->count == RESIDENT_MOST)
        return false;
    uint64_t number = atomic_fetch_add(crew->next, 1);
    if (number >= grid->blocks)
        return false;
    if (crew->count == crew->room) {
        uint32_t room = crew->room ? 2 * crew->room : 1;
        struct ptx_block *blocks = heap.calloc(room, sizeof *blocks);
        if (!blocks) {
            fail_memory(grid);
            return false;
        }
        for (uint32_t i = 0; i < crew->room; i++) {
            blocks[i] = crew->blocks[i];
            for (uint32_t w = 0; w < blocks[i].warp_count; w++)
                blocks[i].warps[w].block = &blocks[i];
        }
        heap.free(crew->blocks);
        crew->blocks = blocks;
        crew->room = room;
    }
    ptx_block_open(&crew->blocks[crew->count], grid, number);
    crew->count++;
    return true;
}

/* Replaces a finished block by the next one, or by the last of the list. */
static void end_block(struct crew *crew, uint32_t i)
{
    uint64_t number = atomic_fetch_add(crew->next, 1);
    if (number < crew->grid->blocks) {
        ptx_block_open(&crew->blocks[i], crew->grid, number);
        return;
    }
    struct ptx_block ended = crew->blocks[i];
    crew->count--;
    crew->blocks[i] = crew->blocks[crew->count];
    crew->blocks[crew->count] = ended; /* it keeps its memory */
    for (uint32_t k = 0; k < 2; k++) {
        struct ptx_block *moved = &crew->blocks[k ? i : crew->count];
        for (uint32_t w = 0; w < moved->warp_count; w++)
            moved->warps[w].block = moved;
    }
}

static bool over_budget(struct ptx_grid *grid)
{
    uint64_t budget = grid->launch->budget;
    if (!budget || atomic_load_explicit(&grid->made, memory_order_relaxed) < budget)
        return false;
    ptx_grid_fail(grid, &(struct ptx_outcome){.end = PTX_END_BUDGET});
    return true;
}

/* Lets time pass for others, which may do what the blocks here wait for. Only the caller of ptx_run
 * does this, because it holds the locks that the accessor needs, and only while no other thread
 * uses its grants. With several threads the grid's lock is held. */
static void let_time_pass(struct ptx_grid *grid)
{
    const bool goes_on = grid->memory->pause(grid->memory, PAUSE_NANOSECONDS);
    if (!goes_on && !atomic_load(&grid->ended)) {
        *grid->outcome = (struct ptx_outcome){.end = PTX_END_STOPPED};
        atomic_store(&grid->ended, true);
    }
    grid->resting = 0;
    grid->rests++;
    if (grid->locked)
        pthread_cond_broadcast(&grid->changed);
}

static bool others_rest(const struct ptx_grid *grid)
{
    return grid->resting + 1 == grid->hands;
}

/* The caller's blocks wait, and eventually those of the other threads wait as well or have finished. */
static void rest_as_caller(struct ptx_grid *grid)
{
    while (!others_rest(grid) && !atomic_load(&grid->ended))
        pthread_cond_wait(&grid->changed, &grid->lock);
    if (!atomic_load(&grid->ended))
        let_time_pass(grid);
}

static void rest_as_other(struct ptx_grid *grid)
{
    const uint64_t before = grid->rests;
    grid->resting++;
    pthread_cond_broadcast(&grid->changed);
    while (grid->rests == before && !atomic_load(&grid->ended))
        pthread_cond_wait(&grid->changed, &grid->lock);
}

static void rest(struct crew *crew)
{
    struct ptx_grid *grid = crew->grid;
    if (!grid->memory->pause)
        return;
    ptx_grid_lock(grid);
    if (crew->is_caller)
        rest_as_caller(grid);
    else
        rest_as_other(grid);
    ptx_grid_unlock(grid);
    ptx_port_forget(crew->port);
}

/* Called when a thread has no blocks left. The caller lets time pass for the others until they have finished. */
static void leave(struct crew *crew)
{
    struct ptx_grid *grid = crew->grid;
    ptx_grid_lock(grid);
    while (crew->is_caller && grid->hands > 1)
        if (others_rest(grid) && !atomic_load(&grid->ended))
            let_time_pass(grid);
        else
            pthread_cond_wait(&grid->changed, &grid->lock);
    grid->hands--;
    if (grid->locked)
        pthread_cond_broadcast(&grid->changed);
    ptx_grid_unlock(grid);
}

/* A block waits forever; the reported position is that of its first waiting warp. */
static void fail_deadlock(struct ptx_block *block)
{
    struct ptx_warp *warp = block->warps;
    while (!warp->splits)
        warp++;
    warp->frame = warp->split[0].frame;
    warp->step = warp->split[0].step;
    ptx_warp_fail(warp, PTX_END_DEADLOCK, warp->split[0].mask, 0, 0, TWIN_READ);
}

/* Gives each block a turn. Returns the points of the round; 0: a block ended. */
static uint32_t round_of(struct crew *crew)
{
    bool got_on = false, ended = false;
    for (uint32_t i = 0; i < crew->count && !atomic_load(&crew->grid->ended); i++) {
        enum ptx_turn turn = ptx_block_turn(&crew->blocks[i], crew->port);
        if (atomic_load(&crew->grid->ended) || over_budget(crew->grid))
            return 0;
        got_on = got_on || turn != PTX_TURN_SPINS;
        if (turn == PTX_TURN_WAITS)
            fail_deadlock(&crew->blocks[i]);
        if (turn == PTX_TURN_ENDED) {
            uint32_t count = crew->count;
            ended = true;
            end_block(crew, i);
            i -= crew->count < count; /* another block took its slot */
        }
    }
    return ended ? 0 : got_on ? 1 : IDLE_SPUN;
}

static void run_crew(struct crew *crew)
{
    uint32_t idle = 0;
    if (!begin_block(crew))
        return;
    while (crew->count && !atomic_load(&crew->grid->ended)) {
        uint32_t points = round_of(crew);
        idle = points ? idle + points : 0;
        if (idle < IDLE_MOST)
            continue;
        if (!begin_block(crew) && points == IDLE_SPUN)
            rest(crew);
        idle = 0;
    }
}

static void close_crew(struct crew *crew)
{
    for (uint32_t i = 0; i < crew->room; i++)
        ptx_block_close(&crew->blocks[i]);
    heap.free(crew->blocks);
}

/* ---- threads of the host ---- */

struct hand {
    pthread_t thread;
    struct crew crew;
    bool started;
};

static void *run_hand(void *data)
{
    struct hand *hand = data;
    run_crew(&hand->crew);
    leave(&hand->crew);
    return NULL;
}

/* Blocks all signals except those of faults, so that the program's own threads receive the others. */
static void start_hand(struct hand *hand, struct ptx_grid *grid)
{
    sigset_t own, before;
    sigfillset(&own);
    sigdelset(&own, SIGSEGV);
    sigdelset(&own, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &own, &before);
    ptx_grid_lock(grid);
    hand->started = posix.pthread_create(&hand->thread, NULL, run_hand, hand) == 0;
    grid->hands += hand->started;
    ptx_grid_unlock(grid);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool open_port(struct crew *crew, struct ptx_grid *grid, _Atomic uint64_t *next)
{
    struct ptx_port *port = heap.malloc(sizeof *port);
    *crew = (struct crew){.grid = grid, .port = port, .next = next};
    if (!port)
        return false;
    ptx_port_open(port, grid);
    port->copies = heap.malloc(PTX_LANES * sizeof *port->copies);
    return port->copies != NULL;
}

static void close_port(struct crew *crew)
{
    close_crew(crew);
    if (crew->port)
        heap.free(crew->port->copies);
    heap.free(crew->port);
}

static void run_threads(struct ptx_grid *grid, unsigned threads)
{
    _Atomic uint64_t next = 0;
    struct hand *hands = heap.calloc(threads, sizeof *hands);
    if (!hands) {
        fail_memory(grid);
        return;
    }
    grid->hands = 1;
    grid->locked = threads > 1;
    for (unsigned i = 0; i < threads; i++)
        if (!open_port(&hands[i].crew, grid, &next))
            fail_memory(grid);
    hands[0].crew.is_caller = true;
    for (unsigned i = 1; i < threads; i++)
        start_hand(&hands[i], grid);
    run_hand(&hands[0]);
    for (unsigned i = 1; i < threads; i++)
        if (hands[i].started)
            pthread_join(hands[i].thread, NULL);
    for (unsigned i = 0; i < threads; i++)
        close_port(&hands[i].crew);
    heap.free(hands);
}

/* Fleeting bytes are invalid after the next request of any thread. */
static unsigned threads_of(const struct ptx_grid *grid)
{
    unsigned threads = grid->launch->threads;
    if (threads <= 1 || grid->memory->fleeting)
        return 1;
    return threads < grid->blocks ? threads : (unsigned)grid->blocks;
}

static bool open_grid(struct ptx_grid *grid, uint64_t **count_of)
{
    const struct ptx_launch *launch = grid->launch;
    const struct ptx_program *program = launch->program;
    uint64_t count = 0;
    grid->workspace[0] = PTX_WORKSPACE;
    grid->blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    grid->shared_bytes = launch->kernel->shared_bytes + launch->dynamic_shared;
    for (uint32_t i = 0; i < program->shared_count; i++)
        if (!program->shareds[i].size && launch->kernel->shared[i] != UINT32_MAX)
            grid->shared_bytes = launch->kernel->shared[i] + launch->dynamic_shared;
    if (!launch->strict)
        grid->shared_bytes = (grid->shared_bytes + PTX_SHARED_GRANULE - 1) / PTX_SHARED_GRANULE * PTX_SHARED_GRANULE;
    grid->warps = (launch->block[0] * launch->block[1] * launch->block[2] + PTX_LANES - 1) / PTX_LANES;
    grid->constants = heap.calloc(program->routine_count + 1u, sizeof *grid->constants);
    *count_of = heap.calloc(program->routine_count + 1u, sizeof **count_of);
    for (uint32_t i = 0; *count_of && i < program->routine_count; i++) {
        (*count_of)[i] = count;
        count += program->routines[i].op_count;
    }
    grid->count_of = *count_of;
    return grid->constants && *count_of;
}

static void run(struct twin_memory *memory, const struct ptx_launch *launch, struct ptx_outcome *outcome)
{
    struct ptx_grid grid = {.launch = launch, .memory = memory, .outcome = outcome, .steps = ptx_step_functions(launch->narrow)};
    uint64_t *count_of = NULL, *asked = launch->counts || memory->dry ? NULL : ptx_counts_begin(launch->program);
    grid.counts = asked ? asked : launch->counts;
    *outcome = (struct ptx_outcome){.end = PTX_END_DONE};
    pthread_mutex_init(&grid.lock, NULL);
    pthread_mutex_init(&grid.heap, NULL);
    pthread_cond_init(&grid.changed, NULL);
    if (!open_grid(&grid, &count_of))
        fail_memory(&grid);
    else
        run_threads(&grid, threads_of(&grid));
    for (uint32_t i = 0; grid.constants && i < launch->program->routine_count; i++)
        heap.free(grid.constants[i]);
    heap.free(grid.constants);
    heap.free(count_of);
    pthread_cond_destroy(&grid.changed);
    pthread_mutex_destroy(&grid.heap);
    pthread_mutex_destroy(&grid.lock);
    ptx_counts_end(launch->program, asked);
    outcome->steps = atomic_load(&grid.made);
}

void ptx_run(struct twin_memory *memory, const struct ptx_launch *launch, struct ptx_outcome *outcome)
{
    struct ptx_overlay overlay;
    if (!memory->dry) {
        run(memory, launch, outcome);
        return;
    }
    ptx_overlay_open(&overlay, memory);
    run(&overlay.memory, launch, outcome);
    ptx_overlay_close(&overlay);
}

void ptx_describe_line(const struct ptx_program *program, const struct ptx_line *line, char *text, size_t size)
{
    const struct ptx_place_of_source *source = line->source < program->source_count ? &program->sources[line->source] : NULL;
    if (source && line->source && source->file < program->file_count && *program->files[source->file])
        snprintf(text, size, "%s:%u", program->files[source->file], source->line);
    else
        snprintf(text, size, "line %u of the PTX", line->line);
}
