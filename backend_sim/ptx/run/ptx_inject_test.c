/* SPDX-License-Identifier: Apache-2.0 */
/* If an allocation fails, a text is refused or a kernel ends with that reason, and nothing leaks. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "testing/ptx_rig.h"

#include "inject_rig.h"

static const char text[] = RIG_HEAD
    ".global .u32 a[4] = {1, 2, 3};\n.func (.param .b32 r) f(.param .b32 n)\n{ .reg .b32 %r<4>; .local .b8 l[64]; .reg .b64 %d; mov.u64 %d, l; ld.param.b32 %r1, [n]; "
    "st.local.u32 [%d], %r1; ld.local.u32 %r2, [%d]; st.param.b32 [r], %r2; ret; }\n"
    ".entry k(.param .u64 out)\n{ .reg .b32 %r<200>; .reg .b64 %rd<8>; ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; call (%r2), f, (%r1); mov.u32 %r3, %ctaid.x; "
    "mad.lo.u32 %r3, %r3, 128, %r1; mad.wide.u32 %rd1, %r3, 4, %rd0; st.global.u32 [%rd1], %r2; bar.sync 0; ret; }\n";

/* Local memory grows with recursion: for parameters, and for a result that was never written. */
static const char recursive[] = RIG_HEAD
    ".func (.param .align 8 .b8 r[512]) g(.param .align 8 .b8 n[256])\n{ .reg .b32 %r<4>; .reg .pred %p; ld.param.b32 %r1, [n]; setp.eq.u32 %p, %r1, 0; @%p ret; "
    "{ .param .align 8 .b8 a[256]; .param .align 8 .b8 b[512]; sub.u32 %r1, %r1, 1; st.param.b32 [a], %r1; call (b), g, (a); } ret; }\n"
    ".entry k(.param .u64 out)\n{ .reg .b32 %r<4>; .reg .b64 %rd<2>; .param .align 8 .b8 a[256]; .param .align 8 .b8 b[512]; ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; "
    "st.param.b32 [a], 5; call (b), g, (a); mad.wide.u32 %rd1, %r1, 4, %rd0; st.global.u32 [%rd1], %r1; ret; }\n";

static void test_texts(void)
{
    static const struct ptx_options none;
    unsigned refused = 0, wrong = 0;
    long live = inject_live;
    for (unsigned long nth = 1;; nth++) {
        struct ptx_error error;
        inject_arm(nth);
        struct ptx_program *program = ptx_program_new(text, strlen(text), &none, &error);
        bool failed = inject_disarm() != NULL;
        refused += failed;
        wrong += failed == (program != NULL) || (failed && !error.no_memory);
        ptx_program_free(program);
        wrong += inject_live != live;
        if (!failed)
            break;
    }
    tap_ok(refused >= 3 && !wrong, "a text: each of %u refusals is reported, and nothing stays", refused);
}

static void test_kernels(const char *kernel, unsigned threads)
{
    struct rig rig;
    unsigned refused = 0, wrong = 0;
    const uint64_t out[] = {RIG_BASE};
    rig_open(&rig, kernel);
    rig.threads = threads;
    long live = inject_live;
    for (unsigned long nth = 1;; nth++) {
        inject_arm(nth);
        enum ptx_end end = rig_launch(&rig, "k", 3, 70, out, 1);
        const char *what = inject_disarm();
        refused += what != NULL;
        /* If no other host thread can be created, one does all the work. */
        wrong += what && strcmp(what, "pthread_create") != 0 ? end != PTX_END_MEMORY : end != PTX_END_DONE;
        wrong += inject_live != live;
        if (!what)
            break;
    }
    tap_ok(refused >= 8 && !wrong && rig_u32(&rig)[69] == 69, "a kernel on %u threads: each of %u refusals is reported, and nothing stays", threads, refused);
    rig_close(&rig);
}

/* A dry run without memory for the overlay ends there. */
static void test_dry(void)
{
    struct rig rig;
    unsigned refused = 0, wrong = 0;
    rig_open(&rig, text);
    rig.memory.dry = true;
    long live = inject_live;
    for (unsigned long nth = 1;; nth++) {
        inject_arm(nth);
        enum ptx_end end = rig_launch(&rig, "k", 3, 700, (uint64_t[]){RIG_BASE}, 1);
        const char *what = inject_disarm();
        refused += what != NULL;
        wrong += (what != NULL) != (end != PTX_END_DONE);
        wrong += inject_live != live;
        if (!what)
            break;
    }
    tap_ok(refused >= 9 && !wrong && !rig_u32(&rig)[69], "a dry run ends at each of %u refusals, and nothing stays", refused);
    rig_close(&rig);
}

int main(void)
{
    test_texts();
    test_kernels(text, 1);
    test_kernels(text, 2);
    test_kernels(recursive, 1);
    test_dry();
    return tap_done();
}
