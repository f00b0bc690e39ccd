/* SPDX-License-Identifier: Apache-2.0 */
/* Specs: parsing them, and opening them with vmm_open. */
#include "spec.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "vmm.h"

static void test_parts(void)
{
    struct spec spec;
    struct spec_error error;
    tap_ok(spec_parse(" trace=a=b:c | fault=any:1|sim:h100,strict ", &spec, &error), "three parts");
    tap_u64(spec.count, 3, "their number");
    tap_text(spec.part[0].name, "trace", "a layer's name");
    tap_text(spec.part[0].args, "a=b:c", "the arguments may contain separators");
    tap_u64(spec.part[1].column, 16, "a layer's column");
    tap_text(spec.part[2].name, "sim", "the backend");
    tap_text(spec.part[2].args, "h100,strict", "the backend's arguments");
    spec_free(&spec);
    tap_ok(spec_parse("sim", &spec, &error) && spec.count == 1 && spec.part[0].args[0] == '\0', "no arguments");
    spec_free(&spec);
}

static void test_wrong_parts(void)
{
    static const struct {
        const char *text;
        size_t column;
    } wrong[] = {{"", 1},       {"   ", 4},        {"|sim", 1},        {"trace=x|", 9}, {"trace=x||sim", 9},
                 {"trace:x|sim", 6}, {"sim=h100", 4}, {":h100", 1},       {"si m:h100", 3}, {"\xff\xfe", 1},
                 {"si{m", 3}, {"si[m", 3},      {"si;m", 3},          {"si@m", 3},     {"Si-m_0!", 7}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct spec spec;
        struct spec_error error = {0, ""};
        bool ok = spec_parse(wrong[i].text, &spec, &error);
        tap_ok(!ok && error.column == wrong[i].column && error.text[0], "\"%s\" fails at column %zu (got %zu)",
               wrong[i].text, wrong[i].column, error.column);
    }
    struct spec spec;
    struct spec_error error;
    tap_ok(!spec_parse("a=|a=|a=|a=|a=|a=|a=|a=|a=|a=|a=|a=|a=|a=|a=|a=|sim", &spec, &error), "too many layers");
}

static void test_open(void)
{
    static const struct {
        const char *spec;
        vmm_result result;
        const char *says;
    } wrong[] = {
        {"", VMM_ERROR_INVALID_VALUE, "column 1"},
        {"metal", VMM_ERROR_NOT_FOUND, "there are: sim, cuda"},
        {"loud=1|sim", VMM_ERROR_NOT_FOUND, "there are: trace, fault, shadow"},
        {"sim:h9000", VMM_ERROR_NOT_FOUND, "h9000"},
        {"sim:h100,loose", VMM_ERROR_INVALID_VALUE, "expected strict or observed"},
        {"sim:/nonexistent/dir/p.profile", VMM_ERROR_NOT_FOUND, "p.profile"},
        {"fault=nonsense|sim", VMM_ERROR_INVALID_VALUE, "column 1"},
        {"trace=/nonexistent/dir/t.jsonl|sim", VMM_ERROR_OPERATING_SYSTEM, "/nonexistent/dir/t.jsonl"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        vmm_system *sys = (vmm_system *)&wrong;
        tap_result(vmm_open(wrong[i].spec, &sys), wrong[i].result, "\"%s\" is refused", wrong[i].spec);
        tap_ok(strstr(vmm_last_detail()->note, wrong[i].says) != NULL, "the note has the reason: %s", vmm_last_detail()->note);
        tap_ok(sys == (vmm_system *)&wrong, "*sys is unchanged");
    }
    tap_result(vmm_open("sim", NULL), VMM_ERROR_INVALID_VALUE, "nowhere to store the system");
}

static void test_environment(void)
{
    vmm_system *sys = NULL;
    int count = 0;
    setenv("CUVMM_BACKEND", "sim:h200x2", 1);
    tap_result(vmm_open(NULL, &sys), VMM_SUCCESS, "the backend comes from CUVMM_BACKEND");
    vmm_init(sys, 0);
    vmm_device_get_count(sys, &count);
    tap_u64((uint64_t)count, 2, "it is the backend that the variable names");
    vmm_close(sys);
    unsetenv("CUVMM_BACKEND");
    tap_result(vmm_open(NULL, &sys), VMM_SUCCESS, "without CUVMM_BACKEND there is a default");
    vmm_init(sys, 0);
    vmm_device_get_count(sys, &count);
    tap_u64((uint64_t)count, 1, "of one device");
    vmm_close(sys);
    setenv("CUVMM_LAYERS", "fault=init:1:NOT_PERMITTED", 1);
    vmm_open("sim:min", &sys);
    tap_result(vmm_init(sys, 0), VMM_ERROR_NOT_PERMITTED, "CUVMM_LAYERS wraps a spec without layers");
    vmm_close(sys);
    vmm_open("fault=init:2|sim:min", &sys);
    tap_result(vmm_init(sys, 0), VMM_SUCCESS, "a spec with layers is not wrapped");
    vmm_close(sys);
    setenv("CUVMM_LAYERS", "what is this", 1);
    tap_ok(vmm_open("sim:min", &sys) != VMM_SUCCESS, "an invalid CUVMM_LAYERS is refused");
    unsetenv("CUVMM_LAYERS");
    vmm_close(NULL);
}

int main(void)
{
    unsetenv("CUVMM_BACKEND");
    unsetenv("CUVMM_LAYERS");
    test_parts();
    test_wrong_parts();
    test_open();
    test_environment();
    return tap_done();
}
