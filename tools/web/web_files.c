/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "os_share.h"
#include "text.h"
#include "web.h"

bool web_file_put(const char *name, const void *bytes, size_t size)
{
    FILE *out = fopen(name, "wb");
    const bool whole = out && fwrite(bytes, 1, size, out) == size;
    return out && fclose(out) == 0 && whole;
}

static void list_one(void *user, const char *name)
{
    struct json *json = user;
    struct os_file_is is;
    if (!os_path_look(name, &is) || !is.regular)
        return;
    jsonw_open(json, NULL, '{');
    jsonw_utf8(json, "name", name);
    jsonw_int(json, "size", (int64_t)is.size);
    jsonw_close(json, '}');
}

const char *web_files(void)
{
    enum { MOST = 1000 };
    struct json json = {0};
    jsonw_open(&json, NULL, '[');
    os_folder_each(".", MOST, list_one, &json);
    jsonw_close(&json, ']');
    return web_answer(&json);
}

const char *web_file(const char *name)
{
    struct text text = {0};
    char buffer[4096];
    FILE *in = fopen(name, "rb");
    if (!in)
        return NULL;
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
        text_add_bytes(&text, buffer, n);
    fclose(in);
    return web_answer_text(&text);
}
