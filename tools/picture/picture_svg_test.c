/* SPDX-License-Identifier: Apache-2.0 */
/* The drawing of a state in SVG: every object is in it, or drawn with others; nothing leaves its width; what is new, gone and in the way is
 * marked; and it is well formed, whatever a name is. Worlds that no simulator was asked for, also at random: CUVMM_SEED. */
#include "picture_svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "tap.h"
#include "text.h"

#define G UINT64_C(0x200000)
#define BASE UINT64_C(0x302000000)

static const char *odd_name; /* of handles, in place of their own */

static const char *label(void *user, const vmm_object *object, char *buffer, size_t size)
{
    static const char letters[] = "?DRMHACSEBPY";
    (void)user;
    if (odd_name && object->kind == VMM_OBJECT_HANDLE)
        snprintf(buffer, size, "%s", odd_name);
    else
        snprintf(buffer, size, "%c%" PRIu32, letters[object->kind], object->number);
    return buffer;
}

static vmm_object *add(struct picture *picture, vmm_object_kind kind, uint32_t number, uint64_t start, uint64_t size)
{
    if (picture->count == picture->room) {
        picture->room = picture->room ? 2 * picture->room : 64;
        picture->object = text_grow(picture->object, picture->room * sizeof *picture->object);
    }
    vmm_object *o = &picture->object[picture->count++];
    picture->label = label;
    *o = (vmm_object){.kind = kind, .number = number, .start = start, .size = size, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    return o;
}

static void device(struct picture *picture, uint64_t ordinal)
{
    add(picture, VMM_OBJECT_DEVICE, 0, UINT64_C(80) << 30, UINT64_C(79) << 30)->value = ordinal;
}

static vmm_object *handle(struct picture *picture, uint32_t number, uint64_t size)
{
    vmm_object *o = add(picture, VMM_OBJECT_HANDLE, number, 0, size);
    o->value = 1000 + number;
    o->block = number;
    o->references = 1;
    return o;
}

static vmm_object *mapping(struct picture *picture, uint32_t number, uint64_t start, uint64_t size, uint32_t of)
{
    vmm_object *o = add(picture, VMM_OBJECT_MAPPING, number, start, size);
    o->handle = 1000 + of;
    o->handle_number = of;
    return o;
}

static char *drawn(const struct picture *picture, const struct picture_svg *how)
{
    char *svg = NULL;
    size_t size;
    FILE *out = open_memstream(&svg, &size);
    if (!out)
        tap_bail("no memory");
    picture_svg(out, picture, how);
    fclose(out);
    return svg;
}

/* ---- what must hold of any drawing ---- */

/* Every tag that begins ends, in order, and '<' and '&' stand in no text. NULL: so it is. */
static const char *malformed(const char *svg)
{
    char open[32][16];
    size_t depth = 0;
    for (const char *at = svg; *at; at++) {
        if (*at == '&' && strncmp(at, "&amp;", 5) && strncmp(at, "&lt;", 4) && strncmp(at, "&gt;", 4) && strncmp(at, "&quot;", 6) &&
            strncmp(at, "&#", 2))
            return at;
        if (*at != '<')
            continue;
        const char *end = strchr(at, '>');
        size_t length = strcspn(at + 1, " />");
        if (!end || length >= sizeof open[0])
            return at;
        if (at[1] == '/') {
            length = strcspn(at + 2, ">");
            if (!depth || strlen(open[depth - 1]) != length || strncmp(open[depth - 1], at + 2, length) != 0)
                return at;
            depth--;
        } else if (end[-1] != '/') {
            if (depth == 32)
                return at;
            snprintf(open[depth++], sizeof open[0], "%.*s", (int)length, at + 1);
        }
        at = end;
    }
    return depth ? svg : NULL;
}

static double number_after(const char *at, const char *name)
{
    const char *found = strstr(at, name);
    return found ? strtod(found + strlen(name), NULL) : -1;
}

/* A rectangle outside of the width or height; NULL: there is none. */
static const char *outside(const char *svg)
{
    const double width = number_after(svg, " width=\""), height = number_after(svg, " height=\"");
    for (const char *at = strstr(svg, "<rect"); at; at = strstr(at + 1, "<rect")) {
        const double x = number_after(at, " x=\""), y = number_after(at, " y=\""), w = number_after(at, " width=\""), h = number_after(at, " height=\"");
        if (x < 0 || y < 0 || w < 0 || h < 0 || x + w > width + 2 || y + h > height + 1)
            return at;
    }
    return NULL;
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        count++;
    return count;
}

static bool fine(const char *svg)
{
    const char *wrong = malformed(svg), *out = outside(svg);
    if (wrong)
        tap_note("malformed at: %.80s", wrong);
    if (out)
        tap_note("outside: %.120s", out);
    return !wrong && !out;
}

/* ---- directed ---- */

static void small_world(struct picture *picture)
{
    device(picture, 0);
    device(picture, 1);
    add(picture, VMM_OBJECT_RESERVATION, 1, BASE, 4 * G);
    mapping(picture, 1, BASE, 2 * G, 1)->access = 3;
    mapping(picture, 2, BASE + 3 * G, G, 2)->access = 1 | 3 << 2;
    handle(picture, 1, 2 * G);
    handle(picture, 2, G)->references = 0;
    add(picture, VMM_OBJECT_ALLOCATION, 1, BASE + 100 * G, G);
}

static void test_small(void)
{
    struct picture picture = {0};
    small_world(&picture);
    char *svg = drawn(&picture, &(const struct picture_svg){.width = 800});
    tap_ok(fine(svg), "a small world is well formed and inside of its width");
    for (size_t i = 0; i < 6; i++) {
        static const char *const names[] = {"\"R1\"", "\"M1\"", "\"M2\"", "\"H1\"", "\"H2\"", "\"A1\""};
        tap_u64(count_of(svg, names[i]), i == 5 ? 2 : 1, "%s is in it %s", names[i], i == 5 ? "as addresses and as memory" : "once");
    }
    tap_ok(strstr(svg, "<title>mapping M1 of H1, 4MiB at R1; dev0: rw, dev1: none</title>"), "a mapping's title is a sentence");
    tap_ok(strstr(svg, "<title>mapping M2 of H2, 2MiB at R1+6MiB; dev0: r, dev1: rw</title>"), "with its offset and rights");
    tap_ok(count_of(svg, "<title>allocation A1, 2MiB with memory of dev0</title>") == 2, "memory of cuMemAlloc has no raw address");
    tap_ok(strstr(svg, "handle H2, 2MiB on dev0; 0 references, 0 mappings: only they keep it</title>"), "a released handle says so");
    tap_ok(count_of(svg, "class=\"right rw\"") == 2 && count_of(svg, "class=\"right r\"") == 1 && count_of(svg, "class=\"right none\"") == 1,
           "each mapping has its rights of each device");
    tap_ok(count_of(svg, "class=\"link") == 2 && count_of(svg, "block dev0 held") == 1 && count_of(svg, "class=\"free\"") == 2,
           "a line leads to each memory, dashed is what was released, and each device has free memory");
    tap_ok(!strstr(svg, "fresh") && !strstr(svg, "ghost") && !strstr(svg, "culprit"), "without a state before, nothing is new or gone");
    free(svg);
    picture_free(&picture);
}

static void test_marks(void)
{
    struct picture before = {0}, now = {0};
    small_world(&before);
    small_world(&now);
    before.object[3].number = 9;  /* M1 is new, and M9 is gone */
    before.object[4].access = 1;  /* M2 was given a right */
    const vmm_object culprit = {.kind = VMM_OBJECT_RESERVATION, .number = 1};
    char *svg = drawn(&now, &(const struct picture_svg){.width = 800, .before = &before, .culprit = &culprit});
    tap_ok(fine(svg), "with a state before it is well formed");
    tap_ok(strstr(svg, "class=\"mapping dev0 fresh\" data-object=\"M1\"") && strstr(svg, "class=\"mapping dev0\" data-object=\"M2\""),
           "new objects have a mark, existing ones do not");
    tap_ok(count_of(svg, "class=\"right rw fresh\"") == 1 && count_of(svg, "class=\"link fresh\"") == 1, "so has a new right, and a new line");
    tap_ok(count_of(svg, "class=\"ghost\"") == 1 && strstr(svg, ">M9</text>"), "a removed object is an outline");
    tap_ok(strstr(svg, "class=\"reservation culprit\" data-object=\"R1\""), "the conflicting object has a special mark");
    free(svg);
    picture_free(&before);
    picture_free(&now);
}

static void test_places(void)
{
    struct picture picture = {0};
    device(&picture, 0);
    add(&picture, VMM_OBJECT_RESERVATION, 1, BASE, 4 * G);
    mapping(&picture, 1, BASE, G, 1)->location.type = VMM_MEM_LOCATION_TYPE_HOST_NUMA;
    handle(&picture, 1, G)->location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    vmm_object *team = handle(&picture, 2, 2 * G), *again = handle(&picture, 3, G);
    team->location.type = VMM_MEM_LOCATION_TYPE_INVALID;
    team->team = 2;
    again->location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    again->block = 1; /* a second handle to the memory of the first */
    vmm_object *bind = add(&picture, VMM_OBJECT_BIND, 1, 0, G);
    bind->handle_number = 2;
    bind->block = 1;
    char *svg = drawn(&picture, &(const struct picture_svg){.width = 800});
    tap_ok(fine(svg) && strstr(svg, ">host</text>") && strstr(svg, ">team</text>"), "memory of the host and a multicast object have rows");
    tap_ok(count_of(svg, "class=\"block") == 2, "handles to one memory are one block");
    tap_ok(count_of(svg, "class=\"link bind\"") == 1, "a dashed line leads from a multicast object to what is bound");
    free(svg);
    picture_free(&picture);
}

static void test_names(void)
{
    static const char *const names[] = {"<b>", "a&b", "\"quoted\"", "it's", "</svg><script>"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct picture picture = {0};
        small_world(&picture);
        odd_name = names[i];
        char *svg = drawn(&picture, &(const struct picture_svg){.width = 800});
        tap_ok(fine(svg), "the name %zu is a text in it", i);
        free(svg);
        picture_free(&picture);
        odd_name = NULL;
    }
}

static double width_of(const char *svg, const char *object)
{
    const char *at = strstr(svg, object);
    return at ? number_after(at, " width=\"") : -1;
}

/* Long and empty parts of a reservation are shortened; others are to scale. */
static void test_folds(void)
{
    struct picture picture = {0};
    device(&picture, 0);
    add(&picture, VMM_OBJECT_RESERVATION, 1, BASE, UINT64_C(1) << 40);
    mapping(&picture, 1, BASE + 100 * G, 2 * G, 1)->access = 3;
    mapping(&picture, 2, BASE + 400 * G, 2 * G, 1)->access = 3;
    mapping(&picture, 3, BASE + 402 * G, 2 * G, 1)->access = 3;
    char *svg = drawn(&picture, &(const struct picture_svg){.width = 800});
    tap_ok(fine(svg) && width_of(svg, "data-object=\"M1\"") >= 30 && width_of(svg, "data-object=\"M3\"") >= 30 && !strstr(svg, "mapping many"),
           "in a reservation of 1TiB mappings of 4MiB can be seen");
    tap_ok(count_of(svg, "class=\"fold\"") == 3 && strstr(svg, "<title>200MiB empty, shortened</title>") &&
               strstr(svg, "<title>596MiB empty, shortened</title>"), "empty space between them is shortened and marked");
    free(svg);
    picture.count = 2;
    picture.object[1].size = 40 * G;
    mapping(&picture, 1, BASE, 10 * G, 1);
    svg = drawn(&picture, &(const struct picture_svg){.width = 800});
    const double share = width_of(svg, "data-object=\"M1\"") / width_of(svg, "data-object=\"R1\"");
    tap_ok(fine(svg) && !strstr(svg, "fold") && share > .25 && share < .3, "a part that is three times as long is not (%.3f)", share);
    free(svg);
    picture_free(&picture);
}

static void test_nothing(void)
{
    struct picture picture = {.label = label};
    char *svg = drawn(&picture, &(const struct picture_svg){.width = 0});
    tap_ok(fine(svg) && strstr(svg, " width=\"240\""), "nothing at all is drawn, at the least width");
    free(svg);
}

/* ---- large ---- */

static void test_many(uint32_t count)
{
    struct picture picture = {0};
    device(&picture, 0);
    add(&picture, VMM_OBJECT_RESERVATION, 1, BASE, (uint64_t)count * G);
    for (uint32_t i = 0; i < count; i++)
        mapping(&picture, i + 1, BASE + i * G, G, i + 1)->access = i % 2 ? 3 : 1;
    for (uint32_t i = 0; i < count; i++)
        handle(&picture, i + 1, G);
    char *svg = drawn(&picture, &(const struct picture_svg){.width = 800, .before = &picture});
    char wanted[80];
    snprintf(wanted, sizeof wanted, "%" PRIu32 " mappings and pieces are drawn with others", 2 * count);
    tap_ok(fine(svg) && strstr(svg, wanted), "%s", wanted);
    size_t sum = 0;
    for (const char *at = strstr(svg, "mapping many dev0"); at; at = strstr(at + 1, "mapping many dev0"))
        sum += (size_t)number_after(at, "<title>");
    tap_u64(sum, count, "the cells count all of them");
    tap_ok(strlen(svg) < 2000000, "its %zu bytes are those of what can be seen", strlen(svg));
    free(svg);
    picture_free(&picture);
}

static void test_reservations(void)
{
    struct picture picture = {0};
    device(&picture, 0);
    for (uint32_t i = 0; i < 1000; i++)
        add(&picture, VMM_OBJECT_RESERVATION, i + 1, BASE + 3 * i * G, G);
    char *svg = drawn(&picture, &(const struct picture_svg){.width = 390});
    tap_ok(fine(svg), "a thousand reservations fit into the width of a phone");
    free(svg);
    picture_free(&picture);
}

static void random_world(struct picture *picture, uint64_t *state)
{
    const uint64_t devices = 1 + random_below(state, 6);
    uint32_t mappings = 0, handles = (uint32_t)random_below(state, 12);
    uint64_t at = BASE;
    for (uint64_t i = 0; i < devices; i++)
        device(picture, i);
    for (uint32_t r = 0; r < random_below(state, 12); r++) {
        const uint64_t size = (1 + random_below(state, 5000)) * G;
        add(picture, VMM_OBJECT_RESERVATION, r + 1, at, size);
        for (uint64_t m = at; m < at + size && random_below(state, 5);) {
            const uint64_t skip = random_below(state, 100) * G, length = (1 + random_below(state, 300)) * G;
            if (m + skip + length > at + size)
                break;
            mapping(picture, ++mappings, m + skip, length, (uint32_t)random_below(state, handles + 2))->access = random_next(state);
            m += skip + length;
        }
        at += size + random_below(state, 3) * (UINT64_C(1) << 40);
    }
    for (uint32_t h = 0; h < handles; h++) {
        vmm_object *o = handle(picture, h + 1, random_below(state, 1000) * G);
        o->location.id = (int)random_below(state, devices);
        o->block = 1 + random_below(state, handles);
    }
}

static void test_random(void)
{
    uint64_t state = random_seed(1);
    unsigned wrong = 0, worlds = 200;
    struct picture before = {.label = label};
    for (unsigned i = 0; i < worlds && !wrong; i++) {
        struct picture now = {.label = label};
        random_world(&now, &state);
        char *svg = drawn(&now, &(const struct picture_svg){.width = (unsigned)random_below(&state, 3000), .before = &before});
        wrong += !fine(svg);
        free(svg);
        picture_free(&before);
        before = now;
    }
    picture_free(&before);
    tap_ok(!wrong, "%u random worlds are well formed and inside of their widths", worlds);
}

int main(void)
{
    test_small();
    test_marks();
    test_places();
    test_names();
    test_folds();
    test_nothing();
    test_many(1000);
    test_many(100000);
    test_reservations();
    test_random();
    return tap_done();
}
