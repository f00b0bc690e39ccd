/* SPDX-License-Identifier: Apache-2.0 */
/* Finding commands in the tables of the commands_*.c files. */
#include <ctype.h>
#include <string.h>

#include "script_state.h"

static const struct script_group groups[] = {
    {"machine", "the machine, its devices, contexts, streams and events", script_system_commands},
    {"memory", "physical memory, its handles, and memory of cuMemAlloc", script_memory_commands},
    {"pools", "memory pools", script_pool_commands},
    {"arrays", "arrays, and the tiles of sparse ones", script_array_commands},
    {"managed", "memory that the host and every device access at the same address", script_managed_commands},
    {"teams", "multicast objects", script_multicast_commands},
    {"addresses", "address ranges, mappings and access rights", script_address_commands},
    {"copies", "fills, copies, and queries about an address", script_use_commands},
    {"kernels", "your own kernels, and those of the library", script_launch_commands},
    {"values", "values that streams write or wait for", script_mem_op_commands},
    {"graphs", "stream capture and graphs", script_graph_commands},
    {"host", "accesses by the host, without a call", script_host_commands},
    {"checks", "checks of a script's expectations", script_check_commands},
    {"text", "text, pictures and explanations", script_text_commands},
    {"raw", "any call with any arguments", script_raw_commands},
};

const struct script_group *script_group(size_t index)
{
    return index < sizeof groups / sizeof groups[0] ? &groups[index] : NULL;
}

const struct script_command *script_command(size_t index)
{
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        for (const struct script_command *command = groups[i].commands; command->name; command++)
            if (index-- == 0)
                return command;
    return NULL;
}

void script_print_command(FILE *out, int blanks, const char *name, const char *about)
{
    enum { NAME = 16 };
    const size_t text = (size_t)blanks + NAME + 1;
    fprintf(out, "%*s%-*s ", blanks, "", NAME, name);
    text_wrap(out, about, text, text, text_columns_of_lines());
    fputs("\n", out);
}

void script_print_usage(FILE *out, const struct script_command *command)
{
    struct text about = {0};
    text_add(&about, "%s%s%s", command->about, command->driver[0] ? "; driver: " : "", command->driver);
    fprintf(out, "  %s %s\n    ", command->name, command->usage);
    text_wrap(out, about.data, 4, 4, text_columns_of_lines());
    fputs("\n", out);
    text_free(&about);
}

const struct script_command *script_command_find(const char *name, const struct script_command **near)
{
    unsigned least = 3;
    *near = NULL;
    const struct script_command *command;
    for (size_t i = 0; (command = script_command(i)); i++) {
        if (strcmp(command->name, name) == 0)
            return command;
        unsigned distance = text_meant(name, command->name, 2);
        if (distance < least) {
            least = distance;
            *near = command;
        }
    }
    return NULL;
}

const struct script_command *script_command_of_call(const char *text)
{
    const struct script_command *command;
    size_t length = 0;
    while (isalnum((unsigned char)text[length]))
        length++;
    for (size_t i = 0; length > 2 && (command = script_command(i)); i++)
        for (const char *at = command->driver; (at = strstr(at, "cu")); at += strcspn(at, ","))
            if (strncmp(at, text, length) == 0 && !isalnum((unsigned char)at[length]))
                return command;
    return NULL;
}
