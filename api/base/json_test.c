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
    jsonw_open(&json, NULL, '{');
    jsonw_int(&json, "a", -1);
    jsonw_int(&json, "b", INT64_MIN);
    jsonw_hex(&json, "c", UINT64_MAX);
    jsonw_hex(&json, "d", 0);
    jsonw_null(&json, "e");
    jsonw_bytes(&json, "f", "\x00\x7F\xFF", 3);
    jsonw_bytes(&json, "g", "", 0);
    jsonw_close(&json, '}');
    tap_ok(is(&json, "{\"a\":-1,\"b\":-9223372036854775808,\"c\":\"0xffffffffffffffff\",\"d\":\"0x0\",\"e\":null,"
                     "\"f\":\"007fff\",\"g\":\"\"}"),
           "numbers, null and bytes");
    tap_ok(json_check(json.text, json.length), "are valid");
    jsonw_free(&json);
    tap_ok(!json.text && !json.length && !json.room, "freed");
}

static void test_nesting(void)
{
    struct json json = {0};
    jsonw_open(&json, NULL, '[');
    jsonw_open(&json, NULL, '[');
    jsonw_close(&json, ']');
    jsonw_int(&json, NULL, 1);
    jsonw_open(&json, NULL, '{');
    jsonw_open(&json, "a", '{');
    jsonw_close(&json, '}');
    jsonw_text(&json, "b", "[");
    jsonw_int(&json, "c", 2);
    jsonw_text(&json, "d", "{");
    jsonw_close(&json, '}');
    jsonw_close(&json, ']');
    tap_ok(is(&json, "[[],1,{\"a\":{},\"b\":\"[\",\"c\":2,\"d\":\"{\"}]"), "commas separate values");
    jsonw_reset(&json);
    jsonw_open(&json, NULL, '{');
    jsonw_open(&json, "first", '{');
    jsonw_drop_empty(&json, "first");
    jsonw_int(&json, "a", 1);
    jsonw_open(&json, "empty", '{');
    jsonw_drop_empty(&json, "empty");
    jsonw_int(&json, "b", 2);
    jsonw_close(&json, '}');
    jsonw_newline(&json);
    tap_ok(is(&json, "{\"a\":1,\"b\":2}\n"), "empty objects are dropped without a trace");
    jsonw_free(&json);
}

static void test_text(void)
{
    struct json json = {0};
    char all[256];
    for (int i = 1; i < 256; i++)
        all[i - 1] = (char)i;
    all[255] = '\0';
    jsonw_text(&json, NULL, all);
    tap_ok(json_check(json.text, json.length), "any byte in a text yields a valid string");
    jsonw_reset(&json);
    jsonw_text(&json, NULL, "a\"b\\c\n\x1F\x7F\xC3\xB6");
    tap_ok(is(&json, "\"a\\\"b\\\\c\\u000a\\u001f\\u007f\\u00c3\\u00b6\""), "escapes");
    jsonw_free(&json);
}

static void test_utf8(void)
{
    static const struct {
        const char *value, *want;
    } cases[] = {
        {"\xC3\xB6\xE2\x82\xAC\xF0\x9F\x98\x80", "\"\xC3\xB6\xE2\x82\xAC\xF0\x9F\x98\x80\""},
        {"a\xFF\"", "\"a\\ufffd\\\"\""},
        {"\xC3", "\"\\ufffd\""},
        {"\xE2\x82x", "\"\\ufffd\\ufffdx\""},
        {"\xC0\x80", "\"\\ufffd\\ufffd\""},             /* longer than need be */
        {"\xED\xA0\x80", "\"\\ufffd\\ufffd\\ufffd\""},  /* half of a pair */
        {"\xF4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* past the last character */
    };
    struct json json = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        jsonw_reset(&json);
        jsonw_utf8(&json, NULL, cases[i].value);
        tap_ok(is(&json, cases[i].want), "UTF-8, text %zu", i);
    }
    jsonw_free(&json);
}

static void test_fixed(void)
{
    char room[8];
    struct json json = {.text = room, .room = sizeof room, .fixed = true};
    jsonw_text(&json, NULL, "123456");
    tap_ok(!json.failed && is(&json, "\"123456\""), "a fixed text may be full");
    jsonw_bool(&json, NULL, true);
    tap_ok(json.failed && json.text == room && json.length == sizeof room, "and does not grow");
}

static void test_growth(void)
{
    struct json json = {0};
    size_t size = 100000;
    char *bytes = calloc(1, size);
    if (!bytes)
        tap_bail("no memory");
    jsonw_open(&json, NULL, '[');
    for (int i = 0; i < 3; i++)
        jsonw_bytes(&json, NULL, bytes, size);
    jsonw_close(&json, ']');
    tap_u64(json.length, 3 * (2 * size + 2) + 2 + 2, "a text that grows many times over");
    tap_ok(json_check(json.text, json.length), "the long text is whole");
    free(bytes);
    jsonw_free(&json);
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
    test_utf8();
    test_fixed();
    test_the_checker();
    return tap_done();
}
