/* SPDX-License-Identifier: Apache-2.0 */
#include "cuvmm.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "completion.h"
#include "explain.h"
#include "export.h"
#include "lessons.h"
#include "machine.h"
#include "profiles.h"
#include "replay.h"
#include "script.h"
#include "shell.h"
#include "text.h"
#include "usage.h"
#include "view.h"

static const struct subcommand {
    const char *name;
    int (*run)(int argc, char **argv, FILE *out, FILE *err);
} subcommands[] = {{"run", cuvmm_run},           {"shell", cuvmm_shell},   {"explain", cuvmm_explain}, {"rules", cuvmm_rules},
                   {"profiles", cuvmm_profiles}, {"replay", cuvmm_replay},   {"diff", cuvmm_diff},
                   {"machine", cuvmm_machine},   {"check", cuvmm_check},     {"lesson", cuvmm_lesson},
                   {"view", cuvmm_view},         {"export", cuvmm_export},   {"exercise", cuvmm_exercise},
                   {"completion", cuvmm_completion},
                   {"help", cuvmm_help}};

#define SUBCOMMANDS (sizeof subcommands / sizeof subcommands[0])

const char *cuvmm_command(size_t index)
{
    return index < SUBCOMMANDS ? subcommands[index].name : NULL;
}

static int unknown_option(FILE *err, const char *command, const char *option)
{
    fprintf(err, "cuvmm %s: unknown option \"%.60s\"\n", command, option);
    return cuvmm_usage(err, command);
}

/* Is it a compiled program? Nothing has been read of it afterwards; what can be read only once is none. */
static bool is_program(FILE *in)
{
    static const char mark[] = {0x7f, 'E', 'L', 'F'};
    char head[sizeof mark];
    bool is = fseek(in, 0, SEEK_SET) == 0 && fread(head, 1, sizeof head, in) == sizeof head &&
              memcmp(head, mark, sizeof mark) == 0;
    fseek(in, 0, SEEK_SET);
    return is;
}

static int run_file(const char *path, const struct script_options *options)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "rb");
    if (!in) {
        fprintf(options->err, "cuvmm run: %s: %s\n", path, strerror(errno));
        return 2;
    }
    if (!standard && is_program(in)) {
        fprintf(options->err, "cuvmm run: %s is a program and no script; `cuvmm check %s` runs it\n", path, path);
        fclose(in);
        return 2;
    }
    struct script *script = script_new(options, standard ? "standard input" : text_base_name(path));
    script_read(script, in);
    if (!standard)
        fclose(in);
    int status = (int)script_finish(script);
    fflush(options->out);
    return status;
}

static bool take_flag(const char *argument, struct script_options *options)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"--draw", &options->draw},
                 {"--keep-going", &options->keep_going},
                 {"--quiet", &options->quiet},
                 {"--brief", &options->brief},
                 {"--addresses", &options->addresses},
                 {"--trust", &options->trusted}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (strcmp(argument, flags[i].name) == 0)
            return *flags[i].flag = true;
    return false;
}

int cuvmm_run(int argc, char **argv, FILE *out, FILE *err)
{
    struct script_options options = {.out = out, .err = err, .colour = cuvmm_wants_colour(out)};
    const char *path = NULL;
    for (int i = 1; i < argc;) {
        int taken = cuvmm_take_backend(argc, argv, i, &options.backend);
        if (taken < 0) {
            fprintf(err, "cuvmm run: --backend needs a SPEC, for example sim:h100\n");
            return cuvmm_usage(err, "run");
        }
        if (taken == 0 && !take_flag(argv[i], &options)) {
            if (argv[i][0] == '-' && argv[i][1])
                return unknown_option(err, "run", argv[i]);
            if (path) {
                fprintf(err, "cuvmm run: one FILE at a time; \"%.60s\" is a second\n", argv[i]);
                return cuvmm_usage(err, "run");
            }
            path = argv[i];
        }
        i += taken ? taken : 1;
    }
    if (!path) {
        fprintf(err, "cuvmm run: which script? Give a FILE, or - for standard input\n");
        return cuvmm_usage(err, "run");
    }
    return run_file(path, &options);
}

/* --broken, --corrected or --machine: the part of a rule's example that is asked for alone. */
static bool take_part(const char *argument, enum example_part *part)
{
    static const struct {
        const char *name;
        enum example_part part;
    } parts[] = {{"--broken", EXAMPLE_BROKEN}, {"--corrected", EXAMPLE_CORRECTED}, {"--machine", EXAMPLE_MACHINE}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(argument, parts[i].name) == 0) {
            *part = parts[i].part;
            return true;
        }
    return false;
}

