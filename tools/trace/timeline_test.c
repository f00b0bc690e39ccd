/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline: effects of single calls on objects, invalid lines, and random programs compared with the simulator. */
#include "timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random.h"
#include "tap.h"

#ifdef CUVMM_HAVE_JANSSON

#define G UINT64_C(0x200000)
#define HEADER "{\"cuvmm-trace\":1,\"version\":\"0.1.0\",\"inner\":[\"shadow\",\"cuda\"]}\n"
#define OK ",\"result\":\"CUDA_SUCCESS\",\"code\":0"
#define BAD ",\"result\":\"CUDA_ERROR_INVALID_VALUE\",\"code\":1"
#define UNSUPPORTED ",\"result\":\"CUDA_ERROR_NOT_SUPPORTED\",\"code\":801"

/* ---- hand-written traces: one call per line ---- */

static struct text trace;
static unsigned lines;

static void begin(void)
{
    text_free(&trace);
    text_add(&trace, "%s", HEADER);
    lines = 0;
}

static void line(const char *call, const char *args, const char *names, const char *rest)
{
    lines++;
    text_add(&trace, "{\"n\":%u,\"thread\":1,\"call\":\"%s\",\"args\":{%s},\"names\":{%s}%s}\n", lines, call, args, names, rest);
}

/* R1 of 8 granules at 0x10000000, like all that follow. */
static void reserve(void)
{
    line("mem_address_reserve", "\"ptr\":\"out\",\"size\":\"0x1000000\",\"alignment\":\"0x0\",\"addr\":\"0x0\",\"flags\":\"0x0\"",
         "\"ptr\":\"R1\"", OK ",\"out\":{\"ptr\":\"0x10000000\"}");
}

/* The handle H1 is 0x71. */
static void create(unsigned number, bool host)
{
    char args[400], names[40], rest[100];
    snprintf(args, sizeof args, "\"handle\":\"out\",\"size\":\"0x200000\",\"prop\":{\"type\":1,\"requested_handle_types\":0,"
             "\"location\":{\"type\":%d,\"id\":0},\"win32_handle_meta_data\":\"0x0\",\"compression_type\":0,"
             "\"gpu_direct_rdma_capable\":0,\"usage\":0,\"reserved\":\"00000000\"},\"flags\":\"0x0\"", host ? 3 : 1);
    snprintf(names, sizeof names, "\"handle\":\"H%u\"", number);
    snprintf(rest, sizeof rest, "%s,\"out\":{\"handle\":\"0x%x\"}", OK, 0x70 + number);
    line("mem_create", args, names, rest);
}

/* "ptr":"R1+0x200000", as far as R1 reaches. */
static void name_granule(char *names, size_t size, uint64_t granule)
{
    if (granule >= 8)
        names[0] = '\0';
    else if (granule)
        snprintf(names, size, "\"ptr\":\"R1+0x%" PRIx64 "\"", granule * G);
    else
        snprintf(names, size, "\"ptr\":\"R1\"");
}

static void map(unsigned granule, unsigned handle, const char *rest)
{
    char args[200], names[60];
    snprintf(args, sizeof args,
             "\"ptr\":\"0x%llx\",\"size\":\"0x200000\",\"offset\":\"0x0\",\"handle\":\"0x%x\",\"flags\":\"0x0\"",
             0x10000000ULL + granule * (unsigned long long)G, 0x70 + handle);
    name_granule(names, sizeof names, granule);
    snprintf(names + strlen(names), sizeof names - strlen(names), ",\"handle\":\"H%u\"", handle);
    line("mem_map", args, names, rest);
}

static void unmap(uint64_t granule, uint64_t size)
{
    char args[200], names[60];
    snprintf(args, sizeof args, "\"ptr\":\"0x%" PRIx64 "\",\"size\":\"0x%" PRIx64 "\"", 0x10000000 + granule * G, size);
    name_granule(names, sizeof names, granule);
    line("mem_unmap", args, names, OK);
}

