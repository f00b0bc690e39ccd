/* SPDX-License-Identifier: Apache-2.0 */
/* heap.h - the allocator of every library here: heap.malloc(size), heap.free(memory) and so on.
 *
 *   library   heap --> the C library's functions       heap.c, constant: nothing replaces them at run time
 *   test      heap --> fault injection --> the same    backend_sim/testing/inject_rig.h, which the linker takes in heap.c's place
 *
 * The functions are those of C and POSIX. A direct call would be an allocation that no test can make fail; ci/requests_test.sh
 * finds such calls.
 */
#ifndef VMM_HEAP_H
#define VMM_HEAP_H

#include <stddef.h>

struct heap {
    void *(*malloc)(size_t size);
    void *(*calloc)(size_t count, size_t size);
    void *(*realloc)(void *memory, size_t size);
    void (*free)(void *memory);
    char *(*strdup)(const char *text);
    char *(*strndup)(const char *text, size_t length);
};
extern const struct heap heap;

/* Reallocates an array with room for twice as many elements, or for `first` if it had none. Returns NULL, with nothing
 * changed, when memory is exhausted. */
static inline void *heap_grow(void *array, size_t *room, size_t first, size_t element)
{
    size_t more = *room ? 2 * *room : first;
    void *grown = heap.realloc(array, more * element);
    if (grown)
        *room = more;
    return grown;
}

#endif
