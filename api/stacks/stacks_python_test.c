/* SPDX-License-Identifier: Apache-2.0 */
/* Python frames of made-up interpreters, laid out in memory like each version's; broken ones too. Each case
 * runs in a child, because a process has one interpreter. The real ones: stacks_python_test.sh. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "stacks_python.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stacks_depot.h"
#include "stacks_layout.h"
#include "tap.h"

/* ---- a module that exports the same symbols as an interpreter ---- */

enum { SYMBOLS_MOST = 8 };
struct image {
    ElfW(Ehdr) head;
    ElfW(Phdr) segment;
    ElfW(Dyn) dynamic[5];
    ElfW(Sym) symbol[SYMBOLS_MOST];
    uint32_t hash[4 + 2 + 1 + SYMBOLS_MOST]; /* one bucket; no filter is read */
    char strings[256];
};

static struct image images[2];
static struct module module = {.number = 70}, other = {.number = 71};

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

static void make_image(struct module *made, struct image *image)
{
    memset(image, 0, sizeof *image);
    memcpy(image->head.e_ident, ELFMAG, SELFMAG);
    image->head.e_phentsize = sizeof image->segment;
    image->head.e_phoff = offsetof(struct image, segment);
    image->head.e_phnum = 1;
    image->segment = (ElfW(Phdr)){.p_type = PT_DYNAMIC, .p_vaddr = offsetof(struct image, dynamic), .p_memsz = sizeof image->dynamic};
    image->dynamic[0] = (ElfW(Dyn)){DT_STRTAB, {offsetof(struct image, strings)}};
    image->dynamic[1] = (ElfW(Dyn)){DT_STRSZ, {sizeof image->strings}};
    image->dynamic[2] = (ElfW(Dyn)){DT_SYMTAB, {offsetof(struct image, symbol)}};
    image->dynamic[3] = (ElfW(Dyn)){DT_GNU_HASH, {offsetof(struct image, hash)}};
    image->hash[0] = image->hash[1] = image->hash[2] = 1;
    made->start = made->bias = (uintptr_t)image;
    made->end = made->start + sizeof *image;
}

static void add_symbol(struct image *image, const char *name, uintptr_t address)
{
    uint32_t at = 1, used = 1;
    for (; image->symbol[at].st_shndx; at++)
        used += (uint32_t)strlen(image->strings + used) + 1;
    strcpy(image->strings + used, name);
    image->symbol[at].st_name = used;
    image->symbol[at].st_shndx = 1;
    image->symbol[at].st_value = address - (uintptr_t)image;
    image->hash[6] = 1;
    if (at > 1)
        image->hash[7 + at - 2] &= ~1U;
    image->hash[7 + at - 1] = hash_of(name) | 1;
}

/* ---- an interpreter ---- */

static unsigned char memory[1 << 16];
static size_t memory_used;
static unsigned char *hole; /* the first unreadable byte; the page before it is readable */
static uint64_t offsets[PYTHON_OFFSETS / 8];
static unsigned long version_number;
static const char *version_text;
static struct python_layout layout;
static uintptr_t thread_state, code_type;
static struct python_walk walk;

static uintptr_t get_memory(size_t size)
{
    uintptr_t at = (uintptr_t)memory + memory_used;
    memory_used += (size + 15) & ~(size_t)15;
    if (memory_used > sizeof memory)
        abort();
    return at;
}

static void *get_thread(void)
{
    return (void *)thread_state;
}

/* Called while the interpreter is being looked up, as if another thread took its stack at that moment. */
static bool found_meanwhile;
static const char *get_version(void)
{
    struct python_walk inner = {0};
    found_meanwhile |= python_is_interpreter(&inner, &module);
    return version_text;
}

static uintptr_t address_of(void (*function)(void))
{
    uintptr_t address;
    memcpy(&address, &function, sizeof address);
    return address;
}

static void add_symbols(struct module *made, struct image *image, const char *without)
{
    const struct {
        const char *name;
        uintptr_t at;
    } all[] = {{"_PyRuntime", (uintptr_t)offsets},
               {"PyGILState_GetThisThreadState", address_of((void (*)(void))get_thread)},
               {"PyCode_Type", (uintptr_t)&code_type},
               {"Py_GetVersion", address_of((void (*)(void))get_version)},
               {"Py_Version", (uintptr_t)&version_number}};
    make_image(made, image);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].name, without) != 0)
            add_symbol(image, all[i].name, all[i].at);
}

