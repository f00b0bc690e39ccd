/* SPDX-License-Identifier: Apache-2.0 */
/* One request of a browser, and its answer. See view_server.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view_server.h"

static void put_answer(FILE *out, const char *status, const char *type, const char *body, size_t length)
{
    fprintf(out,
            "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
            "Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n",
            status, type, length);
    fwrite(body, 1, length, out);
}

static void refuse(FILE *out, const char *status, const char *why)
{
    put_answer(out, status, "text/plain; charset=utf-8", why, strlen(why));
}

static void put_json(FILE *out, struct json *json)
{
    if (json->failed)
        refuse(out, "500 Internal Server Error", "memory ran out\n");
    else
        put_answer(out, "200 OK", "application/json", json->text, json->length);
    jsonw_free(json);
}

static void put_page(FILE *out, const struct view_pages *pages)
{
    char *body = NULL;
    size_t length = 0;
    FILE *page = open_memstream(&body, &length);
    bool good = page && view_page(page, pages);
    if (page)
        good = fclose(page) == 0 && good;
    if (good)
        put_answer(out, "200 OK", "text/html; charset=utf-8", body, length);
    else
        refuse(out, "500 Internal Server Error", "memory ran out\n");
    free(body);
}

/* The value of name in "a=1&b=two", with %xx and + read; "" where it is not there. */
static void value_of(const char *query, const char *name, char *value, size_t size)
{
    const size_t length = strlen(name);
    size_t used = 0;
    while (query && (strncmp(query, name, length) != 0 || query[length] != '=')) {
        query = strchr(query, '&');
        query = query ? query + 1 : NULL;
    }
    for (query = query ? query + length + 1 : ""; *query && *query != '&' && used + 1 < size; query++) {
        char two[3] = {query[0] == '%' ? query[1] : (char)0, query[0] == '%' && query[1] ? query[2] : (char)0, 0}, *end = two;
        const unsigned long byte = two[0] ? strtoul(two, &end, 16) : 0;
        const bool escaped = end == two + 2 && byte;
        value[used++] = escaped ? (char)byte : *query == '+' ? ' ' : *query;
        query += escaped ? 2 : 0;
    }
    value[used] = '\0';
}

static uint32_t number_of(const char *query, const char *name)
{
    char value[24];
    value_of(query, name, value, sizeof value);
    const unsigned long long number = strtoull(value, NULL, 10);
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static void put_asked(FILE *out, struct view_pages *pages, const char *what, const char *query)
{
    struct json json = {0};
    char words[200];
    const uint32_t number = number_of(query, "trace");
    struct view_trace *trace = number < pages->count ? &pages->trace[number] : NULL;
    if (!trace) {
        refuse(out, "404 Not Found", "there is no such trace\n");
        return;
    }
    if (strcmp(what, "window") == 0) {
        view_data_window(&json, trace, number_of(query, "first"), VIEW_SERVED);
    } else if (strcmp(what, "object") == 0) {
        view_data_object(&json, trace->timeline, number_of(query, "object"), number_of(query, "near"));
    } else if (strcmp(what, "search") == 0) {
        value_of(query, "q", words, sizeof words);
        view_data_search(&json, trace, words);
    } else {
        refuse(out, "404 Not Found", "the page has no such part\n");
        return;
    }
    put_json(out, &json);
}

/* Is the request for this host? A page of the web that had its name lead here names its own. */
static bool names_host(const char *request, const char *host)
{
    char local[64];
    const char *line = strstr(request, "\r\nHost: ");
    const char *port = strrchr(host, ':');
    line = line ? line : strstr(request, "\r\nhost: ");
    if (!line)
        return false;
    line += strlen("\r\nHost: ");
    snprintf(local, sizeof local, "localhost%s", port ? port : "");
    const size_t length = strcspn(line, "\r");
    return (length == strlen(host) && strncmp(line, host, length) == 0) ||
           (length == strlen(local) && strncmp(line, local, length) == 0);
}

/* Compares all of it, however early it differs. */
static bool is_key(const char *path, const char *key)
{
    const size_t length = strlen(key);
    unsigned char differs = 0;
    if (strlen(path) <= length)
        return false;
    for (size_t i = 0; i < length; i++)
        differs = (unsigned char)(differs | (path[i] ^ key[i]));
    return !differs && path[length] == '/';
}

void view_answer(struct view_pages *pages, const char *request, const char *host, const char *key, FILE *out)
{
    char path[1024];
    const char *space = strncmp(request, "GET /", 5) == 0 ? strchr(request + 5, ' ') : NULL;
    const size_t length = space ? (size_t)(space - request) - 5 : 0;
    if (!space || length >= sizeof path || strncmp(space, " HTTP/1.", 8) != 0) {
        refuse(out, space ? "400 Bad Request" : "405 Method Not Allowed", "this answers GET alone\n");
        return;
    }
    memcpy(path, request + 5, length);
    path[length] = '\0';
    if (!names_host(request, host) || !is_key(path, key)) {
        refuse(out, "403 Forbidden", "open the address that cuvmm view has printed\n");
        return;
    }
    char *what = path + strlen(key) + 1, *query = strchr(what, '?');
    if (query)
        *query++ = '\0';
    if (!what[0])
        put_page(out, pages);
    else
        put_asked(out, pages, what, query ? query : "");
}
