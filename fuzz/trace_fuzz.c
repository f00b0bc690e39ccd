/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: the bytes are a trace, replayed on a small machine and read as a timeline, with all its outputs. Without
 * jansson there is no reader, and nothing to test. */
#include "fuzz.h"

#include <stdlib.h>

#include "export.h"
#include "replay.h"
#include "view.h"

enum { MOST = 65536 };

static void play(const uint8_t *data, size_t size, const char *spec)
{
    char *out = NULL, *err = NULL;
    size_t out_size, err_size;
    FILE *in = fuzz_reading(data, size), *out_file = open_memstream(&out, &out_size), *err_file = open_memstream(&err, &err_size);
    int status = replay(in, "fuzz", spec, out_file, err_file);
    fclose(in);
    fclose(out_file);
    fclose(err_file);
    if (status < 0 || status > 2 || (status == 2) != (err_size != 0))
        fuzz_finding("status %d, and on standard error: %s", status, err_size ? err : "nothing");
    if (status < 2 && !out_size)
        fuzz_finding("status %d, without a message", status);
    free(out);
    free(err);
}

static bool known(uint32_t index, size_t count)
{
    return index == TIMELINE_NONE || index < count;
}

/* Does every reference name an existing object? */
static void check_indices(const struct timeline *t)
{
    for (size_t i = 0; i < t->objects; i++) {
        const struct timeline_object *o = &t->object[i];
        if (!known(o->born, t->calls) || !known(o->died, t->calls) || !known(o->released, t->calls) ||
            !known(o->handle, t->objects) || !known(o->memory, t->objects) || !known(o->context, t->objects))
            fuzz_finding("object %zu refers to a missing object", i);
    }
    for (size_t i = 0; i < t->changes; i++)
        if (t->change[i].call >= t->calls || t->change[i].object >= t->objects)
            fuzz_finding("change %zu is of a missing object", i);
    for (size_t i = 0; i < t->calls; i++) {
        const struct timeline_call *call = &t->call[i];
        if (!call->words || !call->answers || !known(call->nearest_object, t->objects) || call->first_touched > t->touches ||
            call->touched > t->touches - call->first_touched)
            fuzz_finding("call %zu refers to a missing object, or has no text", i);
    }
    for (size_t i = 0; i < t->touches; i++)
        if (t->touched[i] >= t->objects)
            fuzz_finding("access %zu refers to a missing object", i);
}

static void show(const uint8_t *data, size_t size)
{
    struct timeline timeline;
    char *out = NULL;
    size_t out_size;
    FILE *in = fuzz_reading(data, size), *to = open_memstream(&out, &out_size);
    if (timeline_read(&timeline, in, "fuzz")) {
        check_indices(&timeline);
        if (!export_chrome(&timeline, to) || !view_page(to, &(struct view_traces){&timeline, &(const char *){"fuzz"}, 1}))
            fuzz_finding("the timeline cannot be shown");
        export_memory_viz(&timeline, "fuzz", to);
        if (timeline.calls)
            export_dot(&timeline, (uint32_t)timeline.calls - 1, to);
    } else if (!timeline.complaint.length) {
        fuzz_finding("refused without a message");
    }
    timeline_free(&timeline);
    fclose(in);
    fclose(to);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char spec[FUZZ_SPEC];
    if (!size || size > MOST)
        return 0;
    fuzz_machine("", spec);
    play(data, size, spec);
    show(data, size);
    return 0;
}