/* Offsets as 3.13 publishes them, chosen so that later reads lie at higher offsets. */
static void publish(void)
{
    static const unsigned char words[] = {23, 29, 30, 31, 33, 35, 37, 38, 39, 43, 45, 65, 66, 68, 69, 70};
    static const uint16_t values[] = {24, 16, 0, 8, 24, 16, 32, 8, 24, 64, 0, 0, 8, 8, 0, 16};
    for (size_t i = 0; i < sizeof words; i++)
        offsets[words[i]] = values[i];
    memcpy(offsets, "xdebugpy", 8);
    offsets[1] = 0x030D00F0;
}

static void begin(uint32_t version)
{
    version_number = version;
    version_text = "3.10.13 (main)";
    publish();
    add_symbols(&module, &images[0], version >> 16 == 0x030A ? "Py_Version" : "");
    if (!python_layout(version, offsets, &layout))
        abort();
    thread_state = get_memory(256);
}

static void set_word(uintptr_t at, uintptr_t word)
{
    memcpy((void *)at, &word, sizeof word);
}

static unsigned state_shift(void)
{
    return layout.text_ascii > 48 ? 8 : 2;
}

static uintptr_t make_text(const void *characters, size_t length, unsigned width, bool ascii)
{
    uintptr_t at = get_memory(80 + length * width), data = at + (ascii ? layout.text_ascii : layout.text_compact);
    uint32_t state = (width | 8 | (ascii ? 16 : 0)) << state_shift();
    set_word(at + layout.text_length, length);
    memcpy((void *)(at + layout.text_state), &state, sizeof state);
    memcpy((void *)data, characters, length * width);
    return at;
}

static uintptr_t make_ascii(const char *text)
{
    return make_text(text, strlen(text), 1, true);
}

static uintptr_t make_table(void)
{
    static const unsigned char pairs[] = {4, 0, 6, 1}, records[] = {0x80 | 13 << 3 | 1, 0, 0x80 | 11 << 3 | 2, 4, 9};
    uintptr_t at = get_memory(64);
    set_word(at + layout.bytes_size, layout.pairs ? sizeof pairs : sizeof records);
    memcpy((void *)(at + layout.bytes_data), layout.pairs ? pairs : records, layout.pairs ? sizeof pairs : sizeof records);
    return at;
}

static void fill_code(uintptr_t at, uintptr_t file, uintptr_t name, int first)
{
    set_word(at + layout.object_type, (uintptr_t)&code_type);
    set_word(at + layout.code_file, file);
    set_word(at + layout.code_name, name);
    set_word(at + layout.code_lines, make_table());
    memcpy((void *)(at + layout.code_first_line), &first, sizeof first);
}

static uintptr_t make_code(const char *file, const char *name, int first)
{
    uintptr_t at = get_memory(256);
    fill_code(at, make_ascii(file), make_ascii(name), first);
    return at;
}

static void fill_frame(uintptr_t at, uintptr_t code, unsigned unit, uintptr_t next)
{
    const int count = (int)unit;
    set_word(at + layout.frame_next, next);
    set_word(at + layout.frame_code, code);
    if (layout.frame_counts)
        memcpy((void *)(at + layout.frame_at), &count, sizeof count);
    else
        set_word(at + layout.frame_at, code + layout.code_bytes + (uintptr_t)unit * 2);
}

static uintptr_t make_frame(uintptr_t code, unsigned unit, uintptr_t next)
{
    uintptr_t at = get_memory(128);
    fill_frame(at, code, unit, next);
    return at;
}

/* The entry frame below a run, or a C frame in between. */
static uintptr_t make_shim(uintptr_t next)
{
    uintptr_t at = make_frame(0, 0, next);
    *(unsigned char *)(at + layout.frame_owner) = 3;
    return at;
}

static void set_first(uintptr_t frame)
{
    set_word(thread_state + layout.thread_frame, frame);
}

static bool start(void)
{
    memset(&walk, 0, sizeof walk);
    return python_is_interpreter(&walk, &module);
}

/* Is the next frame up to that address the expected one? */
static bool gives(uintptr_t to, const char *file, const char *function, uint32_t line)
{
    const char *is_file = "", *is_function = "";
    uint32_t is_line = 0, frame = python_next(&walk, 1, to);
    if (frame && python_names(frame, &is_file, &is_function, &is_line) && strcmp(is_file, file) == 0 &&
        strcmp(is_function, function) == 0 && is_line == line)
        return true;
    tap_note("frame %u: %s %s %u instead of %s %s %u", frame, is_file, is_function, is_line, file, function, line);
    return false;
}

