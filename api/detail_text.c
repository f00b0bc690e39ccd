/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a detail. Separate from detail.c, so that filling a record, which every refusal does, involves no formatting. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rules.h"
#include "units.h"
#include "vmm.h"

struct out {
    char *buffer;
    size_t size, length;
};

static void put(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct out *out, const char *format, ...)
{
    va_list args;
    size_t room = out->length < out->size ? out->size - out->length : 0;
    va_start(args, format);
    int n = vsnprintf(room ? out->buffer + out->length : NULL, room, format, args);
    va_end(args);
    if (n > 0)
        out->length += (size_t)n;
}

static void put_size(struct out *out, uint64_t size)
{
    char text[UNITS_TEXT];
    put(out, "%s", units_text(size, text));
}

static void put_location(struct out *out, vmm_mem_location location)
{
    switch (location.type) {
    case VMM_MEM_LOCATION_TYPE_DEVICE:
        put(out, "device %d", location.id);
        break;
    case VMM_MEM_LOCATION_TYPE_HOST:
        put(out, "the host");
        break;
    case VMM_MEM_LOCATION_TYPE_HOST_NUMA:
        put(out, "host node %d", location.id);
        break;
    case VMM_MEM_LOCATION_TYPE_INVALID:
        put(out, "the devices of its team");
        break;
    default:
        put(out, "location type %d", location.type);
    }
}

static void put_range(struct out *out, const vmm_object *o)
{
    put(out, " [0x%" PRIx64 ", 0x%" PRIx64 "), ", o->start, o->start + o->size);
    put_size(out, o->size);
}

static void put_history(struct out *out, const vmm_object *o)
{
    if (o->created)
        put(out, "; made by call %" PRIu64 " (%s)", o->created, o->created_by);
    if (o->ended)
        put(out, ", gone since call %" PRIu64 " (%s)", o->ended, o->ended_by);
}

/* A multicast object: its team, and the amount of bound memory. */
static void put_team(struct out *out, const vmm_object *o)
{
    const char *between = "";
    put(out, ", multicast for %" PRIu32 " devices (", o->team);
    for (int device = 0; device < VMM_MAX_DEVICES; device++)
        if (o->devices >> device & 1) {
            put(out, "%s%d", between, device);
            between = ", ";
        }
    put(out, "%s), %" PRIu32 " bind%s", o->devices ? "" : "none yet", o->binds, o->binds == 1 ? "" : "s");
}

static void put_object(struct out *out, const vmm_object *o)
{
    switch (o->kind) {    /* LCOV_EXCL_BR_LINE: all kinds are listed */
    case VMM_OBJECT_NONE: /* LCOV_EXCL_LINE: callers exclude it; only the compiler's check of the enum needs it */
        break;            /* LCOV_EXCL_LINE: the same */
    case VMM_OBJECT_DEVICE:
        put(out, "device %" PRIu64 ": ", o->value);
        put_size(out, o->size);
        put(out, " free of ");
        put_size(out, o->start);
        break;
    case VMM_OBJECT_RESERVATION:
        put(out, "reservation R%" PRIu32, o->number);
        put_range(out, o);
        break;
    case VMM_OBJECT_MAPPING:
        put(out, "mapping M%" PRIu32, o->number);
        put_range(out, o);
        put(out, " of handle H%" PRIu32 " on ", o->handle_number);
        put_location(out, o->location);
        break;
    case VMM_OBJECT_BIND:
        put(out, "bind B%" PRIu32, o->number);
        put_range(out, o);
        put(out, " of handle H%" PRIu32 " for ", o->handle_number);
        put_location(out, o->location);
        break;
    case VMM_OBJECT_HANDLE:
        put(out, "handle H%" PRIu32 " (0x%" PRIx64 "), ", o->number, o->value);
        put_size(out, o->size);
        if (o->team) {
            put_team(out, o);
        } else {
            put(out, " on ");
            put_location(out, o->location);
        }
        put(out, ", %" PRIu32 " reference%s, %" PRIu32 " mapping%s", o->references, o->references == 1 ? "" : "s",
            o->mappings, o->mappings == 1 ? "" : "s");
        break;
    case VMM_OBJECT_ALLOCATION:
        put(out, "allocation A%" PRIu32, o->number);
        put_range(out, o);
        if (o->handle_number)
            put(out, " of memory pool P%" PRIu32, o->handle_number);
        else
            put(out, " from %s", o->created_by ? o->created_by : "cuMemAlloc");
        break;
    case VMM_OBJECT_POOL:
        put(out, "memory pool P%" PRIu32 " on ", o->number);
        put_location(out, o->location);
        put(out, ", which has ");
        put_size(out, o->size);
        break;
    case VMM_OBJECT_ARRAY:
        put(out, "array Y%" PRIu32 " on ", o->number);
        put_location(out, o->location);
        put(out, ", ");
        if (o->offset)
            put(out, "%" PRIu32 " of %" PRIu64 " tiles mapped", o->mappings, o->offset);
        else
            put_size(out, o->size);
        break;
    case VMM_OBJECT_CONTEXT:
        put(out, "context C%" PRIu32 " of device %d", o->number, o->location.id);
        break;
    case VMM_OBJECT_STREAM:
        put(out, "stream S%" PRIu32, o->number);
        break;
    case VMM_OBJECT_EVENT:
        put(out, "event E%" PRIu32, o->number);
        break;
    }
    put_history(out, o);
}

