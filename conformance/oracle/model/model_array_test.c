/* SPDX-License-Identifier: Apache-2.0 */
/* model_array_test.c - only the model's arrays, compared with the results of GPUs (facts: arrays): valid descriptors,
 * tiles and mip tails, and the memory that they need.
 */
#include "model/model_array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* "arr:512x512x0,f=2,n=1,x=0x40" and what follows; false: it is none. */
static bool read_descriptor(const char *text, vmm_array3d_descriptor *is, const char **rest)
{
    uint64_t *const sizes[] = {&is->width, &is->height, &is->depth};
    char *end = NULL;
    *is = (vmm_array3d_descriptor){.format = VMM_AD_FORMAT_FLOAT, .num_channels = 1};
    if (strncmp(text, "arr:", 4) != 0)
        return false;
    text += 4;
    for (int i = 0; i < 3; i++) {
        *sizes[i] = strtoull(text, &end, 10) & UINT32_MAX; /* "64x0x0" */
        text = end + (i < 2);
    }
    while (*text == ',') {
        const char key = text[1];
        const unsigned value = (unsigned)strtoul(text + 3, &end, 0);
        is->format = key == 'f' ? (int)value : is->format;
        is->num_channels = key == 'n' ? value : is->num_channels;
        is->flags = key == 'x' ? value : is->flags;
        text = end;
    }
    *rest = text;
    return true;
}

/* The number after a name in an answer. */
static uint64_t number(const char *answer, const char *name)
{
    const char *at = strstr(answer, name);
    return at ? strtoull(at + strlen(name), NULL, 0) : UINT64_MAX;
}

static struct counts {
    unsigned made, refused, properties, requirements, wrong;
} counts;

static void wrong(const char *line, const char *what, uint64_t is)
{
    if (counts.wrong++ < 10)
        tap_note("%s is %" PRIu64 ": %s", what, is, line);
}

static void compare(const char *line, const char *answer, const char *name, uint64_t is)
{
    if (number(answer, name) != is)
        wrong(line, name, is);
}

/* What was asked of it next, if that was about its form. */
static void compare_form(const char *line, const char *asked, const char *answer, const struct model_shape *shape, bool mipmapped)
{
    if (!strncmp(asked, mipmapped ? "mprops" : "props", mipmapped ? 6 : 5) && !strncmp(answer, "SUCCESS", 7)) {
        counts.properties++;
        compare(line, answer, "w=", shape->tile[0]);
        compare(line, answer, "h=", shape->tile[1]);
        compare(line, answer, "d=", shape->tile[2]);
        compare(line, answer, "first=", mipmapped ? shape->tail_first : 0);
        compare(line, answer, "tail=", shape->tail);
        compare(line, answer, "flags=", shape->single);
    }
    if (!strncmp(asked, mipmapped ? "mreq" : "req", mipmapped ? 4 : 3) && !strncmp(answer, "SUCCESS", 7)) {
        counts.requirements++;
        compare(line, answer, "size=", shape->need);
        compare(line, answer, "alignment=", MODEL_TILE);
    }
}

static const char *result_of(const char *fault)
{
    return !fault ? "SUCCESS" : !strcmp(fault, "VMM-ARRAY-SURFACE") ? "NOT_SUPPORTED" : "INVALID_VALUE";
}

/* "P.make q8=x arr:...; props sp x; drop x<TAB>SUCCESS new; SUCCESS w=256 ...; SUCCESS" */
static void compare_line(const char *line)
{
    const bool mipmapped = !strncmp(line + 2, "mmake q8=x ", 11), plain = !strncmp(line + 2, "make q8=x ", 10);
    const char *answer = strchr(line, '\t'), *rest;
    vmm_array3d_descriptor is;
    struct model_shape shape;
    if ((!mipmapped && !plain) || !answer++ || !read_descriptor(line + (mipmapped ? 13 : 12), &is, &rest) ||
        !strncmp(answer, "OUT_OF_MEMORY", 13) || !strncmp(answer, "SIGNAL", 6))
        return;
    const char *fault = model_shape_fault(&is, mipmapped);
    if (strncmp(answer, result_of(fault), strlen(result_of(fault))) != 0)
        wrong(line, result_of(fault), 0);
    counts.made += !fault;
    counts.refused += fault != NULL;
    const char *asked = strstr(line, "; "), *answered = strstr(answer, "; ");
    if (fault || !asked || !answered || asked > answer)
        return;
    model_shape_of(&is, mipmapped, mipmapped ? (unsigned)strtoul(rest, NULL, 0) : 1, &shape);
    compare_form(line, asked + 2, answered + 2, &shape, mipmapped);
}

static void compare_file(const char *path)
{
    char line[4096];
    FILE *file = fopen(path, "r");
    if (!file)
        tap_bail("%s cannot be read", path);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (*line != '#' && strlen(line) > 14)
            compare_line(line);
    }
    fclose(file);
}

int main(void)
{
    compare_file("conformance/recorded/facts/h100-580.159.04-arrays.tsv");
    compare_file("conformance/recorded/facts/h200x2-580.159.04-arrays.tsv");
    compare_file("conformance/recorded/facts/h200-580.159.04-arrays-lists.tsv");
    tap_u64(counts.wrong, 0, "arrays are as an H100 and H200s answered");
    tap_ok(counts.made > 1000 && counts.refused > 500, "%u descriptors of arrays and %u others", counts.made, counts.refused);
    tap_ok(counts.properties > 600 && counts.requirements > 300, "%u questions about tiles and %u about memory", counts.properties,
           counts.requirements);
    return tap_done();
}
