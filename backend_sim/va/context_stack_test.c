/* SPDX-License-Identifier: Apache-2.0 */
#include "context_stack_parts.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "breaks.h"
#include "random.h"

static void *in_thread(void *user)
{
    struct context_stack *current = user;
    uint64_t before = context_stack_get(current);
    context_stack_push(current, 77);
    uint64_t after = context_stack_get(current);
    return before == 0 && after == 77 ? user : NULL;
}

/* A thread that pushes a context and then waits until the test ends it. */
struct guest {
    struct context_stack *current;
    uint64_t context;
    sem_t in, out;
    pthread_t thread;
    bool right;
};

static void *stays(void *user)
{
    struct guest *guest = user;
    context_stack_push(guest->current, guest->context);
    sem_post(&guest->in);
    sem_wait(&guest->out);
    guest->right = context_stack_get(guest->current) == guest->context;
    return NULL;
}

static void begin_guest(struct guest *guest, struct context_stack *current, uint64_t context)
{
    *guest = (struct guest){.current = current, .context = context};
    sem_init(&guest->in, 0, 0);
    sem_init(&guest->out, 0, 0);
    if (pthread_create(&guest->thread, NULL, stays, guest))
        tap_bail("no thread");
    sem_wait(&guest->in);
}

static bool end_guest(struct guest *guest)
{
    sem_post(&guest->out);
    pthread_join(guest->thread, NULL);
    sem_destroy(&guest->in);
    sem_destroy(&guest->out);
    return guest->right;
}

/* Three threads start one after another and end in every order; after the last one no stack is left. */
static void threads_go(void)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct context_stack current;
    struct guest guest[3];
    unsigned wrong = 0;
    context_stack_init(&current);
    for (int i = 0; i < 6; i++) {
        for (uint64_t g = 0; g < 3; g++)
            begin_guest(&guest[g], &current, 100 + g);
        for (int g = 0; g < 3; g++) {
            wrong += !current.stacks;
            wrong += !end_guest(&guest[orders[i][g]]);
        }
        wrong += current.stacks != NULL;
    }
    tap_u64(wrong, 0, "threads that end free their stacks, in every order of ending");
    context_stack_clear(&current);
}

/* Threads that used a context end while the system is being closed, at varying points of the close; they have made their last
 * call. */
enum { ENDING = 8, CLOSES = 200, TURNS = 8 };

struct ending {
    vmm_system *sys;
    vmm_context context;
    pthread_barrier_t *go;
    pthread_t thread;
    bool wrong;
};

static void *ends(void *user)
{
    struct ending *ending = user;
    vmm_context now = NULL;
    ending->wrong = vmm_ctx_set_current(ending->sys, ending->context) || vmm_ctx_get_current(ending->sys, &now) ||
                    now != ending->context;
    pthread_barrier_wait(ending->go);
    return NULL;
}

static void ends_while_closed(void)
{
    unsigned wrong = 0, closes = random_rounds(CLOSES) < 4 * TURNS ? 4 * TURNS : random_rounds(CLOSES);
    for (unsigned round = 0; round < closes; round++) {
        struct ending ending[ENDING];
        pthread_barrier_t go;
        vmm_system *sys = NULL;
        vmm_context context = NULL;
        pthread_barrier_init(&go, NULL, ENDING + 1);
        wrong += vmm_open("sim:min", &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &context, 0, 0);
        for (int i = 0; i < ENDING; i++) {
            ending[i] = (struct ending){sys, context, &go, 0, true};
            if (pthread_create(&ending[i].thread, NULL, ends, &ending[i]))
                tap_bail("no thread");
        }
        pthread_barrier_wait(&go);
        for (unsigned turn = 0; turn < round % TURNS; turn++)
            sched_yield();
        vmm_close(sys);
        for (int i = 0; i < ENDING; i++) {
            pthread_join(ending[i].thread, NULL);
            wrong += ending[i].wrong;
        }
        pthread_barrier_destroy(&go);
    }
    tap_u64(wrong, 0, "threads end while their system is being closed, without a use-after-free");
}

/* A surviving thread sees no context of a closed process, even when the next process lies at the same address. */
static void used_again(void)
{
    struct context_stack current[6];
    unsigned wrong = 0;
    for (uint64_t round = 0; round < 4; round++) {
        for (uint64_t i = 0; i < 6; i++) { /* more than REMEMBERED */
            wrong += !context_stack_init(&current[i]) || context_stack_get(&current[i]) != 0;
            wrong += !context_stack_push(&current[i], 10 * round + i + 1);
        }
        for (uint64_t i = 0; i < 6; i++)
            wrong += context_stack_get(&current[i]) != 10 * round + i + 1;
        for (int i = 0; i < 6; i++)
            context_stack_clear(&current[i]);
    }
    tap_u64(wrong, 0, "each process has its own stacks, also at the address of a closed one");
}

/* Contexts up to *user were created. */
static bool given(const void *user, uint64_t context)
{
    return context && context <= *(const uint64_t *)user;
}

