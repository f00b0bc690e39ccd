/* SPDX-License-Identifier: Apache-2.0 */
/* A trace in its other form. See export.h and trace_convert.h. */
#include "export.h"

#include <errno.h>
#include <string.h>

#include "output.h"
#include "trace_convert.h"

static int fail(const char *what, const char *why, FILE *err)
{
    fprintf(err, "cuvmm export: %s: %s\n", what, why);
    return 2;
}

/* The file is made beside, as every other; a trace in the binary form comes in under that name. */
static int write_named(struct trace_store *store, const struct export_request *request, uint64_t *calls, FILE *err)
{
    struct output output;
    if (!output_open(&output, request->file, "cuvmm export", err))
        return 2;
    int error = 0;
    if (request->format == EXPORT_BINARY)
        error = trace_to_binary(store, output.aside, calls);
    else if (!trace_to_lines(store, output.file, calls))
        error = ENOMEM;
    if (!error)
        return output_close(&output, err) ? 0 : 2;
    output_abandon(&output);
    return fail(request->file, strerror(error), err);
}

static int write_lines(struct trace_store *store, uint64_t *calls, FILE *out, FILE *err)
{
    if (!trace_to_lines(store, out, calls))
        return fail("standard output", strerror(ENOMEM), err);
    return fflush(out) == 0 && !ferror(out) ? 0 : fail("standard output", strerror(errno), err);
}

int export_convert(FILE *in, const char *name, const struct export_request *request, FILE *out, FILE *err)
{
    struct trace_store store;
    uint64_t calls = 0;
    int status = 2;
    const bool named = request->file && strcmp(request->file, "-") != 0;
    const bool good = trace_store_open(&store, in, name);
    if (good)
        status = named ? write_named(&store, request, &calls, err) : write_lines(&store, &calls, out, err);
    if (store.complaint.length)
        fprintf(err, "%s\n", store.complaint.data);
    if (good && store.complaint.length && status == 0)
        fprintf(err, "cuvmm export: written are the %llu calls before that\n", (unsigned long long)calls);
    trace_store_close(&store);
    return status;
}
