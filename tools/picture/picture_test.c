/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of worlds that no simulator was asked for: every shape, never wider than a page, the rights where they
 * belong. */
#include "picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "tap.h"
#include "text.h"

#define G UINT64_C(0x200000)
#define BASE UINT64_C(0x100000000000)
#define PAGE 96 /* and four of indentation in a script */

static struct picture picture;
static uint64_t state;

static const char *label(void *user, const vmm_object *object, char *buffer, size_t size)
{
    static const char letters[] = "?DRMHACSEBPY";
    (void)user;
    snprintf(buffer, size, "%c%" PRIu32, letters[object->kind], object->number);
    return buffer;
}

static vmm_object *add(vmm_object_kind kind, uint32_t number, uint64_t start, uint64_t size)
{
    if (picture.count == picture.room) {
        picture.room = picture.room ? 2 * picture.room : 64;
        picture.object = text_grow(picture.object, picture.room * sizeof *picture.object);
    }
    vmm_object *o = &picture.object[picture.count++];
    *o = (vmm_object){.kind = kind, .number = number, .start = start, .size = size,
                      .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    return o;
}

static void device(uint64_t ordinal, uint64_t total, uint64_t free_bytes)
{
    add(VMM_OBJECT_DEVICE, 0, total, free_bytes)->value = ordinal;
}

static void handle(uint32_t number, uint64_t size, uint32_t mappings)
{
    vmm_object *o = add(VMM_OBJECT_HANDLE, number, 0, size);
    o->value = 1000 + number;
    o->block = number;
    o->references = 1;
    o->mappings = mappings;
}

static void mapping(uint32_t number, uint64_t start, uint64_t size, uint32_t of)
{
    vmm_object *o = add(VMM_OBJECT_MAPPING, number, start, size);
    o->handle = 1000 + of;
    o->handle_number = of;
}

static char *draw(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        tap_bail("no memory");
    picture_print(out, &picture);
    fclose(out);
    return text;
}

static size_t widest(const char *text)
{
    size_t most = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        most = length > most ? length : most;
        text += length + (text[length] == '\n');
    }
    return most;
}

/* All rows of a bar have their borders in the same columns. */
static bool borders_agree(const char *text)
{
    char above[256] = "";
    bool agree = true;
    for (; *text; text += strcspn(text, "\n") + 1) {
        size_t length = strcspn(text, "\n");
        bool row = strncmp(text, "    dev", 7) == 0 || strncmp(text, "    host", 8) == 0;
        if (row && length < sizeof above)
            for (size_t i = 0; i < length; i++)
                agree &= (text[i] == '|') == (above[i] == '|');
        if (strncmp(text, "    memory", 10) == 0)
            snprintf(above, sizeof above, "%.*s", (int)length, text);
    }
    return agree;
}

static void test_empty(void)
{
    picture.count = 0;
    char *text = draw();
    tap_ok(strstr(text, "addresses") && strstr(text, "physical memory") && strstr(text, "handles") &&
               strstr(text, "  none\n"), "nothing at all");
    free(text);
}

static void test_one(void)
{
    picture.count = 0;
    device(0, 64 * G, 62 * G);
    add(VMM_OBJECT_RESERVATION, 1, BASE, 4 * G);
    mapping(1, BASE, 2 * G, 1);
    handle(1, 2 * G, 1);
    char *text = draw();
    tap_ok(strstr(text, "R1, 8MiB reserved") != NULL, "the reservation and its size");
    tap_ok(strstr(text, " M1: H1 ") != NULL, "the mapping names its handle");
    tap_ok(strstr(text, "[# H1 4MiB #][.... 124MiB free of 128MiB ....]") != NULL, "the memory in use and free");
    tap_ok(strstr(text, "references 1, mappings 1: M1 at R1") != NULL, "the handle's counts and who maps it");
    tap_ok(borders_agree(text), "borders stand under each other");
    free(text);
}

