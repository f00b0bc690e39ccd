/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "os_mutex.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "os_system.h"
#include "posix.h"

_Static_assert(sizeof(os_mutex) == 128, "the parts of a mutex fit into its storage");

/* These locks belong to the opening. On systems without them a lock belongs to the process: two copies of the library in one
 * process do not see each other's locks, and no other opening of the file may be closed while this one is a party. */
#ifdef F_OFD_SETLK
enum { SET = F_OFD_SETLK, GET = F_OFD_GETLK };
#else
enum { SET = F_SETLK, GET = F_GETLK };
#endif

enum { WAITED_FOR = 1, TICKET = 32, TRIES = 1000, SPINS = 100, FIRST_NAP = 1, LONGEST_NAP = 20, DELAY = 100 };

static uint32_t ticket_of(uint64_t word)
{
    return (uint32_t)(word >> TICKET);
}

/* The word without the waiters bit: holder and turn. */
static uint64_t turn_of(uint64_t word)
{
    return word & ~(uint64_t)WAITED_FOR;
}

static uint64_t next_word(uint64_t word, uint32_t ticket)
{
    return (uint64_t)ticket << TICKET | (uint32_t)(turn_of(word) + 2);
}

/* ---- tickets ---- */

static struct flock lock_of(uint32_t ticket)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)ticket, .l_len = 1};
}

/* Is the ticket's holder alive? A holder whose state is unknown counts as alive. */
static bool lives(const struct os_party *party, uint32_t ticket)
{
    struct flock lock = lock_of(ticket);
    return posix.fcntl(party->file, GET, &lock) || lock.l_type != F_UNLCK;
}

/* The PID namespace in which the process has its number; 0 when the system does not report it. */
static uint32_t pid_namespace(void)
{
    struct stat is;
    return posix.stat("/proc/self/ns/pid", &is) ? 0 : (uint32_t)is.st_ino;
}

bool os_party_join(struct os_party *party, os_mutex *mutex, int file)
{
    *party = (struct os_party){.file = file, .process = (uint32_t)getpid(), .space = pid_namespace()};
    for (int i = 0; i < TRIES; i++) { /* after a wrap-around, some tickets are still in use */
        struct flock lock = lock_of(atomic_fetch_add(&mutex->in.tickets, 1) + 1);
        if (!lock.l_start)
            continue;
        if (!posix.fcntl(file, SET, &lock)) {
            party->ticket = (uint32_t)lock.l_start;
            return true;
        }
        if (errno != EAGAIN && errno != EACCES)
            return false;
    }
    return false;
}

/* ---- waiting ---- */

static uint64_t now(void)
{
    struct timespec time;
    posix.clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* The half of the word that changes with every turn, which a system can wait for. */
static const void *lower_half(const os_mutex *mutex)
{
    return (const char *)&mutex->in.word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint32_t) : 0);
}

/* Sleeps until the word's lower half changes, or for that many milliseconds. */
static void nap(const os_mutex *mutex, uint64_t word, unsigned milliseconds)
{
    os_wait_for_change(lower_half(mutex), (uint32_t)word, milliseconds);
}

static void wake_one(const os_mutex *mutex)
{
    os_wake_waiter(lower_half(mutex));
}

/* How long this process has waited for one turn. Time in which the process did not run does not count, for example when it was
 * stopped together with the holder. */
struct patience {
    uint64_t turn, since;
    unsigned nap;
};

/* Sleeps once; false when the turn has lasted for that many milliseconds. */
static bool wait_on(struct patience *patience, os_mutex *mutex, uint64_t word, unsigned milliseconds)
{
    uint64_t begun = now();
    if (!patience->nap || patience->turn != turn_of(word))
        *patience = (struct patience){turn_of(word), begun, FIRST_NAP};
    if (begun - patience->since >= milliseconds)
        return false;
    if (!(word & WAITED_FOR) && !atomic_compare_exchange_strong(&mutex->in.word, &word, word | WAITED_FOR)) /* LCOV_EXCL_BR_LINE: a race */
        return true;
    nap(mutex, word | WAITED_FOR, patience->nap);
    uint64_t slept = now() - begun;
    if (slept > patience->nap + DELAY) /* LCOV_EXCL_BR_LINE: where the system is slow */
        patience->since += slept - patience->nap;
    patience->nap = 2 * patience->nap < LONGEST_NAP ? 2 * patience->nap : LONGEST_NAP;
    return true;
}

