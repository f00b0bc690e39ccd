/* conformance - the suite over the public API: `conformance [--backend SPEC] [--run PATTERN]`, `conformance --list`.
 *
 * One TAP point per test and mode. Options:
 *   --backend SPEC, --spec SPEC  what to test, as for vmm_open; else CUVMM_BACKEND, else sim:h100
 *   --run PATTERN                tests whose rule, expectation or name contains PATTERN, without regard to case
 *   --list                       rule or expectation, kind and test, a line each; runs nothing
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "coverage.h"
#include "tap.h"
#include "test.h"

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

static const char *const kind_names[] = {"breaks", "near miss", "expects"};

/* The rule's id, or the expectation's name. */
static const char *subject_of(const struct test *test, char *id, size_t size)
{
    if (test->kind == TEST_KIND_EXPECTS)
        return test->subject;
    test_rule_id(test->subject, id, size);
    return id;
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

static bool wanted(const struct test *test, const char *pattern)
{
    char id[96];
    return !pattern || contains(subject_of(test, id, sizeof id), pattern) || contains(test->name, pattern);
}

static void list(const char *pattern)
{
    char id[96];
    for (const struct test *test = first; test; test = test->next)
        if (wanted(test, pattern))
            printf("%s\t%s\t%s\n", subject_of(test, id, sizeof id), kind_names[test->kind], test->name);
}

/* Apart, so that no local variable lives across the jump. */
static void run_body(struct fix *f, const struct test *test)
{
    jmp_buf out;
    f->out = &out;
    if (setjmp(out) == 0)
        test->run(f);
}

static void run_in(const struct test *test, const char *spec, enum fix_mode mode)
{
    static const char *const modes[] = {"", " (observed)", " (strict)"};
    char id[96];
    struct fix f = {.root = &f};
    const char *subject = subject_of(test, id, sizeof id), *why = NULL;
    vmm_result result = VMM_SUCCESS;
    f.rule = test->kind == TEST_KIND_EXPECTS ? NULL : subject;
    if (!fix_open_variant(&f, spec, test->lines, mode, test->options, &result, &why)) {
        fix_close(&f);
        tap_skip(why, "%s %s: %s%s", kind_names[test->kind], subject, test->name, modes[mode]);
        return;
    }
    if (result == VMM_SUCCESS)
        run_body(&f, test);
    else
        fix_failed(&f, __FILE__, __LINE__, "the system does not open: %s %s", vmm_result_name(result),
                   vmm_last_detail()->note);
    fix_close(&f);
    if (f.skip && !f.failures)
        tap_skip(f.skip, "%s %s: %s%s", kind_names[test->kind], subject, test->name, modes[mode]);
    else
        tap_ok(f.failures == 0, "%s %s: %s%s", kind_names[test->kind], subject, test->name, modes[mode]);
}

static void run(const struct test *test, const char *spec)
{
    if (test->modes == TEST_AS_GIVEN) {
        run_in(test, spec, FIX_AS_GIVEN);
        return;
    }
    run_in(test, spec, FIX_OBSERVED);
    if (test->modes == TEST_BOTH_MODES)
        run_in(test, spec, FIX_STRICT);
}

/* Tests of the state before initialisation come first: a driver is initialised once per process. */
static void run_all(const char *spec, const char *pattern)
{
    for (int raw = 1; raw >= 0; raw--)
        for (const struct test *test = first; test; test = test->next)
            if (!!(test->options & FIX_RAW) == raw && wanted(test, pattern))
                run(test, spec);
}

/* A backend that does not open says nothing about any test. */
static void try_open(const char *spec)
{
    vmm_system *sys = NULL;
    vmm_result result = vmm_open(spec, &sys);
    if (result != VMM_SUCCESS)
        tap_bail("%s does not open: %s %s", spec ? spec : "the default backend", vmm_result_name(result),
                 vmm_last_detail()->note);
    vmm_close(sys);
}

static int usage(const char *program, const char *argument)
{
    fprintf(stderr, "%s: cannot use \"%s\"\nusage: %s [--backend SPEC] [--run PATTERN] [--list]\n", program, argument,
            program);
    return 2;
}

int main(int argc, char **argv)
{
    const char *spec = NULL, *pattern = NULL;
    bool only_list = false;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--list") == 0)
            only_list = true;
        else if (more && (strcmp(argv[i], "--backend") == 0 || strcmp(argv[i], "--spec") == 0))
            spec = argv[++i];
        else if (more && strcmp(argv[i], "--run") == 0)
            pattern = argv[++i];
        else
            return usage(argv[0], argv[i]);
    }
    if (only_list) {
        list(pattern);
        return 0;
    }
    try_open(spec);
    run_all(spec, pattern);
    if (!pattern)
        coverage_check();
    return tap_done();
}
