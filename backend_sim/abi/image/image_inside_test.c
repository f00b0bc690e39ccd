/* SPDX-License-Identifier: Apache-2.0 */
/* Cubins, PTX and fat binaries: their contents, which entry is read, and that damaged images contain nothing. */
#include "image.h"

#include <dlfcn.h>

#include "image_parts.h"
#include "kernels.h"
#include "tap.h"
#include "image_rig.h"

static const struct rig_kernel two[] = {
    {.name = "first", .param = {8, 4, 1}, .registers = 40, .frame = 800, .shared = 1024 + 256, .threads = {16, 8, 1}},
    {.name = "second", .param = {4, 5000, 2}, .registers = 6, .cluster = {2, 1, 1}},
};
static const struct rig_variable variables[] = {{"counter", 4, "abcd"}, {"fixed", 8, "12345678"}, {"table", 400, NULL}, {"more", 8, NULL}};

static struct rig_bytes cubin_of(uint32_t architecture, const char *name)
{
    struct rig_bytes bytes = {NULL, 0, 0};
    const struct rig_kernel one = {.name = name};
    rig_cubin(&bytes, architecture, name ? &one : two, name ? 1 : 2, variables, name ? 0 : 4);
    return bytes;
}

static struct image *read_all(const void *at, size_t size, int capability)
{
    struct image *image = image_new(at, size, capability);
    tap_ok(image && image_read(image), "it is read");
    return image;
}

