/* SPDX-License-Identifier: Apache-2.0 */
/* Files in memory, natively: names, descriptors, sparse contents, mappings, locks; against plain arrays at random;
 * and with each allocation failing once. Random seeds: CUVMM_SEED. */
#define _GNU_SOURCE /* for inject_rig.h */
#include "memory_files_wasm.h"

#include "inject_rig.h"
#include "random.h"

enum { C = MEMORY_CHUNK };

static struct memory_files files;
static size_t pages; /* chunks that are taken, of all files */

unsigned char *memory_pages_take(size_t chunks)
{
    unsigned char *memory = heap.calloc(chunks, MEMORY_CHUNK);
    pages += memory ? chunks : 0;
    return memory;
}

void memory_pages_free(unsigned char *memory, size_t chunks)
{
    pages -= chunks;
    heap.free(memory);
}

static void begin(void)
{
    if (memory_files_init(&files))
        tap_bail("no memory");
}

static void end(const char *what)
{
    const char *said = memory_files_check(&files);
    memory_files_clear(&files);
    if (!tap_ok(!said && !pages && !inject_live, "%s: all is in order, and all is freed", what))
        tap_note("%s; %zu chunks and %ld allocations are left", said ? said : "in order", pages, (long)inject_live);
}

static int open_new(const char *path)
{
    int file = -1;
    memory_files_open(&files, MEMORY_ROOT, path, MEMORY_READ | MEMORY_WRITE | MEMORY_MAKE, &file);
    return file;
}

static int opened(const char *path, unsigned how, int *file)
{
    *file = -1;
    return memory_files_open(&files, MEMORY_ROOT, path, how, file);
}

/* ---- names ---- */

static void test_names(void)
{
    int file, folder;
    struct memory_info info;
    begin();
    tap_ok(opened("a", MEMORY_READ, &file) == ENOENT && opened("", MEMORY_READ, &file) == ENOENT, "a missing file is not opened");
    tap_ok(opened("a", MEMORY_READ | MEMORY_WRITE | MEMORY_MAKE, &file) == 0 && file == MEMORY_ROOT + 1,
           "a file is made, with the lowest descriptor behind the root's");
    tap_ok(opened("/a", MEMORY_READ | MEMORY_MAKE | MEMORY_NEW, &file) == EEXIST, "NEW refuses an existing file");
    tap_ok(opened("./a", MEMORY_READ, &folder) == 0 && folder == MEMORY_ROOT + 2, "/a and ./a are a");
    tap_ok(opened("a/b", MEMORY_READ, &file) == ENOTDIR && opened("x/b", MEMORY_READ, &file) == ENOENT &&
               opened("../a", MEMORY_READ, &file) == ENOENT,
           "a file has no entries, a missing folder neither, and nothing lies above the root");
    tap_ok(opened("a", MEMORY_READ | MEMORY_FOLDER, &file) == ENOTDIR, "FOLDER refuses a file");
    tap_ok(memory_files_new_folder(&files, MEMORY_ROOT, "f") == 0 && memory_files_new_folder(&files, MEMORY_ROOT, "f") == EEXIST &&
               memory_files_new_folder(&files, MEMORY_ROOT, "/") == EEXIST && memory_files_new_folder(&files, MEMORY_ROOT, "x/y") == ENOENT,
           "a folder is made once");
    tap_ok(opened("f", MEMORY_READ | MEMORY_WRITE, &folder) == EISDIR && opened("f", MEMORY_READ | MEMORY_FOLDER, &folder) == 0,
           "a folder is opened to read");
    tap_ok(memory_files_open(&files, folder, "in", MEMORY_WRITE | MEMORY_MAKE, &file) == 0 &&
               memory_files_look(&files, MEMORY_ROOT, "/f//in/", &info) == 0 && !info.folder,
           "a path begins in the folder of its descriptor");
    tap_ok(memory_files_open(&files, file, "x", MEMORY_READ, &file) == EBADF && memory_files_look(&files, 99, "x", &info) == EBADF,
           "a descriptor of a file, or a closed one, is not a folder");
    tap_ok(strcmp(memory_files_entry(&files, MEMORY_ROOT, 0), "a") == 0 && strcmp(memory_files_entry(&files, MEMORY_ROOT, 1), "f") == 0 &&
               !memory_files_entry(&files, MEMORY_ROOT, 2) && !memory_files_entry(&files, 99, 0),
           "entries are in the order of their making");
    char longest[MEMORY_NAME + 1];
    memset(longest, 'n', MEMORY_NAME);
    longest[MEMORY_NAME] = 0;
    tap_ok(opened(longest, MEMORY_READ | MEMORY_MAKE, &file) == ENAMETOOLONG && opened(longest + 1, MEMORY_READ | MEMORY_MAKE, &file) == 0,
           "a name has at most %d letters", MEMORY_NAME - 1);
    end("names");
}

