/* SPDX-License-Identifier: Apache-2.0 */
#include "open_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "detail.h"

bool share_name_ok(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    return length && length <= SHARE_NAME_MAX && !name[length] && name[0] != '.';
}

/* Applies the value after '=' (NULL if there is none); false when it is not valid. */
typedef bool (*take)(struct sim_options *options, const char *value);

static bool take_strict(struct sim_options *options, const char *value)
{
    options->strict = true;
    return !value;
}

static bool take_observed(struct sim_options *options, const char *value)
{
    options->strict = false;
    return !value;
}

/* The text after the word, or NULL if value does not begin with it. */
static const char *behind(const char *value, const char *word)
{
    size_t length = strlen(word);
    return value && strncmp(value, word, length) == 0 ? value + length : NULL;
}

static bool take_seed(uint64_t *seed, const char *digits)
{
    char *end;
    errno = 0;
    *seed = strtoull(digits, &end, 0);
    return digits[0] >= '0' && digits[0] <= '9' && !*end && !errno;
}

/* Is value one of the words? Sets *index to its position. */
static bool word_of(const char *const *words, int count, const char *value, int *index)
{
    for (*index = 0; *index < count; ++*index)
        if (value && strcmp(value, words[*index]) == 0)
            return true;
    return false;
}

static bool take_schedule(struct sim_options *options, const char *value)
{
    static const char *const words[] = {"late", "eager", "", "device"};
    const char *seed = behind(value, "random:");
    int index;
    if (!value)
        return false;
    if (seed) {
        options->schedule = SIM_RANDOM;
        return take_seed(&options->seed, seed);
    }
    bool known = value[0] && word_of(words, 4, value, &index);
    if (known)
        options->schedule = (enum sim_schedule)index;
    return known;
}

static bool take_arena(struct sim_options *options, const char *value)
{
    static const char *const words[] = {[HOST_WINDOW_AUTO] = "auto", [HOST_WINDOW_PROFILE] = "profile",
                                        [HOST_WINDOW_NONE] = "none"};
    int index;
    bool known = word_of(words, 3, value, &index);
    if (known)
        options->window = (enum host_window_choice)index;
    return known;
}

static bool take_faults(struct sim_options *options, const char *value)
{
    static const char *const words[] = {"plain", "explained"};
    int index;
    bool known = word_of(words, 2, value, &index);
    if (known)
        options->explain_faults = index;
    return known;
}

static bool take_alias(struct sim_options *options, const char *value)
{
    const char *seed = behind(value, "stale:");
    options->stale = seed != NULL;
    return seed ? take_seed(&options->stale_seed, seed) : value && strcmp(value, "fresh") == 0;
}

static bool take_machine(struct sim_options *options, const char *value)
{
    if (!value || !share_name_ok(value))
        return false;
    strcpy(options->machine, value);
    return true;
}

static bool take_team_wait(struct sim_options *options, const char *value)
{
    uint64_t seconds;
    if (!value || !take_seed(&seconds, value) || seconds > TEAM_WAIT_MOST)
        return false;
    options->team_wait = (unsigned)seconds;
    return true;
}

static bool take_imex(struct sim_options *options, const char *value)
{
    if (!value || !value[0] || strlen(value) >= sizeof options->imex)
        return false;
    strcpy(options->imex, value);
    return true;
}

static bool take_kernels(struct sim_options *options, const char *value)
{
    static const char *const words[] = {"refuse", "skip"};
    int index;
    bool known = word_of(words, 2, value, &index);
    if (known)
        options->skip_kernels = index;
    return known;
}

static bool take_kernel_steps(struct sim_options *options, const char *value)
{
    return value && take_seed(&options->kernel_steps, value);
}

static bool take_kernel_threads(struct sim_options *options, const char *value)
{
    uint64_t threads;
    if (!value || !take_seed(&threads, value) || !threads || threads > KERNEL_THREADS_MOST)
        return false;
    options->kernel_threads = (unsigned)threads;
    return true;
}

static bool take_report(bool *option, const char *value)
{
    static const char *const words[] = {"no", "report"};
    int index;
    bool known = word_of(words, 2, value, &index);
    if (known)
        *option = index;
    return known;
}

static bool take_order(struct sim_options *options, const char *value)
{
    return take_report(&options->order, value);
}

static bool take_unwritten(struct sim_options *options, const char *value)
{
    return take_report(&options->unwritten, value);
}

static bool take_visible(struct sim_options *options, const char *value)
{
    if (!value || !value[0] || strlen(value) >= sizeof options->visible)
        return false;
    strcpy(options->visible, value);
    return true;
}

static const struct option {
    const char *name;
    take take;
    const char *accepted;
} table[] = {
    {"strict", take_strict, "the word alone"},
    {"observed", take_observed, "the word alone"},
    {"schedule", take_schedule, "late, eager, random:SEED with a number or device"},
    {"arena", take_arena, "auto, profile or none"},
    {"faults", take_faults, "explained or plain"},
    {"alias", take_alias, "fresh or stale:SEED with a number"},
    {"machine", take_machine, "a name of at most 40 letters, digits, '-', '_', '.'"},
    {"team_wait", take_team_wait, "seconds, from 0 to 3600"},
    {"imex", take_imex, "a folder of channels, its path without commas and shorter than 200 bytes"},
    {"kernels", take_kernels, "refuse or skip"},
    {"kernel_steps", take_kernel_steps, "a number of steps, or 0 for no limit"},
    {"kernel_threads", take_kernel_threads, "a number of threads, from 1 to 256"},
    {"order", take_order, "report or no"},
    {"unwritten", take_unwritten, "report or no"},
    {"visible", take_visible, "ordinals such as 1:0, none, or env for what CUDA_VISIBLE_DEVICES says"},
};

enum { OPTIONS = sizeof table / sizeof table[0] };

/* A note has no room for all values of all options: only the message about a wrong value lists the values. */
static vmm_result refuse_name(const char *name)
{
    return vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_open",
                           "option \"%.40s\": expected strict or observed, or schedule=, arena=, faults=, alias=, "
                           "machine=, team_wait=, imex=, kernels=, kernel_steps=, kernel_threads=, order=, unwritten=, visible= with a value",
                           name);
}

static vmm_result take_one(char *text, struct sim_options *options)
{
    char *equals = strchr(text, '=');
    if (equals)
        *equals = '\0';
    for (int i = 0; i < OPTIONS; i++)
        if (strcmp(text, table[i].name) == 0)
            return table[i].take(options, equals ? equals + 1 : NULL)
                       ? VMM_SUCCESS
                       : vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_open", "option %s with \"%.40s\": expected %s",
                                         text, equals ? equals + 1 : "", table[i].accepted);
    return refuse_name(text);
}

/* The comma before the first option: no '/' follows it, except in the path of imex=, so the profile's path may contain commas. */
static char *first_comma(char *text)
{
    char *slash = text, *end = strstr(text, ",imex=");
    for (char *c = text; *c && c != end; c++)
        if (*c == '/')
            slash = c;
    return strchr(slash, ',');
}

vmm_result sim_options_take(char *text, struct sim_options *options)
{
    char *comma = first_comma(text);
    *options = (struct sim_options){.explain_faults = true, .team_wait = TEAM_WAIT_SECONDS, .kernel_steps = KERNEL_STEPS,
                                    .kernel_threads = 1};
    while (comma) {
        char *option = comma + 1;
        *comma = '\0';
        comma = strchr(option, ',');
        if (comma)
            *comma = '\0';
        vmm_result result = take_one(option, options);
        if (result != VMM_SUCCESS)
            return result;
    }
    return VMM_SUCCESS;
}
