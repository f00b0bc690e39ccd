/* SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module_symbols.h"

/* The part of a path after the last slash. */
static const char *place_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *place_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    return length && strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}

/* ---- a stack ---- */

static const char *text_or_empty(const struct json_doc *doc, const struct json_node *frame, const char *key)
{
    const char *text = json_doc_string(doc, frame, key);
    return text ? text : "";
}

/* False when memory is out. */
static bool append(struct places *places, const struct place *place)
{
    unsigned room = places->count & (places->count - 1) ? 0 : places->count ? 2 * places->count : 1;
    struct place *larger = room ? realloc(places->place, room * sizeof *larger) : places->place; /* at each power of two */
    if (!larger)
        return false;
    places->place = larger;
    places->place[places->count++] = *place;
    return true;
}

static bool read_python(struct places *places, const struct json_doc *doc, const struct json_node *frame)
{
    const struct place place = {.function = text_or_empty(doc, frame, "function"),
                                .file = text_or_empty(doc, frame, "python"),
                                .line = (unsigned)json_doc_number(doc, frame, "line"),
                                .module = "",
                                .python = true};
    return append(places, &place);
}

/* Functions that were inlined there come before the one that the frame belongs to. */
static bool read_native(struct places *places, const struct json_doc *doc, const struct json_node *frame)
{
    const char *module = text_or_empty(doc, frame, "module");
    const uint64_t offset = json_doc_number(doc, frame, "offset");
    const struct code_symbol *symbol;
    const char *build = text_or_empty(doc, frame, "build");
    unsigned count = module_symbols_at(module, build, offset, &symbol);
    const bool replaced = module_symbols_state(module, build) == SYMBOLS_REPLACED;
    bool good = true;
    for (unsigned i = 0; i < count && good; i++) {
        const struct place place = {.function = symbol[i].function,
                                    .file = symbol[i].file,
                                    .line = symbol[i].line,
                                    .module = module,
                                    .offset = offset,
                                    .inlined = symbol[i].inlined,
                                    .replaced = replaced};
        good = append(places, &place);
    }
    return good;
}

/* Code that starts threads and programs. */
static bool starts(const struct place *place)
{
    const char *module = place_base(place->module);
    return strncmp(module, "libc.so", 7) == 0 || strncmp(module, "libpthread", 10) == 0 || strncmp(module, "ld-linux", 8) == 0 ||
           strcmp(place->function, "_start") == 0;
}

bool places_read(struct places *places, const struct json_doc *doc, const struct json_node *stack)
{
    const struct json_node *frame = NULL;
    *places = (struct places){0};
    while (stack && (frame = json_doc_next(doc, stack, frame)))
        if (!(json_doc_string(doc, frame, "python") ? read_python : read_native)(places, doc, frame)) {
            places_free(places);
            return false;
        }
    while (places->count && starts(&places->place[places->count - 1]))
        places->count--;
    return true;
}

void places_free(struct places *places)
{
    free(places->place);
    *places = (struct places){0};
}

const struct place *places_source(const struct places *places)
{
    for (unsigned i = 0; i < places->count; i++)
        if (places->place[i].file[0] && places->place[i].line)
            return &places->place[i];
    return NULL;
}

/* Appends the part of a name at that position, outside or inside brackets; returns its length. */
static size_t shorten_part(const char *name, size_t *depth, char *text, size_t size)
{
    static const char unnamed[] = "(anonymous namespace)"; /* a name, not arguments */
    bool opens = *name == '<' || *name == '(', closes = *name == '>' || *name == ')';
    size_t before = *depth;
    if (strncmp(name, unnamed, sizeof unnamed - 1) == 0) {
        snprintf(text, size, "%s", before ? "" : unnamed);
        return sizeof unnamed - 1;
    }
    *depth += opens;
    *depth -= closes && before > 0 && name[-1] != '-'; /* part of an arrow, not a bracket */
    bool inside = before && *depth;
    snprintf(text, size, "%.*s%s", inside ? 0 : 1, name, opens && !before ? "..." : "");
    return 1;
}

/* Long C++ names without the contents of their brackets: at::Pool<...>::grow(...). */
static void shorten(const char *name, char *text, size_t size)
{
    enum { LONG = 60 };
    size_t depth = 0, length = 0;
    if (strlen(name) <= LONG || strstr(name, "operator")) {
        snprintf(text, size, "%s", name);
        return;
    }
    while (*name && length + 1 < size) {
        name += shorten_part(name, &depth, text + length, size - length);
        length += strlen(text + length);
    }
}

const char *place_text(const struct place *place, char *text, size_t size)
{
    char here[4096], function[400] = "?";
    if (place->function[0])
        shorten(place->function, function, sizeof function);
    if (!place->file[0]) {
        snprintf(text, size, "%s (%s+0x%llx%s)", function, place->module[0] ? place_base(place->module) : "?",
                 (unsigned long long)place->offset, place->replaced ? ", replaced since it was loaded" : "");
        return text;
    }
    const char *file = getcwd(here, sizeof here) ? place_below(place->file, here) : place->file;
    if (file[0] == '/')
        file = place_base(file);
    if (place->line)
        snprintf(text, size, "%s (%s:%u%s)", function, file, place->line, place->inlined ? ", inlined" : "");
    else
        snprintf(text, size, "%s (%s)", function, file);
    return text;
}