static void test_removal(void)
{
    int file, other;
    struct memory_info info;
    size_t done;
    char byte = 0;
    begin();
    file = open_new("a");
    memory_files_write(memory_files_at(&files, file), 0, "x", 1);
    tap_ok(memory_files_remove(&files, MEMORY_ROOT, "a", true) == ENOTDIR && memory_files_remove(&files, MEMORY_ROOT, "b", false) == ENOENT &&
               memory_files_remove(&files, MEMORY_ROOT, "/", true) == EBUSY && memory_files_remove(&files, MEMORY_ROOT, "a/b", false) == ENOTDIR,
           "removal asks for the right kind, for what is there, and not for the root");
    tap_ok(strcmp(memory_files_name(memory_files_at(&files, file)), "a") == 0, "an opening knows the file's name");
    tap_ok(memory_files_remove(&files, MEMORY_ROOT, "a", false) == 0 && memory_files_look(&files, MEMORY_ROOT, "a", &info) == ENOENT,
           "a file is removed");
    memory_files_read(memory_files_at(&files, file), 0, &byte, 1, &done);
    tap_ok(byte == 'x' && done == 1 && !memory_files_name(memory_files_at(&files, file))[0], "and lasts while it is open, without a name");
    tap_ok(memory_files_close(&files, file) == 0 && memory_files_close(&files, file) == EBADF && pages == 0 &&
               memory_files_close(&files, MEMORY_ROOT) == EBADF,
           "with its last descriptor it ends");
    memory_files_new_folder(&files, MEMORY_ROOT, "f");
    open_new("f/in");
    tap_ok(memory_files_remove(&files, MEMORY_ROOT, "f", true) == ENOTEMPTY && memory_files_remove(&files, MEMORY_ROOT, "f", false) == EISDIR,
           "a folder with entries stays");
    memory_files_remove(&files, MEMORY_ROOT, "f/in", false);
    tap_ok(memory_files_remove(&files, MEMORY_ROOT, "f", true) == 0, "an empty one goes");
    file = open_new("a"), other = open_new("b");
    memory_files_new_folder(&files, MEMORY_ROOT, "f");
    tap_ok(memory_files_rename(&files, MEMORY_ROOT, "a", MEMORY_ROOT, "b", false) == EEXIST &&
               memory_files_rename(&files, MEMORY_ROOT, "x", MEMORY_ROOT, "y", true) == ENOENT &&
               memory_files_rename(&files, MEMORY_ROOT, "f", MEMORY_ROOT, "f/g", true) == EINVAL &&
               memory_files_rename(&files, MEMORY_ROOT, "a", MEMORY_ROOT, "f", true) == EISDIR &&
               memory_files_rename(&files, MEMORY_ROOT, "/", MEMORY_ROOT, "r", true) == EBUSY &&
               memory_files_rename(&files, MEMORY_ROOT, "a", MEMORY_ROOT, "x/y", true) == ENOENT &&
               memory_files_rename(&files, MEMORY_ROOT, "x/y", MEMORY_ROOT, "a", true) == ENOENT &&
               memory_files_rename(&files, MEMORY_ROOT, "a", MEMORY_ROOT, "/", true) == EBUSY &&
               memory_files_rename(&files, MEMORY_ROOT, "f", MEMORY_ROOT, "b", true) == EISDIR &&
               memory_files_rename(&files, MEMORY_ROOT, "a", MEMORY_ROOT, "a", false) == 0,
           "a rename replaces nothing unasked, no folder, and moves none into itself");
    memory_files_write(memory_files_at(&files, file), 0, "a", 1);
    tap_ok(memory_files_rename(&files, MEMORY_ROOT, "a", MEMORY_ROOT, "f/c", false) == 0 && opened("a", MEMORY_READ, &other) == ENOENT &&
               opened("f/c", MEMORY_READ, &other) == 0,
           "a file moves to another folder");
    tap_ok(memory_files_look(&files, MEMORY_ROOT, "./././b", &info) == 0 && opened("b", MEMORY_WRITE, &other) == 0 &&
               memory_files_read(memory_files_at(&files, other), 0, &byte, 1, &done) == EBADF && done == 0,
           "a write-only opening cannot be read");
    memory_files_new_folder(&files, MEMORY_ROOT, "f/g");
    open_new("f/d");
    tap_ok(memory_files_rename(&files, MEMORY_ROOT, "f/d", MEMORY_ROOT, "f/g/d", false) == 0 &&
               memory_files_look(&files, MEMORY_ROOT, "f/g/d", &info) == 0 && memory_files_look(&files, MEMORY_ROOT, "f/c", &info) == 0,
           "one that was not the first leaves its folder");
    tap_ok(memory_files_rename(&files, MEMORY_ROOT, "f/c", MEMORY_ROOT, "b", true) == 0 && opened("b", MEMORY_READ, &other) == 0 &&
               !memory_files_read(memory_files_at(&files, other), 0, &byte, 1, &done) && byte == 'a',
           "and replaces an existing one");
    end("removal");
}

