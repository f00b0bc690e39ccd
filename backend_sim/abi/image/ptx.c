/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of PTX (PTX ISA, "Directives"): nothing is compiled; the headers of entries are read and their bodies skipped.
 *
 *     .target sm_90   .entry name ( .param .align 8 .b8 p[16], ... ) .maxntid 256 { .shared .b8 s[64]; ... }
 */
#include <ctype.h>
#include <stdio.h>

#include "heap.h"
#include "image_parts.h"

struct token {
    const char *at;
    size_t length;
};

struct reader {
    const char *at, *end;
    struct token token;   /* the last one; of length 0 at the end */
    struct image *image;  /* NULL: only count */
    struct image_param *param;
    char *text;
    size_t kernels, params, names;
    int target;
    bool damaged;
};

static bool more(const struct reader *r)
{
    return r->at < r->end && *r->at;
}

static void skip_until(struct reader *r, const char *mark)
{
    size_t length = strlen(mark), matched = 0;
    for (; more(r) && matched < length; r->at++)
        matched = *r->at == mark[matched] ? matched + 1 : *r->at == mark[0] ? 1 : 0;
}

static bool next_is(const struct reader *r, char first, char second)
{
    return more(r) && *r->at == first && r->end - r->at > 1 && r->at[1] == second;
}

