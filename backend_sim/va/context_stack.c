/* SPDX-License-Identifier: Apache-2.0 */
#include "context_stack.h"

#include <inttypes.h>
#include <stdlib.h>

#include "checks.h"
#include "context_stack_parts.h"
#include "heap.h"
#include "lifecycle.h"
#include "posix.h"

/* A thread's row, freed when the thread ends. */
struct row {
    struct thread_stack *stacks;
};

LIFE_LOCK(threads, LIFE_THREADS, NULL)
static pthread_key_t key; /* key of the thread's row; created under the lock, never deleted */
static bool keyed;
static _Atomic uint64_t ids;

/* The stacks that the thread used last. The id of a closed process is never looked up again. */
enum { REMEMBERED = 4 };
static _Thread_local struct {
    uint64_t id;
    struct thread_stack *stack;
} remembered[REMEMBERED];

/* Unlinks and frees a stack. Under the lock. */
static void free_stack(struct thread_stack *stack)
{
    *stack->process_link = stack->in_process;
    if (stack->in_process)
        stack->in_process->process_link = stack->process_link;
    *stack->thread_link = stack->in_thread;
    if (stack->in_thread)
        stack->in_thread->thread_link = stack->thread_link;
    heap.free(stack->context);
    heap.free(stack);
}

/* Frees the row of a thread that ends. The destructor of another key may still make calls, which create a new row. */
static void leave(void *value)
{
    struct row *row = value;
    life_acquire(&threads);
    while (row->stacks)
        free_stack(row->stacks);
    life_release(&threads);
    for (int i = 0; i < REMEMBERED; i++)
        remembered[i].id = 0;
    heap.free(row);
}

bool context_stack_init(struct context_stack *current)
{
    life_acquire(&threads);
    if (!keyed)
        keyed = posix.pthread_key_create(&key, leave) == 0;
    bool ok = keyed;
    life_release(&threads);
    *current = (struct context_stack){.id = 1 + atomic_fetch_add(&ids, 1)};
    return ok;
}

void context_stack_clear(struct context_stack *current)
{
    struct row *row = pthread_getspecific(key);
    life_acquire(&threads);
    while (current->stacks)
        free_stack(current->stacks);
    bool empty = row && !row->stacks;
    life_release(&threads);
    if (empty && posix.pthread_setspecific(key, NULL) == 0) /* the main thread runs no key destructors at exit */
        heap.free(row);
}

/* The calling thread's stack, or NULL. */
static struct thread_stack *find(const struct context_stack *current)
{
    struct thread_stack *stack = remembered[current->id % REMEMBERED].stack;
    if (remembered[current->id % REMEMBERED].id == current->id)
        return stack;
    const struct row *row = pthread_getspecific(key);
    life_acquire(&threads); /* another process of the row may be closing concurrently */
    for (stack = row ? row->stacks : NULL; stack && stack->id != current->id; stack = stack->in_thread)
        ;
    life_release(&threads);
    remembered[current->id % REMEMBERED].id = current->id;
    remembered[current->id % REMEMBERED].stack = stack;
    return stack;
}

uint64_t context_stack_get(const struct context_stack *current)
{
    const struct thread_stack *stack = find(current);
    return stack && stack->depth ? stack->context[stack->depth - 1] : 0;
}

/* The thread's row, created on first use. NULL when out of memory. */
static struct row *own_row(void)
{
    struct row *row = pthread_getspecific(key);
    if (row || !(row = heap.calloc(1, sizeof *row)))
        return row;
    if (posix.pthread_setspecific(key, row) != 0) {
        heap.free(row);
        return NULL;
    }
    /* analysers: malloc-leak is wrong: the key owns the row until the thread ends */
    return pthread_getspecific(key);
}

/* The thread's stack, created on first use. NULL when out of memory. */
static struct thread_stack *own(struct context_stack *current)
{
    struct thread_stack *stack = find(current);
    struct row *row = stack ? NULL : own_row();
    if (!row || !(stack = heap.calloc(1, sizeof *stack)))
        return stack;
    stack->id = current->id;
    stack->process_link = &current->stacks;
    stack->thread_link = &row->stacks;
    life_acquire(&threads);
    stack->in_process = current->stacks;
    if (stack->in_process)
        stack->in_process->process_link = &stack->in_process;
    current->stacks = stack;
    stack->in_thread = row->stacks;
    if (stack->in_thread)
        stack->in_thread->thread_link = &stack->in_thread;
    row->stacks = stack;
    life_release(&threads);
    remembered[current->id % REMEMBERED].stack = stack;
    return stack;
}

