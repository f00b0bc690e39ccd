/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing the system of a test, and variants of it. */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "house.h"

/* The backend of a spec: the part after the last '|'. */
static const char *backend_of(const char *spec)
{
    const char *bar = strrchr(spec, '|');
    spec = bar ? bar + 1 : spec;
    return spec + strspn(spec, " \t");
}

/* Is option, such as ",strict", among those of a simulator's spec? */
static bool has_option(const char *spec, const char *option)
{
    size_t length = strlen(option);
    for (const char *at = strchr(backend_of(spec), ','); at; at = strchr(at + 1, ','))
        if (strncmp(at, option, length) == 0 && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

/* The options of a simulator's spec but for its mode, cut off: "sim:odd,strict,schedule=eager" leaves "sim:odd". */
static void cut_options(char *backend, char *kept, size_t room)
{
    char *at = strchr(backend, ',');
    size_t length = 0;
    kept[0] = '\0';
    while (at) {
        char *next = strchr(at + 1, ',');
        *at = '\0';
        if (next)
            *next = '\0';
        if (length < room && strcmp(at + 1, "strict") != 0 && strcmp(at + 1, "observed") != 0)
            length += (size_t)snprintf(kept + length, room - length, ",%s", at + 1);
        if (next)
            *next = ',';
        at = next;
    }
}

static const char *given(const char *spec)
{
    const char *environment = getenv("CUVMM_BACKEND");
    return spec ? spec : environment ? environment : "sim:h100";
}

bool fix_is_simulator(const char *spec)
{
    const char *backend = backend_of(given(spec));
    return strncmp(backend, "sim", 3) == 0 && (backend[3] == ':' || backend[3] == '\0');
}

/* Is there a shadow above the backend? */
static bool has_shadow(const char *spec)
{
    for (const char *at = spec + strspn(spec, " \t"); at < backend_of(spec); at += strspn(at, "| \t")) {
        if (strncmp(at, "shadow", 6) == 0)
            return true;
        at += strcspn(at, "|");
    }
    return false;
}

const char *fix_unfit(const char *spec)
{
    const char *text = given(spec);
    if (has_shadow(text))
        return "a shadow follows one machine, but the suite changes machines; add --as-driver, which keeps one";
    if (has_option(text, ",strict"))
        return "each test runs in its own mode or modes; leave out \"strict\", or name tests with --run";
    return NULL;
}

static bool can_reserve(struct fix *f, uint64_t size)
{
    vmm_deviceptr ptr = 0;
    if (vmm_mem_address_reserve(f->sys, &ptr, size, 0, 0, 0) != VMM_SUCCESS)
        return false;
    return vmm_mem_address_free(f->sys, ptr, size) == VMM_SUCCESS;
}

/* No call reports the unit of reservations, so the fixture finds it by trial. */
static vmm_result measure(struct fix *f)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    vmm_result result = vmm_device_get_count(f->sys, &f->devices);
    if (result == VMM_SUCCESS)
        result = vmm_mem_get_allocation_granularity(f->sys, &f->minimum, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != VMM_SUCCESS)
        return result;
    for (f->g = f->minimum; !can_reserve(f, f->g); f->g *= 2)
        if (f->g > UINT64_C(1) << 40)
            return VMM_ERROR_OUT_OF_MEMORY;
    for (f->unit = f->g; f->unit > 1 && can_reserve(f, f->unit / 2); f->unit /= 2) {
    }
    return VMM_SUCCESS;
}

/* A driver's units do not change from test to test. */
static vmm_result measure_once(struct fix *f)
{
    struct fix_house *house = f->house;
    if (!house)
        return measure(f);
    if (!house->devices) {
        vmm_result result = measure(f);
        if (result != VMM_SUCCESS)
            return result;
        house->devices = f->devices;
        house->minimum = f->minimum;
        house->unit = f->unit;
        house->g = f->g;
    }
    f->devices = house->devices;
    f->minimum = house->minimum;
    f->unit = house->unit;
    f->g = house->g;
    return VMM_SUCCESS;
}

/* The context that tests share, or one of the test's own; and the keeper beside it. */
static vmm_result open_context(struct fix *f)
{
    vmm_result result;
    if (f->house) {
        result = house_context(f->house, &f->ctx);
    } else {
        result = vmm_ctx_create(f->sys, &f->ctx, 0, 0);
        if (result == VMM_SUCCESS)
            fix_note(f, FIX_CONTEXT, (uintptr_t)f->ctx, 0);
    }
    if (result == VMM_SUCCESS)
        result = vmm_mem_address_reserve(f->sys, &f->keeper, f->unit, 0, 0, 0);
    if (result == VMM_SUCCESS)
        fix_note(f, FIX_RESERVATION, f->keeper, f->unit);
    return result;
}

/* Checks every report of a test: one without an argument names an object, an address, bytes of memory that accesses share, or nothing. */
static void look_at_detail(void *user, const vmm_detail *detail)
{
    if (!detail->argument && !detail->order && ((detail->value && detail->value < 4096) || detail->expected))
        fix_failed(user, __FILE__, __LINE__, "%s of %s has no argument, but the value %llu, against %llu",
                   detail->rule ? detail->rule : "what is said", detail->function ? detail->function : "no call",
                   (unsigned long long)detail->value, (unsigned long long)detail->expected);
}

vmm_result fix_open(struct fix *f, const char *spec, int options)
{
    vmm_result result = VMM_SUCCESS;
    if (f->house)
        f->sys = f->house->sys;
    else
        result = vmm_open(spec, &f->sys);
    if (result != VMM_SUCCESS)
        return result;
    vmm_set_report(f->sys, look_at_detail, f);
    snprintf(f->spec, sizeof f->spec, "%s", given(spec));
    f->simulator = !f->house && fix_is_simulator(f->spec);
    f->strict = f->simulator && has_option(f->spec, ",strict");
    if (options & FIX_RAW)
        return VMM_SUCCESS;
    result = vmm_init(f->sys, 0);
    if (result == VMM_SUCCESS)
        result = measure_once(f);
    if (result == VMM_SUCCESS && !(options & FIX_NO_CONTEXT))
        result = open_context(f);
    if (result != VMM_SUCCESS) {
        if (!f->house)
            vmm_close(f->sys);
        f->sys = NULL;
    }
    return result;
}

/* Writes a profile: the given one plus these lines. It is deleted with the file. */
static bool write_profile(struct fix *f, const char *name, const char *lines, char *path, size_t room)
{
    bool builtin = name[0] && !strchr(name, '/') && !strchr(name, '.');
    f->profile = tmpfile();
    if (!f->profile)
        return false;
    fprintf(f->profile, "base = %s\nname = variant\n%s\n", builtin ? name : "h100", lines);
    fflush(f->profile);
    rewind(f->profile);
    snprintf(path, room, "/dev/fd/%d", fileno(f->profile));
    return true;
}

bool fix_open_variant(struct fix *f, const char *spec, const char *lines, enum fix_mode mode, int options,
                      vmm_result *result, const char **why)
{
    char text[512], name[256] = "h100";
    snprintf(text, sizeof text, "%s", given(spec));
    bool simulator = !f->house && fix_is_simulator(text);
    if (!simulator && mode == FIX_STRICT) {
        *why = "needs the strict mode (the simulator has one)";
        return false;
    }
    if (simulator && (lines || mode != FIX_AS_GIVEN)) {
        bool strict = has_option(text, ",strict");
        char *backend = text + (backend_of(text) - text), kept[128];
        cut_options(backend, kept, sizeof kept);
        if (backend[3] == ':')
            snprintf(name, sizeof name, "%s", backend + 4);
        if (lines) {
            char made[64];
            if (!write_profile(f, name, lines, made, sizeof made)) {
                *why = "needs a temporary file";
                return false;
            }
            snprintf(name, sizeof name, "%s", made);
        }
        strict = mode == FIX_AS_GIVEN ? strict : mode == FIX_STRICT;
        snprintf(backend, sizeof text - (size_t)(backend - text), "sim:%s%s%s", name, strict ? ",strict" : "",
                 kept);
    }
    *result = fix_open(f, text, options);
    return true;
}

struct fix *fix_also(struct fix *f, const char *spec, int options)
{
    struct fix *made = f->peers < FIX_PEERS ? calloc(1, sizeof *made) : NULL;
    if (!made) {
        fix_failed(f, __FILE__, __LINE__, "no room for another system");
        longjmp(*f->out, 1);
    }
    made->root = f->root;
    made->out = f->out;
    f->peer[f->peers++] = made;
    if (spec) {
        fix_need(f, fix_open(made, spec, options));
        return made;
    }
    fix_need(f, vmm_attach(f->sys, &made->sys));
    snprintf(made->spec, sizeof made->spec, "%s", f->spec);
    made->simulator = f->simulator;
    made->strict = f->strict;
    made->devices = f->devices;
    made->minimum = f->minimum;
    made->unit = f->unit;
    made->g = f->g;
    if (!(options & FIX_RAW))
        fix_need(f, vmm_init(made->sys, 0));
    if (!(options & (FIX_RAW | FIX_NO_CONTEXT)))
        made->ctx = fix_context(made, 0);
    return made;
}

static vmm_result give_back(struct fix *f, const struct fix_thing *t)
{
    switch (t->kind) {
    case FIX_MAPPING:
        return vmm_mem_unmap(f->sys, t->value, t->size);
    case FIX_HANDLE:
        return vmm_mem_release(f->sys, t->value);
    case FIX_RESERVATION:
        return vmm_mem_address_free(f->sys, t->value, t->size);
    case FIX_STREAM:
        return vmm_stream_destroy(f->sys, (vmm_stream)(uintptr_t)t->value);
    case FIX_EVENT:
        return vmm_event_destroy(f->sys, (vmm_event)(uintptr_t)t->value);
    case FIX_ALLOCATION:
        return vmm_mem_free(f->sys, t->value);
    case FIX_CONTEXT:
        return vmm_ctx_destroy(f->sys, (vmm_context)(uintptr_t)t->value);
    }
    return VMM_SUCCESS;
}

/* What cannot be freed would be in the way of the next test, or is not what the test claims. */
static void give_all_back(struct fix *f)
{
    static const char *const names[] = {"mapping", "handle", "reservation", "stream", "event", "allocation", "context"};
    for (unsigned i = 0; i < f->things && !f->simulator; i++)
        if (f->thing[i].kind == FIX_CONTEXT) {
            vmm_ctx_set_current(f->sys, (vmm_context)(uintptr_t)f->thing[i].value);
            fix_settle(f);
        }
    if (f->ctx && f->things)
        vmm_ctx_set_current(f->sys, f->ctx);
    fix_settle(f);
    for (int kind = FIX_MAPPING; kind <= FIX_CONTEXT; kind++)
        for (unsigned i = 0; i < f->things; i++) {
            vmm_result result = (int)f->thing[i].kind == kind ? give_back(f, &f->thing[i]) : VMM_SUCCESS;
            if (result != VMM_SUCCESS && !f->root->failures)
                fix_failed(f, __FILE__, __LINE__, "a %s cannot be freed: 0x%llx, %s", names[kind],
                           (unsigned long long)f->thing[i].value, vmm_result_name(result));
        }
}

void fix_close(struct fix *f)
{
    while (f->peers > 0) {
        struct fix *peer = f->peer[--f->peers];
        fix_close(peer);
        free(peer);
    }
    if (f->sys) {
        vmm_set_report(f->sys, NULL, NULL);
        give_all_back(f);
        uint64_t left = f->simulator ? vmm_leaks(f->sys, NULL, NULL) : 0;
        if (left && !f->root->failures && !f->root->skip)
            fix_failed(f, __FILE__, __LINE__, "the test left %llu objects behind", (unsigned long long)left);
        if (f->house)
            house_leave(f->house);
        else
            vmm_close(f->sys);
    }
    if (f->profile)
        fclose(f->profile);
    f->sys = NULL;
    f->profile = NULL;
    f->things = 0;
}