/* ---- contents ---- */

static void test_contents(void)
{
    static char large[3 * C];
    char back[16];
    size_t done;
    struct memory_info info;
    begin();
    int file = open_new("a"), reader;
    struct memory_opening *at = memory_files_at(&files, file);
    opened("a", MEMORY_READ, &reader);
    tap_ok(memory_files_write(memory_files_at(&files, reader), 0, "x", 1) == EBADF && memory_files_resize(memory_files_at(&files, reader), 1) == EBADF,
           "a read-only opening cannot be written");
    memset(large, 7, sizeof large);
    tap_ok(memory_files_write(at, 5 * (uint64_t)C - 3, "abcdef", 6) == 0 && pages == 2, "6 bytes over the end of a chunk take two");
    memory_files_info(at, &info);
    tap_u64(info.size, 5 * C + 3, "the file is as long as what was written");
    memory_files_read(at, 5 * (uint64_t)C - 4, back, sizeof back, &done);
    tap_ok(done == 7 && memcmp(back, "\0abcdef", 7) == 0, "a read ends at the end of the file, and finds zeros before");
    memory_files_read(at, UINT64_MAX, back, sizeof back, &done);
    tap_ok(done == 0, "far beyond it there is nothing");
    tap_ok(memory_files_write(at, INT64_MAX, "ab", 2) == EFBIG && memory_files_write(at, (uint64_t)1 << 62, "a", 1) == ENOSPC,
           "a file has an end");
    uint64_t length = 100 * (uint64_t)C;
    tap_ok(!memory_files_has_data(at, 0, &length) && length == 4 * C, "four chunks are missing");
    length = 100 * (uint64_t)C;
    tap_ok(memory_files_has_data(at, 4 * (uint64_t)C + 5, &length) && length == 2 * C - 5, "and two are");
    length = 3;
    tap_ok(memory_files_has_data(at, 4 * (uint64_t)C, &length) && length == 3, "no more is said than was asked");
    memory_files_clear_range(at, 4 * (uint64_t)C, C);
    tap_ok(pages == 1, "a whole chunk that is cleared takes no memory");
    memory_files_clear_range(at, 5 * (uint64_t)C, 2);
    memory_files_read(at, 5 * (uint64_t)C - 4, back, sizeof back, &done);
    tap_ok(pages == 1 && done == 7 && memcmp(back, "\0\0\0\0\0\0f", 7) == 0, "a part of one is zero");
    memory_files_write(at, 0, large, sizeof large);
    memory_files_resize(at, C + 1);
    memory_files_resize(at, 2 * C);
    memory_files_read(at, C, back, 3, &done);
    tap_ok(pages == 2 && done == 3 && memcmp(back, "\7\0\0", 3) == 0, "truncated bytes do not come back");
    opened("a", MEMORY_READ | MEMORY_WRITE | MEMORY_EMPTY, &reader);
    memory_files_info(at, &info);
    tap_ok(pages == 0 && info.size == 0, "EMPTY drops the contents");
    int folder;
    opened("/", MEMORY_READ, &folder);
    tap_ok(memory_files_read(memory_files_at(&files, folder), 0, back, 1, &done) == EISDIR, "a folder has none");
    end("contents");
}

