/* SPDX-License-Identifier: Apache-2.0 */
/* Structures as words of a line (ask.c): "arr:w=64,h=64", fields that are not named keep what the program gives the structure.
 * Part of the recording programs that include ask.c.
 *
 *     m:w=128,x=128/w=64       a list of two structures of the shape m
 *     arr:64x64x8,x=0x40       the first word without a key: the fields from the first one on, in decimal
 */

enum { SHAPE_LIST = 64, SHAPE_ROOM = 256, SHAPES_IN_CALL = 4 };

struct shape_field {
    const char *key;
    size_t offset, size;
};

struct shape {
    const char *word;   /* before the colon */
    size_t size;
    void (*start)(void *at); /* sets every field */
    const struct shape_field *fields;
    size_t count;
};

#define FIELD(key, type, field) {key, offsetof(type, field), sizeof((type *)0)->field}

static unsigned char shape_room[SHAPES_IN_CALL][SHAPE_LIST * SHAPE_ROOM] __attribute__((aligned(64)));
static unsigned shape_next;

static void set_field(unsigned char *at, const struct shape *shape, const char *key, size_t length, u64 value)
{
    for (size_t i = 0; i < shape->count; i++)
        if (strlen(shape->fields[i].key) == length && strncmp(shape->fields[i].key, key, length) == 0) {
            memcpy(at + shape->fields[i].offset, &value, shape->fields[i].size);
            return;
        }
    unknown_word(key);
}

/* 64x64x8 */
static void set_first_fields(unsigned char *at, const struct shape *shape, const char *text)
{
    char one[32];
    for (size_t i = 0; *text && i < shape->count; i++) {
        size_t length = strcspn(text, "x");
        snprintf(one, sizeof one, "%.*s", (int)length, text);
        u64 value = argument(one);
        memcpy(at + shape->fields[i].offset, &value, shape->fields[i].size);
        text += length + (text[length] == 'x');
    }
}

static void fill_shape(unsigned char *at, const struct shape *shape, char *text)
{
    char *next = NULL;
    for (char *one = strtok_r(text, ",", &next); one; one = strtok_r(NULL, ",", &next)) {
        size_t length = strcspn(one, "=");
        if (one[length])
            set_field(at, shape, one, length, argument(one + length + 1));
        else if (strcmp(one, "-") != 0)
            set_first_fields(at, shape, one);
    }
}

/* The address of the structures that the word describes; false for words of other kinds. */
static bool shape_word(const struct shape *shapes, size_t count, const char *word, u64 *value)
{
    char text[TEXT];
    const char *colon = strchr(word, ':');
    for (size_t i = 0; colon && i < count; i++) {
        const struct shape *shape = &shapes[i];
        if (strlen(shape->word) != (size_t)(colon - word) || strncmp(shape->word, word, (size_t)(colon - word)) != 0)
            continue;
        unsigned char *at = shape_room[shape_next++ % SHAPES_IN_CALL];
        *value = (u64)(uintptr_t)at;
        snprintf(text, sizeof text, "%s", colon + 1);
        size_t made = 0;
        for (char *one = text, *next; one; one = next, made++) { /* also an empty one: what the structure begins with */
            if (made == SHAPE_LIST || shape->size > SHAPE_ROOM)
                exit(3);
            next = strchr(one, '/');
            if (next)
                *next++ = '\0';
            shape->start(at + made * shape->size);
            fill_shape(at + made * shape->size, shape, one);
        }
        return true;
    }
    return false;
}

/* The values of the output's fields, "-" for each that was not written. */
static void show_shape(char *text, size_t room, const struct shape *shape, const unsigned char *at)
{
    for (size_t i = 0; i < shape->count; i++) {
        u64 value = 0, unwritten = 0x7777777777777777;
        size_t length = strlen(text);
        memcpy(&value, at + shape->fields[i].offset, shape->fields[i].size);
        unwritten >>= 64 - 8 * shape->fields[i].size;
        const char *name = value > 0xffffffff && value != unwritten ? name_of_value(value) : NULL;
        if (value == unwritten)
            snprintf(text + length, room - length, " %s=-", shape->fields[i].key);
        else if (name)
            snprintf(text + length, room - length, " %s=%s", shape->fields[i].key, name);
        else
            snprintf(text + length, room - length, " %s=%llu", shape->fields[i].key, value);
    }
}
