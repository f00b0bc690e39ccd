/* SPDX-License-Identifier: Apache-2.0 */
#include "marks.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "fnv.h"
#include "heap.h"

static _Atomic(char *) kept[2 * MARKS_MOST]; /* by the hash of the text; half of it stays free */
static _Atomic unsigned count;
static _Atomic(const char *) now;
static _Atomic unsigned phases;
static const char others[] = "(a mark after 4096 different ones)";
_Static_assert(MARKS_MOST == 4096, "as the text says");

/* The length of the text that is kept, so that no UTF-8 character (of at most four bytes) is cut in two. */
static size_t length_of(const char *text)
{
    size_t length = strnlen(text, MARKS_TEXT + 1);
    if (length <= MARKS_TEXT)
        return length;
    for (length = MARKS_TEXT; length > MARKS_TEXT - 4 && ((unsigned char)text[length] & 0xC0) == 0x80;)
        length--;
    return length;
}

static char *copy_of(const char *text, size_t length)
{
    char *copy = heap.malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

/* The equal text that is kept already, or a new one. Another thread may keep the same text first. */
static const char *keep(const char *text, size_t length)
{
    enum { ROOM = sizeof kept / sizeof kept[0] };
    uint64_t hash = fnv1a(FNV1A, text, length);
    char *copy = NULL;
    for (size_t i = 0; i < ROOM; i++) { /* LCOV_EXCL_BR_LINE: half of the slots are free */
        _Atomic(char *) *slot = &kept[(hash + i) % ROOM];
        char *found = atomic_load(slot);
        if (!found) {
            if (!copy && ( /* LCOV_EXCL_BR_LINE: another thread has taken a slot since the copy was made */
                atomic_load(&count) >= MARKS_MOST || !(copy = copy_of(text, length))))
                return others;
            if (atomic_compare_exchange_strong(slot, &found, copy)) { /* LCOV_EXCL_BR_LINE: another thread was quicker */
                atomic_fetch_add(&count, 1);
                return copy;
            }
        }
        if (strlen(found) == length && memcmp(found, text, length) == 0) {
            heap.free(copy);
            return found;
        }
    }
    return others; /* LCOV_EXCL_LINE: half of the slots are free */
}

const char *marks_set(const char *text)
{
    const char *mark = text && text[0] ? keep(text, length_of(text)) : NULL;
    atomic_store(&now, mark);
    return mark;
}

const char *marks_now(void)
{
    return atomic_load(&now);
}

const char *marks_begin_phase(const char *text)
{
    atomic_fetch_add(&phases, 1);
    return marks_set(text);
}

unsigned marks_phases(void)
{
    return atomic_load(&phases);
}
