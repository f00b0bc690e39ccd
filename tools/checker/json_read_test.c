/* SPDX-License-Identifier: Apache-2.0 */
#include "json_read.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "tap.h"

static void test_values(void)
{
    static const char text[] = " {\"rule\":\"VMM-X\", \"n\":-7,\"hex\":\"0x10\",\"none\":null,\"yes\":true,\"list\":[1,{\"a\":2},[]],\"empty\":{}} ";
    struct json_doc doc;
    if (!json_doc_read(&doc, text, strlen(text)))
        tap_bail("it is JSON");
    tap_text(json_doc_string(&doc, doc.node, "rule"), "VMM-X", "a text");
    tap_u64(json_doc_number(&doc, doc.node, "n"), (uint64_t)-7, "a number");
    tap_u64(json_doc_number(&doc, doc.node, "hex"), 16, "one as a text");
    tap_u64(json_doc_number(&doc, doc.node, "rule"), 0, "a text is not a number");
    tap_ok(!json_doc_string(&doc, doc.node, "none") && !json_doc_string(&doc, doc.node, "a"), "null, and a key of what is inside");
    const struct json_node *list = json_doc_member(&doc, doc.node, "list", JSON_LIST), *node = NULL;
    unsigned count = 0;
    while ((node = json_doc_next(&doc, list, node)))
        count++;
    tap_u64(count, 3, "the values of a list");
    tap_ok(!json_doc_member(&doc, doc.node, "list", JSON_OBJECT) && !json_doc_member(&doc, list, "a", JSON_NUMBER), "of another kind");
    node = json_doc_member(&doc, doc.node, "empty", JSON_OBJECT);
    tap_ok(node && !json_doc_next(&doc, node, NULL), "an empty object");
    json_doc_free(&doc);
}

/* Whatever jsonw_text writes is read back, byte by byte. */
static void test_bytes(void)
{
    struct json json = {0};
    struct json_doc doc;
    char all[256];
    for (int i = 1; i < 256; i++)
        all[i - 1] = (char)i;
    all[255] = '\0';
    jsonw_open(&json, NULL, '{');
    jsonw_text(&json, "all", all);
    jsonw_close(&json, '}');
    tap_ok(json_doc_read(&doc, json.text, json.length), "each byte in a text");
    tap_text(json_doc_string(&doc, doc.node, "all"), all, "is the same behind it");
    json_doc_free(&doc);
    jsonw_free(&json);
}

static void test_refused(void)
{
    static const char *const bad[] = {"", "{", "}", "{a:1}", "{\"a\"}", "{\"a\":}", "[1,]", "[1 2]", "\"\\x\"", "\"\\u12\"",
                                      "\"\\u1234\"", "\"\\u00g0\"", "\"\\u00+1\"", "\"\\u0000\"", "-", "1 2", "nul", "{\"a\":1,}", "\"a", "\"a\\", "[}", "{,}", "x"};
    struct json_doc doc;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        tap_ok(!json_doc_read(&doc, bad[i], strlen(bad[i])) && !doc.node && !doc.bytes, "no JSON: %s", bad[i]);
    char deep[100];
    memset(deep, '[', sizeof deep);
    tap_ok(!json_doc_read(&doc, deep, sizeof deep), "a hundred lists in each other");
}

/* Damaged records: cut anywhere, and with any byte changed. */
static void test_damage(void)
{
    static const char text[] = "{\"v\":1,\"kind\":\"finding\",\"text\":[[\"what\",\"a \\u00e4\"]],\"stack\":[{\"module\":\"/a\",\"offset\":12}]}";
    struct json_doc doc;
    unsigned read = 0, refused = 0;
    for (size_t cut = 0; cut < sizeof text; cut++)
        for (int byte = 1; byte < 256; byte += 7) {
            char copy[sizeof text];
            memcpy(copy, text, sizeof text);
            copy[cut] = (char)byte;
            if (json_doc_read(&doc, copy, sizeof text - 1)) {
                read++;
                json_doc_number(&doc, doc.node, "v");
                json_doc_free(&doc);
            } else {
                refused++;
            }
            if (json_doc_read(&doc, text, cut)) {
                tap_ok(cut == sizeof text - 1, "only the whole is a value");
                json_doc_free(&doc);
                break;
            }
        }
    tap_ok(read > 100 && refused > 100, "damaged texts: %u are read, %u refused", read, refused);
}

int main(void)
{
    test_values();
    test_bytes();
    test_refused();
    test_damage();
    return tap_done();
}
