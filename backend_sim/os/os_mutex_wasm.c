/* SPDX-License-Identifier: Apache-2.0 */
/* os_mutex.h for a single process with a single thread: its parties take turns, and each unlocks a mutex before
 * another locks it. */
#include "os_mutex.h"

#include "os_inspect.h"

enum { TICKET = 32 };

bool os_party_join(struct os_party *party, os_mutex *mutex, int file)
{
    uint32_t ticket = atomic_load(&mutex->in.tickets) + 1;
    atomic_store(&mutex->in.tickets, ticket);
    *party = (struct os_party){.file = file, .ticket = ticket, .process = (uint32_t)os_pid()};
    return true;
}

static uint64_t turn_of(uint64_t word)
{
    return (uint32_t)word;
}

bool os_mutex_lock(os_mutex *mutex, const struct os_party *party, unsigned milliseconds, uint64_t *turn)
{
    uint64_t word = atomic_load(&mutex->in.word);
    (void)milliseconds; /* nothing changes while this thread waits */
    if (word >> TICKET) {
        *turn = word;
        return false;
    }
    atomic_store(&mutex->in.word, (uint64_t)party->ticket << TICKET | (uint32_t)(turn_of(word) + 1));
    return true;
}

void os_mutex_unlock(os_mutex *mutex, const struct os_party *party)
{
    uint64_t word = atomic_load(&mutex->in.word);
    if (word >> TICKET == party->ticket)
        atomic_store(&mutex->in.word, (uint32_t)(turn_of(word) + 1));
}

bool os_mutex_await(os_mutex *mutex, const struct os_party *party, unsigned milliseconds, uint64_t turn)
{
    (void)party, (void)milliseconds;
    return atomic_load(&mutex->in.word) != turn;
}

struct os_holder os_mutex_holder(const os_mutex *mutex, const struct os_party *party, uint64_t turn)
{
    (void)mutex, (void)turn;
    return (struct os_holder){party->process, false};
}