/* Checks one kernel; params: "0+8 8+4". */
static void check_kernel(const struct image *image, const char *name, const char *params)
{
    char text[200] = "";
    long index = image_kernel_named(image, name);
    if (!tap_ok(index >= 0, "%s is found", name))
        return;
    const struct image_kernel *kernel = &image->kernel[index];
    for (unsigned i = 0; i < kernel->params; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u+%u", i ? " " : "", kernel->param[i].offset, kernel->param[i].size);
    tap_text(text, params, "%s", name);
}

static void test_cubin(void)
{
    struct rig_bytes bytes = cubin_of(90, NULL);
    struct image *image = read_all(bytes.at, IMAGE_ANY_SIZE, 90);
    tap_u64(image->kernels, 2, "two kernels, and no other function");
    check_kernel(image, "first", "0+8 8+4 12+1");
    check_kernel(image, "second", "0+4 8+5000 5008+2");
    const struct image_kernel *first = &image->kernel[0], *second = &image->kernel[1];
    tap_ok(first->registers == 40 && first->local == 800 && first->shared == 256 && first->threads == 128 && first->constant == 8,
           "resources: %d %d %d %d %d", first->registers, first->local, first->shared, first->threads, first->constant);
    tap_ok(first->ptx == 90 && first->binary == 90 && !first->cluster[0] && second->cluster[0] == 2 && second->cluster[1] == 1 &&
               !second->threads && !second->shared,
           "architecture and cluster");
    tap_ok(image_kernel_named(image, "helper") < 0 && image_kernel_named(image, "") < 0, "other names are not found");
    const struct image_variable *counter = image_variable_named(image, "counter"), *table = image_variable_named(image, "table"),
                                *fixed = image_variable_named(image, "fixed");
    tap_ok(image->variables == 4 && counter && counter->size == 4 && memcmp(counter->initial, "abcd", 4) == 0 && table &&
               table->size == 400 && !table->initial && fixed && memcmp(fixed->initial, "12345678", 8) == 0,
           "variables");
    tap_ok(!image_variable_named(image, "first"), "a kernel is none");
    tap_text(image_why(image), "", "there is nothing to say");
    image_free(image);
    bytes.at[8] = 7; /* the older ABI stores the architecture elsewhere */
    memcpy(bytes.at + offsetof(Elf64_Ehdr, e_flags), &(uint32_t){0x00460550 + 0x0a}, 4);
    image = read_all(bytes.at, bytes.size, 90);
    tap_ok(image->kernels == 2 && image->kernel[0].binary == 90 && image->kernel[0].ptx == 70, "the older ABI");
    image_free(image);
    free(bytes.at);
}

/* Sections and segments after the section table, as linkers may place them. */
static void test_order(void)
{
    static const unsigned char more[200];
    struct rig_bytes bytes = cubin_of(90, NULL);
    Elf64_Ehdr header;
    Elf64_Shdr section;
    size_t size = rig_put(&bytes, more, sizeof more);
    memcpy(&header, bytes.at, sizeof header);
    memcpy(&section, bytes.at + header.e_shoff + 2 * sizeof section, sizeof section); /* a kernel's code */
    section.sh_offset = size;
    section.sh_size = 100;
    memcpy(bytes.at + header.e_shoff + 2 * sizeof section, &section, sizeof section);
    header.e_phoff = size + 100;
    header.e_phnum = 1;
    header.e_phentsize = 56;
    memcpy(bytes.at, &header, sizeof header);
    struct image *image = read_all(bytes.at, IMAGE_ANY_SIZE, 90);
    tap_u64(image->kernels, 2, "sections may follow their table");
    image_free(image);
    header.e_phoff = bytes.size;
    memcpy(bytes.at, &header, sizeof header);
    image = read_all(bytes.at, bytes.size, 90);
    tap_ok(!image->kernels && strstr(image_why(image), "damaged"), "segments may not lie behind the end: %s", image_why(image));
    image_free(image);
    free(bytes.at);
}

static void test_ptx(void)
{
    static const char text[] = RIG_PTX_TEXT;
    tap_ok(image_is(text, sizeof text) && !image_is("text", 4) && !image_is("", 0), "an image is known by its beginning");
    struct image *image = read_all(text, IMAGE_ANY_SIZE, 90);
    tap_u64(image->kernels, 3, "three kernels: comments, functions and declarations are none");
    check_kernel(image, "_Z3onePfic", "0+8 8+4 12+1 16+24");
    check_kernel(image, "plain", "");
    check_kernel(image, "clustered", "0+4");
    const struct image_kernel *one = &image->kernel[0], *last = &image->kernel[2];
    tap_ok(one->threads == 128 && one->shared == 272 && one->local == 48 && one->ptx == 70 && !one->binary && !one->registers,
           "resources: %d %d %d %d", one->threads, one->shared, one->local, one->ptx);
    tap_ok(last->cluster[0] == 2 && last->cluster[1] == 1 && last->cluster[2] == 1, "a cluster");
    image_free(image);
    image = read_all(".version 8.0 .entry refs(.param .texref t, .param .u32 n) { }", IMAGE_ANY_SIZE, 90);
    check_kernel(image, "refs", "0+8 8+4");
    image_free(image);
    image = read_all("/* no end", IMAGE_ANY_SIZE, 90);
    tap_ok(image_kernel_named(image, "refs") < 0, "no kernel is found");
    tap_ok(!image->kernels && strstr(image_why(image), "not a fat binary, cubin or PTX"), "%s", image_why(image));
    image_free(image);
    image = read_all(".version 8.0 .entry wide(.param .b8 a[65000], .param .b8 b[600]) { }", IMAGE_ANY_SIZE, 90);
    tap_ok(!image->kernels && strstr(image_why(image), "more than 65535 bytes"), "%s", image_why(image));
    image_free(image);
    image = read_all(".version 8.0 .target sm_90 .entry big() .maxntid 70000, 70000, 70000 { } .entry u() .reqntid 9, 70000 { } .entry", 200, 90);
    tap_ok(image->kernels == 2 && image->kernel[0].threads == UINT16_MAX && image->kernel[1].threads == UINT16_MAX,
           "numbers that are too large are cut");
    image_free(image);
}

/* Which of several entries is read. */
static void test_choice(void)
{
    static const struct {
        const char *there, *takes;
        int capability;
    } cases[] = {
        {"C80 C90", "C90", 90}, {"C90 C80", "C90", 90}, {"C80 C86", "C86", 89}, {"C80 P80", "P80", 90}, {"P70 P75", "P75", 90},
        {"C90 P90", "C90", 90}, {"C100", "", 90}, {"P100 C75", "", 90}, {"C90 c90", "c90", 90}, {"c90 C80", "", 100},
        {"f100 C100", "f100", 103}, {"c100 C100", "C100", 103}, {"p90", "p90", 90}, {"p90", "", 100}, {"X90", "", 90}, {"", "", 90},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_bytes bytes = {NULL, 0, 0};
        rig_fatbin(&bytes);
        char name[8], ptx[80];
        int used = 0;
        for (const char *at = cases[i].there; sscanf(at, "%7s%n", name, &used) == 1; at += used) {
            bool text = name[0] == 'P' || name[0] == 'p', odd = name[0] == 'X';
            uint64_t flags = name[0] == 'c' || name[0] == 'p' ? RIG_SPECIFIC : name[0] == 'f' ? RIG_FAMILY : 0;
            uint32_t architecture = (uint32_t)atoi(name + 1);
            struct rig_bytes cubin = cubin_of(architecture, name);
            int length = snprintf(ptx, sizeof ptx, ".version 8.0\n.target sm_%u\n.entry %s() { }\n", architecture, name);
            rig_entry(&bytes, odd ? 16 : text ? RIG_PTX : RIG_CUBIN, architecture, flags, text ? (void *)ptx : cubin.at,
                      text ? (size_t)length : cubin.size, 0);
            free(cubin.at);
        }
        struct image *image = image_new(bytes.at, bytes.size, cases[i].capability);
        tap_ok(image && image_read(image) && image->kernels == (cases[i].takes[0] != '\0') &&
                   (!image->kernels || strcmp(image->kernel[0].name, cases[i].takes) == 0),
               "of \"%s\" %d takes \"%s\" %s", cases[i].there, cases[i].capability, cases[i].takes, image ? image_why(image) : "");
        image_free(image);
        free(bytes.at);
    }
}

/* ---- packed entries ---- */

static void check_packed(const struct rig_bytes *packed, uint64_t flag, size_t unpacked, const char *says)
{
    struct rig_bytes bytes = {NULL, 0, 0};
    const struct {
        uint32_t magic, version;
        const void *data, *name;
    } *wrapper = NULL;
    rig_fatbin(&bytes);
    rig_entry(&bytes, RIG_CUBIN, 90, flag, packed->at, packed->size, unpacked);
    unsigned char around[sizeof *wrapper];
    memcpy(around, &(uint32_t[2]){0x466243b1, 1}, 8);
    memcpy(around + 8, &bytes.at, sizeof bytes.at);
    struct image *image = read_all(around, IMAGE_ANY_SIZE, 90);
    tap_ok(image->kernels == (*says ? 0 : 2) && strstr(image_why(image), says), "%u kernels: %s", image->kernels, image_why(image));
    image_free(image);
    free(bytes.at);
}

/* The PTX beside a cubin: whole, packed, damaged, and none. */
static void test_ptx_beside(void)
{
    static const char text[] = RIG_PTX_TEXT;
    struct rig_bytes cubin = cubin_of(90, NULL);
    const struct {
        const void *at;
        size_t size;
        uint64_t flags, unpacked;
        uint32_t architecture;
        size_t want;
    } entries[] = {
        {text, sizeof text, 0, 0, 70, sizeof text - 1},
        {text, sizeof text, RIG_LZ4, 50, 70, 0},
        {"no PTX", 6, 0, 0, 70, 0},
        {text, sizeof text, 0, 0, 100, 0},
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        struct rig_bytes fat = {NULL, 0, 0};
        size_t size = 0;
        rig_fatbin(&fat);
        rig_entry(&fat, RIG_CUBIN, 90, 0, cubin.at, cubin.size, 0);
        rig_entry(&fat, RIG_PTX, entries[i].architecture, entries[i].flags, entries[i].at, entries[i].size, entries[i].unpacked);
        struct image *image = read_all(fat.at, fat.size, 90);
        const char *ptx = image_ptx(image, &size);
        tap_ok(image->kernels == 2 && !image_is_text(image), "the kernels are the cubin's");
        tap_ok(entries[i].want ? ptx && size == entries[i].want && memcmp(ptx, text, size) == 0 : !ptx, "the text of entry %zu", i);
        image_drop_ptx(image);
        tap_ok(!image_ptx(image, &size), "it is dropped");
        image_free(image);
        free(fat.at);
    }
    struct image *image = read_all(text, sizeof text, 90);
    size_t size = 0;
    tap_ok(image_is_text(image) && image_ptx(image, &size) && size == sizeof text - 1, "PTX that was loaded as it is");
    image_free(image);
    free(cubin.at);
}

static void test_lz4_vectors(void)
{
    static const struct {
        const char *from;
        size_t size;
        const char *to; /* NULL: damaged */
    } vectors[] = {
        {"\x40" "abcd", 5, "abcd"},
        {"\x14" "a\x01\x00" "\x10z", 6, "aaaaaaaaaz"},               /* a match that overlaps its own output */
        {"\x22" "ab\x02\x00" "\x00", 6, "abababab"},
        {"\x1f" "a\x01\x00\x03" "\x00", 6, "aaaaaaaaaaaaaaaaaaaaaaa"}, /* a longer match: 15 + 3 + 4 */
        {"\x14" "a\x00\x00" "\x10z", 6, NULL},                        /* no offset */
        {"\x14" "a\x02\x00" "\x10z", 6, NULL},                        /* before the beginning */
        {"\x14" "a\x01\x00", 4, NULL},                                /* a match is last */
        {"\x50" "abcd", 5, NULL}, {"\xf0", 1, NULL}, {"\xf0\xff", 2, NULL}, {"", 0, NULL}, {"\x14" "a\x01", 3, NULL},
        {"\x1f" "a\x01\x00\xff", 5, NULL}, {"\x1f" "a\x01\x00\x40\x00", 6, NULL}, /* more than fits */
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        unsigned char to[40];
        const struct image_bytes from = {(const unsigned char *)vectors[i].from, vectors[i].size};
        size_t size = lz4_unpack(&from, to, sizeof to);
        bool right = vectors[i].to ? size == strlen(vectors[i].to) && memcmp(to, vectors[i].to, size) == 0 : size == SIZE_MAX;
        tap_ok(right, "block %zu", i);
    }
}

/* Data packed by that format's library, if the system has it. */
static void test_lz4_library(const struct rig_bytes *cubin)
{
    void *library = dlopen("liblz4.so.1", RTLD_NOW), *found = library ? dlsym(library, "LZ4_compress_default") : NULL;
    int (*compress)(const char *from, char *to, int size, int room);
    struct rig_bytes packed = {NULL, 0, 0};
    if (!found) {
        tap_note("skipped: there is no liblz4.so.1 to compare with");
        return;
    }
    memcpy(&compress, &found, sizeof compress);
    packed.at = malloc(2 * cubin->size);
    packed.size = packed.at ? (size_t)compress((char *)cubin->at, (char *)packed.at, (int)cubin->size, (int)(2 * cubin->size)) : 0;
    tap_ok(packed.size > 0 && packed.size < cubin->size, "liblz4 packs %zu bytes as %zu", cubin->size, packed.size);
    check_packed(&packed, RIG_LZ4, cubin->size, "");
    free(packed.at);
    dlclose(library);
}

static void test_packed(void)
{
    struct rig_bytes cubin = cubin_of(90, NULL), lz4 = {NULL, 0, 0}, zstd = {NULL, 0, 0};
    rig_lz4(&lz4, cubin.at, cubin.size);
    rig_zstd(&zstd, cubin.at, cubin.size);
    check_packed(&cubin, 0, 0, "");
    check_packed(&lz4, RIG_LZ4, cubin.size, "");
    check_packed(&lz4, RIG_LZ4, cubin.size - 1, "cannot be unpacked");
    check_packed(&lz4, RIG_LZ4, (uint64_t)1 << 40, "cannot be unpacked");
    check_packed(&zstd, RIG_LZ4, cubin.size, "cannot be unpacked");
    test_lz4_library(&cubin);
    if (dlopen("libzstd.so.1", RTLD_NOW)) {
        check_packed(&zstd, RIG_ZSTD, cubin.size, "");
        check_packed(&lz4, RIG_ZSTD, cubin.size, "cannot be unpacked");
        cubin.at[0] = 0;
        zstd.size = 0;
        rig_zstd(&zstd, cubin.at, cubin.size);
        check_packed(&zstd, RIG_ZSTD, cubin.size, "an entry is not a cubin");
    } else {
        tap_note("skipped: there is no libzstd.so.1");
        check_packed(&zstd, RIG_ZSTD, cubin.size, "no libzstd.so.1");
    }
    free(cubin.at), free(lz4.at), free(zstd.at);
}

/* ---- damage ---- */

/* Reads a copy of exactly that size, so that sanitizers and valgrind detect every byte read past the end. */
static bool survives(const unsigned char *from, size_t size, size_t flip, unsigned char with)
{
    unsigned char *copy = malloc(size + !size);
    if (!copy)
        return false;
    memcpy(copy, from, size);
    if (flip < size)
        copy[flip] ^= with;
    struct image *image = image_new(copy, size, 90);
    bool read = image && image_read(image);
    for (unsigned i = 0; read && i < image->kernels; i++)
        read = image_kernel_named(image, image->kernel[i].name) >= 0;
    image_free(image);
    free(copy);
    return read;
}

static void test_damage(void)
{
    struct rig_bytes cubin = cubin_of(90, NULL), fat = {NULL, 0, 0}, lz4 = {NULL, 0, 0};
    rig_lz4(&lz4, cubin.at, cubin.size);
    rig_fatbin(&fat);
    rig_entry(&fat, RIG_PTX, 70, 0, RIG_PTX_TEXT, sizeof RIG_PTX_TEXT - 1, 0);
    rig_entry(&fat, RIG_CUBIN, 90, RIG_LZ4, lz4.at, lz4.size, cubin.size);
    const struct rig_bytes ptx = {(unsigned char *)(uintptr_t)RIG_PTX_TEXT, sizeof RIG_PTX_TEXT - 1, 0}, *all[] = {&cubin, &fat, &ptx};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        size_t wrong = 0;
        for (size_t size = 0; size <= all[i]->size; size++)
            wrong += !survives(all[i]->at, size, SIZE_MAX, 0);
        for (size_t flip = 0; flip < all[i]->size; flip++)
            wrong += !survives(all[i]->at, all[i]->size, flip, 0xff) || !survives(all[i]->at, all[i]->size, flip, 0x08);
        tap_ok(!wrong, "image %zu, cut at each of its %zu bytes and with each of them changed", i, all[i]->size);
    }
    free(cubin.at), free(fat.at), free(lz4.at);
}