static void grant(unsigned granule, uint64_t size, const char *desc, const char *rest)
{
    char args[400], names[60];
    snprintf(args, sizeof args, "\"ptr\":\"0x%" PRIx64 "\",\"size\":\"0x%" PRIx64 "\",\"desc\":[%s],\"count\":\"0x%x\"",
             0x10000000 + granule * G, size, desc, strstr(desc, "},{") ? 2 : 1);
    name_granule(names, sizeof names, granule);
    line("mem_set_access", args, names, rest);
}

#define DEV0_RW "{\"location\":{\"type\":1,\"id\":0},\"flags\":3}"
#define HOST_RW "{\"location\":{\"type\":2,\"id\":0},\"flags\":3}"

static struct timeline read_text(const char *text, size_t length, bool *good)
{
    struct timeline t;
    FILE *in = tmpfile();
    if (!in || fwrite(text, 1, length, in) != length || fseek(in, 0, SEEK_SET))
        tap_bail("no temporary file");
    *good = timeline_read(&t, in, "t");
    fclose(in);
    return t;
}

static struct timeline read_trace(void)
{
    bool good;
    struct timeline t = read_text(trace.data, trace.length, &good);
    if (!good || t.complaint.length)
        tap_bail("a trace of this test cannot be read: %s", t.complaint.data);
    return t;
}

static const struct timeline_object *find(const struct timeline *t, const char *name)
{
    static const struct timeline_object none;
    char text[TIMELINE_NAME];
    for (size_t i = t->objects; i > 0; i--)
        if (strcmp(timeline_name(&t->object[i - 1], text), name) == 0)
            return &t->object[i - 1];
    return &none;
}

/* The rights that a location has on a mapping after a call. */
static uint32_t rights_at(const struct timeline *t, uint32_t mapping, uint32_t call, int type, int id)
{
    uint32_t value = 0;
    for (size_t i = 0; i < t->changes && t->change[i].call <= call; i++) {
        const struct timeline_change *c = &t->change[i];
        if (c->kind == TIMELINE_RIGHTS && c->object == mapping && c->location.type == type && c->location.id == id)
            value = c->value;
    }
    return value;
}

/* At the end. */
static uint32_t rights(const struct timeline *t, const char *mapping, int type, int id)
{
    return rights_at(t, (uint32_t)(find(t, mapping) - t->object), TIMELINE_NONE, type, id);
}

static void one_life(void)
{
    begin();
    reserve();
    create(1, false);
    map(1, 1, OK);
    line("mem_release", "\"handle\":\"0x71\"", "\"handle\":\"H1\"", OK);
    unmap(1, G);
    line("mem_address_free", "\"ptr\":\"0x10000000\",\"size\":\"0x1000000\"", "\"ptr\":\"R1\"", OK);
    struct timeline t = read_trace();
    const struct timeline_object *r = find(&t, "R1"), *h = find(&t, "H1"), *m = find(&t, "M1");
    tap_ok(t.calls == 6 && t.objects == 3, "six calls, three objects");
    tap_text(timeline_words(&t, 2), "cuMemMap(R1+2MiB, 2MiB, 0, H1, 0)", "a call in words");
    tap_text(t.backend, "cuda", "the innermost backend recorded it");
    tap_ok(r->born == 0 && r->died == 5 && r->start == 0x10000000 && r->size == 8 * G, "the reservation's life");
    tap_ok(m->born == 2 && m->died == 4 && m->start == 0x10200000 && &t.object[m->handle] == h, "the mapping's");
    tap_ok(h->born == 1 && h->released == 3 && h->died == 4, "memory is held by its mapping after the release");
    tap_ok(!timeline_alive(h, 0) && timeline_alive(h, 1) && timeline_alive(h, 3) && !timeline_alive(h, 4), "alive from its call "
           "to the one that ended it");
    tap_ok(!t.complete && !timeline_is_error(&t, 0), "without a last line it is not complete");
    timeline_free(&t);
}

