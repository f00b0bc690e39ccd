/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_environment.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

static size_t place(const struct exec_environment *environment, const char *name)
{
    size_t i = 0;
    while (i < environment->count && strcmp(environment->variable[i].name, name) != 0)
        i++;
    return i;
}

/* The slot of a new variable; NULL if memory is exhausted. */
static struct exec_variable *append(struct exec_environment *environment)
{
    struct exec_variable *larger = realloc(environment->variable, (environment->count + 1) * sizeof *larger);
    if (!larger)
        return NULL;
    environment->variable = larger;
    larger[environment->count] = (struct exec_variable){0};
    return &larger[environment->count++];
}

/* Takes the value over. */
static void put(struct exec_environment *environment, const char *name, char *value)
{
    size_t i = place(environment, name);
    struct exec_variable *variable = i < environment->count ? &environment->variable[i] : append(environment);
    environment->incomplete |= !variable;
    free(variable ? variable->value : value);
    if (variable)
        *variable = (struct exec_variable){name, value};
}

void exec_environment_set(struct exec_environment *environment, const char *name, const char *value)
{
    char *copy = strdup(value);
    environment->incomplete |= !copy;
    put(environment, name, copy);
}

void exec_environment_unset(struct exec_environment *environment, const char *name)
{
    put(environment, name, NULL);
}

const char *exec_environment_get(const struct exec_environment *environment, const char *name)
{
    size_t i = place(environment, name);
    return i < environment->count ? environment->variable[i].value : getenv(name);
}

void exec_environment_prepend(struct exec_environment *environment, const char *name, const char *first, char separator)
{
    const char *old = exec_environment_get(environment, name);
    size_t size = strlen(first) + (old ? strlen(old) : 0) + 2;
    char *text = malloc(size);
    environment->incomplete |= !text;
    if (text)
        snprintf(text, size, "%s%.1s%s", first, old && old[0] ? &separator : "", old ? old : "");
    put(environment, name, text);
}

bool exec_environment_apply(const struct exec_environment *environment)
{
    bool good = !environment->incomplete;
    for (size_t i = 0; i < environment->count && good; i++)
        good = (environment->variable[i].value ? setenv(environment->variable[i].name, environment->variable[i].value, 1)
                                               : unsetenv(environment->variable[i].name)) == 0;
    return good;
}

static bool is_own(const struct exec_environment *environment, const char *entry)
{
    const size_t length = strcspn(entry, "=");
    for (size_t i = 0; i < environment->count; i++)
        if (strncmp(environment->variable[i].name, entry, length) == 0 && !environment->variable[i].name[length])
            return true;
    return false;
}

/* The list, followed by the new texts. */
static size_t vector_size(const struct exec_environment *environment)
{
    size_t entries = environment->count + 1, bytes = 0;
    for (char **entry = environ; *entry; entry++)
        entries++;
    for (size_t i = 0; i < environment->count; i++)
        if (environment->variable[i].value)
            bytes += strlen(environment->variable[i].name) + strlen(environment->variable[i].value) + 2;
    return entries * sizeof(char *) + bytes;
}

char **exec_environment_vector(const struct exec_environment *environment)
{
    const size_t size = vector_size(environment);
    char **list = environment->incomplete ? NULL : malloc(size);
    size_t count = 0;
    if (!list)
        return NULL;
    char *text = (char *)list + size;
    for (char **entry = environ; *entry; entry++)
        if (!is_own(environment, *entry))
            list[count++] = *entry;
    for (size_t i = 0; i < environment->count; i++) {
        const struct exec_variable *variable = &environment->variable[i];
        if (!variable->value)
            continue;
        const size_t length = strlen(variable->name) + strlen(variable->value) + 2;
        text -= length;
        snprintf(text, length, "%s=%s", variable->name, variable->value);
        list[count++] = text;
    }
    list[count] = NULL;
    return list;
}

/* Between the quotes only the quote itself is special. */
void exec_print_quoted(const char *text, FILE *out)
{
    fputc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    fputc('\'', out);
}

void exec_environment_print(const struct exec_environment *environment, FILE *out)
{
    for (size_t i = 0; i < environment->count; i++) {
        const char *value = environment->variable[i].value;
        fprintf(out, value ? "export %s=" : "unset %s", environment->variable[i].name);
        if (value)
            exec_print_quoted(value, out);
        fputc('\n', out);
    }
}

void exec_environment_free(struct exec_environment *environment)
{
    for (size_t i = 0; i < environment->count; i++)
        free(environment->variable[i].value);
    free(environment->variable);
    *environment = (struct exec_environment){0};
}
