#include "open_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "detail.h"

/* Takes what stands behind '=' (NULL: there is none); false when it is not accepted. */
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

static bool take_seed(struct sim_options *options, const char *digits)
{
    char *end;
    errno = 0;
    options->seed = strtoull(digits, &end, 0);
    return digits[0] >= '0' && digits[0] <= '9' && !*end && !errno;
}

static bool take_schedule(struct sim_options *options, const char *value)
{
    static const char random[] = "random:";
    if (!value)
        return false;
    if (strncmp(value, random, sizeof random - 1) == 0) {
        options->schedule = SIM_RANDOM;
        return take_seed(options, value + sizeof random - 1);
    }
    options->schedule = strcmp(value, "eager") == 0 ? SIM_EAGER : SIM_LATE;
    return options->schedule == SIM_EAGER || strcmp(value, "late") == 0;
}

static const struct option {
    const char *name;
    take take;
    const char *accepted;
} table[] = {
    {"strict", take_strict, "the word alone"},
    {"observed", take_observed, "the word alone"},
    {"schedule", take_schedule, "late, eager or random:SEED with a number"},
};

enum { OPTIONS = sizeof table / sizeof table[0] };

static vmm_result refuse_name(const char *name)
{
    return vmm_detail_fail(VMM_ERROR_INVALID_VALUE, "vmm_open",
                           "option \"%.40s\": expected strict or observed, or schedule=late, eager or random:SEED", name);
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
                       : vmm_detail_fail(VMM_ERROR_INVALID_VALUE, "vmm_open", "option %s with \"%.40s\": expected %s",
                                         text, equals ? equals + 1 : "", table[i].accepted);
    return refuse_name(text);
}

/* The first option's comma: from there on no '/' follows, so that a path may have commas. */
static char *first_comma(char *text)
{
    char *slash = strrchr(text, '/');
    return strchr(slash ? slash : text, ',');
}

vmm_result sim_options_take(char *text, struct sim_options *options)
{
    char *comma = first_comma(text);
    *options = (struct sim_options){false, SIM_LATE, 0};
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
