/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks_python.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "stacks_depot.h"
#include "stacks_export.h"
#include "stacks_layout.h"
#include "stacks_line.h"
#include "stacks_unwind.h"

enum { STEPS_MOST = 4096, WALKS_CHECKED = 16, FAILURES_MOST = 3 };

/* An interpreter of this process; for all practical purposes there is only one. */
struct python {
    struct python_layout layout;
    uint32_t module;
    uintptr_t code_type;
    void *(*thread)(void); /* PyGILState_GetThisThreadState */
};

static struct python interpreter;
static _Atomic int found; /* 0: none yet; 1: another thread is filling it in; 2: complete */
enum { NONE_YET, BEING_FILLED, THERE };
static _Atomic unsigned char looked[MODULE_MOST]; /* modules that are known not to be an interpreter */
static _Atomic(const char *) note;
static _Atomic int good, failures; /* walks */

const char *python_note(void)
{
    return atomic_load(&note);
}

/* ---- finding the interpreter ---- */

/* The version as in PY_VERSION_HEX; 0 if unknown. 3.10 has it only as text. */
static uint32_t version_of(const struct module *module)
{
    uintptr_t number = export_of(module, "Py_Version"), text = export_of(module, "Py_GetVersion");
    unsigned long value = 0;
    if (number) {
        memcpy(&value, (const void *)number, sizeof value);
        return (uint32_t)value;
    }
    if (!text)
        return 0;
    const char *(*get)(void);
    memcpy(&get, &text, sizeof get);
    const char *is = get(); /* writes the same text each time */
    char *rest;
    unsigned long major = is ? strtoul(is, &rest, 10) : 0, minor = is && *rest == '.' ? strtoul(rest + 1, NULL, 10) : 0;
    return major < 256 && minor < 256 ? (uint32_t)(major << 24 | minor << 16) : 0;
}

static bool fill_in(const struct module *module, uintptr_t runtime, uintptr_t thread)
{
    uint64_t offsets[PYTHON_OFFSETS / 8] = {0};
    if (unwind_readable(runtime, sizeof offsets))
        memcpy(offsets, (const void *)runtime, sizeof offsets);
    interpreter.module = module->number;
    interpreter.code_type = export_of(module, "PyCode_Type");
    memcpy(&interpreter.thread, &thread, sizeof thread);
    return interpreter.code_type && python_layout(version_of(module), offsets, &interpreter.layout);
}

static bool look(const struct module *module)
{
    int none = NONE_YET;
    uintptr_t runtime = export_of(module, "_PyRuntime"), thread = export_of(module, "PyGILState_GetThisThreadState");
    if (runtime && thread) {
        /* Another thread is working on it, perhaps with this module; its result will be there for this thread's next stack. */
        if (!atomic_compare_exchange_strong(&found, &none, BEING_FILLED))
            return false;
        if (fill_in(module, runtime, thread)) {
            atomic_store_explicit(&found, THERE, memory_order_release);
            return true;
        }
        atomic_store(&note, "Python frames are not available: they can be read only from CPython 3.10 to 3.14");
        atomic_store_explicit(&found, NONE_YET, memory_order_release); /* a process may have two */
    }
    atomic_store_explicit(&looked[module->number], 1, memory_order_relaxed);
    return false;
}

enum python_expectation python_expected(void)
{
    if (atomic_load_explicit(&found, memory_order_acquire) != THERE)
        return PYTHON_UNKNOWN;
    return interpreter.thread() ? PYTHON_HERE : PYTHON_NOT_HERE;
}

/* ---- walking ---- */

/* Copies bytes of the interpreter's structures. If the offsets may be wrong, the system checks the read. */
static bool peek(const struct python_walk *walk, uintptr_t from, void *to, size_t size)
{
    if (from < 4096 || (walk->checked && !unwind_readable(from, size)))
        return false;
    memcpy(to, (const void *)from, size);
    return true;
}

static bool peek_word(const struct python_walk *walk, uintptr_t from, uintptr_t *word)
{
    return peek(walk, from, word, sizeof *word);
}

/* References of 3.14 have marks in the lowest bits. */
static uintptr_t untagged(uintptr_t word)
{
    return word & ~(uintptr_t)3;
}

/* Owners of frames from 3.12 on: values from this one up are on the C stack. */
enum { OWNER_RUN = 3 };

/* Is it the frame below those of a run? */
static bool is_shim(const struct python_walk *walk, uintptr_t frame)
{
    unsigned char owner = 0;
    return walk->python->layout.runs == RUNS_SHIMMED && peek(walk, frame + walk->python->layout.frame_owner, &owner, 1) &&
           owner >= OWNER_RUN;
}

