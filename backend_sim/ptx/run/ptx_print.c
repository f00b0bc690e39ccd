/* SPDX-License-Identifier: Apache-2.0 */
/* printf of device code. The arguments lie one after the other, each at a multiple of its size; integers of fewer than 32 bits and
 * floats were widened by the compiler. Conversions that only the host knows are printed unchanged. */
#include <stdio.h>
#include <string.h>

#include "ptx_calls.h"
#include "ptx_grid.h"
#include "ptx_memory.h"

enum { TEXT_MOST = 4096, FLAGS_MOST = 24 };

struct print {
    struct ptx_warp *warp;
    unsigned lane;
    uint64_t arguments;
    bool failed;
};

static const struct ptx_op reads = {.step = STEP_LD, .more = PTX_M_GENERIC};

bool ptx_read_string(struct ptx_warp *warp, unsigned lane, uint64_t at, char *text, size_t size)
{
    size_t length = 0;
    for (; length + 1 < size; length++) {
        const unsigned char *byte = ptx_reach_lane(warp, &reads, lane, at + length, 1, TWIN_READ);
        if (!byte)
            return false;
        text[length] = (char)*byte;
        if (!*byte)
            return true;
    }
    text[length] = '\0';
    return true;
}

static uint64_t argument(struct print *p, unsigned size)
{
    uint64_t value = 0;
    p->arguments = (p->arguments + size - 1) / size * size;
    const unsigned char *at = ptx_reach_lane(p->warp, &reads, p->lane, p->arguments, size, TWIN_READ);
    p->arguments += size;
    if (at)
        memcpy(&value, at, size);
    else
        p->failed = true;
    return value;
}

/* A conversion without its letter: flags, width, precision, length of the argument. */
struct conversion {
    char flags[FLAGS_MOST]; /* without the lengths */
    bool is_long;
    unsigned stars;
    bool is_byte; /* hh, which a device prints instead of interpreting */
    char letter;
};

/* Parses the format after the %, up to the conversion's letter; NULL: a device does not support it. */
static const char *parse(struct print *p, const char *at, struct conversion *c)
{
    size_t length = 0;
    c->stars = 0;
    c->is_long = c->is_byte = false;
    c->flags[length++] = '%';
    for (; *at && strchr("-+ #0123456789.*", *at); at++) {
        if (*at == '*') {
            c->stars++;
            int width = (int)(uint32_t)argument(p, 4);
            length += (size_t)snprintf(c->flags + length, sizeof c->flags - length, "%d", width < -999 ? -999 : width > 999 ? 999 : width);
        } else {
            c->flags[length++] = *at;
        }
        if (length > FLAGS_MOST - 8)
            return NULL;
    }
    for (; *at && strchr("hlL", *at); at++) {
        c->is_byte = c->is_byte || (*at == 'h' && at[1] == 'h');
        c->is_long = c->is_long || *at != 'h';
    }
    c->flags[length] = '\0';
    c->letter = *at;
    return *at && strchr("diouxXcsaAeEfFgGp", *at) ? at + 1 : NULL;
}

static int print_string(struct print *p, const struct conversion *c, char *to, size_t room)
{
    char text[TEXT_MOST], format[FLAGS_MOST + 2];
    uint64_t at = argument(p, 8);
    if (!p->failed && !ptx_read_string(p->warp, p->lane, at, text, sizeof text))
        p->failed = true;
    if (p->failed)
        return 0;
    snprintf(format, sizeof format, "%ss", c->flags);
    return snprintf(to, room, format, text);
}

static int print_one(struct print *p, const struct conversion *c, char *to, size_t room)
{
    char format[FLAGS_MOST + 8];
    double real;
    if (c->letter == 's')
        return print_string(p, c, to, room);
    if (strchr("aAeEfFgG", c->letter)) {
        uint64_t bits = argument(p, 8);
        memcpy(&real, &bits, sizeof real);
        snprintf(format, sizeof format, "%s%c", c->flags, c->letter);
        return snprintf(to, room, format, real);
    }
    if (c->letter == 'p' || c->is_long) {
        snprintf(format, sizeof format, c->letter == 'p' ? "0x%sllx" : "%sll%c", c->letter == 'p' ? "%" : c->flags, c->letter);
        return snprintf(to, room, format, (unsigned long long)argument(p, 8));
    }
    snprintf(format, sizeof format, "%s%c", c->flags, c->letter);
    return snprintf(to, room, format, (unsigned)argument(p, 4));
}

/* Formats the text; returns the number of arguments. */
static uint32_t build(struct print *p, const char *format, char *text, size_t size)
{
    uint32_t count = 0;
    size_t length = 0;
    while (*format && length + 1 < size && !p->failed) {
        struct conversion c;
        const char *next;
        if (*format != '%' || format[1] == '%') {
            text[length++] = *format;
            format += *format == '%' ? 2 : 1;
        } else if ((next = parse(p, format + 1, &c)) != NULL) {
            int added = print_one(p, &c, text + length, size - length);
            length += added < 0 ? 0 : (size_t)added < size - length ? (size_t)added : size - length - 1;
            format = next;
            count += c.stars + !c.is_byte;
        } else {
            text[length++] = *format++;
        }
    }
    text[length] = '\0';
    return count;
}

bool ptx_print(struct ptx_warp *warp, unsigned lane, uint64_t format_at, uint64_t arguments, uint32_t *printed)
{
    struct print p = {warp, lane, arguments, false};
    char format[TEXT_MOST], text[TEXT_MOST];
    if (!ptx_read_string(warp, lane, format_at, format, sizeof format))
        return false;
    *printed = build(&p, format, text, sizeof text);
    if (p.failed)
        return false;
    if (!warp->block->grid->memory->dry) {
        ptx_grid_lock(warp->block->grid);
        fputs(text, stdout);
        ptx_grid_unlock(warp->block->grid);
    }
    return true;
}