static void test_child(bool (*run)(void), const char *name)
{
    int status = 1;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        bool good = run();
        fflush(NULL);
        _exit(good ? 0 : 1);
    }
    waitpid(child, &status, 0);
    tap_u64((uint64_t)status, 0, "%s", name);
}

/* ---- versions ---- */

/* Two frames in one run of the loop, and one in another. */
static bool old_runs(uint32_t version)
{
    begin(version);
    uintptr_t a = make_code("/srv/pool.py", "grow", 10), b = make_code("/srv/train.py", "step", 20);
    uintptr_t last = make_frame(b, 3, 0), middle = make_frame(b, 0, last), first = make_frame(a, 2, middle), run[3];
    for (int i = 0; i < 3; i++)
        run[i] = get_memory(64);
    set_word(run[0] + layout.cframe_next, run[1]);
    set_word(run[1] + layout.cframe_next, layout.runs == RUNS_PER_FRAME ? run[2] : 0);
    set_word(run[0] + layout.cframe_frame, layout.runs == RUNS_PER_FRAME ? run[1] : first);
    if (layout.runs == RUNS_PER_FRAME)
        set_word(run[0] + layout.cframe_next, run[1]);
    set_word(thread_state + layout.thread_cframe, run[0]);
    if (layout.thread_frame)
        set_first(first);
    bool entered = layout.runs == RUNS_ENTERED;
    if (entered)
        *(unsigned char *)(middle + layout.frame_entered) = *(unsigned char *)(last + layout.frame_entered) = 1;
    uintptr_t end = run[0] + 1;
    bool good = start() && python_expected() == PYTHON_HERE && gives(end, "/srv/pool.py", "grow", 11);
    if (!entered)
        end = run[1] + 1;
    good = good && gives(end, "/srv/train.py", "step", 20) && !python_next(&walk, 1, end) && python_is_interpreter(&walk, &module);
    return good && gives(UINTPTR_MAX, "/srv/train.py", "step", 21) && !python_next(&walk, 1, UINTPTR_MAX) && walk.state == PYTHON_OVER &&
           walk.given == 3 && !python_note();
}

static bool runs_310(void)
{
    return old_runs(0x030A0DF0) && !found_meanwhile;
}

static bool runs_311(void)
{
    return old_runs(0x030B07F0);
}

static bool runs_shimmed(uint32_t version)
{
    begin(version);
    uintptr_t a = make_code("/srv/pool.py", "grow", 10), b = make_code("/srv/train.py", "step", 20), made = make_code("__init__", "__init__", 0);
    /* From the outside in, so that addresses decrease as on the C stack, because addresses are compared with those of the
     * shims. */
    uintptr_t low = make_shim(0), high = make_shim(0), last = make_frame(b, 3, high);
    set_word(low + layout.frame_next, last);
    set_word(made + layout.code_lines, 0);
    uintptr_t first = make_shim(make_frame(a, 2, make_frame(made, 0, low))), run = get_memory(64);
    set_word(run + layout.cframe_frame, first);
    set_word(thread_state + layout.thread_cframe, run);
    if (layout.thread_frame)
        set_first(first);
    bool good = start() && gives(low + 1, "/srv/pool.py", "grow", 11) && !python_next(&walk, 1, low + 1);
    return good && gives(high + 1, "/srv/train.py", "step", 21) && !python_next(&walk, 1, UINTPTR_MAX) && walk.given == 3 && !python_note();
}

static bool runs_312(void)
{
    return runs_shimmed(0x030C01F0);
}

static bool runs_313(void)
{
    return runs_shimmed(0x030D00F0);
}

/* ---- interpreters that cannot be read ---- */

static bool refuses(const char *without)
{
    add_symbols(&module, &images[0], without);
    return !start() && python_expected() == PYTHON_UNKNOWN && walk.state == PYTHON_UNSEEN && !start();
}

static bool odd_versions(void)
{
    static const char *const texts[] = {NULL, "3", "x", "300.1", "3.300", "2.7.18"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        version_text = texts[i];
        module.number++;
        if (!refuses("Py_Version") || !python_note())
            return false;
    }
    return true;
}

