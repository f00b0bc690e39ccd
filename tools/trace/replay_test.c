/* SPDX-License-Identifier: Apache-2.0 */
/* Replays traces of every script, in both forms: no difference on the same machine, planted differences are found,
 * and every kind of damage causes a clear error. */
#include "replay.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuvmm.h"
#include "random.h"
#include "script.h"
#include "tap.h"
#include "text.h"
#include "trace_convert.h"

#ifndef CUVMM_HAVE_JANSSON

int main(void)
{
    tap_skip("jansson is not installed", "replay of traces");
    return tap_done();
}

#else

static char trace_path[400];

static void write_file(const char *path, const char *text, size_t length)
{
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(text, 1, length, out) != length || fclose(out) != 0)
        tap_bail("%s cannot be written", path);
}

static struct text read_file(const char *path)
{
    struct text text = {0};
    char buffer[4096];
    FILE *in = fopen(path, "rb");
    if (!in)
        tap_bail("%s cannot be read", path);
    text_add_bytes(&text, "", 0);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
        text_add_bytes(&text, buffer, n);
    fclose(in);
    return text;
}

/* Runs a script and records its calls. */
static void record(const char *script, const char *backend)
{
    char spec[500];
    FILE *nowhere = fopen("/dev/null", "w"), *in = fopen(script, "rb");
    if (!nowhere || !in)
        tap_bail("%s cannot be opened", script);
    snprintf(spec, sizeof spec, "trace=%s|%s", trace_path, backend);
    struct script_options options = {.out = nowhere, .err = nowhere, .backend = spec, .keep_going = true};
    struct script *s = script_new(&options, "script");
    script_read(s, in);
    script_finish(s);
    fclose(in);
    fclose(nowhere);
}

struct outcome {
    int status;
    char *text; /* all its output */
};

static struct outcome play(const char *backend)
{
    struct outcome o = {0};
    size_t size;
    FILE *out = open_memstream(&o.text, &size), *in = fopen(trace_path, "rb");
    if (!out || !in)
        tap_bail("%s cannot be opened", trace_path);
    o.status = replay(in, "trace", backend, out, out);
    fclose(in);
    fclose(out);
    return o;
}

/* The same for the other form of the trace. */
static struct outcome play_binary(const char *backend)
{
    char path[450];
    struct trace_store store;
    struct outcome o = {0};
    uint64_t calls;
    size_t size;
    FILE *in = fopen(trace_path, "rb");
    snprintf(path, sizeof path, "%s.vtrace", trace_path);
    const bool opened = in && trace_store_open(&store, in, "trace");
    const int error = opened ? trace_to_binary(&store, path, &calls) : -1;
    if (in)
        fclose(in);
    trace_store_close(&store);
    FILE *out = open_memstream(&o.text, &size), *binary = fopen(path, "rb");
    if (error || !out || !binary)
        tap_bail("%s cannot be converted", trace_path);
    o.status = replay(binary, "trace", backend, out, out);
    fclose(binary);
    fclose(out);
    remove(path);
    return o;
}

static void test_script(const char *path, const char *name, const char *backend)
{
    remove(trace_path);
    record(path, backend);
    if (access(trace_path, R_OK) != 0) { /* a script without a call opens no machine */
        tap_note("%s makes no call", name);
        return;
    }
    struct outcome o = play(backend), binary = play_binary(backend);
    if (!tap_ok(o.status == 0 && strstr(o.text, "all with the same results"), "%s on %s, replayed", name, backend))
        tap_note("%s", o.text);
    if (!tap_ok(binary.status == o.status && strcmp(binary.text, o.text) == 0, "and in its binary form"))
        tap_note("%s", binary.text);
    free(o.text);
    free(binary.text);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void test_scripts(const char *source)
{
    char folder[300], path[700], *names[500];
    size_t count = 0;
    snprintf(folder, sizeof folder, "%s/conformance/corpus/scripts", source);
    DIR *dir = opendir(folder);
    if (!dir)
        tap_bail("%s cannot be opened; run the test in the source tree or set CUVMM_SRC", folder);
    for (struct dirent *entry; (entry = readdir(dir)) && count < 500;) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".vmm") == 0)
            names[count++] = strcpy(text_grow(NULL, length + 1), entry->d_name);
    }
    closedir(dir);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (strcmp(names[i], "processes.vmm") == 0) { /* a trace contains one process, without the memory that others took */
            free(names[i]);
            continue;
        }
        test_script(path, names[i], "sim:h200x2");
        if (i % 4 == 0)
            test_script(path, names[i], "sim:odd,strict");
        free(names[i]);
    }
}

