/* SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static void test_texts(void)
{
    char here[4096], file[5000], text[600];
    if (!getcwd(here, sizeof here))
        tap_bail("no folder");
    snprintf(file, sizeof file, "%s/src/pool.c", here);
    const struct {
        struct place place;
        const char *text;
    } cases[] = {
        {{.function = "grow", .file = file, .line = 31, .module = "/srv/pool.so"}, "grow (src/pool.c:31)"},
        {{.function = "grow", .file = "/srv/pool.c", .line = 31, .module = ""}, "grow (pool.c:31)"},
        {{.function = "grow", .file = "../pool.c", .line = 31, .module = "", .inlined = true}, "grow (../pool.c:31, inlined)"},
        {{.function = "step", .file = "/srv/train.py", .module = "", .python = true}, "step (train.py)"},
        {{.function = "", .file = "", .module = "/srv/pool.so", .offset = 0x11f5}, "? (pool.so+0x11f5)"},
        {{.function = "", .file = "", .module = "/srv/pool.so", .offset = 0x11f5, .replaced = true},
         "? (pool.so+0x11f5, replaced since it was loaded)"},
        {{.function = "", .file = "", .module = "", .offset = 0x7f00}, "? (?+0x7f00)"},
        {{.function = "at::Caching<c10::Stream, std::unique_ptr<Event, void (*)(Event *)> >::allocate(unsigned long)", .file = "/a.cpp", .line = 1, .module = ""},
         "at::Caching<...>::allocate(...) (a.cpp:1)"},
        {{.function = "at::cuda::(anonymous namespace)::CUDACachingHostAllocatorImpl::allocate_host_memory(unsigned long, void**)", .file = "/a.cpp", .line = 1, .module = ""},
         "at::cuda::(anonymous namespace)::CUDACachingHostAllocatorImpl::allocate_host_memory(...) (a.cpp:1)"},
        {{.function = "at::Native::(anonymous namespace)::Segment::map(at::Native::(anonymous namespace)::Range<int>, bool) const", .file = "/a.cpp", .line = 1, .module = ""},
         "at::Native::(anonymous namespace)::Segment::map(...) const (a.cpp:1)"},
        {{.function = "short<int>(long)", .file = "/a.cpp", .line = 1, .module = ""}, "short<int>(long) (a.cpp:1)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        tap_text(place_text(&cases[i].place, text, sizeof text), cases[i].text, "a place as text: %zu", i);
    tap_text(place_below("/srv/a/b.c", "/srv/a/"), "b.c", "below a folder");
    tap_text(place_below("/srv/ab.c", "/srv/a"), "/srv/ab.c", "beside it");
    char *name = malloc(10001);
    memset(name, 'x', 10000);
    name[10000] = '\0';
    tap_ok(strlen(place_text(&(struct place){.function = name, .file = name, .line = 1, .module = ""}, text, sizeof text)) < sizeof text, "long names");
    free(name);
}

static void test_stack(void)
{
    static const char text[] = "[{\"python\":\"/srv/train.py\",\"line\":12,\"function\":\"step\"},{\"module\":\"/nowhere/pool.so\",\"build\":\"\",\"offset\":4597},"
                               "{\"module\":\"/lib/libc.so.6\",\"offset\":1},{\"module\":\"/nowhere/a.out\",\"offset\":7},{\"module\":\"/lib/libc.so.6\",\"offset\":1},{\"module\":\"/lib/libc.so.6\",\"offset\":2}]";
    struct json_doc doc;
    struct places places;
    if (!json_doc_read(&doc, text, strlen(text)))
        tap_bail("no JSON");
    const bool read = places_read(&places, &doc, doc.node);
    tap_ok(read && places.count == 4, "the C library below the program is left out, within it not: %u", places.count);
    tap_ok(places.place[0].python && places.place[0].line == 12 && strcmp(places.place[1].module, "/nowhere/pool.so") == 0 && places.place[1].offset == 4597,
           "the others are there");
    tap_ok(places_source(&places) == &places.place[0], "the nearest with a line");
    places_free(&places);
    tap_ok(places_read(&places, &doc, NULL) && places.count == 0 && !places_source(&places), "no stack");
    places_free(&places);
    json_doc_free(&doc);
}

int main(void)
{
    test_texts();
    test_stack();
    return tap_done();
}
