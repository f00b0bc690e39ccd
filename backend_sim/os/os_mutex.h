/* SPDX-License-Identifier: Apache-2.0 */
/* os_mutex.h - a mutex in a file that several processes map.
 *
 *   mutex   word    [ holder's ticket, 0: free | turn, which increases with every change | has waiters ]
 *           holder  the process, for messages
 *   party   an opening of the file with a ticket of its own, and a system lock on the ticket
 *
 *   lock      free, turn 6  -> ticket 3, turn 7          one compare-and-swap
 *   killed    ticket 3, turn 7; ticket 3 is no longer locked -> ticket 5, turn 8: exactly one waiter gets the mutex
 *   stopped   ticket 3, turn 7; ticket 3 is locked -> it stays the holder, and continues later
 *
 * The system drops a ticket's lock when the last descriptor and the last mapping of that opening are gone, however the process
 * ends. The lock belongs to the opening, not to a process or a thread: two copies of the library in one process are two parties,
 * and processes in different PID namespaces can determine whether a holder is alive. A forked child must not keep the opening
 * (os_own.h).
 *
 * A process can be killed between any two instructions under the mutex, so code under the mutex stores in an order from which the
 * next holder can recover. All waits are measured with CLOCK_MONOTONIC.
 */
#ifndef SIM_OS_MUTEX_H
#define SIM_OS_MUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef union os_mutex {
    struct {
        _Atomic uint64_t word;
        /* {ticket, process} and {ticket, PID namespace}; with another ticket, the holder has not stored them yet */
        _Atomic uint64_t holder[2];
        _Atomic uint32_t tickets;   /* tickets issued so far */
    } in;
    unsigned char room[128]; /* a cache line of its own; all zero initially */
} os_mutex;

struct os_party {
    int file;
    uint32_t ticket, process, space;
};

/* file is this party's own opening of the file that holds the mutex. False, and no ticket, when the system refuses the lock. */
bool os_party_join(struct os_party *party, os_mutex *mutex, int file);

/* False when one live holder kept the mutex for that many milliseconds; *turn is that holder's turn. Does not wait when an
 * earlier wait for the same turn has failed. */
bool os_mutex_lock(os_mutex *mutex, const struct os_party *party, unsigned milliseconds, uint64_t *turn);
void os_mutex_unlock(os_mutex *mutex, const struct os_party *party);

/* Waits until that turn is over or its holder is dead. False when neither happens within that many milliseconds. */
bool os_mutex_await(os_mutex *mutex, const struct os_party *party, unsigned milliseconds, uint64_t turn);

struct os_holder {
    uint64_t process; /* 0: unknown */
    bool elsewhere;   /* process is its number in another PID namespace */
};

/* The process that held the mutex in that turn. */
struct os_holder os_mutex_holder(const os_mutex *mutex, const struct os_party *party, uint64_t turn);

#endif