static const char small[] = "init\nc = context dev0\nr = reserve 4gran\nh = create 2gran dev0 handle=fd\n"
                            "map r 2gran h\naccess r 2gran dev0:rw\nwrite r \"bytes\"\nread r 5\n"
                            "query-all r MAPPED RANGE_START_ADDR MAPPING_SIZE\ngetaccess r dev0\n"
                            "expect INVALID_VALUE: map r 2gran h\nproperties h\nname dev0\nmeminfo\nunmap r\n";

/* Closing is not a call, and other descriptors are not objects: a replay still has closed and foreign descriptors. */
static void test_descriptors(const char *argv0)
{
    static const char script[] = "init\nc = context dev0\nh = create 1gran dev0 handle=fd\nd = export h\nclose d\n"
                                 "expect UNKNOWN VMM-IMPORT-CLOSED: import d\ne = export h\ng = import e\nrelease g\n"
                                 "expect UNKNOWN VMM-IMPORT-FOREIGN: import 1\n"
                                 "expect UNKNOWN VMM-IMPORT-CLOSED: import -1\nclose e\nrelease h\n";
    char path[400];
    snprintf(path, sizeof path, "%s.vmm", argv0);
    write_file(path, script, strlen(script));
    record(path, "sim:h100");
    remove(path);
    struct text trace = read_file(trace_path);
    struct outcome o = play("sim:h100");
    tap_ok(o.status == 0 && strstr(trace.data, "\"closed\"") && strstr(trace.data, "VMM-IMPORT-FOREIGN"),
           "closed and foreign descriptors: %s", o.text);
    free(o.text);
    text_free(&trace);
}

static struct text small_trace(const char *argv0)
{
    char path[400];
    snprintf(path, sizeof path, "%s.vmm", argv0);
    write_file(path, small, strlen(small));
    record(path, "sim:h100");
    remove(path);
    return read_file(trace_path);
}

/* The text with the first `old` after `from` replaced; from may be NULL. */
static void change(const struct text *text, const char *from, const char *old, const char *new)
{
    char *start = from ? strstr(text->data, from) : text->data, *at = start ? strstr(start, old) : NULL;
    struct text changed = {0};
    if (!at)
        tap_bail("\"%s\" is not in the trace after \"%s\"", old, from ? from : "");
    text_add_bytes(&changed, text->data, (size_t)(at - text->data));
    text_add(&changed, "%s%s", new, at + strlen(old));
    write_file(trace_path, changed.data, changed.length);
    text_free(&changed);
}

/* A sanitizer occupies addresses of the profile, so device addresses there cannot be backed. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { BACKED = 0 };
#else
enum { BACKED = 1 };
#endif

/* A device address in place of a host address is accessed only if it is a live address of the trace. */
static void test_device_for_host(const struct text *trace)
{
    static const struct {
        const char *address, *backend, *reported;
    } cases[] = {
        {"r", "sim:h100", NULL},
        {"r", "sim:h100,arena=none", "contents were not compared"},
        {"r+", "sim:h100", "contents were not compared"}, /* the bytes would end after r */
        {"r/", "sim:h100", "contents were not compared"}, /* in its second half, where no memory is */
        {"0x1000", "sim:h100", "contents were not compared"},
        {"0xfffffffffffffffe", "sim:h100", "contents were not compared"},
    };
    static const char key[] = "\"out\":{\"ptr\":\"";
    const char *reserved = strstr(strstr(trace->data, "\"call\":\"mem_address_reserve\""), key);
    unsigned long long r = strtoull(reserved + sizeof key - 1, NULL, 16);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char with[80], address[40];
        if (!cases[i].reported && !BACKED) {
            tap_skip("a sanitizer has these addresses", "r for the host's address");
            continue;
        }
        const char place = cases[i].address[1];
        snprintf(address, sizeof address, "0x%llx", r + (place == '+' ? 8388608 - 2 : place == '/' ? 8388608 / 2 : 0));
        snprintf(with, sizeof with, "\"device\":\"%s\"", cases[i].address[0] == 'r' ? address : cases[i].address);
        change(trace, "\"call\":\"memcpy_htod\"", "\"hex\":\"6279746573\"", with);
        struct outcome o = play(cases[i].backend);
        const char *left = strstr(o.text, "1 calls were skipped");
        /* Copied onto itself, r contains zeros instead of the bytes read during recording. */
        bool reported = cases[i].reported ? o.status == 0 && left && strstr(o.text, cases[i].reported)
                                          : o.status == 1 && strstr(o.text, "byte +0");
        if (!tap_ok(reported, "%s for the host's address on %s", cases[i].address, cases[i].backend))
            tap_note("status %d: %s", o.status, o.text);
        free(o.text);
    }
}