/*                 other      current
 *     this thread  [9]        [1 2]
 *     a guest                 [3]        newer, so first of its column
 */
static void test_check(void)
{
    struct context_stack current, other;
    struct guest guest;
    uint64_t most = 9;
    context_stack_init(&current);
    context_stack_init(&other);
    check_holds(context_stack_check(&current, given, &most), "no thread has a context");
    context_stack_push(&other, 9);
    context_stack_push(&current, 1);
    context_stack_push(&current, 2);
    begin_guest(&guest, &current, 3);
    struct thread_stack *its = current.stacks, *own = its->in_process, *before = own->in_thread;
    check_holds(context_stack_check(&current, given, &most), "two threads and two processes");
    check_holds(context_stack_check_own(&current, given, &most), "this thread's part of it");
#define CHECK(place, value, words) BREAKS(place, value, context_stack_check(&current, given, &most), words)
#define CHECK_TO(place, value, words) BREAKS_TO(place, value, context_stack_check(&current, given, &most), words)
#define CHECK_OWN(place, value, words) BREAKS(place, value, context_stack_check_own(&current, given, &most), words)
#define CHECK_OWN_TO(place, value, words) BREAKS_TO(place, value, context_stack_check_own(&current, given, &most), words)
    CHECK(its->id, other.id, "stack 0 of process");
    CHECK(own->id, other.id, ": it is of process");
    CHECK(its->process_link, &other.stacks, "it is linked back elsewhere in its process");
    CHECK(own->process_link, &other.stacks, "it is not linked both ways in its process");
    CHECK(own->in_process, its, "it is not linked both ways in its process");
    CHECK(own->thread_link, &other.stacks, "it is not linked both ways in its thread");
    CHECK(before->thread_link, &other.stacks, "it is not linked both ways in its thread");
    CHECK(its->depth, its->room + 1, "contexts have room for 4");
    CHECK(its->context, NULL, "1 contexts have room for 4 that is not there");
    CHECK_TO(its->room, (its->depth = 0), "0 contexts have room for 0");
    its->depth = 1;
    CHECK_TO(its->context[0], 0, "context 0 is 0x0, which was never given out");
    CHECK(own->context[0], 10, "stack 1 of process");
    CHECK(own->context[0], 10, "context 0 is 0xa, which was never given out");
    CHECK_OWN(own->context[1], 10, "this thread's stack: context 1 is 0xa, which was never given out");
    CHECK_OWN(own->depth, 77, "this thread's stack: 77 contexts have room for 4");
    CHECK_OWN(before->thread_link, &other.stacks, "is linked back elsewhere");
    CHECK_OWN_TO(before->id, current.id, "this thread has two stacks of process");
    CHECK_OWN(own->id, 77, "this thread remembers another stack of process");
    struct context_stack third;
    context_stack_init(&third);
    tap_u64(context_stack_get(&third), 0, "a process in which this thread has no stack");
    BREAKS_TO(before->id, third.id, context_stack_check_own(&third, given, &most), "this thread remembers no stack of process");
    context_stack_clear(&third);
    BREAKS(own->in_thread, own, context_stack_check_own(&current, given, &most), "is linked back elsewhere");
    check_holds(context_stack_check(&current, given, &most), "all is mended");
    check_holds(context_stack_check(&other, given, &most), "the other process's");
    tap_ok(end_guest(&guest), "the other thread kept its own");
    check_holds(context_stack_check(&current, given, &most), "a thread has ended");
    context_stack_clear(&current);
    context_stack_clear(&other);
}

int main(void)
{
    struct context_stack first;
    tap_ok(context_stack_init(&first) && first.id != 0, "the first one has a number, which no empty entry of a thread has");
    context_stack_clear(&first);
    struct context_stack current;
    pthread_t thread;
    void *fine = NULL;
    context_stack_init(&current);
    tap_u64(context_stack_get(&current), 0, "a thread starts without a context");
    tap_ok(context_stack_set(&current, 0) && !context_stack_get(&current), "popping an empty stack succeeds");
    tap_ok(context_stack_set(&current, 1) && context_stack_get(&current) == 1, "set on an empty stack pushes");
    for (uint64_t i = 2; i < 12; i++)
        context_stack_push(&current, i);
    tap_u64(context_stack_get(&current), 11, "the last one pushed is current");
    tap_ok(context_stack_set(&current, 50) && context_stack_get(&current) == 50, "set replaces the top");
    tap_ok(context_stack_set(&current, 0) && context_stack_get(&current) == 10, "set to NULL pops the top");
    pthread_create(&thread, NULL, in_thread, &current);
    pthread_join(thread, &fine);
    tap_ok(fine == &current, "another thread has its own stack");
    tap_u64(context_stack_get(&current), 10, "this thread's stack is unchanged");
    context_stack_clear(&current);
    tap_ok(!current.stacks, "clearing frees all stacks");
    threads_go();
    used_again();
    test_check();
    ends_while_closed();
    return tap_done();
}