/* Finds the C variable of the run that the frames from here belong to, and skips shims. */
static void find_marker(struct python_walk *walk)
{
    const struct python_layout *layout = &walk->python->layout;
    if (layout->runs != RUNS_SHIMMED) {
        walk->marker = walk->cframe;
        return;
    }
    while (walk->frame && is_shim(walk, walk->frame) && walk->steps++ < STEPS_MOST)
        if (!peek_word(walk, walk->frame + layout->frame_next, &walk->frame))
            walk->frame = 0;
    uintptr_t below = walk->frame;
    for (unsigned i = 0; below && !is_shim(walk, below) && i < STEPS_MOST; i++)
        if (!peek_word(walk, below + layout->frame_next, &below))
            below = 0;
    walk->marker = below;
}

static void give_up(struct python_walk *walk)
{
    walk->frame = 0;
    walk->state = PYTHON_OVER;
    if (atomic_fetch_add(&failures, 1) + 1 >= FAILURES_MOST)
        atomic_store(&note, "Python frames are not available: in this interpreter they are not where its version stores them");
}

static void begin_walk(struct python_walk *walk)
{
    const struct python_layout *layout = &interpreter.layout;
    walk->python = &interpreter;
    walk->state = PYTHON_OVER;
    if (atomic_load_explicit(&failures, memory_order_relaxed) >= FAILURES_MOST)
        return;
    walk->checked = atomic_load_explicit(&good, memory_order_relaxed) < WALKS_CHECKED;
    uintptr_t thread = (uintptr_t)interpreter.thread();
    if (!thread) /* a thread unknown to Python */
        return;
    if (layout->thread_cframe && !peek_word(walk, thread + layout->thread_cframe, &walk->cframe))
        return;
    uintptr_t from = layout->thread_frame || !layout->thread_cframe ? thread + layout->thread_frame : walk->cframe + layout->cframe_frame;
    if (!peek_word(walk, from, &walk->frame) || !walk->frame)
        return;
    walk->state = PYTHON_WALKING;
    find_marker(walk);
}

bool python_is_interpreter(struct python_walk *walk, const struct module *module)
{
    if (atomic_load_explicit(&looked[module->number], memory_order_relaxed))
        return false;
    if (atomic_load_explicit(&found, memory_order_acquire) != THERE) {
        if (!look(module))
            return false;
    } else if (interpreter.module != module->number) {
        atomic_store_explicit(&looked[module->number], 1, memory_order_relaxed);
        return false;
    }
    if (walk->state == PYTHON_UNSEEN)
        begin_walk(walk);
    return walk->state == PYTHON_WALKING || walk->given;
}

/* ---- a frame ---- */

/* What distinguishes an instruction of a code object from any other, even when the object's memory is reused. */
struct place {
    uintptr_t code, lines, file;
    uint32_t unit, first; /* the instruction, as a number of code units, and the first line */
    uint64_t end;         /* of the file's name: a few bytes */
};

/* The characters of compact strings, which nearly all are, begin at a known offset. */
static void read_end(const struct python_walk *walk, struct place *place)
{
    const struct python_layout *layout = &walk->python->layout;
    uintptr_t length = 0;
    place->end = 0;
    if (peek_word(walk, place->file + layout->text_length, &length) && length >= sizeof place->end && length < 4096 &&
        peek(walk, place->file + layout->text_ascii + length - sizeof place->end, &place->end, sizeof place->end))
        place->end ^= length << 56;
}

static bool read_place(const struct python_walk *walk, struct place *place)
{
    const struct python_layout *layout = &walk->python->layout;
    uintptr_t type = 0, at = 0;
    int32_t count = 0;
    if (!peek_word(walk, walk->frame + layout->frame_code, &place->code))
        return false;
    place->code = untagged(place->code);
    if (!peek_word(walk, place->code + layout->object_type, &type) || type != walk->python->code_type ||
        !peek_word(walk, place->code + layout->code_lines, &place->lines) ||
        !peek_word(walk, place->code + layout->code_file, &place->file) ||
        !peek(walk, place->code + layout->code_first_line, &place->first, sizeof place->first))
        return false;
    read_end(walk, place);
    if (layout->frame_counts) {
        if (!peek(walk, walk->frame + layout->frame_at, &count, sizeof count))
            return false;
        place->unit = count < 0 ? 0 : (uint32_t)count;
        return true;
    }
    if (!peek_word(walk, walk->frame + layout->frame_at, &at))
        return false;
    uintptr_t start = place->code + layout->code_bytes;
    place->unit = at < start ? 0 : (uint32_t)((at - start) / 2);
    return true;
}

/* One character as UTF-8. */
static size_t put(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xC0, 0xE0, 0xF0};
    to[0] = (char)(first[more] | c >> 6 * more);
    for (unsigned i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (c >> 6 * (more - i) & 63));
    return more + 1;
}

enum { TEXT_MOST = 1024 };