/* ---- size ---- */

static void test_many(void)
{
    enum { MANY = 65537 };
    struct rig_kernel *kernel = calloc(MANY, sizeof *kernel);
    char(*name)[16] = calloc(MANY, sizeof *name);
    struct rig_bytes bytes = {NULL, 0, 0};
    long wrong = 0;
    if (!kernel || !name)
        tap_bail("no memory");
    for (int i = 0; i < MANY; i++) {
        snprintf(name[i], sizeof name[i], "kernel%d", i);
        kernel[i] = (struct rig_kernel){.name = name[i], .param = {(uint16_t)(i % 100 + 1)}, .registers = (uint32_t)(i % 256)};
    }
    rig_cubin(&bytes, 90, kernel, MANY, NULL, 0);
    struct image *image = read_all(bytes.at, bytes.size, 90);
    tap_u64(image->kernels, MANY, "more kernels than 16 bits number, in more sections");
    for (int i = 0; i < MANY; i++) {
        long index = image_kernel_named(image, name[i]);
        wrong += index != i || image->kernel[index].param[0].size != (unsigned)(i % 100 + 1) || image->kernel[index].registers != i % 256;
    }
    tap_u64((uint64_t)wrong, 0, "each is found, with its parameters and registers");
    image_free(image);
    free(bytes.at), free(kernel), free(name);
}

