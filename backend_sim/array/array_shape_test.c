/* SPDX-License-Identifier: Apache-2.0 */
/* array_shape: which formats arrays have, of how many channels, and what an element or a block of each takes: from the formats' own
 * definitions, for every number that a format could have. */
#include "array_shape.h"
#include "tap.h"

/* Bits of an element with so many channels; 0: the format has no such elements. */
static unsigned bits_of(unsigned format, unsigned channels)
{
    const bool many = channels == 1 || channels == 2 || channels == 4;
    if (format == 0x01 || format == 0x08) /* 8-bit integers */
        return many ? 8 * channels : 0;
    if (format == 0x02 || format == 0x09 || format == 0x10) /* 16-bit integers and halves */
        return many ? 16 * channels : 0;
    if (format == 0x03 || format == 0x0a || format == 0x20) /* 32-bit integers and floats */
        return many ? 32 * channels : 0;
    if (format == 0x50)
        return channels == 4 ? 10 + 10 + 10 + 2 : 0;
    if (format >= 0xc0 && format <= 0xcb) { /* normalised: 8 and 16 bits, unsigned and signed, of 1, 2 and 4 channels each */
        const unsigned width = (format - 0xc0) / 3 % 2 ? 16 : 8;
        return channels == 1u << (format - 0xc0) % 3 ? width * channels : 0;
    }
    return 0;
}

/* Bytes of a block of 4 x 4 elements: BC1 and BC4 have 64 bits, the others 128. 0: no such format. */
static unsigned block_of(unsigned format, unsigned channels)
{
    static const unsigned kinds[] = {4, 4, 4, 1, 2, 3, 4}; /* channels of BC1 to BC7, two formats each */
    if (format < 0x91 || format > 0x9e)
        return 0;
    const unsigned kind = (format - 0x91) / 2;
    return channels != kinds[kind] ? 0 : kind == 0 || kind == 3 ? 8 : 16;
}

int main(void)
{
    for (unsigned format = 0; format < 0x200; format++) {
        unsigned wrong = 0, known = 0;
        for (unsigned channels = 0; channels <= 8; channels++) {
            const unsigned block = block_of(format, channels), bytes = block ? block : bits_of(format, channels) / 8, side = block ? 4 : 1;
            const struct array_block is = array_block_of((vmm_array_format)format, channels);
            wrong += is.bytes != bytes || is.width != side || is.height != side;
            known += bytes != 0;
        }
        tap_ok(!wrong, "format 0x%x: %u numbers of channels", format, known);
    }
    const uint64_t high = UINT64_C(5) << 32;
    const vmm_array3d_descriptor asked = {.width = high + 1, .height = high + 2, .depth = high + 3}, is = array_taken(&asked);
    tap_ok(is.width == 1 && is.height == 2 && is.depth == 3, "of each side 32 bits count: %llu, %llu, %llu", (unsigned long long)is.width,
           (unsigned long long)is.height, (unsigned long long)is.depth);
    return tap_done();
}