int cuvmm_explain(int argc, char **argv, FILE *out, FILE *err)
{
    const char *name = NULL;
    enum example_part part = EXAMPLE_BOTH;
    int names = 0;
    for (int i = 1; i < argc; i++) {
        if (take_part(argv[i], &part))
            continue;
        if (argv[i][0] == '-')
            return unknown_option(err, "explain", argv[i]);
        name = argv[i];
        names++;
    }
    if (names != 1) {
        fprintf(err, "cuvmm explain: one RULE-ID, result or number is expected, %d given\n", names);
        return cuvmm_usage(err, "explain");
    }
    if (part != EXAMPLE_BOTH)
        return explain_example(out, err, name, part) ? 0 : 2;
    return explain(out, err, name) ? 0 : 2;
}

int cuvmm_rules(int argc, char **argv, FILE *out, FILE *err)
{
    enum rulebook_format format = RULEBOOK_TEXT;
    const char *call = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--markdown") == 0) {
            format = RULEBOOK_MARKDOWN;
        } else if (strcmp(argv[i], "--tsv") == 0) {
            format = RULEBOOK_TSV;
        } else if (strcmp(argv[i], "--html") == 0) {
            format = RULEBOOK_HTML;
        } else if (strcmp(argv[i], "--call") == 0 && i + 1 < argc) {
            call = argv[++i];
        } else if (strcmp(argv[i], "--call") == 0) {
            fprintf(err, "cuvmm rules: --call needs a CALL, for example cuMemMap\n");
            return cuvmm_usage(err, "rules");
        } else {
            return unknown_option(err, "rules", argv[i]);
        }
    }
    if (rulebook(out, format, call))
        return 0;
    fprintf(err, "cuvmm rules: no rule belongs to \"%.60s\"; `cuvmm rules --tsv | cut -f 2 | uniq` lists the calls\n",
            call ? call : "");
    return 2;
}

int cuvmm_profiles(int argc, char **argv, FILE *out, FILE *err)
{
    if (argc > 2) {
        fprintf(err, "cuvmm profiles: one NAME at most\n");
        return cuvmm_usage(err, "profiles");
    }
    if (argc == 1)
        profiles_list(out);
    else if (argv[1][0] == '-')
        return unknown_option(err, "profiles", argv[1]);
    else if (!profiles_show(out, err, argv[1]))
        return 2;
    return 0;
}

int cuvmm_completion(int argc, char **argv, FILE *out, FILE *err)
{
    if (argc > 1 && strcmp(argv[1], "--words") == 0) {
        completion_words(out, argc - 2, argv + 2);
        return 0;
    }
    if (argc > 1 && argv[1][0] == '-')
        return unknown_option(err, "completion", argv[1]);
    if (argc == 2 && completion_script(out, argv[1]))
        return 0;
    const char *name;
    fprintf(err, argc == 2 ? "cuvmm completion: no completion for \"%.60s\"; there is" : "cuvmm completion: one SHELL, of", argv[1]);
    for (size_t i = 0; (name = completion_shell(i)); i++)
        fprintf(err, " %s", name);
    fputs("\n", err);
    return cuvmm_usage(err, "completion");
}

static int unknown_subcommand(FILE *err, const char *name)
{
    const char *near = NULL;
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        if (text_distance(name, subcommands[i].name, 2) <= 2)
            near = subcommands[i].name;
    fprintf(err, "cuvmm: unknown %s \"%.60s\"", name[0] == '-' ? "option" : "command", name);
    if (near)
        fprintf(err, "; is \"%s\" meant?", near);
    fputs("\n", err);
    return cuvmm_usage(err, NULL);
}

/* Of `cuvmm check`, what comes behind the program's name is the program's; of what is to be completed, nothing is ours. */
static bool own_argument(char **argv, int at)
{
    return (strcmp(argv[1], "check") != 0 || argv[at][0] == '-') && strcmp(argv[at], "--words") != 0;
}

int cuvmm_main(int argc, char **argv, FILE *out, FILE *err)
{
    if (argc < 2) {
        fprintf(err, "cuvmm: which command?\n");
        return cuvmm_usage(err, NULL);
    }
    if (strcmp(argv[1], "--version") == 0) {
        fprintf(out, "cuvmm %d.%d.%d\n", VMM_VERSION_MAJOR, VMM_VERSION_MINOR, VMM_VERSION_PATCH);
        return 0;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cuvmm_print_help(out, NULL);
        return 0;
    }
    for (size_t i = 0; i < SUBCOMMANDS; i++) {
        if (strcmp(argv[1], subcommands[i].name) != 0)
            continue;
        for (int j = 2; j < argc && own_argument(argv, j); j++)
            if (strcmp(argv[j], "--help") == 0 || strcmp(argv[j], "-h") == 0) {
                cuvmm_print_help(out, argv[1]);
                return 0;
            }
        return subcommands[i].run(argc - 1, argv + 1, out, err);
    }
    return unknown_subcommand(err, argv[1]);
}