static bool no_version(void)
{
    add_symbols(&module, &images[0], "Py_Version");
    memset(images[0].strings + 1, 'x', 3);
    for (int i = 1; i < SYMBOLS_MOST; i++)
        if (strcmp(images[0].strings + images[0].symbol[i].st_name, "Py_GetVersion") == 0)
            images[0].symbol[i].st_shndx = SHN_UNDEF;
    return !start() && !python_note(); /* _PyRuntime has another name as well */
}

static bool no_version_at_all(void)
{
    add_symbols(&module, &images[0], "Py_Version");
    images[0].symbol[4].st_shndx = SHN_UNDEF;
    return !start() && python_note();
}

static bool no_type(void)
{
    version_number = 0x030C01F0;
    return refuses("PyCode_Type") && python_note();
}

static bool no_thread_function(void)
{
    version_number = 0x030C01F0;
    return refuses("PyGILState_GetThisThreadState") && !python_note();
}

/* The offsets of 3.13 are unreadable; 3.12 does not publish any. */
static bool unreadable_runtime(void)
{
    begin(0x030D00F0);
    images[0].symbol[1].st_value = (uintptr_t)hole - (uintptr_t)&images[0];
    if (start() || !python_note())
        return false;
    version_number = 0x030C01F0;
    module.number++;
    return !start() && python_expected() == PYTHON_HERE; /* found; its thread has no frame */
}

static bool two(void)
{
    begin(0x030D00F0);
    version_number = 0x03090000;
    add_symbols(&other, &images[1], "");
    memset(&walk, 0, sizeof walk);
    if (python_is_interpreter(&walk, &other) || !python_note())
        return false;
    version_number = 0x030D00F0;
    set_first(make_frame(make_code("/srv/pool.py", "grow", 10), 0, 0));
    return start() && gives(UINTPTR_MAX, "/srv/pool.py", "grow", 10) && !python_is_interpreter(&walk, &other);
}

static bool third_module(void)
{
    begin(0x030D00F0);
    set_first(make_frame(make_code("/srv/pool.py", "grow", 10), 0, 0));
    add_symbols(&other, &images[1], "");
    return start() && !python_is_interpreter(&walk, &other) && !python_is_interpreter(&walk, &other) && python_is_interpreter(&walk, &module);
}

static bool no_thread(void)
{
    begin(0x030D00F0);
    thread_state = 0;
    return !start() && python_expected() == PYTHON_NOT_HERE && walk.state == PYTHON_OVER && !python_note();
}

static bool broken_threads(void)
{
    begin(0x030C01F0);
    thread_state = (uintptr_t)hole - 8;
    if (start() || walk.state != PYTHON_OVER)
        return false;
    thread_state = get_memory(256);
    set_word(thread_state + layout.thread_cframe, (uintptr_t)hole);
    return !start() && walk.state == PYTHON_OVER && !walk.frame;
}

static bool no_offset_of_frames(void)
{
    begin(0x030D00F0);
    offsets[23] = 0;
    set_word(thread_state, make_frame(make_code("/srv/pool.py", "grow", 10), 0, 0));
    return start() && gives(UINTPTR_MAX, "/srv/pool.py", "grow", 10);
}

/* ---- broken frames ---- */

/* There is no further frame, and the walk ends. */
static bool ends(uintptr_t frame)
{
    set_first(frame);
    return start() && !python_next(&walk, 1, UINTPTR_MAX) && walk.state == PYTHON_OVER && !walk.given;
}

/* The last bytes before the unreadable page, filled with the start of an object. */
static uintptr_t cut(uintptr_t object, size_t keeps)
{
    memcpy(hole - keeps, (const void *)object, keeps);
    return (uintptr_t)hole - keeps;
}

static bool cut_codes(size_t from, size_t to)
{
    begin(0x030D00F0);
    uintptr_t code = make_code("/srv/pool.py", "grow", 10);
    for (size_t keeps = from; keeps <= to; keeps += 8)
        if (!ends(make_frame(cut(code, keeps), 0, 0)))
            return false;
    return true;
}

static bool code_without_type(void)
{
    return cut_codes(0, 16) && python_note() && !start();
}

static bool code_without_name(void)
{
    return cut_codes(24, 32);
}

static bool another_type(void)
{
    begin(0x030D00F0);
    uintptr_t code = make_code("/srv/pool.py", "grow", 10);
    set_word(code + layout.object_type, code);
    return ends(make_frame(code, 0, 0)) && ends((uintptr_t)hole) && ends(cut(make_frame(make_code("a", "b", 1), 0, 0), 8)) && python_note();
}

