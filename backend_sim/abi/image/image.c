/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include <stdio.h>

#include "fnv.h"
#include "heap.h"
#include "image_parts.h"

static const uint32_t WRAPPER_MAGIC = 0x466243b1; /* __fatBinC_Wrapper_t of the toolkit's fatbinary_section.h */
enum { WRAPPER_DATA = 8 };

/* A wrapper, which exists only in memory and never in a file, points to its fat binary. */
static struct image_bytes unwrapped(const void *at, size_t size)
{
    struct image_bytes bytes = {at, size};
    const void *data;
    if (size == IMAGE_ANY_SIZE && image_begins(&bytes, &WRAPPER_MAGIC, sizeof WRAPPER_MAGIC)) {
        memcpy(&data, bytes.at + WRAPPER_DATA, sizeof data);
        bytes.at = data;
    }
    return bytes;
}

bool image_is(const void *at, size_t size)
{
    const struct image_bytes bytes = {at, size};
    return fatbin_is(&bytes) || cubin_is(&bytes) || ptx_is(&bytes);
}

/* The entry to read. Returns false if there is none; the image records why. */
static bool find_entry(struct image *image, const struct image_bytes *bytes, int capability, struct image_entry *entry)
{
    *entry = (struct image_entry){.bytes = *bytes};
    if (fatbin_is(bytes)) {
        if (!fatbin_choose(bytes, capability, false, entry, image->why))
            return false;
    } else if (cubin_is(bytes)) {
        entry->kind = IMAGE_CUBIN;
        entry->bytes.size = cubin_size(bytes);
        snprintf(image->why, sizeof image->why, "the cubin is damaged: its sections lie outside it");
        return entry->bytes.size != 0;
    } else if (ptx_is(bytes)) {
        entry->kind = IMAGE_PTX;
        entry->bytes.size = ptx_size(bytes);
    }
    snprintf(image->why, sizeof image->why, "it is not a fat binary, cubin or PTX");
    return entry->kind != IMAGE_OTHER;
}

/* Copies the bytes of an entry. */
static bool keep(struct image_packed *packed, const struct image_entry *entry)
{
    *packed = (struct image_packed){heap.malloc(entry->bytes.size + 1), entry->bytes.size, entry->unpacked, entry->packing};
    if (packed->bytes)
        memcpy(packed->bytes, entry->bytes.at, entry->bytes.size);
    return packed->bytes != NULL;
}

struct image *image_new(const void *at, size_t size, int capability)
{
    struct image *image = heap.calloc(1, sizeof *image);
    const struct image_bytes bytes = unwrapped(at, size);
    struct image_entry entry;
    if (!image || !find_entry(image, &bytes, capability, &entry))
        return image;
    bool kept = keep(&image->code, &entry);
    image->kind = entry.kind;
    image->alone = entry.kind == IMAGE_PTX && !fatbin_is(&bytes);
    if (kept && entry.kind == IMAGE_CUBIN && fatbin_is(&bytes) && fatbin_choose(&bytes, capability, true, &entry, image->why))
        kept = keep(&image->ptx, &entry);
    image->why[0] = '\0';
    if (kept)
        return image;
    image_free(image);
    return NULL;
}

/* ---- reading ---- */

static void drop_bytes(struct image_packed *packed)
{
    heap.free(packed->bytes);
    packed->bytes = NULL;
}

static void drop_lists(struct image *image)
{
    heap.free(image->kernel);
    heap.free(image->variable);
    heap.free(image->params);
    heap.free(image->text);
    heap.free(image->place);
    image->kernel = NULL;
    image->variable = NULL;
    image->params = NULL;
    image->text = NULL;
    image->place = NULL;
    image->kernels = image->variables = 0;
}

static enum image_read refuse_packed(struct image *image, bool missing)
{
    snprintf(image->why, sizeof image->why,
             missing ? "its entry is packed with zstd, and the system has no libzstd.so.1: install it (Debian: libzstd1)"
                     : "the fat binary is damaged: an entry cannot be unpacked");
    return IMAGE_DAMAGED;
}

