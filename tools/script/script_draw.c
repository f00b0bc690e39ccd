/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a script's system, with the script's names. See picture.h. */
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "script_state.h"

static const char *label(void *user, const vmm_object *object, char *buffer, size_t size)
{
    char text[SCRIPT_LABEL];
    script_label((const struct script *)user, object, text);
    snprintf(buffer, size, "%s", text);
    return buffer;
}

static void print_indented(FILE *out, const char *text)
{
    fputs("\n", out);
    while (*text) {
        size_t length = strcspn(text, "\n");
        fprintf(out, "    %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
    fputs("\n", out);
}

/* The named descriptors that are open. */
static void add_descriptors(struct picture *picture, const struct script *script)
{
    for (size_t i = 0; i < script->symbols.count; i++) {
        const struct symbol *symbol = &script->symbols.list[i];
        if (symbol->kind != SYMBOL_DESCRIPTOR || symbol->ended)
            continue;
        picture->descriptor = text_grow(picture->descriptor, (picture->descriptors + 1) * sizeof *picture->descriptor);
        struct picture_descriptor *d = &picture->descriptor[picture->descriptors++];
        *d = (struct picture_descriptor){.size = symbol->size, .value = symbol->value, .fabric = symbol->value > INT32_MAX};
        strcpy(d->name, symbol->name);
        strcpy(d->of, symbol->of);
    }
}

bool script_picture(const struct script *script, struct picture *picture)
{
    *picture = (struct picture){.label = label, .user = (void *)(uintptr_t)script, .addresses = script->options.addresses,
                                .colour = script->options.colour};
    if (script->sys && picture_take(picture, script->sys) == VMM_SUCCESS) {
        add_descriptors(picture, script);
        return true;
    }
    picture_free(picture);
    return false;
}

void script_draw(struct script *script, bool force)
{
    struct picture picture;
    char *text = NULL;
    size_t size;
    if (!script->sys)
        return;
    if (!script_picture(script, &picture)) {
        if (force)
            fputs("  this backend does not show its objects, so there is no picture\n", script->options.out);
        return;
    }
    FILE *memory = open_memstream(&text, &size);
    if (memory) {
        picture_print(memory, &picture);
        fclose(memory);
    }
    bool changed = text && (!script->picture.data || strcmp(text, script->picture.data) != 0);
    if (text && (force || changed)) {
        print_indented(script->options.out, text);
        script->picture.length = 0;
        text_add(&script->picture, "%s", text);
    }
    free(text);
    picture_free(&picture);
}
