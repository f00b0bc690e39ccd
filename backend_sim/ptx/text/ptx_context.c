/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "heap.h"

enum { BLOCK = 1 << 16, ALIGN = 16 };

struct ptx_block {
    struct ptx_block *next;
    size_t size;
    _Alignas(ALIGN) unsigned char bytes[];
};

void ptx_context_open(struct ptx_context *context, struct ptx_error *error)
{
    memset(error, 0, sizeof *error);
    context->blocks = NULL;
    context->left = 0;
    context->newest = 0;
    context->error = error;
}

void ptx_context_close(struct ptx_context *context)
{
    while (context->blocks) {
        struct ptx_block *next = context->blocks->next;
        heap.free(context->blocks);
        context->blocks = next;
    }
    context->left = 0;
}

/* At the head of the list, so that the next small pieces come from it, unless it was made for a single large piece. */
static void add_block(struct ptx_context *context, size_t size)
{
    size_t room = size > BLOCK / 4 ? size : BLOCK;
    struct ptx_block *block = heap.malloc(sizeof *block + room);
    if (!block)
        ptx_fail_memory(context);
    block->next = context->blocks;
    block->size = room;
    context->blocks = block;
    context->left = room;
}

void *ptx_alloc(struct ptx_context *context, size_t count, size_t size)
{
    if (count > (SIZE_MAX / 4) / size) /* LCOV_EXCL_BR_LINE: only a text of 4 GiB, or a 32-bit machine, gets here */
        ptx_fail_memory(context);      /* LCOV_EXCL_LINE: as the line above */
    size_t bytes = (count * size + ALIGN - 1) / ALIGN * ALIGN;
    if (bytes > context->left)
        add_block(context, bytes);
    unsigned char *at = context->blocks->bytes + (context->blocks->size - context->left);
    context->left -= bytes;
    memset(at, 0, bytes);
    return at;
}

char *ptx_string(struct ptx_context *context, struct ptx_text text)
{
    char *string = ptx_alloc(context, (size_t)text.length + 1, 1);
    memcpy(string, text.at, text.length);
    return string;
}

void *ptx_more(struct ptx_context *context, void *list, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return list;
    if (*room > UINT32_MAX / 4)   /* LCOV_EXCL_BR_LINE: only such a text gets here */
        ptx_fail_memory(context); /* LCOV_EXCL_LINE: as the line above */
    uint32_t larger = *room ? 2 * *room : 8;
    void *copy = ptx_alloc(context, larger, size);
    if (count)
        memcpy(copy, list, count * size);
    *room = larger;
    return copy;
}

void ptx_fail(struct ptx_context *context, struct ptx_place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context->error->text, sizeof context->error->text, format, arguments);
    va_end(arguments);
    context->error->place = place;
    longjmp(context->fail, 1);
}

void ptx_fail_memory(struct ptx_context *context)
{
    context->error->no_memory = true;
    ptx_fail(context, (struct ptx_place){0, 0}, "the host's memory is exhausted");
}

bool ptx_text_is(struct ptx_text text, const char *string)
{
    return strlen(string) == text.length && memcmp(text.at, string, text.length) == 0;
}

bool ptx_text_same(struct ptx_text a, struct ptx_text b)
{
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}
