/* SPDX-License-Identifier: Apache-2.0 */
/* Which machines there are, and what is read of them. */
#include "machine.h"

#include <stdlib.h>
#include <string.h>

#include "machine_seen.h"
#include "text.h"

struct look {
    const char *name; /* NULL: all */
    struct machine_seen *seen;
    size_t count, failed;
    FILE *err;
};

static void look_at(void *user, const char *entry)
{
    struct look *look = user;
    char why[SHARE_WHY];
    const char *name = entry[0] == 'm' ? entry + 2 : "";
    if (look->name && strcmp(look->name, name) != 0)
        return;
    struct share *share = share_open_there(entry, why);
    struct share_inspect *who = NULL;
    if (share) {
        who = share_inspect(share);
        if (!who)
            fprintf(look->err, "cuvmm machine: %s cannot be looked at: %s\n", entry + 2, share_why(share));
        share_close(share);
    } else if (why[0]) {
        fprintf(look->err, "cuvmm machine: %s: %s\n", entry + 2, why);
    }
    look->failed += !who && (share || why[0]); /* one that has just gone is none */
    if (!who)
        return;
    if (!who->process_count && !who->block_count) { /* what killed processes left; closing it took it away */
        share_inspect_free(who);
        return;
    }
    look->seen = text_grow(look->seen, (look->count + 1) * sizeof *look->seen);
    struct machine_seen *seen = &look->seen[look->count++];
    *seen = (struct machine_seen){.who = who};
    snprintf(seen->name, sizeof seen->name, "%s", name);
}

static int tell(const struct look *look, bool json, FILE *out)
{
    if (look->name && look->failed)
        return 2;
    if (look->name && !look->count) {
        fprintf(look->err, "cuvmm machine: no process uses a machine \"%s\", and no descriptor of it is open\n", look->name);
        return 2;
    }
    if (json)
        return machine_json(out, look->err, look->seen, look->count) && !look->failed ? 0 : 2;
    if (!look->count && !look->failed)
        fputs("no machine is shared\n", out);
    for (size_t i = 0; i < look->count; i++)
        machine_text(out, &look->seen[i]);
    return look->failed ? 2 : 0; /* the others were reported */
}

static int look_and_tell(const char *name, bool json, FILE *out, FILE *err)
{
    struct look look = {.name = name, .err = err};
    char why[SHARE_WHY];
    if (!share_folder_each(look_at, &look, why)) {
        fprintf(err, "cuvmm machine: %s\n", why);
        return 2;
    }
    int status = tell(&look, json, out);
    for (size_t i = 0; i < look.count; i++)
        share_inspect_free(look.seen[i].who);
    free(look.seen);
    return status;
}

int machine_show(const char *name, bool json, FILE *out, FILE *err)
{
    if (!name || share_name_ok(name))
        return look_and_tell(name, json, out, err);
    fputs("cuvmm machine: \"", err);
    text_print_safe(err, name, strlen(name), 60);
    fputs("\" is not a name of a machine: letters, digits, '-', '_' and '.', 40 at most\n", err);
    return 2;
}
