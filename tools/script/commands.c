/* SPDX-License-Identifier: Apache-2.0 */
/* Finding commands in the tables of the commands_*.c files. */
#include <ctype.h>
#include <string.h>

#include "script_state.h"

static const struct script_command *const tables[] = {script_system_commands, script_memory_commands, script_pool_commands,
                                                      script_multicast_commands,
                                                      script_address_commands, script_use_commands, script_mem_op_commands, script_graph_commands, script_host_commands,
                                                      script_check_commands, script_text_commands,
                                                      script_raw_commands};

const struct script_command *script_command(size_t index)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const struct script_command *command = tables[i]; command->name; command++)
            if (index-- == 0)
                return command;
    return NULL;
}

const struct script_command *script_command_find(const char *name, const struct script_command **near)
{
    unsigned least = 3;
    *near = NULL;
    const struct script_command *command;
    for (size_t i = 0; (command = script_command(i)); i++) {
        if (strcmp(command->name, name) == 0)
            return command;
        unsigned distance = text_distance(name, command->name, 2);
        if (distance < least && distance < strlen(command->name)) {
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