static void refused(void)
{
    begin();
    reserve();
    create(1, false);
    map(0, 1, OK);
    map(0, 1, BAD ",\"severity\":\"error\",\"rule\":\"VMM-MAP-OVERLAP\",\"argument\":\"ptr\",\"value\":\"0x10000000\","
                  "\"nearest\":\"M1\"");
    map(1, 1, OK ",\"severity\":\"warning\",\"rule\":\"VMM-NEW\",\"note\":\"say </script>\",\"nearest\":\"D0\"");
    line("stream_query", "\"stream\":\"0x0\"", "", ",\"result\":\"CUDA_ERROR_NOT_READY\",\"code\":600");
    struct timeline t = read_trace();
    const struct timeline_call *call = timeline_call(&t, 3);
    tap_ok(t.objects == 4 && find(&t, "M2")->born == 4, "a refused call makes nothing");
    tap_ok(timeline_is_error(&t, 3) && call->severity == VMM_SEVERITY_ERROR && call->value == 0x10000000, "its detail");
    tap_text(call->rule, "VMM-MAP-OVERLAP", "its rule");
    tap_ok(call->nearest_object != TIMELINE_NONE && &t.object[call->nearest_object] == find(&t, "M1"), "the object in the way");
    call = timeline_call(&t, 4);
    tap_ok(call->severity == VMM_SEVERITY_WARNING && !timeline_is_error(&t, 4), "a warning is no error");
    tap_text(call->note, "say </script>", "a note is kept as it is");
    tap_ok(call->nearest_object == TIMELINE_NONE, "D0 of a detail is a device and no descriptor");
    tap_ok(!timeline_is_error(&t, 5), "NOT_READY is an answer");
    timeline_free(&t);
}

static void unmapping(void)
{
    begin();
    reserve();
    create(1, false);
    for (unsigned i = 0; i < 8; i += 2)
        map(i, 1, OK);
    unmap(3, G + G / 2);           /* would cut M3 */
    unmap(1, 4 * G);               /* M2 at 2, M3 at 4; a hole at 3 */
    unmap(0, UINT64_MAX - 5);      /* wraps: none */
    unmap(5, (UINT64_C(1) << 40)); /* far beyond */
    struct timeline t = read_trace();
    tap_ok(find(&t, "M1")->died == TIMELINE_NONE, "one before the range stays, and a range that wraps takes none");
    tap_ok(find(&t, "M2")->died == 7 && find(&t, "M3")->died == 7, "those in it go, over a hole, and none that is cut");
    tap_ok(find(&t, "M4")->died == 9, "also of a range that goes on far beyond");
    tap_ok(find(&t, "H1")->died == TIMELINE_NONE, "a handle with a reference stays");
    timeline_free(&t);
}

static void granting(void)
{
    begin();
    reserve();
    create(1, false);
    create(2, true);
    map(0, 1, OK);
    map(1, 2, OK);
    map(3, 1, OK);
    grant(0, 4 * G, DEV0_RW, OK);                  /* the hole at 2 ends it */
    grant(1, G, HOST_RW, OK);                      /* host memory */
    grant(0, 2 * G, "{\"location\":{\"type\":1,\"id\":1},\"flags\":1}," HOST_RW, UNSUPPORTED);
    grant(3, G, "{\"location\":{\"type\":1,\"id\":1},\"flags\":1}", UNSUPPORTED); /* for another reason */
    grant(3, G, "{\"location\":{\"type\":1,\"id\":1},\"flags\":3}", BAD);
    struct timeline t = read_trace();
    tap_ok(rights(&t, "M1", 1, 0) == 3 && rights(&t, "M2", 1, 0) == 3, "rights up to the hole");
    tap_u64(rights(&t, "M3", 1, 0), 0, "none behind it");
    tap_u64(rights(&t, "M2", 2, 0), 3, "the host's on its own memory");
    tap_u64(rights(&t, "M1", 1, 1), 1, "rights granted before the host's refusal stay");
    tap_ok(rights(&t, "M1", 2, 0) == 0 && rights(&t, "M2", 1, 1) == 0, "nothing else was granted, here or further on");
    tap_u64(rights(&t, "M3", 1, 1), 0, "a call that was refused for something else changes nothing");
    tap_text(timeline_words(&t, 6), "cuMemSetAccess(R1, 8MiB, {dev0:rw}, 1)", "grants in words");
    timeline_free(&t);
}