static void test_mappings(void)
{
    size_t done;
    char back[4];
    begin();
    int file = open_new("a"), other = open_new("b");
    struct memory_opening *at = memory_files_at(&files, file);
    memory_files_write(at, C + 5, "ab", 2);
    unsigned char *one = memory_files_map(&files, file, C, 100);
    tap_ok(one && one[5] == 'a' && pages == 1, "a mapping of one chunk is that chunk");
    one[6] = 'c';
    memory_files_read(at, C + 5, back, 2, &done);
    tap_ok(memcmp(back, "ac", 2) == 0, "the file and the mapping show the same bytes");
    tap_ok(memory_files_map(&files, file, 0, 3 * C) == NULL && pages == 1, "chunks mapped separately cannot be mapped together");
    unsigned char *again = memory_files_map(&files, file, C, C);
    tap_ok(again == one, "the same range is mapped at the same place");
    memory_files_clear_range(at, C, C);
    tap_ok(one[6] == 0 && pages == 1, "a chunk that is mapped stays when it is cleared, as zeros");
    one[6] = 'd';
    tap_ok(memory_files_unmap(&files, one) && memory_files_unmap(&files, again) && !memory_files_unmap(&files, one),
           "each map has its unmap");
    unsigned char *all = memory_files_map(&files, file, 0, 3 * (uint64_t)C - 10);
    tap_ok(all && all[C + 6] == 'd' && pages == 3, "then chunks move beside each other, with their bytes");
    tap_ok(memory_files_map(&files, file, C, C) == all + C, "and part of it is found in its midst");
    memory_files_unmap(&files, all + C);
    tap_ok(memory_files_byte(at, 2 * (uint64_t)C) == all + 2 * C && memory_files_byte(at, 9 * (uint64_t)C), "a byte has an address");
    memory_files_remove(&files, MEMORY_ROOT, "a", false);
    memory_files_close(&files, file);
    all[0] = 1;
    tap_ok(all[C + 6] == 'd' && pages == 4, "a mapping keeps a file that has neither name nor descriptor");
    memory_files_unmap(&files, all);
    tap_ok(pages == 0, "and is the last that does");
    tap_ok(!memory_files_map(&files, file, 0, C) && !memory_files_map(&files, other, 0, 0) && !memory_files_map(&files, other, 0, UINT64_MAX),
           "nothing, no bytes and too many are not mapped");
    memory_files_map(&files, other, 0, C);
    end("mappings");
}

/* A file with one chunk, and one with none: far beyond it there are no entries to examine. */
static void test_far_behind(void)
{
    const uint64_t places[] = {0, C, 255 * (uint64_t)C, 256 * (uint64_t)C, 257 * (uint64_t)C, UINT64_C(1) << 45};
    for (unsigned i = 0; i < 2 * sizeof places / sizeof places[0]; i++) {
        struct memory_chunks chunks = {0};
        const uint64_t at = places[i / 2], size = 3;
        uint64_t length = 2 * C;
        if (i % 2)
            *memory_chunks_byte(&chunks, 1, true) = 7;
        memory_chunks_clear_range(&chunks, at, size);
        const unsigned char *byte = memory_chunks_byte(&chunks, 1, false);
        tap_ok(i % 2 ? byte && *byte == (at ? 7 : 0) : !byte, "3 bytes from 0x%llx on are cleared, and no others", (unsigned long long)at);
        tap_ok(memory_chunks_has_data(&chunks, at, &length) == (i % 2 && at < C), "and there is data only in the first chunk");
        tap_ok(!memory_chunks_check(&chunks), "all invariants hold");
        memory_chunks_clear(&chunks);
    }
}

