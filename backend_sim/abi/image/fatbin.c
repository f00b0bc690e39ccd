/* SPDX-License-Identifier: Apache-2.0 */
/* Fat binaries. One header, then entries, each with a header of its own:
 *
 *     [ magic, version, 16, bytes that follow ] [ kind, ..., 64 or more, bytes | packed | ... | architecture | flags | unpacked ]
 *                                                 PTX or cubin                                                  its bytes ...
 */
#include <stdio.h>

#include "image_parts.h"

enum { HEADER = 16, ENTRY = 64, KIND_PTX = 1, KIND_CUBIN = 2 };
enum { AT_KIND = 0, AT_HEADER = 4, AT_SIZE = 8, AT_PACKED = 16, AT_ARCHITECTURE = 28, AT_FLAGS = 40, AT_UNPACKED = 56 };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, FLAG_SPECIFIC = 0x100000, FLAG_FAMILY = 0x200000 };
static const uint32_t MAGIC = 0xba55ed50;

bool fatbin_is(const struct image_bytes *bytes)
{
    return image_begins(bytes, &MAGIC, sizeof MAGIC) && image_within(bytes, 0, HEADER);
}

/* How well code for an architecture suits a device: 0 not at all. A cubin runs on devices of the same major version that are
 * not older, PTX on all devices that are not older; code for a single architecture ("sm_90a") runs only on that one,
 * code for a family ("sm_100f") on the same major version. */
static int suits(unsigned kind, int architecture, uint64_t flags, int capability)
{
    bool cubin = kind == KIND_CUBIN;
    if ((!cubin && kind != KIND_PTX) || architecture <= 0 || architecture > capability)
        return 0;
    if ((cubin || (flags & FLAG_FAMILY)) && architecture / 10 != capability / 10)
        return 0;
    if ((flags & FLAG_SPECIFIC) && architecture != capability)
        return 0;
    return architecture * 8 + (cubin ? 1 << 16 : 0) + ((flags & FLAG_SPECIFIC) ? 2 : (flags & FLAG_FAMILY) ? 1 : 0);
}

static void take(const unsigned char *header, const struct image_bytes *data, struct image_entry *entry)
{
    uint64_t flags = image_u64(header + AT_FLAGS), unpacked = image_u64(header + AT_UNPACKED);
    uint32_t packed = image_u32(header + AT_PACKED);
    *entry = (struct image_entry){.bytes = *data, .kind = image_u16(header) == KIND_PTX ? IMAGE_PTX : IMAGE_CUBIN};
    if (!(flags & (FLAG_LZ4 | FLAG_ZSTD)))
        return;
    entry->packing = flags & FLAG_ZSTD ? IMAGE_ZSTD : IMAGE_LZ4;
    entry->unpacked = unpacked;
    if (packed && packed <= data->size)
        entry->bytes.size = packed; /* the rest fills it up to a multiple of 8 */
}

/* "sm_75, compute_80": the available entries, for the message. */
static void list(char *text, size_t size, unsigned kind, int architecture)
{
    char name[24];
    size_t length = strlen(text);
    snprintf(name, sizeof name, "%s_%d", kind == KIND_PTX ? "compute" : "sm", architecture);
    if (!strstr(text, name))
        snprintf(text + length, size - length, "%s%s", length ? ", " : "", name);
}

bool fatbin_choose(const struct image_bytes *bytes, int capability, bool ptx_alone, struct image_entry *entry, char why[160])
{
    char there[80] = "";
    int best = 0;
    uint64_t at = image_u16(bytes->at + 6), end = at + image_u64(bytes->at + 8);
    if (at < HEADER || end < at || !image_within(bytes, 0, end)) {
        snprintf(why, 160, "the fat binary is damaged: its header names %llu bytes", (unsigned long long)end);
        return false;
    }
    struct image_bytes all = {bytes->at, end};
    while (at < end) {
        const unsigned char *header = bytes->at + at;
        uint32_t length = image_within(&all, at, ENTRY) ? image_u32(header + AT_HEADER) : 0;
        uint64_t size = length ? image_u64(header + AT_SIZE) : 0;
        if (length < ENTRY || !image_within(&all, at, length) || !image_within(&all, at + length, size)) {
            snprintf(why, 160, "the fat binary is damaged: the entry at %llu ends beyond it", (unsigned long long)at);
            return false;
        }
        const struct image_bytes data = {header + length, size};
        unsigned kind = image_u16(header);
        int architecture = (int)(image_u32(header + AT_ARCHITECTURE) & 0xffff);
        int suited = ptx_alone && kind != KIND_PTX ? 0 : suits(kind, architecture, image_u64(header + AT_FLAGS), capability);
        if (suited > best)
            take(header, &data, entry);
        best = suited > best ? suited : best;
        list(there, sizeof there, kind, architecture);
        at += length + size;
    }
    if (!best)
        snprintf(why, 160, "the fat binary has nothing for this device, which is sm_%d: %s", capability,
                 there[0] ? there : "it is empty");
    return best != 0;
}