/* Objects made before the trace began have no entry, and conclusions about them are left open. */
static void before_it_began(void)
{
    begin();
    reserve();
    line("mem_map", "\"ptr\":\"0x10000000\",\"size\":\"0x200000\",\"offset\":\"0x0\",\"handle\":\"0x5\",\"flags\":\"0x0\"",
         "\"ptr\":\"R1\"", OK);
    grant(0, G, HOST_RW, OK);
    line("mem_release", "\"handle\":\"0x5\"", "", OK);
    line("mem_retain_allocation_handle", "\"handle\":\"out\",\"addr\":\"0x10000000\"", "\"handle\":\"H1\",\"addr\":\"R1\"",
         OK ",\"out\":{\"handle\":\"0x5\"}");
    struct timeline t = read_trace();
    const struct timeline_object *m = find(&t, "M1"), *h = find(&t, "H1");
    tap_ok(m->handle == TIMELINE_NONE && rights(&t, "M1", 2, 0) == 3, "a mapping of an older handle, with the host's rights");
    tap_ok(h->born == 4 && h->size == 0 && h->location.type == VMM_MEM_LOCATION_TYPE_INVALID, "only its name is known");
    timeline_free(&t);
}

static void sharing(void)
{
    begin();
    create(1, false);
    line("mem_export_to_shareable_handle", "\"shareable_handle\":\"out\",\"handle\":\"0x71\",\"handle_type\":1,\"flags\":\"0x0\"",
         "\"shareable_handle\":\"D1\",\"handle\":\"H1\"", OK ",\"out\":{\"shareable_handle\":\"fd\"}");
    line("mem_import_from_shareable_handle", "\"handle\":\"out\",\"os_handle\":\"fd\",\"sh_handle_type\":1",
         "\"handle\":\"H2\",\"os_handle\":\"D1\"", OK ",\"out\":{\"handle\":\"0x78\"}");
    line("mem_release", "\"handle\":\"0x71\"", "\"handle\":\"H1\"", OK);
    line("mem_import_from_shareable_handle", "\"handle\":\"out\",\"os_handle\":\"fd\",\"sh_handle_type\":1", "\"handle\":\"H3\"",
         OK ",\"out\":{\"handle\":\"0x79\"}");
    struct timeline t = read_trace();
    const struct timeline_object *first = find(&t, "H1"), *second = find(&t, "H2"), *third = find(&t, "H3");
    tap_ok(find(&t, "D1")->kind == TIMELINE_DESCRIPTOR && &t.object[find(&t, "D1")->handle] == first, "a descriptor's handle");
    tap_ok(first->died == 3 && second->died == TIMELINE_NONE && &t.object[second->memory] == first && second->size == G,
           "an imported handle shares the memory and lives on");
    tap_ok(&t.object[third->memory] == third && third->size == 0, "nothing is known about another process's exports");
    timeline_free(&t);
}

/* ---- invalid lines ---- */

static void wrong(const char *text, const char *complaint, bool header, size_t calls, const char *what)
{
    bool good;
    struct timeline t = read_text(text, strlen(text), &good);
    if (!tap_ok(good == header && t.calls == calls && strstr(t.complaint.data ? t.complaint.data : "", complaint), "%s", what))
        tap_note("good %d, %zu calls, \"%s\"", good, t.calls, t.complaint.data ? t.complaint.data : "");
    timeline_free(&t);
}

#define CALL "{\"n\":1,\"thread\":1,\"call\":\"init\",\"args\":{\"flags\":\"0x0\"}" OK "}\n"

