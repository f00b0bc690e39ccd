/* SPDX-License-Identifier: Apache-2.0 */
/* conformance - the suite over the public API: `conformance [--backend SPEC] [--as-driver] [--run PATTERN]`.
 *
 * One TAP point per test and mode. Options:
 *   --backend SPEC, --spec SPEC  what to test, as for vmm_open; else CUVMM_BACKEND, else sim:h100
 *   --run PATTERN                tests whose rule, expectation or name contains PATTERN, without regard to case
 *   --as-driver                  treat a simulator as a driver: no rules, no objects, one machine for all tests
 *   --brief                      on a driver: do not compare states before and after a refusal (for recordings)
 *   --after TEST                 only the tests after TEST, in the order of running
 *   --announce SECONDS           print each test as it begins; a signal ends the process at a test that takes longer
 *   --notes FILE                 on a simulator: does each refusal say what the file holds? (notes.h)
 *   --write-notes FILE           write that file
 *   --other SOCKET, --grandchild FD SIZE   this program as a second process of a test (other.h)
 *   --list                       print rule or expectation, kind and test, one line each; run nothing
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coverage.h"
#include "notes.h"
#include "other.h"
#include "run.h"
#include "tap.h"
#include "waiver.h"

static struct test *first, **last = &first;

struct test *test_first(void)
{
    return first;
}

void test_register(struct test *test)
{
    *last = test;
    last = &test->next;
}

void test_rule_id(const char *symbol, char *id, size_t size)
{
    snprintf(id, size, "VMM-%s", symbol);
    for (char *c = id; *c; c++)
        if (*c == '_')
            *c = '-';
}

static bool contains(const char *text, const char *part)
{
    for (; *text; text++) {
        size_t i = 0;
        while (part[i] && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (!part[i])
            return true;
    }
    return !*part;
}

/* Which tests are run. */
struct choice {
    const char *pattern, *after;
    unsigned announce; /* seconds; 0: no */
};

static bool wanted(const struct test *test, const char *pattern)
{
    char id[96];
    return !pattern || contains(test_subject(test, id, sizeof id), pattern) || contains(test->name, pattern);
}

static void list(const char *pattern)
{
    char id[96];
    for (const struct test *test = first; test; test = test->next)
        if (wanted(test, pattern))
            printf("%s\t%s\t%s\n", test_subject(test, id, sizeof id), test_kind_names[test->kind], test->name);
}

/* Prints no TAP plan, so that the run counts as incomplete; ci/gpu-suite continues in another process. */
static void leave_for_lost(void)
{
    tap_note("this test or the one before lost the device of this process");
    fflush(NULL);
    _Exit(3);
}

/* Tests of the state before initialisation come first: a driver is initialised once per process. */
static void run_all(const struct run *run, const struct choice *choice)
{
    bool reached = !choice->after;
    for (int raw = 1; raw >= 0; raw--)
        for (const struct test *test = first; test; test = test->next) {
            if (!!(test->options & FIX_RAW) != raw)
                continue;
            if (reached && wanted(test, choice->pattern)) {
                if (choice->announce) {
                    tap_note("test %s", test->name);
                    alarm(choice->announce);
                }
                run_test(run, test);
                if (run->house && run->house->lost)
                    leave_for_lost();
            }
            reached = reached || strcmp(test->name, choice->after) == 0;
        }
    alarm(0);
}

/* If the backend does not open, no test has a result. */
static void need_open(const char *spec, vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s does not open: %s %s", spec ? spec : "the default backend", vmm_result_name(result),
                 vmm_last_detail()->note);
}

static void run_on_simulator(const char *spec, const struct choice *choice)
{
    struct run run = {.spec = spec};
    vmm_system *sys = NULL;
    need_open(spec, vmm_open(spec, &sys));
    vmm_close(sys);
    run_all(&run, choice);
}

static void tell_device(vmm_system *sys)
{
    char name[128] = "";
    int count = 0;
    if (vmm_device_get_count(sys, &count) == VMM_SUCCESS && vmm_device_get_name(sys, name, sizeof name, 0) == VMM_SUCCESS)
        tap_note("%d of %s", count, name);
}

static void run_on_driver(const char *spec, const struct choice *choice, bool brief)
{
    struct fix_house house = {.brief = brief};
    struct run run = {.spec = spec, .house = &house};
    if (fix_is_simulator(spec)) /* all processes share a driver's machine */
        other_name_machine();
    vmm_result opened = house_open(&house, spec);
    unsetenv("CUVMM_MACHINE");
    need_open(spec, opened);
    run_all(&run, choice);
    tell_device(house.sys);
    uint64_t left = house_close(&house);
    tap_ok(left == 0, "the tests freed what they made: %llu objects are left", (unsigned long long)left);
}

static int usage(const char *program, const char *argument)
{
    fprintf(stderr, "%s: cannot use \"%s\"\nusage: %s [--backend SPEC] [--as-driver] [--brief] [--run PATTERN] [--after TEST] "
            "[--announce SECONDS] [--notes FILE] [--write-notes FILE] [--list]\n", program, argument, program);
    return 2;
}

int main(int argc, char **argv)
{
    const char *spec = NULL;
    struct choice choice = {0};
    bool only_list = false, as_driver = false, brief = false;
    other_program(argv[0]);
    if (argc == 3 && strcmp(argv[1], "--other") == 0)
        return other_main(atoi(argv[2]));
    if (argc == 4 && strcmp(argv[1], "--grandchild") == 0)
        return other_grandchild(atoi(argv[2]), strtoull(argv[3], NULL, 10));
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--list") == 0)
            only_list = true;
        else if (strcmp(argv[i], "--as-driver") == 0)
            as_driver = true;
        else if (strcmp(argv[i], "--brief") == 0)
            brief = true;
        else if (more && (strcmp(argv[i], "--backend") == 0 || strcmp(argv[i], "--spec") == 0))
            spec = argv[++i];
        else if (more && strcmp(argv[i], "--run") == 0)
            choice.pattern = argv[++i];
        else if (more && strcmp(argv[i], "--after") == 0)
            choice.after = argv[++i];
        else if (more && strcmp(argv[i], "--announce") == 0)
            choice.announce = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (more && (strcmp(argv[i], "--notes") == 0 || strcmp(argv[i], "--write-notes") == 0) &&
                 notes_open(argv[i + 1], argv[i][2] == 'w'))
            i++;
        else
            return usage(argv[0], argv[i]);
    }
    if (only_list) {
        list(choice.pattern);
        return 0;
    }
    const char *unfit = as_driver || choice.pattern || !fix_is_simulator(spec) ? NULL : fix_unfit(spec);
    if (unfit) {
        fprintf(stderr, "%s: not with this backend: %s\n", argv[0], unfit);
        return 2;
    }
    if (as_driver || !fix_is_simulator(spec))
        run_on_driver(spec, &choice, brief);
    else
        run_on_simulator(spec, &choice);
    if (!choice.pattern) {
        coverage_check();
        waiver_check();
    }
    notes_close();
    return tap_done();
}
