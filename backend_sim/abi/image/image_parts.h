/* SPDX-License-Identifier: Apache-2.0 */
/* image_parts.h - the readers of each format, for image.c. */
#ifndef SIM_IMAGE_PARTS_H
#define SIM_IMAGE_PARTS_H

#include <string.h>

#include "image.h"

enum { IMAGE_OTHER, IMAGE_CUBIN, IMAGE_PTX };      /* kinds */
enum { IMAGE_PLAIN, IMAGE_LZ4, IMAGE_ZSTD };       /* packings */
enum { IMAGE_MOST_UNPACKED = 1 << 30 };            /* no entry is larger */

struct image_bytes {
    const unsigned char *at;
    size_t size;
};

/* Are the bytes [offset, offset + length) in range? */
static inline bool image_within(const struct image_bytes *bytes, uint64_t offset, uint64_t length)
{
    return offset <= bytes->size && length <= bytes->size - offset;
}

/* Do the bytes begin with these? Reads no byte after the first mismatch, because it may not exist. */
static inline bool image_begins(const struct image_bytes *bytes, const void *with, size_t length)
{
    size_t same = 0;
    while (same < length && same < bytes->size && bytes->at[same] == ((const unsigned char *)with)[same])
        same++;
    return same == length;
}

static inline uint16_t image_u16(const unsigned char *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t image_u32(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t image_u64(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* A reader's result: read, out of memory, or damaged (`why` says where). */
enum image_read { IMAGE_READ, IMAGE_MEMORY, IMAGE_DAMAGED };

/* An entry of a fat binary, or the image itself. */
struct image_entry {
    struct image_bytes bytes;
    size_t unpacked;
    int kind, packing;
};

/* Does a fat binary's header begin here? */
bool fatbin_is(const struct image_bytes *bytes);
/* The entry that suits the device best, of all or of those of PTX. Returns false if there is none or something is wrong; `why`
 * says what. */
bool fatbin_choose(const struct image_bytes *bytes, int capability, bool ptx_alone, struct image_entry *entry, char why[160]);

bool cubin_is(const struct image_bytes *bytes);
/* The size of a cubin of which only the beginning is known; 0 if it is damaged. */
size_t cubin_size(const struct image_bytes *bytes);
enum image_read cubin_read(const struct image_bytes *bytes, struct image *image);

bool ptx_is(const struct image_bytes *bytes);
/* The bytes before its end, which a zero may mark. */
size_t ptx_size(const struct image_bytes *bytes);
enum image_read ptx_read(const struct image_bytes *bytes, struct image *image);

/* Unpacks LZ4's block format. The number of bytes written; SIZE_MAX if it is damaged or exceeds room. */
size_t lz4_unpack(const struct image_bytes *from, unsigned char *to, size_t room);
/* The same for zstd frames, with the system's libzstd; *missing is set if there is none. */
size_t zstd_unpack(const struct image_bytes *from, unsigned char *to, size_t room, bool *missing);

#endif
