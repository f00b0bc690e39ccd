/* SPDX-License-Identifier: Apache-2.0 */
#include "view_links.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "view.h"

#ifdef CUVMM_HAVE_JANSSON

#define MOST 4

static struct text trace[MOST];
static struct timeline timeline[MOST];
static unsigned lines[MOST], exported[MOST], count;

/* A trace of process 100 + its index, whose clock is at 1000. */
static void begin(unsigned traces)
{
    for (unsigned i = 0; i < count; i++)
        timeline_free(&timeline[i]);
    count = traces;
    for (unsigned i = 0; i < count; i++) {
        text_free(&trace[i]);
        lines[i] = exported[i] = 0;
        text_add(
            &trace[i],
            "{\"cuvmm-trace\":1,\"version\":\"0.1.0\",\"inner\":[\"sim\"],\"host\":\"h\",\"boot\":\"b\",\"process\":%u,\"parent\":1,"
            "\"program\":\"p\",\"started\":\"s\",\"clock\":1000}\n",
            100 + i);
    }
}

static void line(unsigned of, const char *call, const char *args, const char *names, const char *out, unsigned shared,
                 unsigned time)
{
    text_add(
        &trace[of],
        "{\"n\":%u,\"thread\":1,\"call\":\"%s\",\"args\":{%s},\"names\":{%s},\"result\":\"CUDA_SUCCESS\",\"code\":0,\"out\":{%s}",
        ++lines[of], call, args, names, out);
    if (shared)
        text_add(&trace[of], ",\"shared\":\"0x%x\"", shared);
    text_add(&trace[of], ",\"time\":%u}\n", time);
}

/* H1, H2, ... of so many granules, which are 0x71, 0x72, ..., exported as D1, D2, ...; shared 0: as a driver's descriptor. */
static void exports(unsigned of, unsigned number, unsigned granules, unsigned shared, unsigned time)
{
    char args[400], names[80], out[40];
    snprintf(
        args, sizeof args,
        "\"handle\":\"out\",\"size\":\"0x%x\",\"prop\":{\"type\":1,\"requested_handle_types\":1,\"location\":{\"type\":1,\"id\":0},"
        "\"win32_handle_meta_data\":\"0x0\",\"compression_type\":0,\"gpu_direct_rdma_capable\":0,\"usage\":0,"
        "\"reserved\":\"00000000\"},\"flags\":\"0x0\"",
        granules << 21);
    snprintf(names, sizeof names, "\"handle\":\"H%u\"", number);
    snprintf(out, sizeof out, "\"handle\":\"0x%x\"", 0x70 + number);
    line(of, "mem_create", args, names, out, 0, time);
    snprintf(names, sizeof names, "\"handle\":\"H%u\",\"shareable_handle\":\"D%u\"", number, ++exported[of]);
    snprintf(args, sizeof args, "\"shareable_handle\":\"out\",\"handle\":\"0x%x\",\"handle_type\":1,\"flags\":\"0x0\"", 0x70 + number);
    line(of, "mem_export_to_shareable_handle", args, names, "\"shareable_handle\":\"fd\"", shared, time);
}

static void imports(unsigned of, unsigned number, unsigned granules, unsigned shared, unsigned time)
{
    char args[200], names[80], out[40];
    snprintf(names, sizeof names, "\"handle\":\"H%u\"", number);
    snprintf(out, sizeof out, "\"handle\":\"0x%x\"", 0x70 + number);
    line(of, "mem_import_from_shareable_handle", "\"handle\":\"out\",\"os_handle\":\"fd\",\"sh_handle_type\":1", names, out, shared,
         time);
    snprintf(args, sizeof args, "\"ptr\":\"0x%x\",\"size\":\"0x%x\",\"offset\":\"0x0\",\"handle\":\"0x%x\",\"flags\":\"0x0\"",
             number << 24, granules << 21, 0x70 + number);
    line(of, "mem_map", args, names, "", 0, time);
}

static struct view_links found(void)
{
    struct view_links links;
    for (unsigned i = 0; i < count; i++) {
        FILE *in = fmemopen(trace[i].data, trace[i].length, "r");
        if (!in || !timeline_read(&timeline[i], in, "trace") || timeline[i].complaint.length)
            tap_bail("%s", timeline[i].complaint.data);
        fclose(in);
    }
    view_links_find(timeline, count, &links);
    return links;
}

static bool is(const struct view_links *links, size_t i, unsigned from, unsigned from_call, unsigned to, unsigned to_call,
               bool guess)
{
    const struct view_link *l = &links->link[i];
    return i < links->count && l->from == from && l->from_call == from_call && l->to == to && l->to_call == to_call &&
           l->guess == guess;
}

static void test_sure(void)
{
    begin(3);
    exports(0, 1, 1, 5, 10);
    exports(0, 2, 1, 6, 20);
    imports(1, 1, 1, 6, 30);
    imports(2, 1, 1, 5, 40);
    imports(2, 2, 1, 7, 50);
    struct view_links links = found();
    tap_ok(links.count == 2 && is(&links, 0, 0, 3, 1, 0, false) && is(&links, 1, 0, 1, 2, 0, false), "one number is one link");
    tap_u64(links.unmatched, 1, "a number that no call exported is counted");
    view_links_free(&links);
}

static void test_again(void)
{
    begin(3);
    exports(0, 1, 1, 5, 10);
    exports(1, 1, 1, 5, 20);
    exports(0, 2, 1, 5, 60);
    imports(2, 1, 1, 5, 30);
    imports(0, 3, 1, 9, 70);
    exports(0, 4, 1, 9, 80);
    struct view_links links = found();
    tap_ok(links.count == 1 && is(&links, 0, 1, 1, 2, 0, false),
           "of several exports with one number the last before the import is meant");
    tap_u64(links.unmatched, 1, "one that came later is none");
    view_links_free(&links);
}

static void test_guesses(void)
{
    begin(3);
    exports(0, 1, 1, 0, 10);
    exports(0, 2, 3, 0, 20);
    exports(1, 1, 1, 0, 25);
    imports(2, 1, 3, 0, 30);
    imports(2, 2, 1, 0, 31);
    imports(2, 3, 1, 0, 32);
    imports(2, 4, 1, 0, 33);
    imports(0, 3, 3, 0, 34);
    struct view_links links = found();
    tap_ok(links.count == 4 && is(&links, 0, 0, 3, 2, 0, true), "without a number the size decides");
    tap_ok(is(&links, 1, 0, 1, 2, 2, true) && is(&links, 2, 1, 1, 2, 4, true), "and the order");
    tap_ok(is(&links, 3, 1, 1, 2, 6, true), "one export may serve again");
    tap_u64(links.unmatched, 1, "not its own process");
    view_links_free(&links);
}

static void test_own(void)
{
    begin(2);
    exports(0, 1, 1, 5, 10);
    imports(0, 2, 1, 5, 20);
    struct view_links links = found();
    tap_ok(links.count == 0 && links.unmatched == 0, "a process's import from itself is not a link");
    view_links_free(&links);
}

int main(void)
{
    test_sure();
    test_again();
    test_guesses();
    test_own();
    begin(0);
    for (unsigned i = 0; i < MOST; i++)
        text_free(&trace[i]);
    return tap_done();
}

#else

int main(void)
{
    puts("1..0 # SKIP built without jansson");
    return 0;
}

#endif