static bool cut_frame_310(void)
{
    begin(0x030A0DF0);
    uintptr_t code = make_code("/srv/pool.py", "grow", 10);
    return ends(cut(make_frame(code, 0, 0), 40));
}

static bool cut_frame_311(void)
{
    begin(0x030B07F0);
    uintptr_t run = get_memory(64), code = make_code("/srv/pool.py", "grow", 10);
    set_word(thread_state + layout.thread_cframe, run);
    set_word(run + layout.cframe_frame, cut(make_frame(code, 0, make_frame(code, 2, 0)), 64));
    set_word(run + layout.cframe_next, (uintptr_t)hole);
    /* If it is unknown whether a run begins with it, assume not. */
    return start() && gives(UINTPTR_MAX, "/srv/pool.py", "grow", 10) && gives(UINTPTR_MAX, "/srv/pool.py", "grow", 11) && !walk.frame;
}

static bool broken_runs(void)
{
    begin(0x030A0DF0);
    uintptr_t run = get_memory(64), code = make_code("/srv/pool.py", "grow", 10);
    set_word(thread_state + layout.thread_cframe, run);
    set_word(run + layout.cframe_next, (uintptr_t)hole);
    set_first(make_frame(code, 0, make_frame(code, 2, make_frame(code, 2, 0))));
    return start() && gives(UINTPTR_MAX, "/srv/pool.py", "grow", 10) && gives(UINTPTR_MAX, "/srv/pool.py", "grow", 11) && !walk.cframe &&
           gives(UINTPTR_MAX, "/srv/pool.py", "grow", 11);
}

/* The loop is that of frames, of shims, and of frames that lead to an unreadable one. */
static bool loops(void)
{
    begin(0x030D00F0);
    uintptr_t code = make_code("/srv/pool.py", "grow", 10), frame = make_frame(code, 0, 0), shim = make_shim(0), given = 0;
    set_word(frame + layout.frame_next, frame);
    set_first(frame);
    if (!start())
        return false;
    while (python_next(&walk, 1, UINTPTR_MAX))
        given++;
    if (!given || given > 4096 || walk.state != PYTHON_OVER || walk.frame)
        return false;
    set_word(shim + layout.frame_next, shim);
    if (!ends(shim))
        return false;
    set_first(make_shim((uintptr_t)hole));
    set_word(shim + layout.frame_next, (uintptr_t)hole);
    return start() && !python_next(&walk, 1, UINTPTR_MAX) && python_note();
}

static bool cut_shim(void)
{
    begin(0x030C01F0);
    uintptr_t run = get_memory(64), code = make_code("/srv/pool.py", "grow", 10), frame = make_frame(code, 0, (uintptr_t)hole);
    set_word(thread_state + layout.thread_cframe, run);
    set_word(run + layout.cframe_frame, frame);
    return start() && gives(UINTPTR_MAX, "/srv/pool.py", "grow", 10) && !python_next(&walk, 1, UINTPTR_MAX) && walk.state == PYTHON_OVER;
}

/* A shim whose link cannot be read has none. */
static bool shim_without_next(void)
{
    begin(0x030D00F0);
    offsets[33] = 0;
    offsets[30] = 8;
    offsets[29] = 24;
    if (!python_layout(0x030D00F0, offsets, &layout))
        abort();
    uintptr_t frame = make_frame(0, 0, 0);
    set_word(frame, 3);
    set_first(cut(frame, 8));
    return start() && !walk.frame && !python_next(&walk, 1, UINTPTR_MAX);
}

static bool frame_without_next(void)
{
    begin(0x030D00F0);
    offsets[29] = 32;
    if (!python_layout(0x030D00F0, offsets, &layout))
        abort();
    set_first(cut(make_frame(make_code("/srv/pool.py", "grow", 10), 0, 0), 32));
    return start() && gives(UINTPTR_MAX, "/srv/pool.py", "grow", 10) && walk.state == PYTHON_OVER && python_is_interpreter(&walk, &module);
}

static bool unseen_run(void)
{
    begin(0x030D00F0);
    uintptr_t shim = make_shim(0);
    set_first(make_frame(make_code("/srv/pool.py", "grow", 10), 0, shim));
    return start() && walk.marker == shim && !python_next(&walk, shim + 1, shim + 2) && walk.state == PYTHON_OVER;
}