static void malformed(void)
{
    wrong("", "t:1:1: empty", false, 0, "an empty file");
    wrong("hello\n", "not JSON", false, 0, "a text");
    wrong("{}\n" CALL, "t:1:1: no \"cuvmm-trace\"", false, 0, "no header");
    wrong("{\"cuvmm-trace\":2}\n" CALL, "trace format 2", false, 0, "another format");
    wrong(HEADER CALL "{\"n\":2,\"thre", "t:3:", true, 1, "an incomplete line");
    wrong(HEADER CALL "{\"n\":2,\"thre", "an incomplete line: the program was stopped", true, 1, "an incomplete line is reported as such");
    wrong(HEADER "nonsense\n" CALL, "t:2:", true, 0, "a line in the middle");
    wrong(HEADER CALL "{\"end\":1,\"calls\":2}\n", "claims to have 2 calls, but has 1", true, 1, "a wrong count");
    wrong(HEADER CALL "{\"end\":1,\"calls\":1}\n" CALL, "after the end", true, 1, "a line after the end");
    wrong(HEADER "{\"n\":1,\"thread\":0,\"call\":\"init\",\"args\":{}" OK "}\n", "no \"thread\" from 1", true, 0, "no thread");
    wrong(HEADER "{\"n\":1,\"thread\":1,\"call\":\"mem_eat\",\"args\":{}" OK "}\n", "names no call", true, 0, "no such call");
    wrong(HEADER "{\"n\":1,\"thread\":1,\"call\":\"mem_unmap\",\"args\":{\"ptr\":\"0x0\",\"size\":\"two\"}" OK "}\n",
          "size is not a hexadecimal string", true, 0, "a size that is none");
    wrong(HEADER "{\"n\":1,\"thread\":1,\"call\":\"mem_retain_allocation_handle\",\"args\":{\"handle\":\"out\",\"addr\":\"0x0\"},"
          "\"names\":{\"handle\":\"H4000000000\"}" OK ",\"out\":{\"handle\":\"0x5\"}}\n", "handle is named", true, 0,
          "a number that no trace has come to");
    wrong(HEADER "{\"n\":1,\"thread\":1,\"call\":\"mem_address_reserve\",\"args\":{\"ptr\":\"out\",\"size\":\"0xffffffffffffffff\","
          "\"alignment\":\"0x0\",\"addr\":\"0x0\",\"flags\":\"0x0\"},\"names\":{\"ptr\":\"R1\"},\"out\":{\"ptr\":\"0x10\"}" OK "}\n"
          CALL, "", true, 2, "a reservation past the end of addresses");
}

/* The reader survives any damage: a changed byte, a missing piece. */
static void damaged(void)
{
    bool good;
    uint64_t seed = random_seed(20580);
    begin();
    reserve();
    create(1, true);
    map(0, 1, OK);
    grant(0, G, DEV0_RW "," HOST_RW, OK);
    unmap(0, G);
    size_t most = 0;
    for (unsigned i = 0; i < random_rounds(3000); i++) {
        char *copy = text_grow(NULL, trace.length);
        size_t from = random_below(&seed, trace.length), length = random_below(&seed, 4) ? trace.length : from;
        memcpy(copy, trace.data, trace.length);
        copy[from] = (char)random_below(&seed, 256);
        struct timeline t = read_text(copy, length, &good);
        most = t.calls > most ? t.calls : most;
        timeline_free(&t);
        free(copy);
    }
    tap_u64(most, 5, "damaged traces are read as far as they go");
}

/* ---- random programs on the simulator, compared with its own list of live objects ---- */

#define SOME 8

struct program {
    vmm_system *sys;
    uint64_t seed;
    vmm_deviceptr range[SOME], memory[SOME];
    vmm_mem_generic_allocation_handle handle[SOME];
    vmm_context context[SOME];
    vmm_stream stream[SOME];
    vmm_event event[SOME];
};

static unsigned any(struct program *p)
{
    return (unsigned)random_below(&p->seed, SOME);
}

static vmm_deviceptr somewhere(struct program *p)
{
    return p->range[any(p)] + random_below(&p->seed, 8) * G;
}

