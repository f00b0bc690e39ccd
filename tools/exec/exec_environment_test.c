/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_environment.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

static char *printed(const struct exec_environment *environment)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        tap_bail("no memory");
    exec_environment_print(environment, file);
    fclose(file);
    return text;
}

static void test_values(void)
{
    struct exec_environment environment = {.count = 0};
    setenv("EXEC_HAS", "old", 1);
    setenv("EXEC_EMPTY", "", 1);
    unsetenv("EXEC_NEW");
    exec_environment_prepend(&environment, "EXEC_HAS", "first", ':');
    exec_environment_prepend(&environment, "EXEC_EMPTY", "first", ':');
    exec_environment_prepend(&environment, "EXEC_NEW", "first", ':');
    exec_environment_prepend(&environment, "EXEC_NEW", "it's", ' ');
    tap_text(exec_environment_get(&environment, "EXEC_HAS"), "first:old", "prepended to the existing value");
    tap_text(exec_environment_get(&environment, "EXEC_EMPTY"), "first", "to an empty value");
    tap_text(exec_environment_get(&environment, "EXEC_NEW"), "it's first", "to none, and once more");
    tap_text(getenv("EXEC_HAS"), "old", "this process has its own still");
    exec_environment_unset(&environment, "EXEC_HAS");
    tap_ok(!exec_environment_get(&environment, "EXEC_HAS"), "a variable that will not be there");
    exec_environment_set(&environment, "EXEC_EMPTY", "");
    char *text = printed(&environment);
    tap_text(text, "unset EXEC_HAS\nexport EXEC_EMPTY=''\nexport EXEC_NEW='it'\\''s first'\n", "as lines of a shell");
    free(text);
    tap_ok(exec_environment_apply(&environment) && !getenv("EXEC_HAS") && strcmp(getenv("EXEC_NEW"), "it's first") == 0, "applied");
    exec_environment_free(&environment);
    tap_u64(environment.count, 0, "and empty in the end");
}

static const char *in_vector(char **vector, const char *name)
{
    const char *found = NULL;
    for (; *vector; vector++)
        if (strncmp(*vector, name, strlen(name)) == 0) {
            tap_ok(!found, "a program gets %s once", name);
            found = *vector;
        }
    return found;
}

static void test_vector(void)
{
    struct exec_environment environment = {.count = 0};
    setenv("EXEC_VECTOR_SAME", "same", 1);
    setenv("EXEC_VECTOR", "old", 1);
    setenv("EXEC_VECTOR_GONE", "old", 1);
    unsetenv("EXEC_VECTOR_NEW");
    exec_environment_set(&environment, "EXEC_VECTOR", "new=1");
    exec_environment_set(&environment, "EXEC_VECTOR_NEW", "");
    exec_environment_unset(&environment, "EXEC_VECTOR_GONE");
    exec_environment_unset(&environment, "EXEC_VECTOR_NEVER");
    char **vector = exec_environment_vector(&environment);
    if (!vector)
        tap_bail("no memory");
    tap_text(in_vector(vector, "EXEC_VECTOR_SAME="), "EXEC_VECTOR_SAME=same", "other variables are unchanged");
    tap_text(in_vector(vector, "EXEC_VECTOR="), "EXEC_VECTOR=new=1", "a set variable replaces the old one");
    tap_text(in_vector(vector, "EXEC_VECTOR_NEW="), "EXEC_VECTOR_NEW=", "an empty value is one");
    tap_ok(!in_vector(vector, "EXEC_VECTOR_GONE") && !in_vector(vector, "EXEC_VECTOR_NEVER"), "a removed variable is missing");
    tap_text(getenv("EXEC_VECTOR"), "old", "this process has its own still");
    free(vector);
    environment.incomplete = true;
    tap_ok(!exec_environment_vector(&environment), "none of what lacks a value");
    exec_environment_free(&environment);
}

static void test_many(void)
{
    static char name[100][16];
    struct exec_environment environment = {.count = 0};
    for (int i = 0; i < 100; i++) {
        snprintf(name[i], sizeof name[i], "EXEC_MANY_%d", i);
        exec_environment_set(&environment, name[i], name[i] + 10);
    }
    exec_environment_set(&environment, "EXEC_MANY_0", "again");
    tap_u64(environment.count, 100, "as many variables as there are names");
    tap_ok(exec_environment_apply(&environment) && strcmp(getenv("EXEC_MANY_0"), "again") == 0 && strcmp(getenv("EXEC_MANY_99"), "99") == 0,
           "all of them are set");
    exec_environment_free(&environment);
}

static void test_incomplete(void)
{
    struct exec_environment environment = {.incomplete = true};
    tap_ok(!exec_environment_apply(&environment), "a variable without a value is ignored");
    exec_environment_free(&environment);
}

int main(void)
{
    test_values();
    test_vector();
    test_many();
    test_incomplete();
    return tap_done();
}