/* ---- texts ---- */

static bool names_are(uintptr_t name, const char *want)
{
    uintptr_t code = get_memory(256);
    fill_code(code, make_ascii("/srv/a.py"), name, 10);
    set_first(make_frame(code, 0, 0));
    return start() && gives(UINTPTR_MAX, "/srv/a.py", want, 10);
}

static bool widths(void)
{
    static const uint16_t two_wide[] = {'a', 0xE9, 0x20AC};
    static const uint32_t four_wide[] = {0x1F600, 0x110000, 'z'};
    return names_are(make_text("caf\xE9", 4, 1, false), "caf\xC3\xA9") && names_are(make_text(two_wide, 3, 2, false), "a\xC3\xA9\xE2\x82\xAC") &&
           names_are(make_text(four_wide, 3, 4, false), "\xF0\x9F\x98\x80?z");
}

static bool texts(void)
{
    begin(0x030D00F0);
    return widths();
}

/* Free-threaded builds have larger objects. */
static bool texts_without_lock(void)
{
    begin(0x030D00F0);
    offsets[70] = 56;
    if (!python_layout(0x030D00F0, offsets, &layout))
        abort();
    return widths() && names_are(make_ascii("grow"), "grow");
}

static bool long_texts(void)
{
    static char text[1501], wide[1501];
    begin(0x030D00F0);
    for (int i = 0; i < 1500; i++)
        text[i] = (char)('a' + i % 26), wide[i] = text[i];
    return names_are(make_ascii(text), text + 1500 - 1023) && names_are(make_text(wide, 1500, 1, false), wide + 1500 - 255);
}

static bool broken_texts(void)
{
    begin(0x030D00F0);
    uintptr_t odd = make_ascii("grow"), parted = make_ascii("grow");
    uint32_t state = (3U | 8 | 16) << state_shift();
    memcpy((void *)(odd + layout.text_state), &state, sizeof state);
    state = (1U | 16) << state_shift();
    memcpy((void *)(parted + layout.text_state), &state, sizeof state);
    return names_are(odd, "") && names_are(parted, "") && names_are((uintptr_t)hole, "") && names_are(0, "") &&
           names_are(cut(make_ascii("grow"), 8), "") && names_are(cut(make_ascii("grow"), 18), "gr");
}

/* Files are distinguished by the end of their names, as far as it can be read. */
static bool broken_files(void)
{
    begin(0x030D00F0);
    const uintptr_t files[] = {(uintptr_t)hole, make_ascii("a.py"), cut(make_ascii("/srv/train.py"), 20), make_ascii("/srv/b.py")};
    static const char *const names[] = {"", "a.py", "/srv", ""};
    set_word(files[3] + layout.text_length, 1 << 20); /* its characters extend beyond the readable memory */
    set_word(files[3] + layout.text_state, 0);
    for (int i = 0; i < 4; i++) {
        uintptr_t code = get_memory(256);
        fill_code(code, files[i], make_ascii("grow"), 10);
        set_first(make_frame(code, 0, 0));
        if (!start() || !gives(UINTPTR_MAX, names[i], "grow", 10))
            return false;
    }
    return true;
}

static bool broken_tables(void)
{
    begin(0x030D00F0);
    uintptr_t large = make_table(), far = cut(make_table(), 10);
    set_word(large + layout.bytes_size, 1 << 25);
    set_word(far + layout.bytes_size, 8192);
    const uintptr_t tables[] = {large, far, (uintptr_t)hole};
    for (int i = 0; i < 3; i++) {
        uintptr_t code = make_code("/srv/a.py", "grow", 10), frame = make_frame(code, 0, 0);
        set_word(code + layout.code_lines, tables[i]);
        set_first(frame);
        if (!start() || !gives(UINTPTR_MAX, "/srv/a.py", "grow", 0))
            return false;
    }
    uintptr_t frame = make_frame(make_code("/srv/a.py", "grow", 10), 0, 0);
    set_word(frame + layout.frame_at, 1); /* the instruction lies before the code: the first line is used */
    set_first(frame);
    return start() && gives(UINTPTR_MAX, "/srv/a.py", "grow", 10);
}

