/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "text.h"
#include "web.h"

static char *answer;

void *web_alloc(size_t size)
{
    return malloc(size);
}

void web_free(void *memory)
{
    free(memory);
}

const char *web_answer_text(struct text *text)
{
    free(answer);
    text_add_bytes(text, "", 0);
    answer = text->data;
    *text = (struct text){0};
    return answer;
}

const char *web_answer(struct json *json)
{
    struct text text = {0};
    text_add_bytes(&text, json->failed ? "null" : json->text, json->failed ? 4 : json->length);
    jsonw_free(json);
    return web_answer_text(&text);
}
