/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of values, as Python's pickletools.dis reads them: each line of the table was looked up there. */
#include "pickle.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "text.h"

struct capture {
    char *text;
    size_t size;
    FILE *file;
};

static FILE *begin(struct capture *c)
{
    c->file = open_memstream(&c->text, &c->size);
    if (!c->file)
        tap_bail("no memory");
    return c->file;
}

/* What was written, in hex. */
static const char *end(struct capture *c, struct text *hex)
{
    fclose(c->file);
    for (size_t i = 0; i < c->size; i++)
        text_add(hex, "%02x", (unsigned char)c->text[i]);
    free(c->text);
    return hex->length ? hex->data : "";
}

static void test_numbers(void)
{
    static const struct {
        uint64_t value;
        const char *hex;
    } cases[] = {
        {0, "4b00"},                                       /* BININT1 */
        {255, "4bff"},
        {256, "4d0001"},                                   /* BININT2 */
        {65535, "4dffff"},
        {65536, "8a03000001"},                             /* LONG1, as many bytes as it needs with a sign */
        {0x7fffff, "8a03ffff7f"},
        {0x800000, "8a0400008000"},
        {UINT64_C(0x100000000000), "8a06000000000010"},
        {INT64_MAX, "8a08ffffffffffffff7f"},
        {UINT64_C(1) << 63, "8a09000000000000008000"},
        {UINT64_MAX, "8a09ffffffffffffffff00"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct capture c;
        struct text hex = {0};
        pickle_number(begin(&c), cases[i].value);
        tap_text(end(&c, &hex), cases[i].hex, "the number %" PRIu64, cases[i].value);
        text_free(&hex);
    }
}

/* {"a": [True, (1, 2)], "b": ""} */
static void test_structure(void)
{
    struct capture c;
    struct text hex = {0};
    FILE *out = begin(&c);
    pickle_start(out);
    pickle_dict(out);
    pickle_key(out, "a");
    pickle_list(out);
    pickle_bool(out, true);
    pickle_list_more(out);
    pickle_number(out, 1);
    pickle_number(out, 2);
    pickle_pair(out);
    pickle_list_end(out);
    pickle_key(out, "b");
    pickle_text(out, "");
    pickle_dict_end(out);
    pickle_end(out);
    tap_text(end(&c, &hex), "8002" "7d28" "580100000061" "5d28" "88" "6528" "4b014b0286" "65"
             "580100000062" "5800000000" "75" "2e", "a dictionary with a list in two batches");
    text_free(&hex);
}

int main(void)
{
    test_numbers();
    test_structure();
    return tap_done();
}