/* Blanks, comments and strings. */
static void skip(struct reader *r)
{
    while (more(r))
        if (isspace((unsigned char)*r->at))
            r->at++;
        else if (next_is(r, '/', '/'))
            skip_until(r, "\n");
        else if (next_is(r, '/', '*')) {
            r->at += 2;
            skip_until(r, "*/");
        } else if (*r->at == '"') {
            r->at++;
            skip_until(r, "\"");
        } else
            return;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static bool next(struct reader *r)
{
    skip(r);
    r->token = (struct token){r->at, 0};
    if (!more(r))
        return false;
    do
        r->at++;
    while (more(r) && in_word(*r->at) && in_word(*r->token.at));
    r->token.length = (size_t)(r->at - r->token.at);
    return true;
}

static bool is(const struct reader *r, const char *word)
{
    return r->token.length == strlen(word) && memcmp(r->token.at, word, r->token.length) == 0;
}

/* The number in a word from that position on; 0 if there is none. Larger ones are cut. */
static uint32_t number_from(const struct token *token, size_t at)
{
    uint32_t value = 0;
    for (; at < token->length && isdigit((unsigned char)token->at[at]) && value < 1u << 24; at++)
        value = value * 10 + (uint32_t)(token->at[at] - '0');
    return value;
}

/* The size of a type such as ".u64" or ".f16x2"; 0 if it is not a type. References to textures are 8 bytes. */
static uint32_t type_size(const struct token *token)
{
    if (token->length > 4 && (memcmp(token->at + token->length - 3, "ref", 3) == 0))
        return 8;
    bool type = token->length > 2 && token->at[0] == '.' && strchr("bufs", token->at[1]) && isdigit((unsigned char)token->at[2]);
    uint32_t size = type ? number_from(token, 2) / 8 : 0;
    return type && token->at[token->length - 1] == '2' && token->at[token->length - 2] == 'x' ? 2 * size : size;
}

/* A declaration after ".param", ".shared" or ".local", with the token that ends it: ',', ')' or ';'. */
struct declared {
    uint64_t size, align;
};

static bool is_end(const struct reader *r)
{
    return is(r, ",") || is(r, ")") || is(r, ";");
}

static struct declared declaration(struct reader *r)
{
    struct declared d = {0, 0};
    bool pointer = false; /* the alignment that follows is that of the pointer's target */
    while (next(r) && !is_end(r)) {
        uint32_t size = d.size ? 0 : type_size(&r->token);
        if (size)
            d.size = size;
        else if (is(r, ".ptr"))
            pointer = true;
        else if (is(r, ".align") && next(r) && !pointer)
            d.align = number_from(&r->token, 0);
        else if (is(r, "[") && next(r))
            d.size = d.size * number_from(&r->token, 0) & UINT32_MAX;
    }
    if (!d.align)
        d.align = d.size && d.size <= 16 ? d.size : 1;
    return d;
}

static uint64_t aligned(uint64_t at, uint64_t align)
{
    return (at + align - 1) / align * align;
}

static void parameters(struct reader *r, struct image_kernel *kernel)
{
    uint64_t at = 0;
    while (!is(r, ")") && next(r)) {
        if (!is(r, ".param"))
            continue;
        struct declared d = declaration(r);
        at = aligned(at, d.align);
        r->damaged |= at + d.size > UINT16_MAX;
        if (r->image)
            r->param[kernel->params] = (struct image_param){(uint32_t)at, (uint32_t)d.size};
        kernel->params++;
        at += d.size;
    }
}

/* Up to three numbers with commas between them. */
static void three(struct reader *r, int number[3])
{
    int count = 0;
    do {
        if (!next(r))
            return;
        number[count++] = (int)number_from(&r->token, 0);
        skip(r);
    } while (count < 3 && more(r) && *r->at == ',' && next(r));
}

/* Between the parameters and the body. */
static void directives(struct reader *r, struct image_kernel *kernel)
{
    while (!is(r, "{") && !is(r, ";") && next(r)) {
        int n[3] = {1, 1, 1};
        if (is(r, ".maxntid") || is(r, ".reqntid")) {
            three(r, n);
            uint64_t threads = (uint64_t)n[0] * (uint64_t)n[1];
            threads = threads > UINT16_MAX ? UINT16_MAX : threads * (uint64_t)n[2];
            kernel->threads = threads > UINT16_MAX ? UINT16_MAX : (int)threads;
        } else if (is(r, ".reqnctapercluster")) {
            three(r, n);
            memcpy(kernel->cluster, n, sizeof n);
        }
    }
}

/* To the brace that closes the one that was read. kernel: NULL for the body of a function. */
static void body(struct reader *r, struct image_kernel *kernel)
{
    uint64_t shared = 0, local = 0;
    for (int depth = 1; depth && next(r);) {
        depth += is(r, "{") - is(r, "}");
        bool of_block = is(r, ".shared");
        if (!of_block && !is(r, ".local"))
            continue;
        struct declared d = declaration(r);
        uint64_t *sum = of_block ? &shared : &local;
        *sum = (aligned(*sum, d.align) + d.size) & INT32_MAX;
    }
    if (kernel) {
        kernel->shared = (int)shared;
        kernel->local = (int)local;
    }
}

/* Without a body it is a declaration, not a kernel. */
static void entry(struct reader *r)
{
    struct image_kernel kernel = {.param = r->param};
    if (!next(r))
        return;
    struct token name = r->token;
    if (next(r) && is(r, "("))
        parameters(r, &kernel);
    r->params += kernel.params; /* also for a declaration, whose parameters are read and then overwritten */
    directives(r, &kernel);
    if (!is(r, "{"))
        return;
    body(r, &kernel);
    if (r->image) {
        memcpy(r->text, name.at, name.length);
        r->text[name.length] = '\0';
        kernel.name = r->text;
        kernel.ptx = r->target;
        r->image->kernel[r->kernels] = kernel;
        r->text += name.length + 1;
        r->param += kernel.params;
    }
    r->kernels++;
    r->names += name.length + 1;
}

static void walk(struct reader *r)
{
    while (next(r))
        if (is(r, ".target") && next(r))
            r->target = r->token.length > 3 ? (int)number_from(&r->token, 3) : 0;
        else if (is(r, ".entry"))
            entry(r);
        else if (is(r, "{"))
            body(r, NULL);
}

static struct reader reader_of(const struct image_bytes *bytes)
{
    return (struct reader){.at = (const char *)bytes->at, .end = (const char *)bytes->at + bytes->size};
}

bool ptx_is(const struct image_bytes *bytes)
{
    struct reader r = reader_of(bytes);
    return next(&r) && is(&r, ".version");
}

size_t ptx_size(const struct image_bytes *bytes)
{
    return strnlen((const char *)bytes->at, bytes->size);
}

enum image_read ptx_read(const struct image_bytes *bytes, struct image *image)
{
    struct reader counting = reader_of(bytes), taking = counting;
    walk(&counting);
    snprintf(image->why, sizeof image->why, "the PTX is damaged: a kernel has parameters of more than 65535 bytes");
    if (counting.damaged)
        return IMAGE_DAMAGED;
    image->kernel = heap.calloc(counting.kernels + 1, sizeof *image->kernel);
    image->params = heap.calloc(counting.params + 1, sizeof *image->params);
    image->text = heap.malloc(counting.names + 1);
    if (!image->kernel || !image->params || !image->text)
        return IMAGE_MEMORY;
    taking.image = image;
    taking.param = image->params;
    taking.text = image->text;
    walk(&taking);
    image->kernels = (unsigned)taking.kernels;
    return IMAGE_READ;
}
