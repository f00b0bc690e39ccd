/* SPDX-License-Identifier: Apache-2.0 */
/* os_mutex.h - a mutex in a file that several processes map.
 *
 *   mutex   word    [ ticket of the holder, 0: free | turn, which grows with every change | has waiters ]
 *           holder  its process, for messages
 *   party   an opening of the file with a ticket of its own, and a system lock on the ticket
 *
 *   lock      free, turn 6  -> ticket 3, turn 7          one compare-and-swap
 *   killed    ticket 3, turn 7; ticket 3 is not locked any more -> ticket 5, turn 8: exactly one waiter gets it
 *   stopped   ticket 3, turn 7; ticket 3 is locked -> it stays the holder, and goes on where it stopped
 *
 * The system drops a ticket's lock when the last descriptor and the last mapping of that opening are gone, however the process
 * ends. It belongs to the opening and neither to a process nor to a thread: two copies of the library in one process are two
 * parties, and processes of several PID namespaces can determine whether each other's holders are alive. A forked child must
 * not keep the opening (os_own.h).
 *
 * A process can be killed between any two instructions under the mutex, so code under it writes in an order that the next
 * holder can continue from. All waits are measured with CLOCK_MONOTONIC.
 */
#ifndef SIM_OS_MUTEX_H
#define SIM_OS_MUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef union os_mutex {
    struct {
        _Atomic uint64_t word;
        _Atomic uint64_t holder[2]; /* ticket and process, ticket and PID namespace; of another ticket: not known yet */
        _Atomic uint32_t tickets;   /* given so far */
    } in;
    unsigned char room[128]; /* a line of the processor's cache of its own; all zero at first */
} os_mutex;

struct os_party {
    int file;
    uint32_t ticket, process, space;
};

/* The file is this party's own opening of the file that holds the mutex. False, and no ticket, when the system refuses the
 * lock. */
bool os_party_join(struct os_party *party, os_mutex *mutex, int file);

/* False: for that many milliseconds it had one holder, which is alive; *turn is that holder's turn. Does not wait where *turn
 * is the turn of an earlier wait that failed, and is still current. */
bool os_mutex_lock(os_mutex *mutex, const struct os_party *party, unsigned milliseconds, uint64_t *turn);
void os_mutex_unlock(os_mutex *mutex, const struct os_party *party);

/* Waits until that turn is over or its holder is dead. False: neither happened within that many milliseconds. */
bool os_mutex_await(os_mutex *mutex, const struct os_party *party, unsigned milliseconds, uint64_t turn);

struct os_holder {
    uint64_t process; /* 0: not known */
    bool elsewhere;   /* in another PID namespace, where it has that number */
};

/* The holder of the mutex in that turn. */
struct os_holder os_mutex_holder(const os_mutex *mutex, const struct os_party *party, uint64_t turn);

#endif