static void test_locks(void)
{
    int a = 0, b = 0, c = 0;
    begin();
    a = open_new("a");
    b = open_new("a");
    memory_files_unnamed(&files, &c);
    tap_ok(memory_files_lock(&files, a, MEMORY_SHARED) && memory_files_lock(&files, b, MEMORY_SHARED), "two may share a lock");
    tap_ok(!memory_files_lock(&files, a, MEMORY_EXCLUSIVE) && memory_files_lock(&files, c, MEMORY_EXCLUSIVE), "one of another file excludes none");
    memory_files_lock(&files, b, MEMORY_UNLOCKED);
    tap_ok(memory_files_lock(&files, a, MEMORY_EXCLUSIVE) && !memory_files_lock(&files, b, MEMORY_SHARED) && !memory_files_lock(&files, 99, MEMORY_SHARED),
           "an exclusive one is alone");
    memory_files_close(&files, a);
    tap_ok(memory_files_lock(&files, b, MEMORY_EXCLUSIVE), "and ends with its descriptor");
    end("locks");
}

static void test_many(void)
{
    int file, opened_files = 0;
    char name[24];
    begin();
    while (opened("x", MEMORY_READ | MEMORY_MAKE, &file) == 0)
        opened_files++;
    tap_ok(opened_files > 1000 && opened_files < MEMORY_DESCRIPTORS, "%d descriptors can be open", opened_files);
    memory_files_close(&files, 100);
    tap_ok(opened("x", MEMORY_READ, &file) == 0 && file == 100, "the lowest that is free is taken");
    memory_files_close(&files, file);
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "f%d", i);
        memory_files_new_folder(&files, MEMORY_ROOT, name);
    }
    tap_ok(strcmp(memory_files_entry(&files, MEMORY_ROOT, 100), "f99") == 0, "a folder has as many entries as it is given");
    end("many");
}

/* ---- at random, against plain arrays ---- */

enum { FILES = 3, SPAN = 12, SIZE = SPAN * C };

static struct {
    unsigned char bytes[SIZE];
    uint64_t size;
    int file;
    unsigned char *mapped; /* of some chunks from first on */
    uint64_t first, count;
} model[FILES];

static bool same(int i)
{
    static unsigned char read[SIZE];
    size_t done;
    struct memory_info info;
    struct memory_opening *at = memory_files_at(&files, model[i].file);
    memory_files_info(at, &info);
    memory_files_read(at, 0, read, SIZE, &done);
    return info.size == model[i].size && done == model[i].size && memcmp(read, model[i].bytes, done) == 0 &&
           (!model[i].mapped || memcmp(model[i].mapped, model[i].bytes + model[i].first * C, model[i].count * C) == 0);
}

static void change(uint64_t *state, int i)
{
    static unsigned char bytes[SIZE];
    struct memory_opening *at = memory_files_at(&files, model[i].file);
    const uint64_t from = random_below(state, SIZE), length = random_below(state, random_below(state, 4) ? 3 * C : SIZE);
    const uint64_t fit = length < SIZE - from ? length : SIZE - from;
    switch (random_below(state, 6)) {
    case 0:
    case 1:
        memset(bytes, (int)random_below(state, 255) + 1, fit);
        if (memory_files_write(at, from, bytes, fit))
            tap_bail("no memory");
        memcpy(model[i].bytes + from, bytes, fit);
        model[i].size = fit && from + fit > model[i].size ? from + fit : model[i].size;
        break;
    case 2:
        memory_files_clear_range(at, from, fit);
        memset(model[i].bytes + from, 0, fit);
        break;
    case 3:
        memory_files_resize(at, from);
        if (from < model[i].size)
            memset(model[i].bytes + from, 0, model[i].size - from);
        model[i].size = from;
        break;
    case 4:
        if (model[i].mapped) {
            memory_files_unmap(&files, model[i].mapped);
            model[i].mapped = NULL;
            break;
        }
        model[i].first = from / C;
        model[i].count = 1 + random_below(state, SPAN - model[i].first);
        model[i].mapped = memory_files_map(&files, model[i].file, model[i].first * C, model[i].count * C - random_below(state, C));
        break;
    default:
        if (model[i].mapped && from < model[i].size && from / C >= model[i].first && from / C < model[i].first + model[i].count)
            model[i].mapped[from - model[i].first * C] = model[i].bytes[from] = (unsigned char)length;
    }
}

