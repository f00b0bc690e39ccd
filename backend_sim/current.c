#include "current.h"

#include <stdlib.h>

struct current_stack {
    struct current *owner;
    struct current_stack *previous, *next;
    uint64_t *context;
    uint32_t depth, room;
};

static void free_stack(struct current_stack *stack)
{
    free(stack->context);
    free(stack);
}

/* A thread ends. */
static void leave(void *value)
{
    struct current_stack *stack = value;
    struct current *current = stack->owner;
    pthread_mutex_lock(current->lock);
    if (stack->previous)
        stack->previous->next = stack->next;
    else
        current->stacks = stack->next;
    if (stack->next)
        stack->next->previous = stack->previous;
    pthread_mutex_unlock(current->lock);
    free_stack(stack);
}

bool current_init(struct current *current, pthread_mutex_t *lock)
{
    current->lock = lock;
    current->stacks = NULL;
    return pthread_key_create(&current->key, leave) == 0;
}

void current_clear(struct current *current)
{
    pthread_key_delete(current->key);
    while (current->stacks) {
        struct current_stack *next = current->stacks->next;
        free_stack(current->stacks);
        current->stacks = next;
    }
}

uint64_t current_get(const struct current *current)
{
    const struct current_stack *stack = pthread_getspecific(current->key);
    return stack && stack->depth ? stack->context[stack->depth - 1] : 0;
}

/* The thread's stack, made on first use. */
static struct current_stack *own(struct current *current)
{
    struct current_stack *stack = pthread_getspecific(current->key);
    if (stack)
        return stack;
    stack = calloc(1, sizeof *stack);
    if (!stack || pthread_setspecific(current->key, stack) != 0) {
        free(stack);
        return NULL;
    }
    stack->owner = current;
    stack->next = current->stacks;
    if (stack->next)
        stack->next->previous = stack;
    current->stacks = stack;
    return stack;
}

bool current_ready(struct current *current)
{
    struct current_stack *stack = own(current);
    if (!stack || stack->depth < stack->room)
        return stack != NULL;
    uint32_t room = stack->room ? 2 * stack->room : 4;
    uint64_t *grown = realloc(stack->context, room * sizeof *grown);
    if (!grown)
        return false;
    stack->context = grown;
    stack->room = room;
    return true;
}

bool current_push(struct current *current, uint64_t context)
{
    if (!current_ready(current))
        return false;
    struct current_stack *stack = own(current);
    /* analysers: null-dereference is wrong: it is ready, so it is there */
    stack->context[stack->depth++] = context;
    return true;
}

bool current_set(struct current *current, uint64_t context)
{
    struct current_stack *stack = pthread_getspecific(current->key);
    if (!context) {
        if (stack && stack->depth)
            stack->depth--;
        return true;
    }
    if (!stack || !stack->depth)
        return current_push(current, context);
    stack->context[stack->depth - 1] = context;
    return true;
}
