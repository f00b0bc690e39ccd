/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "os_own.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heap.h"
#include "lifecycle.h"
#include "posix.h"

enum { PLACES = 62 };

/* Lists only grow, and a single store claims or releases an entry, so a child sees a whole list whenever it was forked. */
struct list {
    _Atomic(struct os_own *) place[PLACES];
    _Atomic(struct list *) next;
};

static struct list first;

/* Maps zeros over the mapping: reads there find no state, and do not fault. */
static void lose(struct os_own *own)
{
    if (*own->file >= 0)
        close(*own->file);
    *own->file = -1;
    if (own->memory)
        posix.mmap(own->memory, (size_t)own->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void os_own_lose(void)
{
    for (struct list *list = &first; list; list = atomic_load(&list->next))
        for (int i = 0; i < PLACES; i++) {
            struct os_own *own = atomic_load(&list->place[i]);
            if (own)
                lose(own);
        }
}

static bool add_to(struct list *list, struct os_own *own)
{
    for (int i = 0; i < PLACES; i++) {
        struct os_own *none = NULL;
        if (atomic_compare_exchange_strong(&list->place[i], &none, own))
            return true;
    }
    return false;
}

/* The list after this one, created if necessary. */
static struct list *after(struct list *list)
{
    struct list *next = atomic_load(&list->next), *made = next ? NULL : heap.calloc(1, sizeof *made);
    if (made && !atomic_compare_exchange_strong(&list->next, &next, made)) /* LCOV_EXCL_BR_LINE: another thread was faster */
        heap.free(made); /* LCOV_EXCL_LINE: the same, which no test can force */
    return made && !next ? made : next; /* LCOV_EXCL_BR_LINE: the same */
}

bool os_own_add(struct os_own *own)
{
    life_stamp(); /* a child first loses its parent's resources before it adds to the list */
    struct list *list = &first;
    while (list && !add_to(list, own))
        list = after(list);
    return list != NULL;
}

void os_own_remove(const struct os_own *own)
{
    for (struct list *list = &first; list; list = atomic_load(&list->next))
        for (int i = 0; i < PLACES; i++)
            if (atomic_load(&list->place[i]) == own)
                atomic_store(&list->place[i], NULL);
}
