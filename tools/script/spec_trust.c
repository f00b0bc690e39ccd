/* SPDX-License-Identifier: Apache-2.0 */
#include "spec_trust.h"

#include <string.h>

#include "spec.h"

static const char *deed_of(const struct spec_part *part)
{
    if (strcmp(part->name, "recorder") == 0)
        return "writes files into the folder";
    if (strcmp(part->name, "trace") == 0 && strcmp(part->args, "-") != 0)
        return "writes the file";
    if (strcmp(part->name, "cuda") == 0 && part->args[0])
        return "runs the code of the library";
    return NULL;
}

bool spec_needs_trust(const char *text, struct text *does)
{
    struct spec spec;
    struct spec_error error;
    bool any = false;
    if (!spec_parse(text, &spec, &error)) /* and does nothing */
        return false;
    for (size_t i = 0; i < spec.count; i++) {
        const char *deed = deed_of(&spec.part[i]);
        if (!deed)
            continue;
        text_add(does, "%s%s \"", any ? " and " : "", deed);
        text_add_safe(does, spec.part[i].args);
        text_add(does, "\"");
        any = true;
    }
    spec_free(&spec);
    return any;
}