/* A change in the recording is found in its line. */
static void test_differences(const struct text *trace)
{
    static const struct {
        const char *from, *old, *new, *reported;
    } cases[] = {
        {"\"call\":\"mem_map\"", "\"result\":\"CUDA_SUCCESS\",\"code\":0", "\"result\":\"CUDA_ERROR_UNKNOWN\",\"code\":999",
         "result"},
        {NULL, "VMM-MAP-OVERLAP", "VMM-MAP-FLAGS", "rule"},
        {"\"call\":\"mem_get_access\"", "\"flags\":\"0x3\"", "\"flags\":\"0x1\"", "flags"},
        {"\"call\":\"memcpy_dtoh\"", "6279746573", "6279746574", "byte +4"},
        {"\"call\":\"mem_get_info\"", "\"total\":\"0x", "\"total\":\"0x9", "total"},
        {"\"call\":\"mem_get_allocation_properties_from_handle\"", "\"out\":{\"prop\":{\"type\":1",
         "\"out\":{\"prop\":{\"type\":2", "prop"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        change(trace, cases[i].from, cases[i].old, cases[i].new);
        struct outcome o = play("sim:h100"), binary = play_binary("sim:h100");
        bool reported = o.status == 1 && strncmp(o.text, "trace:", 6) == 0 && strstr(o.text, "the replay differs here") &&
                    strstr(o.text, cases[i].reported);
        if (!tap_ok(reported, "a changed %s is found", cases[i].reported))
            tap_note("status %d: %s", o.status, o.text);
        if (!tap_ok(binary.status == 1 && strcmp(binary.text, o.text) == 0, "and in the binary form"))
            tap_note("status %d: %s", binary.status, binary.text);
        free(o.text);
        free(binary.text);
    }
    write_file(trace_path, trace->data, trace->length);
    struct outcome o = play("sim:odd");
    tap_ok(o.status == 1 && strstr(o.text, "trace:"), "another machine answers differently");
    free(o.text);
}

/* A trace may come from anywhere, and its text is shown in a terminal. */
static void test_forged(const struct text *trace)
{
    static const struct {
        const char *from, *old, *new;
        int status;
    } cases[] = {{NULL, "VMM-MAP-OVERLAP", "\\u001b]0;own\\u0007\\n\\u009b", 1},
                 {"\"call\":\"mem_map\"", "\"ptr\":\"R1\"", "\"ptr\":\"R\\u001b[31m\"", 2},
                 {NULL, "{\"n\":", "{\x1b[31m", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        change(trace, cases[i].from, cases[i].old, cases[i].new);
        struct outcome o = play("sim:h100");
        size_t odd = 0;
        for (const char *c = o.text; *c; c++)
            odd += *c != '\n' && (*c < ' ' || *c > '~');
        if (!tap_ok(o.status == cases[i].status && !odd && strchr(o.text, '?'), "terminal control characters are not printed: %s",
                    cases[i].new))
            tap_note("status %d: %s", o.status, o.text);
        free(o.text);
    }
}

static void test_damage(const struct text *trace)
{
    static const struct {
        const char *from, *old, *new, *reported;
    } cases[] = {
        {NULL, "\"cuvmm-trace\":1", "\"cuvmm-trace\":99", "\n    {\"cuvmm-trace\":99"},
        {NULL, "\"cuvmm-trace\":1", "\"cuvmm-trace\":99", "trace:1:2: trace format 99"},
        {NULL, "\"cuvmm-trace\":1", "\"other\":1", "not a trace"},
        {NULL, "{\"n\":", "{\"n\" ", "trace:2:"},
        {NULL, "\"call\":\"init\"", "\"call\":\"fini\"", "names no call"},
        {NULL, "\"call\":\"init\"", "\"cell\":\"init\"", "no \"call\""},
        {NULL, "\"thread\":1", "\"thread\":0", "no \"thread\""},
        {NULL, "\"args\":{", "\"orgs\":{", "no \"args\""},
        {"\"call\":\"mem_map\"", "\"ptr\":\"0x", "\"ptr\":\"zz", "hexadecimal"},
        {"\"call\":\"mem_map\"", "\"ptr\":\"0x", "\"pfr\":\"0x", "\"ptr\" is missing"},
        {"\"call\":\"mem_map\"", "\"ptr\":\"R1\"", "\"ptr\":\"R9\"", "no earlier line made"},
        {"\"call\":\"mem_create\"", "\"type\":1", "\"type\":\"1\"", "32-bit integer"},
        {"\"call\":\"mem_create\"", "\"reserved\":\"00000000\"", "\"reserved\":\"0000000\"", "not 8 hexadecimal digits"},
        {"\"call\":\"mem_create\"", "\"usage\":0", "\"usage\":-1", "usage is -1"},
        {"\"call\":\"mem_set_access\"", "\"desc\":[", "\"desc\":[7,", "desc has 2 elements; the call names 1"},
        {"\"call\":\"mem_set_access\"", "\"desc\":[{\"location\":{\"type\":1,\"id\":0},\"flags\":3}", "\"desc\":[7", "a grant in desc"},
        {"\"call\":\"memcpy_htod\"", "\"hex\":\"62", "\"hex\":\"6", "digits"},
        {"\"call\":\"memcpy_htod\"", "\"hex\":\"62", "\"hex\":\"6x", "hexadecimal digits"},
        {"\"call\":\"memcpy_htod\"", "{\"length\":\"0x5\"", "{\"size\":\"0x5\"", "length"},
        {"\"call\":\"pointer_get_attributes\"", "\"attributes\":[13", "\"attributes\":[\"x\"", "32-bit integer"},
        {"\"call\":\"mem_map\"", "\"code\":0", "\"kode\":0", "no \"code\""},
        {NULL, "\"end\":1,\"calls\":", "\"end\":1,\"calls\":9", "but has"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        change(trace, cases[i].from, cases[i].old, cases[i].new);
        struct outcome o = play("sim:h100");
        const char *shown = strstr(o.text, "\n    ");
        bool reported = o.status == 2 && strncmp(o.text, "trace:", 6) == 0 && strstr(o.text, cases[i].reported) && shown &&
                    strlen(o.text) > 2 && strcmp(o.text + strlen(o.text) - 2, "^\n") == 0;
        if (!tap_ok(reported, "%s instead of %s is refused", cases[i].new, cases[i].old))
            tap_note("status %d: %s", o.status, o.text);
        free(o.text);
    }
}

static void test_cut(const struct text *trace)
{
    struct outcome o;
    size_t statuses[3] = {0};
    for (size_t length = 0; length < trace->length; length += 1 + length / 7) {
        write_file(trace_path, trace->data, length);
        o = play("sim:h100");
        statuses[o.status]++;
        free(o.text);
    }
    tap_ok(statuses[1] == 0 && statuses[2] > 5, "traces cut anywhere: %zu fine, %zu refused", statuses[0], statuses[2]);
    const char *footer = strstr(trace->data, "{\"end\"");
    write_file(trace_path, trace->data, (size_t)(footer - trace->data));
    o = play("sim:h100");
    tap_ok(o.status == 0 && strstr(o.text, "was interrupted"), "a trace without its last line is reported as such");
    free(o.text);
    write_file(trace_path, "", 0);
    o = play("sim:h100");
    tap_ok(o.status == 2 && strstr(o.text, "trace:1:1: empty"), "an empty file");
    free(o.text);
}

static void test_garbage(const struct text *trace, unsigned seed)
{
    bool sound = true;
    unsigned rounds = random_rounds(300);
    srand(seed);
    for (unsigned i = 0; i < rounds && sound; i++) {
        struct text copy = {0};
        text_add_bytes(&copy, trace->data, trace->length);
        for (int n = 1 + rand() % 4; n > 0; n--)
            copy.data[(size_t)rand() % copy.length] = (char)(rand() % 3 ? "\"{}[]:,0x19"[rand() % 11] : rand());
        write_file(trace_path, copy.data, copy.length);
        struct outcome o = play("sim:h100");
        sound = o.status >= 0 && o.status <= 2 && strncmp(o.text, "trace:", 6) == 0;
        free(o.text);
        text_free(&copy);
    }
    tap_ok(sound, "%u damaged traces end with a status and a place (seed %u; CUVMM_SEED repeats it)", rounds, seed);
}

int main(int argc, char **argv)
{
    const char *source = getenv("CUVMM_SRC"), *seed = getenv("CUVMM_SEED");
    (void)argc;
    unsetenv("CUVMM_BACKEND");
    unsetenv("CUVMM_LAYERS");
    snprintf(trace_path, sizeof trace_path, "%s.trace", argv[0]);
    test_descriptors(argv[0]);
    struct text trace = small_trace(argv[0]);
    test_device_for_host(&trace);
    struct outcome o = play("sim:h100");
    tap_ok(o.status == 0, "a small trace, made again: %s", o.text);
    free(o.text);
    test_differences(&trace);
    test_forged(&trace);
    test_damage(&trace);
    test_cut(&trace);
    test_garbage(&trace, seed ? (unsigned)strtoul(seed, NULL, 10) : 20265);
    test_scripts(source ? source : ".");
    text_free(&trace);
    remove(trace_path);
    return tap_done();
}

#endif