/* A Python str as a text of the depot; if it is too long, only its end, which is the part that distinguishes files. */
static uint32_t text_of(const struct python_walk *walk, uintptr_t object)
{
    const struct python_layout *layout = &walk->python->layout;
    char text[TEXT_MOST];
    uintptr_t length = 0;
    uint32_t state = 0;
    size_t used = 0;
    if (!peek_word(walk, object + layout->text_length, &length) ||
        !peek(walk, object + layout->text_state, &state, sizeof state))
        length = 0;
    /* Two bits of interning state (eight in free-threaded builds) come first. */
    unsigned shift = layout->text_ascii > 48 ? 8 : 2;
    unsigned width = state >> shift & 7;
    bool compact = state >> (shift + 3) & 1, ascii = state >> (shift + 4) & 1;
    if (!compact || (width != 1 && width != 2 && width != 4))
        length = 0;
    uintptr_t at = object + (ascii ? layout->text_ascii : layout->text_compact);
    uintptr_t skip = length > TEXT_MOST / 4 - 1 && !ascii ? length - (TEXT_MOST / 4 - 1) : length > TEXT_MOST - 1 ? length - (TEXT_MOST - 1) : 0;
    for (uintptr_t i = skip; i < length; i++) {
        uint32_t c = 0;
        if (!peek(walk, at + i * width, &c, width))
            break;
        used += put(text + used, c < 0x110000 ? c : '?');
    }
    text[used] = '\0';
    return depot_add(DEPOT_TEXT, text, used + 1, NULL, 0);
}

static uint32_t line_of(const struct python_walk *walk, const struct place *place)
{
    const struct python_layout *layout = &walk->python->layout;
    uintptr_t size = 0, start = place->lines + layout->bytes_data;
    if (!peek_word(walk, place->lines + layout->bytes_size, &size))
        return 0;
    for (uintptr_t at = start; at < start + size; at += 4096)
        if (size > 1 << 24 || !unwind_readable(at, start + size - at < 4096 ? start + size - at : 4096))
            return 0;
    return (layout->pairs ? python_line_pairs : python_line_records)((const void *)start, size, place->first, place->unit);
}

/* Frames that the interpreter makes for itself and hides from tracebacks. */
static const uint32_t hidden = UINT32_MAX;

static bool is_hidden(const uint32_t names[3])
{
    return !names[2] && strcmp(depot_key(names[0]), "__init__") == 0 && strcmp(depot_key(names[1]), "__init__") == 0;
}

/* A frame's names are stored when it is seen for the first time. */
static uint32_t frame_at(struct python_walk *walk, const struct place *place)
{
    uint32_t known = depot_find(DEPOT_PYTHON_AT, place, sizeof *place), names[3], frame = 0;
    if (known) {
        memcpy(&frame, depot_value(known), sizeof frame);
        return frame;
    }
    uintptr_t name = 0;
    bool before = walk->checked;
    walk->checked = true;
    if (peek_word(walk, place->code + walk->python->layout.code_name, &name)) {
        names[0] = text_of(walk, place->file);
        names[1] = text_of(walk, name);
        names[2] = line_of(walk, place);
        frame = !names[0] || !names[1] ? 0 : is_hidden(names) ? hidden : depot_add(DEPOT_PYTHON, names, sizeof names, NULL, 0);
    }
    walk->checked = before;
    if (frame)
        depot_add(DEPOT_PYTHON_AT, place, sizeof *place, &frame, sizeof frame);
    return frame;
}

/* Advances to the next frame of Python's list, which may belong to another run. */
static void advance(struct python_walk *walk)
{
    const struct python_layout *layout = &walk->python->layout;
    unsigned char entered = 1;
    bool ends = layout->runs == RUNS_PER_FRAME ||
                (layout->runs == RUNS_ENTERED && peek(walk, walk->frame + layout->frame_entered, &entered, 1) && entered);
    if (!peek_word(walk, walk->frame + layout->frame_next, &walk->frame) || walk->steps++ >= STEPS_MOST) {
        give_up(walk);
        return;
    }
    if (ends && walk->cframe && !peek_word(walk, walk->cframe + layout->cframe_next, &walk->cframe))
        walk->cframe = 0;
    if (walk->frame && (ends || is_shim(walk, walk->frame)))
        find_marker(walk);
    if (!walk->frame) {
        walk->state = PYTHON_OVER;
        if (walk->checked)
            atomic_fetch_add(&good, 1);
    }
}

uint32_t python_next(struct python_walk *walk, uintptr_t sp, uintptr_t next_sp)
{
    struct place place;
    while (walk->state == PYTHON_WALKING && walk->marker < next_sp) {
        if (walk->marker && walk->marker < sp) { /* a run whose native frame was not seen */
            give_up(walk);
            return 0;
        }
        walk->steps++;
        uint32_t frame = read_place(walk, &place) ? frame_at(walk, &place) : 0;
        if (!frame) {
            give_up(walk);
            return 0;
        }
        advance(walk);
        walk->given++;
        if (frame != hidden)
            return frame;
    }
    return 0;
}

bool python_names(uint32_t frame, const char **file, const char **function, uint32_t *line)
{
    uint32_t names[3];
    if (!depot_is(DEPOT_PYTHON, frame))
        return false;
    memcpy(names, depot_key(frame), sizeof names);
    *file = depot_key(names[0]);
    *function = depot_key(names[1]);
    *line = names[2];
    return true;
}
