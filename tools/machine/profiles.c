/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles.h"

#include <string.h>

#include "profile.h"
#include "text.h"

void profiles_list(FILE *out)
{
    const char *name;
    char memory[TEXT_SIZE_ROOM];
    for (size_t i = 0; (name = sim_profile_builtin_name(i)); i++) {
        struct sim_profile profile;
        if (!sim_profile_builtin(name, &profile))
            continue;
        fprintf(out, "  %-10s %d x %s, %s each\n", name, profile.devices, profile.device_name,
                text_size_short(profile.device_memory, memory));
        fputs("             ", out);
        text_wrap(out, profile.source, 13, 13, text_columns());
        fputs("\n", out);
    }
}

bool profiles_show(FILE *out, FILE *err, const char *name)
{
    const char *known;
    for (size_t i = 0; (known = sim_profile_builtin_name(i)); i++) {
        if (strcmp(known, name) == 0) {
            fputs(sim_profile_builtin_text(i), out);
            return true;
        }
    }
    fputs("cuvmm: there is no profile \"", err);
    text_print_safe(err, name, strlen(name), 60);
    fputs("\"; there are:", err);
    for (size_t i = 0; (known = sim_profile_builtin_name(i)); i++)
        fprintf(err, " %s", known);
    fputs("\n", err);
    return false;
}
