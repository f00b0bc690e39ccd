/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_context.h - the memory and the first error of an operation on PTX: reading a text, or translating it.
 *
 *     ptx_context_open   ->  [ block ]                        ptx_alloc: of the last block, or of a new one
 *     ptx_fail           ->  error, and a jump back to the start (setjmp of fail); the memory stays until ptx_context_close
 *
 * Code that cannot continue calls ptx_fail or ptx_fail_memory, which do not return; the context
 * owns all memory, so nothing leaks.
 */
#ifndef PTX_CONTEXT_H
#define PTX_CONTEXT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_place {
    uint32_t line, column; /* from 1; 0: no position */
};

struct ptx_error {
    struct ptx_place place;
    bool no_memory;
    bool unsupported; /* it is valid PTX that this simulator does not support */
    bool too_new;     /* its version is newer than the newest supported one */
    char text[240];
};

struct ptx_block;

struct ptx_context {
    struct ptx_block *blocks;
    size_t left; /* bytes of the newest block */
    struct ptx_error *error;
    uint32_t newest; /* PTX version times 10; 0: any */
    jmp_buf fail;
};

/* Bytes of the text; not terminated. */
struct ptx_text {
    const char *at;
    uint32_t length;
};

void ptx_context_open(struct ptx_context *context, struct ptx_error *error);
void ptx_context_close(struct ptx_context *context);

/* Zeroed memory that stays until the context is closed. */
void *ptx_alloc(struct ptx_context *context, size_t count, size_t size);

/* The text as a string. */
char *ptx_string(struct ptx_context *context, struct ptx_text text);

/* Makes room for one more element of size bytes in a list of count elements, of which *room are allocated; the list doubles. */
void *ptx_more(struct ptx_context *context, void *list, uint32_t count, uint32_t *room, size_t size);

_Noreturn void ptx_fail(struct ptx_context *context, struct ptx_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void ptx_fail_memory(struct ptx_context *context);

bool ptx_text_is(struct ptx_text text, const char *string);
bool ptx_text_same(struct ptx_text a, struct ptx_text b);

/* How many bytes of a text a message shows. */
static inline int ptx_shown(struct ptx_text text)
{
    return text.length < 80 ? (int)text.length : 80;
}

/* For %.*s. */
#define PTX_TEXT(text) ptx_shown(text), (text).at

#endif
