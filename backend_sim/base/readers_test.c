/* SPDX-License-Identifier: Apache-2.0 */
/* readers: reader bias turns on after enough queries in a row, a change revokes it, and no reader runs during a change. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "readers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

#ifdef __SANITIZE_THREAD__
#define TSAN 1
#else
#define TSAN 0
#endif

static void ask_with_the_lock(struct readers *readers, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        readers_count_query(readers);
}

static void test_door(void)
{
    struct readers readers;
    memset(&readers, 1, sizeof readers); /* what was there before */
    readers_init(&readers);
    tap_ok(!readers_enter(&readers), "reader bias is off at first");
    ask_with_the_lock(&readers, READERS_TRUST - 1);
    tap_ok(!readers_enter(&readers), "reader bias stays off until enough queries have run");
    readers_revoke(&readers);
    ask_with_the_lock(&readers, READERS_TRUST - 1);
    tap_ok(!readers_enter(&readers), "a change between queries starts the count again");
    ask_with_the_lock(&readers, 1);
    struct readers_slot *one = readers_enter(&readers), *two = readers_enter(&readers);
    tap_ok(one && two && atomic_load(&one->inside) == 2,
           "after enough queries the bias is on, and each reader counts in its slot");
    readers_leave(two);
    readers_leave(one);
    tap_u64(atomic_load(&one->inside), 0, "all readers have left the slot");
    readers_revoke(&readers);
    tap_ok(!readers_enter(&readers) && !atomic_load(&one->inside), "shut again");
}

/* ---- a change between a query's two loads of the bias ---- */

static struct readers *split; /* [ .. bias | slots .. ]: two pages, the second one protected */
static unsigned char *lines;
static size_t page;

/* The query is about to enter its slot: it has found the bias on, and has not checked it again. */
static void shut_between(int number)
{
    (void)number;
    atomic_store(&split->open, false);
    mprotect(lines, page, PROT_READ | PROT_WRITE);
}

static void test_between(void)
{
    struct sigaction action = {.sa_handler = shut_between}, before_segv, before_bus;
    unsigned left = 0;
    page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        tap_bail("no pages");
    lines = pages + page;
    split = (struct readers *)(void *)(lines - offsetof(struct readers, line));
    readers_init(split);
    ask_with_the_lock(split, READERS_TRUST);
    sigaction(SIGSEGV, &action, &before_segv);
    sigaction(SIGBUS, &action, &before_bus);
    mprotect(lines, page, PROT_NONE);
    struct readers_slot *line = readers_enter(split);
    sigaction(SIGSEGV, &before_segv, NULL);
    sigaction(SIGBUS, &before_bus, NULL);
    for (unsigned i = 0; i < READERS_SLOTS; i++)
        left += atomic_load(&split->line[i].inside);
    tap_ok(!line && !atomic_load(&split->open), "a query that finds the bias revoked at its second load takes the lock");
    tap_u64(left, 0, "it has left its slot, so the change does not wait for it");
    munmap(pages, 2 * page);
}

/* ---- threads ---- */

static void *line_of_thread(void *readers)
{
    return readers_enter(readers);
}

/* Each thread has its own slot, as long as there are no more threads than slots. */
static void test_lines(void)
{
    enum { MANY = 2 * READERS_SLOTS };
    static struct readers readers;
    unsigned wrong = 0;
    readers_init(&readers);
    ask_with_the_lock(&readers, READERS_TRUST);
    for (unsigned i = 0; i < MANY; i++) {
        pthread_t thread;
        void *line = NULL;
        if (pthread_create(&thread, NULL, line_of_thread, &readers) || pthread_join(thread, &line))
            tap_bail("no thread");
        wrong += !line;
    }
    for (unsigned i = 0; i < READERS_SLOTS; i++)
        wrong += atomic_load(&readers.line[i].inside) != MANY / READERS_SLOTS;
    tap_u64(wrong, 0, "threads are spread over the slots");
}

struct door {
    struct readers readers;
    atomic_bool near, shut;
};

static void *shut_it(void *argument)
{
    struct door *door = argument;
    atomic_store(&door->near, true);
    readers_revoke(&door->readers);
    atomic_store(&door->shut, true);
    return NULL;
}

/* inside  [------- a query -------] change      [revokes .. drains ...][continues] */
static void test_waits(void)
{
    static struct door door;
    pthread_t thread;
    bool early = false;
    readers_init(&door.readers);
    ask_with_the_lock(&door.readers, READERS_TRUST);
    struct readers_slot *line = readers_enter(&door.readers);
    pthread_create(&thread, NULL, shut_it, &door);
    while (!atomic_load(&door.near))
        sched_yield();
    for (unsigned i = 0; i < 2000 && !early; i++, sched_yield())
        early = atomic_load(&door.shut);
    readers_leave(line);
    pthread_join(thread, NULL);
    tap_ok(!early && atomic_load(&door.shut), "a change waits for a reader in a slot, then continues");
}

enum { THREADS = 4, ROUNDS = 20000, CHANGES = 200 };

struct world {
    pthread_mutex_t lock;
    struct readers readers;
    unsigned one, other; /* equal, except in the middle of a change */
    atomic_uint differed, inside;
};

static void *asker(void *argument)
{
    struct world *w = argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct readers_slot *line = readers_enter(&w->readers);
        if (!line)
            pthread_mutex_lock(&w->lock);
        if (w->one != w->other)
            atomic_fetch_add(&w->differed, 1);
        if (line) {
            atomic_fetch_add(&w->inside, 1);
            readers_leave(line);
        } else {
            readers_count_query(&w->readers);
            pthread_mutex_unlock(&w->lock);
        }
    }
    return NULL;
}

static void *changer(void *argument)
{
    struct world *w = argument;
    for (unsigned i = 0; i < CHANGES; i++) {
        pthread_mutex_lock(&w->lock);
        readers_revoke(&w->readers);
        w->one++;
        atomic_signal_fence(memory_order_seq_cst); /* in this order, whatever the compiler does */
        w->other++;
        pthread_mutex_unlock(&w->lock);
        for (unsigned before = atomic_load(&w->inside), turns = 0; atomic_load(&w->inside) == before && turns < 10000; turns++)
            ; /* so that changes overlap queries; the test also ends without an overlap */
    }
    return NULL;
}

static void test_threads(void)
{
    static struct world w;
    pthread_t thread[THREADS];
    pthread_mutex_init(&w.lock, NULL);
    readers_init(&w.readers);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, i ? asker : changer, &w);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    tap_u64(atomic_load(&w.differed), 0, "no query overlaps a change");
    unsigned left = 0;
    for (unsigned i = 0; i < READERS_SLOTS; i++)
        left += atomic_load(&w.readers.line[i].inside);
    tap_u64(left, 0, "no reader is left in a slot, not even one that found the bias off");
    tap_ok(atomic_load(&w.inside) > 0, "some queries ran without the lock");
    tap_ok(w.one == CHANGES && w.other == CHANGES, "every change was made");
    pthread_mutex_destroy(&w.lock);
}

int main(void)
{
    test_door();
    if (TSAN)
        tap_skip("TSan's atomic operations cannot be interrupted", "a change between a query's two loads of the bias");
    else
        test_between();
    test_lines();
    test_waits();
    test_threads();
    return tap_done();
}