static const char *severity_word(vmm_severity severity)
{
    switch (severity) {
    case VMM_SEVERITY_ERROR:
        return "error";
    case VMM_SEVERITY_WARNING:
        return "warning";
    case VMM_SEVERITY_LEAK:
        return "leak";
    case VMM_SEVERITY_HINT:
        return "hint";
    case VMM_SEVERITY_NONE:
        break;
    }
    return "fine";
}

static void put_argument(struct out *out, const vmm_detail *d)
{
    if (!d->argument)
        return;
    put(out, "  argument  %s = 0x%" PRIx64 " (%" PRId64 ")", d->argument, d->value, (int64_t)d->value);
    if (d->expected)
        put(out, ", against 0x%" PRIx64 " (%" PRIu64 ")", d->expected, d->expected);
    put(out, "\n");
}

/* Adds nothing when there is no such object. */
static void put_distance(struct out *out, const char *label, const vmm_object *o, uint64_t bytes, const char *where)
{
    if (o->kind == VMM_OBJECT_NONE)
        return;
    put(out, "  %-9s ", label);
    put_object(out, o);
    put(out, "; ");
    put_size(out, bytes);
    put(out, " %s\n", where);
}

/* Adds what does not fit into the note, which describes the access itself. */
static void put_fault(struct out *out, const vmm_fault *f, const vmm_object *nearest)
{
    if (!f)
        return;
    if (f->argument) {
        put(out, "  offset    ");
        put_size(out, f->offset);
        put(out, " from argument %s of %s\n", f->argument, vmm_kernel_name(f->kernel));
    }
    put_distance(out, "before", &f->before, f->address - f->before.start - f->before.size, "past its end");
    put_distance(out, "after", &f->after, f->after.start - f->address, "before its start");
    if (f->past.kind != VMM_OBJECT_NONE && (f->past.kind != nearest->kind || f->past.number != nearest->number)) {
        put(out, "  was here  ");
        put_object(out, &f->past);
        put(out, "\n");
    }
}

static void put_access(struct out *out, const char *label, const vmm_access *access)
{
    put(out, "  %-9s ", label);
    if (access->kernel)
        put(out, "kernel %s (%s, ", access->kernel, access->issued.function);
    else
        put(out, "%s (", access->issued.function);
    put(out, "call %" PRIu64 ") ", access->issued.call);
    if (access->host)
        put(out, "of the host");
    else if (access->graph)
        put(out, "in a node of a graph");
    else if (access->stream_number)
        put(out, "on stream S%" PRIu32, access->stream_number);
    else
        put(out, access->per_thread ? "on the thread's default stream" : "on the default stream");
    put(out, access->writes ? " writes\n" : " reads\n");
}

static void put_order(struct out *out, const vmm_order *o)
{
    if (!o)
        return;
    if (o->first.issued.function)
        put_access(out, "first", &o->first);
    put_access(out, o->first.issued.function ? "second" : "access", &o->second);
    put(out, "  bytes     0x%" PRIx64 " to 0x%" PRIx64 " of ", o->offset, o->offset + (o->size - 1));
    if (o->memory)
        put(out, "memory %" PRIu64 ", ", o->memory);
    else
        put(out, "the host's memory, ");
    put_size(out, o->size);
    put(out, "\n");
    if (o->missing[0])
        put(out, "  missing   %s\n", o->missing);
}

static void put_rule(struct out *out, const vmm_detail *d, const vmm_rule *rule)
{
    if (!rule)
        return;
    put(out, "  why       %s\n", rule->explanation);
    if (d->severity == VMM_SEVERITY_WARNING && rule->rule_class != VMM_RULE_HAZARD)
        put(out, "  note      driver 580 accepts this; another may not. In strict mode it is %s.\n",
            vmm_result_name(rule->result));
    if (rule->driver_580 == VMM_DRIVER_CRASHES)
        put(out, "  note      driver 580 does not return here: the process crashes.\n");
    put(out, "  fix       %s\n", rule->way_out);
    put(out, "  more      cuvmm explain %s\n", rule->id);
}

size_t vmm_detail_text(const vmm_detail *detail, char *buffer, size_t size)
{
    struct out out = {buffer, size, 0};
    const vmm_rule *rule = detail->rule ? vmm_rule_find(detail->rule) : NULL;

    put(&out, "%s", severity_word(detail->severity));
    if (rule)
        put(&out, " %s", rule->id);
    put(&out, ": ");
    if (detail->function)
        put(&out, "%s", detail->function);
    if (detail->call)
        put(&out, " (call %" PRIu64 ")", detail->call);
    if (detail->severity == VMM_SEVERITY_ERROR)
        put(&out, " -> %s", vmm_result_name(detail->result));
    put(&out, "\n");
    if (rule)
        put(&out, "  what      %s\n", rule->message);
    if (detail->note[0])
        put(&out, "  %s      %s\n", rule ? "here" : "what", detail->note);
    put_argument(&out, detail);
    if (detail->nearest.kind != VMM_OBJECT_NONE) {
        put(&out, "  nearest   ");
        put_object(&out, &detail->nearest);
        put(&out, "\n");
    }
    put_fault(&out, detail->fault, &detail->nearest);
    put_order(&out, detail->order);
    put_rule(&out, detail, rule);
    if (size)
        buffer[out.length < size ? out.length : size - 1] = '\0';
    return out.length;
}