bool context_stack_ready(struct context_stack *current)
{
    struct thread_stack *stack = own(current);
    if (!stack || stack->depth < stack->room)
        return stack != NULL;
    uint32_t room = stack->room ? 2 * stack->room : 4;
    uint64_t *grown = heap.realloc(stack->context, room * sizeof *grown);
    if (!grown)
        return false;
    stack->context = grown;
    stack->room = room;
    return true;
}

bool context_stack_push(struct context_stack *current, uint64_t context)
{
    /* analysers: malloc-leak is wrong: the thread's row and the process's column own the stack */
    if (!context_stack_ready(current))
        return false;
    struct thread_stack *stack = own(current);
    /* analysers: null-dereference is wrong: context_stack_ready has created the stack */
    stack->context[stack->depth++] = context;
    return true;
}

bool context_stack_set(struct context_stack *current, uint64_t context)
{
    struct thread_stack *stack = find(current);
    if (!context) {
        if (stack && stack->depth)
            stack->depth--;
        return true;
    }
    if (!stack || !stack->depth)
        return context_stack_push(current, context);
    stack->context[stack->depth - 1] = context;
    return true;
}

/* ---- the check ---- */

static const char *check_links(const struct thread_stack *stack)
{
    /* the caller, check_column, checks the link to it */
    if (stack->in_process && stack->in_process->process_link != &stack->in_process)
        return check_say("it is not linked both ways in its process");
    if (*stack->thread_link != stack || (stack->in_thread && stack->in_thread->thread_link != &stack->in_thread))
        return check_say("it is not linked both ways in its thread");
    return NULL;
}

static const char *check_depth(const struct thread_stack *stack)
{
    if (stack->depth > stack->room || !stack->room != !stack->context)
        return check_say("%" PRIu32 " contexts have room for %" PRIu32 "%s", stack->depth, stack->room,
                         stack->context ? "" : " that is not there");
    return NULL;
}

/* Its contexts from one on. */
static const char *check_contexts(const struct thread_stack *stack, uint32_t from, context_stack_given *given, const void *user)
{
    const char *said = check_depth(stack);
    for (uint32_t i = from; i < stack->depth && !said; i++)
        if (!given(user, stack->context[i]))
            said = check_say("context %" PRIu32 " is 0x%" PRIx64 ", which was never given out", i, stack->context[i]);
    return said;
}

/* Each stack has one back link, so a list that contains a stack twice is detected by that link. */
static const char *check_column(const struct context_stack *current, context_stack_given *given, const void *user)
{
    struct thread_stack *const *link = &current->stacks;
    const char *said = NULL;
    for (unsigned i = 0; *link && !said; i++, link = &(*link)->in_process) {
        const struct thread_stack *stack = *link;
        if (stack->id != current->id)
            said = check_say("it is of process %" PRIu64, stack->id);
        else if (stack->process_link != link)
            said = check_say("it is linked back elsewhere in its process");
        else if ((said = check_links(stack)) == NULL)
            said = check_contexts(stack, 0, given, user);
        said = check_in(said, "stack %u of process %" PRIu64, i, current->id);
    }
    return said;
}

/* Checks the calling thread's row. *own: the thread's stack for that process, or NULL. */
static const char *check_row(const struct context_stack *current, const struct thread_stack **own)
{
    const struct row *row = pthread_getspecific(key);
    struct thread_stack *const *link = row ? &row->stacks : NULL;
    for (*own = NULL; link && *link; link = &(*link)->in_thread) {
        if ((*link)->thread_link != link)
            return check_say("a stack of this thread, of process %" PRIu64 ", is linked back elsewhere", (*link)->id);
        if ((*link)->id == current->id && *own)
            return check_say("this thread has two stacks of process %" PRIu64, current->id);
        if ((*link)->id == current->id)
            *own = *link;
    }
    return NULL;
}

static const char *check_own(const struct context_stack *current, context_stack_given *given, const void *user)
{
    const struct thread_stack *own;
    const char *said = check_row(current, &own);
    unsigned place = current->id % REMEMBERED;
    if (!said && remembered[place].id == current->id && remembered[place].stack != own)
        said = check_say("this thread remembers %s stack of process %" PRIu64, remembered[place].stack ? "another" : "no",
                         current->id);
    if (said || !own)
        return said;
    return check_in(check_contexts(own, own->depth ? own->depth - 1 : 0, given, user), "this thread's stack");
}

const char *context_stack_check_own(const struct context_stack *current, context_stack_given *given, const void *user)
{
    life_acquire(&threads);
    const char *said = check_own(current, given, user);
    life_release(&threads);
    return said;
}

const char *context_stack_check(const struct context_stack *current, context_stack_given *given, const void *user)
{
    life_acquire(&threads);
    const char *said = check_column(current, given, user);
    if (!said)
        said = check_own(current, given, user);
    life_release(&threads);
    return said;
}
