/* SPDX-License-Identifier: Apache-2.0 */
/* The folder that confines inputs, their machines, how bytes become choices, and that a finding ends the program. */
#include "fuzz.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "detail.h"
#include "lockstep.h"
#include "lockstep_child.h"
#include "profile.h"
#include "tap.h"

static bool there(const char *path)
{
    struct stat is;
    return lstat(path, &is) == 0;
}

static void room(void)
{
    char here[1024], kept[100];
    setenv("CUVMM_LAYERS", "trace=calls.jsonl", 1);
    setenv("CUVMM_BACKEND", "cuda", 1);
    const char *path = fuzz_room();
    tap_ok(getcwd(here, sizeof here) && strcmp(strrchr(here, '/'), strrchr(path, '/')) == 0, "the room is the current folder: %s",
           path);
    tap_text(fuzz_room(), path, "and stays");
    tap_ok(strlen(path) < 60 && path[0] == '/', "its path is short and absolute");
    tap_ok(!getenv("CUVMM_LAYERS") && !getenv("CUVMM_BACKEND"), "no setting wraps or changes what inputs open");
    tap_text(getenv("CUVMM_MACHINES"), path, "it contains shared machines");
    tap_ok(!mkdir("a", 0700) && !mkdir("a/b", 0700) && !symlink("/", "a/b/root") && freopen("a/b/file", "w", stdin),
           "its contents");
    snprintf(kept, sizeof kept, "%s", path);
    fuzz_sweep();
    tap_ok(!there("a") && there(kept) && there("/tmp"), "its contents are removed without following links, and the folder stays");
}

static void machines(void)
{
    static const struct {
        const char *script, *spec;
    } cases[] = {
        {"", "sim:h200x2.small"},
        {"init\nbackend sim:odd,strict\n", "sim:odd.small,strict"},
        {"backend sim:max # a comment", "sim:max.small"},
        {"backend sim:h100,alias=stale:7", "sim:h100.small,alias=stale:7"},
        {"backend sim:h1000", "sim:h200x2.small"},
        {"backend cuda", "sim:h200x2.small"},
        {"note backend sim:odd", "sim:h200x2.small"},
        {"backend sim:odd,machine=mine", "sim:h200x2.small"},
        {"backend sim:odd,imex=.", "sim:h200x2.small"},
        {"backend sim:odd,team_wait=3600", "sim:h200x2.small"},
        {"backend sim:odd,schedule=device", "sim:h200x2.small"},
        {"backend sim:odd,/etc/passwd", "sim:h200x2.small"},
    };
    char spec[FUZZ_SPEC];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fuzz_machine(cases[i].script, spec);
        tap_text(spec, cases[i].spec, "the machine of \"%.20s\"", cases[i].script);
    }
    for (size_t i = 0; sim_profile_builtin_name(i); i++) {
        char script[80];
        vmm_system *sys = NULL;
        vmm_context ctx;
        uint64_t bytes = 0, total = UINT64_MAX;
        snprintf(script, sizeof script, "backend sim:%s", sim_profile_builtin_name(i));
        fuzz_machine(script, spec);
        tap_ok(!vmm_open(spec, &sys) && !vmm_init(sys, 0) && !vmm_ctx_create(sys, &ctx, 0, 0) &&
                   !vmm_mem_get_info(sys, &bytes, &total) && bytes <= UINT64_C(64) << 20,
               "%s opens, with little memory: %s", spec, vmm_last_detail()->note);
        vmm_close(sys);
    }
}

static void inputs(void)
{
    static const uint8_t three[] = {1, 0, 3};
    struct fuzz_bytes bytes = {three, sizeof three};
    char line[10] = "";
    tap_u64(fuzz_byte(&bytes), 1, "an input gives its bytes");
    tap_u64(fuzz_word(&bytes), 3 << 8, "a word is little-endian, and zeros follow the end");
    tap_ok(!bytes.left && !fuzz_byte(&bytes) && !fuzz_word(&bytes), "which stays the end");
    char *text = fuzz_text(three, sizeof three);
    tap_text(text, "\1 \3", "as text a 0 in it is a blank");
    free(text);
    FILE *in = fuzz_reading(three + 2, 1);
    tap_ok(in && fread(line, 1, 9, in) == 1 && line[0] == 3, "as a stream it has all its bytes");
    if (in)
        fclose(in);
    tap_ok(!fuzz_reading(three, 0), "an empty one has no stream");
}

static void choices(void)
{
    static const unsigned char bytes[] = {5, 1, 2, 255, 0, 0, 0, 0, 0, 0, 9, 7};
    struct chooser dice = {.bytes = bytes, .left = sizeof bytes}, seeded = {.state = 4}, same = {.state = 4};
    tap_u64(choose(&dice, 1), 0, "with only one option, no byte is consumed");
    tap_u64(choose(&dice, 256), 5, "a small choice takes a byte");
    tap_u64(choose(&dice, 257), 0x102 % 257, "a larger one two");
    tap_u64(choose(&dice, 10), 255 % 10, "every choice is below its bound");
    tap_u64(choose(&dice, UINT64_MAX), (UINT64_C(9) << 8) | 7, "the largest one eight");
    tap_ok(!dice.left && !choose(&dice, 100) && !choose(&dice, UINT64_MAX), "past the end all bytes are 0");
    tap_ok(choose(&seeded, UINT64_MAX) == choose(&same, UINT64_MAX) && seeded.state == same.state && seeded.state != 4,
           "without bytes the seed decides");
}

/* ---- findings, each in a child that it ends ---- */

static void found(void *user)
{
    (void)user;
    if (!freopen("/dev/null", "w", stderr))
        _exit(1);
    fuzz_finding("%s", "on purpose");
}

static void answered(void *user)
{
    vmm_detail *detail = vmm_detail_here();
    *detail = (vmm_detail){.result = VMM_ERROR_INVALID_VALUE, .rule = user};
    if (!freopen("/dev/null", "w", stderr))
        _exit(1);
    fuzz_answer(VMM_ERROR_INVALID_VALUE, "a call");
}

static void succeeded(void *user)
{
    (void)user;
    fuzz_answer(VMM_SUCCESS, "a call");
}

static void findings(void)
{
    static char rule[] = "VMM-MAP-OVERLAP", other[] = "VMM-INIT-REQUIRED", none[] = "VMM-NOTHING";
    tap_ok(child_run(found, NULL) == SIGABRT, "a finding ends the program");
    tap_ok(child_run(succeeded, NULL) == 0, "a success is not a finding");
    tap_ok(child_run(answered, rule) == 0, "nor is the code of the rule that was named");
    tap_ok(child_run(answered, NULL) == SIGABRT, "a refusal without a rule is a finding");
    tap_ok(child_run(answered, other) == SIGABRT, "so is one with another rule's code");
    tap_ok(child_run(answered, none) == SIGABRT, "or by a rule that does not exist");
}

int main(void)
{
    room();
    machines();
    inputs();
    choices();
    findings();
    return tap_done();
}