/* ---- the mutex ---- */

/* Takes the mutex if it is free or its holder is dead. mark: WAITED_FOR, or 0; a mark that is already set stays. */
static bool take(os_mutex *mutex, const struct os_party *party, uint64_t word, uint64_t mark)
{
    uint32_t holder = ticket_of(word);
    if (holder && lives(party, holder))
        return false;
    uint64_t mine = next_word(word, party->ticket) | (word & WAITED_FOR) | mark;
    bool first = atomic_compare_exchange_strong_explicit(&mutex->in.word, &word, mine, memory_order_acquire,
                                                         memory_order_relaxed);
    if (!first) /* LCOV_EXCL_BR_LINE: another party took it just now */
        return false;
    atomic_store_explicit(&mutex->in.holder[0], (uint64_t)party->ticket << TICKET | party->process, memory_order_relaxed);
    atomic_store_explicit(&mutex->in.holder[1], (uint64_t)party->ticket << TICKET | party->space, memory_order_relaxed);
    return true;
}

/* Reads the word. If the mutex is held, spins briefly first, because most holders release it in less time than a sleep takes. */
static uint64_t look(const os_mutex *mutex)
{
    uint64_t word = atomic_load_explicit(&mutex->in.word, memory_order_relaxed);
    for (int i = 0; i < SPINS && ticket_of(word); i++)
        word = atomic_load_explicit(&mutex->in.word, memory_order_relaxed);
    return word;
}

bool os_mutex_lock(os_mutex *mutex, const struct os_party *party, unsigned milliseconds, uint64_t *turn)
{
    struct patience patience = {.nap = 0};
    uint64_t mark = 0;
    for (;;) {
        uint64_t word = look(mutex);
        if (take(mutex, party, word, mark))
            return true;
        if (!ticket_of(word)) /* LCOV_EXCL_BR_LINE: another party was faster */
            continue;
        if (!wait_on(&patience, mutex, word, turn_of(word) == *turn ? 0 : milliseconds)) {
            *turn = turn_of(word);
            return false;
        }
        mark = WAITED_FOR; /* other parties may be waiting, and each unlock wakes only one */
    }
}

void os_mutex_unlock(os_mutex *mutex, const struct os_party *party)
{
    uint64_t word = atomic_load_explicit(&mutex->in.word, memory_order_relaxed);
    while (ticket_of(word) == party->ticket &&
           !atomic_compare_exchange_weak_explicit(&mutex->in.word, &word, next_word(word, 0), memory_order_release,
                                                  memory_order_relaxed)) /* LCOV_EXCL_BR_LINE: another party has marked it just now */
        ;
    if (ticket_of(word) == party->ticket && (word & WAITED_FOR))
        wake_one(mutex);
}

bool os_mutex_await(os_mutex *mutex, const struct os_party *party, unsigned milliseconds, uint64_t turn)
{
    struct patience patience = {.nap = 0};
    uint64_t word = look(mutex);
    while (turn_of(word) == turn && lives(party, ticket_of(word))) {
        if (!wait_on(&patience, mutex, word, milliseconds))
            return false;
        word = look(mutex);
    }
    wake_one(mutex); /* the unlock may have woken this waiter instead of one that would take the mutex at once */
    return true;
}

struct os_holder os_mutex_holder(const os_mutex *mutex, const struct os_party *party, uint64_t turn)
{
    uint64_t process = atomic_load(&mutex->in.holder[0]), space = atomic_load(&mutex->in.holder[1]);
    if (ticket_of(process) != ticket_of(turn) || ticket_of(space) != ticket_of(turn))
        return (struct os_holder){0, false};
    return (struct os_holder){(uint32_t)process, (uint32_t)space != party->space};
}