/* Replaces the packed bytes by the unpacked ones. */
static enum image_read unpack(struct image *image, struct image_packed *packed)
{
    const struct image_bytes from = {packed->bytes, packed->size};
    bool missing = false;
    if (!packed->bytes || packed->packing == IMAGE_PLAIN)
        return IMAGE_READ;
    if (packed->unpacked > IMAGE_MOST_UNPACKED)
        return refuse_packed(image, false);
    unsigned char *to = heap.malloc(packed->unpacked + 1);
    if (!to)
        return IMAGE_MEMORY;
    size_t size = packed->packing == IMAGE_LZ4 ? lz4_unpack(&from, to, packed->unpacked)
                                               : zstd_unpack(&from, to, packed->unpacked, &missing);
    if (size == SIZE_MAX) {
        heap.free(to);
        return refuse_packed(image, missing);
    }
    heap.free(packed->bytes);
    *packed = (struct image_packed){to, size, size, IMAGE_PLAIN};
    return IMAGE_READ;
}

/* The text of the PTX next to a cubin, or from which the kernels were read. A text that cannot be unpacked counts as missing.
 * False: memory is out. */
static bool take_ptx(struct image *image)
{
    if (image->kind == IMAGE_PTX && image->code.packing == IMAGE_PLAIN) {
        image->ptx = image->code;
        image->code.bytes = NULL;
    }
    enum image_read result = unpack(image, &image->ptx);
    const struct image_bytes bytes = {image->ptx.bytes, image->ptx.size};
    if (result == IMAGE_READ && image->ptx.bytes) {
        image->ptx.size = ptx_size(&bytes);
        if (ptx_is(&bytes))
            return true;
    }
    if (result != IMAGE_MEMORY)
        drop_bytes(&image->ptx);
    return result != IMAGE_MEMORY;
}

bool image_is_text(const struct image *image)
{
    return image->alone;
}

const char *image_ptx(const struct image *image, size_t *size)
{
    *size = image->ptx.size;
    return (const char *)image->ptx.bytes;
}

void image_drop_ptx(struct image *image)
{
    drop_bytes(&image->ptx);
}

static size_t hash(const char *name)
{
    return fnv1a(FNV1A, name, strlen(name));
}

/* Of equal names the first is found. `place` holds the index plus 1; 0 means free. */
static bool index_names(struct image *image)
{
    size_t places = 4;
    while (places < 2 * (size_t)image->kernels)
        places *= 2;
    image->place = heap.calloc(places, sizeof *image->place);
    image->places = places;
    for (unsigned i = 0; image->place && i < image->kernels; i++) {
        size_t at = hash(image->kernel[i].name) & (places - 1);
        while (image->place[at])
            at = (at + 1) & (places - 1);
        image->place[at] = i + 1;
    }
    return image->place != NULL;
}

bool image_read(struct image *image)
{
    if (image->read || !image->code.bytes)
        return true;
    enum image_read result = unpack(image, &image->code);
    const struct image_bytes bytes = {image->code.bytes, image->code.size};
    if (result == IMAGE_READ && image->kind == IMAGE_CUBIN && !cubin_is(&bytes)) {
        snprintf(image->why, sizeof image->why, "the fat binary is damaged: an entry is not a cubin");
        result = IMAGE_DAMAGED;
    }
    if (result == IMAGE_READ)
        result = image->kind == IMAGE_PTX ? ptx_read(&bytes, image) : cubin_read(&bytes, image);
    if (result == IMAGE_READ && !index_names(image))
        result = IMAGE_MEMORY;
    if (result == IMAGE_READ)
        image->why[0] = '\0';
    if (result == IMAGE_READ && !take_ptx(image))
        result = IMAGE_MEMORY;
    if (result != IMAGE_READ)
        drop_lists(image);
    if (result == IMAGE_MEMORY)
        return false; /* and is read again by the next call */
    drop_bytes(&image->code);
    image->read = true;
    return true;
}

void image_free(struct image *image)
{
    if (!image)
        return;
    drop_lists(image);
    drop_bytes(&image->code);
    drop_bytes(&image->ptx);
    heap.free(image);
}

/* ---- names ---- */

long image_kernel_named(const struct image *image, const char *name)
{
    if (!image->place)
        return -1;
    size_t at = hash(name) & (image->places - 1);
    while (image->place[at] && strcmp(image->kernel[image->place[at] - 1].name, name) != 0)
        at = (at + 1) & (image->places - 1);
    return (long)image->place[at] - 1;
}

const struct image_variable *image_variable_named(const struct image *image, const char *name)
{
    for (unsigned i = 0; i < image->variables; i++)
        if (strcmp(image->variable[i].name, name) == 0)
            return &image->variable[i];
    return NULL;
}

const char *image_why(const struct image *image)
{
    return image->why;
}