static void test_shapes(void)
{
    picture.count = 0;
    device(0, 64 * G, 60 * G);
    add(VMM_OBJECT_RESERVATION, 1, BASE, 4 * G);
    add(VMM_OBJECT_RESERVATION, 2, BASE + 4 * G, 4 * G);
    add(VMM_OBJECT_RESERVATION, 3, BASE + 64 * G, UINT64_C(1) << 46);
    mapping(1, BASE + 3 * G, 2 * G, 1);
    mapping(2, BASE + 7 * G, 2 * G, 1);
    handle(1, 2 * G, 2);
    char *text = draw();
    tap_ok(strstr(text, " M1: H1> ") && strstr(text, " <M1: H1 "), "a mapping over a seam is marked on both sides");
    tap_ok(strstr(text, "M2> runs 2MiB past the end"), "one that runs past the end is reported");
    tap_ok(strstr(text, "R3, 64TiB reserved"), "a huge reservation");
    tap_ok(borders_agree(text) && widest(text) <= PAGE, "borders agree; the widest line has %zu columns", widest(text));
    free(text);
}

/* What a script indents is taken off. */
static size_t page(void)
{
    return text_columns() - 4;
}

static uint32_t below(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % n;
}

static void random_world(void)
{
    uint32_t maps = 0, handles = 1 + below(40), of[41] = {0};
    uint64_t at = BASE;
    picture.count = 0;
    for (uint32_t d = 0, n = 1 + below(8); d < n; d++)
        device(d, 1 << 30, below(1 << 30));
    size_t first = picture.count;
    for (uint32_t r = 0, n = below(6); r < n; r++) {
        uint64_t size = G * (1 + below(below(2) ? 20 : 1000000));
        add(VMM_OBJECT_RESERVATION, r + 1, at, size);
        at += size + G * below(3);
    }
    size_t last = picture.count;
    for (size_t r = first; r < last; r++) {
        uint64_t start = picture.object[r].start, end = start + picture.object[r].size;
        for (uint64_t p = start + G * below(4); p < end && maps < 200; p += G * (1 + below(9))) {
            uint32_t h = 1 + below(handles);
            mapping(++maps, p, G, h);
            of[h]++;
        }
    }
    for (uint32_t h = 1; h <= handles; h++)
        handle(h, G * (1 + below(100000)), of[h]);
}

static void test_random(uint64_t seed)
{
    size_t widest_line = 0;
    bool agree = true, all = true;
    state = seed;
    unsigned rounds = random_rounds(500);
    for (unsigned round = 0; round < rounds && agree && all && widest_line <= page(); round++) {
        random_world();
        char *text = draw();
        widest_line = widest(text) > widest_line ? widest(text) : widest_line;
        agree = borders_agree(text);
        if (widest(text) > page())
            tap_note("%s", text);
        for (size_t i = 0; i < picture.count; i++) {
            char name[40];
            snprintf(name, sizeof name, "H%" PRIu32 " ", picture.object[i].number);
            all &= picture.object[i].kind != VMM_OBJECT_HANDLE || strstr(text, name);
        }
        free(text);
    }
    tap_ok(agree && all, "%u random worlds: borders agree, every handle is shown (seed %" PRIu64 ")", rounds, seed);
    tap_ok(widest_line <= page(), "none is wider than a page of %zu: %zu columns", page(), widest_line);
}

/* The picture follows the width of what it is shown on. */
static void test_widths(uint64_t seed)
{
    static const size_t widths[] = {60, 61, 72, 80, 132, 200};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        text_set_columns(widths[i]);
        test_random(seed + i);
    }
    text_set_columns(100);
}

int main(void)
{
    const char *seed = getenv("CUVMM_SEED");
    picture.label = label;
    test_empty();
    test_one();
    test_shapes();
    test_random(seed ? strtoull(seed, NULL, 10) : 20264);
    test_widths(seed ? strtoull(seed, NULL, 10) : 20265);
    picture_free(&picture);
    return tap_done();
}
