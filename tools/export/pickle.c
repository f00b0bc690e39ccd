/* SPDX-License-Identifier: Apache-2.0 */
#include "pickle.h"

#include <string.h>

/* Opcodes by their names in pickletools. */
enum {
    PROTO = 0x80,
    STOP = '.',
    BININT1 = 'K',
    BININT2 = 'M',
    LONG1 = 0x8a,
    NEWTRUE = 0x88,
    NEWFALSE = 0x89,
    BINUNICODE = 'X',
    EMPTY_LIST = ']',
    EMPTY_DICT = '}',
    MARK = '(',
    APPENDS = 'e',
    SETITEMS = 'u',
    TUPLE2 = 0x86
};

static void bytes(FILE *out, uint64_t value, int count)
{
    for (int i = 0; i < count; i++)
        fputc((int)(value >> 8 * i & 0xff), out);
}

void pickle_start(FILE *out)
{
    fputc(PROTO, out);
    fputc(2, out);
}

void pickle_end(FILE *out)
{
    fputc(STOP, out);
}

/* LONG1 is signed: a highest bit that is set needs a byte more. */
void pickle_number(FILE *out, uint64_t value)
{
    int count = 1;
    if (value <= UINT16_MAX) {
        fputc(value <= UINT8_MAX ? BININT1 : BININT2, out);
        bytes(out, value, value <= UINT8_MAX ? 1 : 2);
        return;
    }
    while (count < 8 && value >> (8 * count - 1))
        count++;
    bool wide = value >> 63;
    fputc(LONG1, out);
    fputc(count + wide, out);
    bytes(out, value, count);
    if (wide)
        fputc(0, out);
}

void pickle_bool(FILE *out, bool value)
{
    fputc(value ? NEWTRUE : NEWFALSE, out);
}

void pickle_text(FILE *out, const char *text)
{
    size_t length = strlen(text);
    fputc(BINUNICODE, out);
    bytes(out, length, 4);
    fwrite(text, 1, length, out);
}

void pickle_list(FILE *out)
{
    fputc(EMPTY_LIST, out);
    fputc(MARK, out);
}

/* The list itself stays below the mark. */
void pickle_list_more(FILE *out)
{
    fputc(APPENDS, out);
    fputc(MARK, out);
}

void pickle_list_end(FILE *out)
{
    fputc(APPENDS, out);
}

void pickle_pair(FILE *out)
{
    fputc(TUPLE2, out);
}

void pickle_dict(FILE *out)
{
    fputc(EMPTY_DICT, out);
    fputc(MARK, out);
}

void pickle_dict_end(FILE *out)
{
    fputc(SETITEMS, out);
}

void pickle_key(FILE *out, const char *key)
{
    pickle_text(out, key);
}
