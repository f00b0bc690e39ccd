/* SPDX-License-Identifier: Apache-2.0 */
/* The list of built-in profiles, and the text of one. */
#include "profiles.h"

#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "tap.h"

struct capture {
    char *text;
    size_t size;
    FILE *file;
};

static FILE *begin(struct capture *c)
{
    c->file = open_memstream(&c->text, &c->size);
    if (!c->file)
        tap_bail("no memory");
    return c->file;
}

static const char *end(struct capture *c)
{
    fclose(c->file);
    return c->text;
}

static void test_profiles(void)
{
    struct capture list, one, none, err;
    const char *name;
    profiles_list(begin(&list));
    end(&list);
    for (size_t i = 0; (name = sim_profile_builtin_name(i)); i++)
        tap_ok(strstr(list.text, name) != NULL, "profile %s is listed", name);
    tap_ok(profiles_show(begin(&one), stderr, "h100") && strcmp(end(&one), sim_profile_builtin_text(0)) == 0,
           "the text of a profile as it is");
    bool shown = profiles_show(begin(&none), begin(&err), "h1"), silent = end(&none)[0] == 0;
    const char *said = end(&err);
    tap_ok(!shown && silent && strstr(said, "h100"), "an unknown one is refused with the known ones: %s", said);
    free(list.text);
    free(one.text);
    free(none.text);
    free(err.text);
}

int main(void)
{
    test_profiles();
    return tap_done();
}