static bool nearly_hidden(void)
{
    begin(0x030D00F0);
    uintptr_t hidden = make_code("__init__", "__init__", 10), named = make_code("__init__", "grow", 10), filed = make_code("a", "__init__", 10);
    set_word(hidden + layout.code_lines, (uintptr_t)hole);
    set_word(named + layout.code_lines, (uintptr_t)hole);
    set_word(filed + layout.code_lines, (uintptr_t)hole);
    set_first(make_frame(make_code("__init__", "__init__", 10), 0, make_frame(hidden, 0, make_frame(named, 0, make_frame(filed, 0, 0)))));
    return start() && gives(UINTPTR_MAX, "__init__", "__init__", 10) && gives(UINTPTR_MAX, "__init__", "grow", 0) &&
           gives(UINTPTR_MAX, "a", "__init__", 0) && walk.given == 4;
}

/* ---- at length ---- */

/* After several good walks reads no longer check with the system. */
static bool trusted(void)
{
    begin(0x030D00F0);
    set_first(make_frame(make_code("/srv/pool.py", "grow", 10), 0, 0));
    for (int i = 0; i < 40; i++)
        if (!start() || walk.checked != (i < 16) || !gives(UINTPTR_MAX, "/srv/pool.py", "grow", 10) || python_is_interpreter(&walk, &module) != true)
            return false;
    return true;
}

/* The depot refuses records, beginning with the first, the second and the third. */
static bool full_depot(void)
{
    begin(0x030D00F0);
    uintptr_t frame = make_frame(make_code("/srv/pool.py", "grow", 10), 0, 0);
    depot_add(DEPOT_TEXT, "x", 2, NULL, 0);
    depot_limit = 8;
    if (!ends(frame))
        return false;
    depot_limit = UINT64_C(1) << 20;
    uint32_t file = depot_add(DEPOT_TEXT, "/srv/pool.py", 13, NULL, 0);
    depot_limit = 8;
    if (!ends(frame))
        return false;
    depot_limit = UINT64_C(1) << 20;
    uint32_t name = depot_add(DEPOT_TEXT, "grow", 5, NULL, 0);
    depot_limit = 8;
    const char *text;
    uint32_t line;
    return file && name && ends(frame) && depot_full() && !python_names(name, &text, &text, &line);
}

int main(void)
{
    const long page = sysconf(_SC_PAGESIZE);
    unsigned char *pages = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    hole = pages + page;
    if (pages == MAP_FAILED || mprotect(hole, (size_t)page, PROT_NONE) != 0)
        tap_bail("no memory");
    test_child(runs_310, "3.10: a run for each frame, and its version is a text");
    test_child(runs_311, "3.11: frames that begin a run");
    test_child(runs_312, "3.12: shims, and a frame that is not shown");
    test_child(runs_313, "3.13: the same, by its own offsets");
    test_child(odd_versions, "invalid or unknown versions");
    test_child(no_version, "a module with other symbols is not an interpreter");
    test_child(no_version_at_all, "an interpreter without a version");
    test_child(no_type, "without the type of code");
    test_child(no_thread_function, "without threads");
    test_child(unreadable_runtime, "offsets that cannot be read are needed by some versions alone");
    test_child(two, "one that can be read beside one that cannot");
    test_child(third_module, "the second of two is not walked");
    test_child(no_thread, "a thread that Python does not know");
    test_child(broken_threads, "a thread's state that cannot be read");
    test_child(no_offset_of_frames, "a state that begins with its frames");
    test_child(code_without_type, "code that cannot be read whole; after three of them nothing is");
    test_child(code_without_name, "code whose name cannot be read");
    test_child(another_type, "what is not code, frames that cannot be read");
    test_child(cut_frame_310, "3.10: a frame without its place");
    test_child(cut_frame_311, "3.11: a frame that cannot be read to its end");
    test_child(broken_runs, "a list of runs that ends early");
    test_child(loops, "lists that come back to where they were end");
    test_child(cut_shim, "3.12: a list of frames that ends early");
    test_child(shim_without_next, "a shim without a link");
    test_child(frame_without_next, "a frame without a link is given, and the last");
    test_child(unseen_run, "a run whose native frame was not seen ends the walk");
    test_child(texts, "characters of each width");
    test_child(texts_without_lock, "and of builds without the lock");
    test_child(long_texts, "long texts: their ends");
    test_child(broken_texts, "invalid texts");
    test_child(broken_files, "invalid file names");
    test_child(broken_tables, "invalid line tables");
    test_child(nearly_hidden, "frames that look like those that are not shown");
    test_child(trusted, "many good walks");
    test_child(full_depot, "a full depot");
    return tap_done();
}