static void make_memory(struct program *p)
{
    bool host = random_below(&p->seed, 3) == 0;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {host ? VMM_MEM_LOCATION_TYPE_HOST_NUMA : VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    if (!host)
        prop.location.id = (int)random_below(&p->seed, 2);
    vmm_mem_create(p->sys, &p->handle[any(p)], (1 + random_below(&p->seed, 2)) * G, &prop, 0);
}

static void set_some_access(struct program *p)
{
    vmm_mem_access_desc desc[2];
    static const int flags[] = {0, 1, 3};
    for (int i = 0; i < 2; i++) {
        desc[i].location.type = random_below(&p->seed, 4) ? VMM_MEM_LOCATION_TYPE_DEVICE : VMM_MEM_LOCATION_TYPE_HOST;
        desc[i].location.id = desc[i].location.type == VMM_MEM_LOCATION_TYPE_DEVICE ? (int)random_below(&p->seed, 2) : 0;
        desc[i].flags = flags[random_below(&p->seed, 3)];
    }
    vmm_mem_set_access(p->sys, somewhere(p), (1 + random_below(&p->seed, 6)) * G, desc, 1 + random_below(&p->seed, 2));
}

static void make_or_end_in_context(struct program *p)
{
    unsigned i = any(p);
    switch (random_below(&p->seed, 7)) {
    case 0: vmm_stream_create(p->sys, &p->stream[i], 0); break;
    case 1: vmm_event_create(p->sys, &p->event[i], 0); break;
    case 2: vmm_mem_alloc(p->sys, &p->memory[i], 1 + random_below(&p->seed, 2 * G)); break;
    case 3: vmm_mem_free(p->sys, p->memory[i]); break;
    case 4: vmm_stream_destroy(p->sys, p->stream[i]); break;
    case 5: vmm_event_destroy(p->sys, p->event[i]); break;
    default: vmm_ctx_set_current(p->sys, p->context[i]); break;
    }
}

static void make_or_end_context(struct program *p)
{
    unsigned i = any(p);
    int device = (int)random_below(&p->seed, 2);
    switch (random_below(&p->seed, 6)) {
    case 0: vmm_ctx_create(p->sys, &p->context[i], 0, device); break;
    case 1: vmm_ctx_destroy(p->sys, p->context[i]); break;
    case 2: vmm_device_primary_ctx_retain(p->sys, &p->context[i], device); break;
    case 3: vmm_device_primary_ctx_release(p->sys, device); break;
    case 4: vmm_device_primary_ctx_reset(p->sys, device); break;
    default: vmm_ctx_set_current(p->sys, p->context[i]); break;
    }
}

static void one_call(struct program *p)
{
    unsigned i = any(p);
    switch (random_below(&p->seed, 14)) {
    case 0: vmm_mem_address_reserve(p->sys, &p->range[i], (1 + random_below(&p->seed, 8)) * G, 0, 0, 0); break;
    case 1: vmm_mem_address_free(p->sys, p->range[i], (1 + random_below(&p->seed, 8)) * G); break;
    case 2:
    case 3: make_memory(p); break;
    case 4: vmm_mem_release(p->sys, p->handle[i]); break;
    case 5: vmm_mem_retain_allocation_handle(p->sys, &p->handle[i], somewhere(p)); break;
    case 6:
    case 7:
    case 8: vmm_mem_map(p->sys, somewhere(p), (1 + random_below(&p->seed, 2)) * G, 0, p->handle[i], 0); break;
    case 9: vmm_mem_unmap(p->sys, somewhere(p), (1 + random_below(&p->seed, 8)) * G); break;
    case 10:
    case 11: set_some_access(p); break;
    case 12: make_or_end_in_context(p); break;
    default: make_or_end_context(p); break;
    }
}

struct world {
    vmm_object object[4096];
    size_t count;
};

static void take(void *user, const vmm_object *object)
{
    struct world *world = user;
    if (world->count < sizeof world->object / sizeof world->object[0] && object->kind != VMM_OBJECT_DEVICE)
        world->object[world->count++] = *object;
}

static bool same_rights(const struct timeline *t, const struct timeline_object *o, const vmm_object *want, int type, int id)
{
    char name[TIMELINE_NAME];
    vmm_mem_location location = {type, id};
    return rights(t, timeline_name(o, name), type, id) == (uint32_t)vmm_object_access(want, location);
}

static uint32_t references(const struct timeline *t, const struct timeline_object *o)
{
    uint32_t value = 0;
    for (size_t i = 0; i < t->changes; i++)
        if (t->change[i].kind == TIMELINE_REFERENCES && &t->object[t->change[i].object] == o)
            value = t->change[i].value;
    return value;
}

static const char *seen_name(const vmm_object *object, char text[TIMELINE_NAME])
{
    static const char letters[] = "?DRMHACSEBPY"; /* by enum vmm_object_kind */
    snprintf(text, TIMELINE_NAME, "%c%" PRIu32, letters[object->kind], object->number);
    return text;
}

static const char *difference(const struct timeline *t, const vmm_object *want)
{
    char name[TIMELINE_NAME];
    const struct timeline_object *o = find(t, seen_name(want, name));
    if (o->number != want->number || o->died != TIMELINE_NONE)
        return "is not there";
    if (want->kind != VMM_OBJECT_CONTEXT && timeline_call(t, o->born)->ordinal != want->created)
        return "was born otherwise";
    if (want->kind == VMM_OBJECT_HANDLE)
        return references(t, o) != want->references ? "has other references" : o->size != want->size ? "has another size" : NULL;
    if ((want->kind == VMM_OBJECT_MAPPING || want->kind == VMM_OBJECT_RESERVATION || want->kind == VMM_OBJECT_ALLOCATION) &&
        (o->start != want->start || (want->kind != VMM_OBJECT_ALLOCATION && o->size != want->size)))
        return "lies elsewhere";
    if (want->kind == VMM_OBJECT_MAPPING && t->object[o->handle].number != want->handle_number)
        return "shows another handle";
    if (want->kind == VMM_OBJECT_MAPPING && (!same_rights(t, o, want, 1, 0) || !same_rights(t, o, want, 1, 1) ||
                                             !same_rights(t, o, want, 2, 0)))
        return "has other rights";
    return NULL;
}

static bool shown(const struct world *world, const char *name)
{
    char text[TIMELINE_NAME];
    for (size_t i = 0; i < world->count; i++)
        if (strcmp(seen_name(&world->object[i], text), name) == 0)
            return true;
    return false;
}

/* Exactly the objects that the simulator shows. */
static bool compare(const struct timeline *t, const struct world *world)
{
    size_t alive = 0;
    for (size_t i = 0; i < world->count; i++) {
        const char *wrong_in = difference(t, &world->object[i]);
        if (wrong_in) {
            tap_note("kind %d number %u %s", world->object[i].kind, world->object[i].number, wrong_in);
            return false;
        }
    }
    for (size_t i = 0; i < t->objects; i++) {
        char name[TIMELINE_NAME];
        bool lives = t->object[i].died == TIMELINE_NONE;
        alive += lives;
        if (lives && !shown(world, timeline_name(&t->object[i], name)))
            tap_note("%s lives in the timeline alone, made by call %zu", name, (size_t)timeline_call(t, t->object[i].born)->ordinal);
    }
    return alive == world->count;
}

static void quiet(void *user, const vmm_detail *detail)
{
    (void)user;
    (void)detail;
}

static bool random_program(uint64_t seed, const char *path, size_t *most)
{
    static struct world world;
    struct program p = {.seed = seed};
    struct timeline t;
    char spec[200];
    snprintf(spec, sizeof spec, "trace=%s|sim:h200x2", path);
    if (vmm_open(spec, &p.sys) != VMM_SUCCESS)
        tap_bail("%s: %s", spec, vmm_last_detail()->note);
    vmm_set_report(p.sys, quiet, NULL);
    vmm_init(p.sys, 0);
    for (unsigned i = 0; i < 400; i++)
        one_call(&p);
    world.count = 0;
    vmm_visit(p.sys, take, &world);
    vmm_close(p.sys);
    FILE *in = fopen(path, "rb");
    bool good = in && timeline_read(&t, in, "random") && t.complete && compare(&t, &world);
    if (in)
        fclose(in);
    *most = world.count > *most ? world.count : *most;
    timeline_free(&t);
    return good;
}

static void random_programs(void)
{
    char path[] = "/tmp/timeline-XXXXXX", binary[sizeof path + sizeof TRACE_BINARY_END];
    uint64_t seed = random_seed(58016);
    size_t most = 0;
    bool good = true;
    int fd = mkstemp(path);
    if (fd < 0)
        tap_bail("no temporary file");
    close(fd);
    snprintf(binary, sizeof binary, "%s%s", path, TRACE_BINARY_END);
    for (unsigned i = 0; i < random_rounds(60) && good; i++)
        good = random_program(seed + i, i % 2 ? binary : path, &most);
    tap_ok(good, "random programs: what lives at the end is what lives in the simulator");
    tap_ok(most > 10, "and it is something: up to %zu objects", most);
    unlink(path);
    unlink(binary);
}

/* ---- recordings of drivers, as a second reference ---- */

/* The device in "{dev1}" of a call's words; -1. */
static int device_asked(const char *words)
{
    const char *at = strstr(words, "{dev");
    return at ? atoi(at + 4) : -1;
}

/* The result of cuMemGetAccess for a mapping, and the timeline's prediction. Returns the number of results. */
static unsigned compare_rights(const struct timeline *t, unsigned *otherwise, bool *believed)
{
    static const char *const words[] = {"flags = none", "flags = r", "", "flags = rw"};
    unsigned seen = 0;
    for (uint32_t i = 0; i < t->calls; i++) {
        const struct timeline_call *call = timeline_call(t, i);
        const char *said = timeline_answers(t, i);
        int device = device_asked(timeline_words(t, i));
        if (call->id != VMM_CALL_mem_get_access || call->result != VMM_SUCCESS || device < 0)
            continue;
        for (uint32_t k = 0; k < timeline_touched(t, i); k++) {
            uint32_t o = t->touched[t->mark[i].first_touched + k];
            if (t->object[o].kind != TIMELINE_MAPPING || !i)
                continue;
            seen++;
            if (strcmp(said, words[rights_at(t, o, i - 1, 1, device)]) != 0) {
                tap_note("line %" PRIu64 ": %s, %s", call->line, timeline_words(t, i), said);
                ++*otherwise;
                *believed &= strcmp(said, words[rights_at(t, o, i, 1, device)]) == 0;
            }
        }
    }
    return seen;
}

/* surprises: results that do not follow from the calls, after refused grants (VMM-ACCESS-RDMA-PEER). */
static void recorded(const char *machine, unsigned surprises)
{
    const char *source = getenv("CUVMM_SOURCE");
    struct timeline t = {0};
    size_t alive = 0;
    unsigned otherwise = 0;
    bool believed = true;
    char path[300];
    snprintf(path, sizeof path, "%s/conformance/recorded/recordings/%s-580.159.04/suite.jsonl", source ? source : ".", machine);
    FILE *in = fopen(path, "rb");
    tap_ok(in && timeline_read(&t, in, machine) && !t.complaint.length && t.complete, "the recording of %s is read", machine);
    if (in)
        fclose(in);
    for (size_t i = 0; i < t.objects; i++)
        alive += t.object[i].died == TIMELINE_NONE && t.object[i].kind != TIMELINE_DESCRIPTOR;
    tap_ok(t.objects > 1000 && alive == 0, "the suite freed all of %zu objects, and none lives on", t.objects);
    unsigned seen = compare_rights(&t, &otherwise, &believed);
    tap_ok(seen > 20 && otherwise == surprises, "of rights it says what the driver said, %u times of %u", seen - otherwise, seen);
    tap_ok(believed, "and where the driver said otherwise, that is believed");
    timeline_free(&t);
}

int main(void)
{
    one_life();
    refused();
    unmapping();
    granting();
    before_it_began();
    sharing();
    malformed();
    damaged();
    random_programs();
    recorded("h100", 0);
    recorded("h200x2", 2);
    text_free(&trace);
    return tap_done();
}

#else

int main(void)
{
    struct timeline t;
    tap_ok(!timeline_read(&t, stdin, "t") && strstr(t.complaint.data, "without jansson"), "without jansson it names the reason");
    timeline_free(&t);
    return tap_done();
}

#endif