static void test_random(void)
{
    uint64_t state = random_seed(1), steps = 1500, wrong = 0;
    const char *said = NULL;
    begin();
    for (int i = 0; i < FILES; i++) {
        char name[8];
        snprintf(name, sizeof name, "r%d", i);
        model[i].file = open_new(name);
    }
    for (uint64_t n = 0; n < steps && !wrong && !said; n++) {
        const int i = (int)random_below(&state, FILES);
        change(&state, i);
        wrong += !same(i);
        said = memory_files_check(&files);
    }
    if (!tap_ok(!wrong && !said, "%llu random writes, cuts, clears and mappings leave what plain arrays hold", (unsigned long long)steps))
        tap_note("%s", said ? said : "the bytes differ");
    end("at random");
}

/* ---- each allocation fails once ---- */

/* Calls each function that allocates. Returns the number of failures; a failed call has changed nothing. */
static unsigned use_all(bool *whole)
{
    unsigned failed = 0;
    int a = -1, b = -1;
    size_t done;
    char back[3] = "";
    struct memory_info info;
    *whole = true;
    if (memory_files_init(&files))
        return 1;
    failed += memory_files_open(&files, MEMORY_ROOT, "a", MEMORY_READ | MEMORY_WRITE | MEMORY_MAKE, &a) != 0;
    *whole &= a >= 0 || memory_files_look(&files, MEMORY_ROOT, "a", &info) == ENOENT;
    failed += memory_files_unnamed(&files, &b) != 0;
    failed += memory_files_new_folder(&files, MEMORY_ROOT, "f") != 0;
    if (a >= 0) {
        struct memory_opening *at = memory_files_at(&files, a);
        bool wrote = memory_files_write(at, C - 1, "ab", 2) == 0;
        bool mapped = memory_files_map(&files, a, 0, 3 * C) != NULL;
        memory_files_read(at, C - 1, back, 2, &done);
        failed += (unsigned)(!wrote + !mapped + !memory_files_byte(at, 700 * (uint64_t)C));
        *whole &= !wrote || (done == 2 && memcmp(back, "ab", 2) == 0);
        failed += memory_files_rename(&files, MEMORY_ROOT, "a", MEMORY_ROOT, "b", false) != 0;
        *whole &= !memory_files_look(&files, MEMORY_ROOT, "a", &info) != !memory_files_look(&files, MEMORY_ROOT, "b", &info);
    }
    *whole &= !memory_files_check(&files);
    memory_files_clear(&files);
    return failed;
}

static void test_refusals(void)
{
    bool whole = true, all = true;
    unsigned long requests = 1;
    for (;; requests++) {
        inject_arm(requests);
        unsigned failed = use_all(&whole);
        bool refused = inject_disarm() != NULL;
        bool good = whole && failed == refused && !pages && !inject_live;
        if (!good)
            tap_note("request %lu: %u calls failed, %zu chunks and %ld allocations are left", requests, failed, pages, (long)inject_live);
        all &= good;
        if (!refused)
            break;
    }
    tap_ok(all && requests > 10, "each of %lu requests for memory can be refused: one call fails, and nothing is lost", requests - 1);
}

int main(void)
{
    test_names();
    test_removal();
    test_far_behind();
    test_contents();
    test_mappings();
    test_locks();
    test_many();
    test_random();
    test_refusals();
    return tap_done();
}
