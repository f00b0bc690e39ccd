/* SPDX-License-Identifier: Apache-2.0 */
/* LZ4's block format (github.com/lz4/lz4, doc/lz4_Block_format.md). A block is sequences, each of them
 *
 *     [ token | more length | literals | offset, 2 bytes | more length ]     the last one ends after its literals
 *        4 bits: literals, 4 bits: match - 4; 15: add the bytes that follow, up to one that is not 255
 */
#include "image_parts.h"

enum { SHORT = 15, LEAST_MATCH = 4 };

/* Adds the bytes of a length. False at the end of the input. */
static bool add_length(const struct image_bytes *from, size_t *at, size_t *length)
{
    unsigned char byte;
    if (*length != SHORT)
        return true;
    do {
        if (*at == from->size)
            return false;
        byte = from->at[(*at)++];
        *length += byte;
    } while (byte == 255);
    return true;
}

static bool copy_literals(const struct image_bytes *from, size_t *at, size_t length, unsigned char *to, size_t room, size_t *done)
{
    if (length > from->size - *at || length > room - *done)
        return false;
    memcpy(to + *done, from->at + *at, length);
    *at += length;
    *done += length;
    return true;
}

/* A match may overlap its own output, so it is copied byte by byte. */
static bool copy_match(unsigned char *to, size_t room, size_t *done, size_t offset, size_t length)
{
    if (!offset || offset > *done || length > room - *done)
        return false;
    for (size_t i = 0; i < length; i++, ++*done)
        to[*done] = to[*done - offset];
    return true;
}

size_t lz4_unpack(const struct image_bytes *from, unsigned char *to, size_t room)
{
    size_t at = 0, done = 0;
    while (at < from->size) {
        unsigned char token = from->at[at++];
        size_t literals = token >> 4, match = token & SHORT;
        if (!add_length(from, &at, &literals) || !copy_literals(from, &at, literals, to, room, &done))
            return SIZE_MAX;
        if (at == from->size)
            return done;
        if (from->size - at < 2)
            return SIZE_MAX;
        size_t offset = image_u16(from->at + at);
        at += 2;
        if (!add_length(from, &at, &match) || !copy_match(to, room, &done, offset, match + LEAST_MATCH))
            return SIZE_MAX;
    }
    return SIZE_MAX; /* the last sequence has no match */
}