/* The kernels of this project, as nvcc packs them. */
static void test_nvcc(void)
{
    if (!kernels_image_size) {
        tap_note("skipped: this build has no nvcc");
        return;
    }
    for (int capability = 80; capability <= 100; capability += 10) { /* of 100 there is PTX alone */
        struct image *image = read_all(kernels_image, kernels_image_size, capability);
        int wrong = 0;
        for (int i = 0; i < vmm_kernel_count(); i++) {
            long index = image_kernel_named(image, vmm_kernel_name(i));
            wrong += index < 0 || image->kernel[index].params != vmm_kernel_arguments(i);
            for (unsigned p = 0; index >= 0 && p < image->kernel[index].params; p++)
                wrong += image->kernel[index].param[p].offset != 8 * p || image->kernel[index].param[p].size != 8;
        }
        tap_ok(!wrong, "what nvcc made for %d holds the kernels of kernels.def with their arguments: %d differ%s%s", capability, wrong,
               *image_why(image) ? ": " : "", image_why(image));
        image_free(image);
    }
}

int main(void)
{
    test_cubin();
    test_order();
    test_ptx();
    test_choice();
    test_ptx_beside();
    test_lz4_vectors();
    test_packed();
    test_damage();
    test_many();
    test_nvcc();
    return tap_done();
}
