/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <stdlib.h>

#include "json_check.h"
#include "tap.h"

static bool is(const struct json *json, const char *text)
{
    bool same = !json->failed && json->length == strlen(text) && memcmp(json->text, text, json->length) == 0;
    if (!same)
        tap_note("got %.*s", (int)json->length, json->text ? json->text : "");
    return same;
}

static void test_values(void)
{
    struct json json = {0};
    json_open(&json, NULL, '{');
    json_int(&json, "a", -1);
    json_int(&json, "b", INT64_MIN);
    json_hex(&json, "c", UINT64_MAX);
    json_hex(&json, "d", 0);
    json_null(&json, "e");
    json_bytes(&json, "f", "\x00\x7F\xFF", 3);
    json_bytes(&json, "g", "", 0);
    json_close(&json, '}');
    tap_ok(is(&json, "{\"a\":-1,\"b\":-9223372036854775808,\"c\":\"0xffffffffffffffff\",\"d\":\"0x0\",\"e\":null,"
                     "\"f\":\"007fff\",\"g\":\"\"}"),
           "numbers, null and bytes");
    tap_ok(json_check(json.text, json.length), "are valid");
    json_free(&json);
    tap_ok(!json.text && !json.length && !json.room, "freed");
}

static void test_nesting(void)
{
    struct json json = {0};
    json_open(&json, NULL, '[');
    json_open(&json, NULL, '[');
    json_close(&json, ']');
    json_int(&json, NULL, 1);
    json_open(&json, NULL, '{');
    json_open(&json, "a", '{');
    json_close(&json, '}');
    json_text(&json, "b", "[");
    json_int(&json, "c", 2);
    json_text(&json, "d", "{");
    json_close(&json, '}');
    json_close(&json, ']');
    tap_ok(is(&json, "[[],1,{\"a\":{},\"b\":\"[\",\"c\":2,\"d\":\"{\"}]"), "commas separate values");
    json_reset(&json);
    json_open(&json, NULL, '{');
    json_open(&json, "first", '{');
    json_drop_empty(&json, "first");
    json_int(&json, "a", 1);
    json_open(&json, "empty", '{');
    json_drop_empty(&json, "empty");
    json_int(&json, "b", 2);
    json_close(&json, '}');
    json_newline(&json);
    tap_ok(is(&json, "{\"a\":1,\"b\":2}\n"), "empty objects are dropped without a trace");
    json_free(&json);
}

static void test_text(void)
{
    struct json json = {0};
    char all[256];
    for (int i = 1; i < 256; i++)
        all[i - 1] = (char)i;
    all[255] = '\0';
    json_text(&json, NULL, all);
    tap_ok(json_check(json.text, json.length), "any byte in a text yields a valid string");
    json_reset(&json);
    json_text(&json, NULL, "a\"b\\c\n\x1F\x7F\xC3\xB6");
    tap_ok(is(&json, "\"a\\\"b\\\\c\\u000a\\u001f\\u007f\\u00c3\\u00b6\""), "escapes");
    json_free(&json);
}

static void test_growth(void)
{
    struct json json = {0};
    size_t size = 100000;
    char *bytes = calloc(1, size);
    if (!bytes)
        tap_bail("no memory");
    json_open(&json, NULL, '[');
    for (int i = 0; i < 3; i++)
        json_bytes(&json, NULL, bytes, size);
    json_close(&json, ']');
    tap_u64(json.length, 3 * (2 * size + 2) + 2 + 2, "a text that grows many times over");
    tap_ok(json_check(json.text, json.length), "the long text is whole");
    free(bytes);
    json_free(&json);
}

/* The checker must refuse invalid texts. */
static void test_the_checker(void)
{
    static const char *const bad[] = {"",       "{",          "}",       "{a:1}",    "{\"a\"}", "{\"a\":}", "[1,]",
                                      "[1 2]",  "\"\n\"",     "\"\\x\"", "\"\\u12\"", "01",      "-",        "1 2",
                                      "nul",    "{\"a\":1,}", "\"a",     "\"\x80\"", "[}",      "{,}",      "\"\\"};
    static const char *const good[] = {"0", "-12", " [ ] ", "{\"a\" : [null, true, false, \"\\u00fF\\n\"]}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        tap_ok(!json_check(bad[i], strlen(bad[i])), "invalid JSON: text %zu", i);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        tap_ok(json_check(good[i], strlen(good[i])), "valid JSON: text %zu", i);
}

int main(void)
{
    test_values();
    test_nesting();
    test_text();
    test_growth();
    test_the_checker();
    return tap_done();
}
