/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include <pthread.h>

#include "fake_backend.h"
#include "tap.h"

/* ---- the plan as text ---- */

static void test_good_plans(void)
{
    static const struct {
        const char *text;
        struct fault_plan plan;
    } good[] = {
        {"mem_create:1", {VMM_CALL_mem_create, 1, VMM_ERROR_OUT_OF_MEMORY, false, 0}},
        {"cuMemCreate:1", {VMM_CALL_mem_create, 1, VMM_ERROR_OUT_OF_MEMORY, false, 0}},
        {"any:3", {VMM_CALL_COUNT, 3, VMM_ERROR_OUT_OF_MEMORY, false, 0}},
        {"mem_map:007:forever", {VMM_CALL_mem_map, 7, VMM_ERROR_OUT_OF_MEMORY, true, 0}},
        {"mem_map:2:UNKNOWN", {VMM_CALL_mem_map, 2, VMM_ERROR_UNKNOWN, false, 0}},
        {"mem_map:2:ERROR_NOT_PERMITTED", {VMM_CALL_mem_map, 2, VMM_ERROR_NOT_PERMITTED, false, 0}},
        {"mem_map:2:CUDA_ERROR_INVALID_VALUE:forever", {VMM_CALL_mem_map, 2, VMM_ERROR_INVALID_VALUE, true, 0}},
        {"mem_map:2:process=3", {VMM_CALL_mem_map, 2, VMM_ERROR_OUT_OF_MEMORY, false, 3}},
        {"mem_map:2:process=4294967295:UNKNOWN:forever", {VMM_CALL_mem_map, 2, VMM_ERROR_UNKNOWN, true, UINT32_MAX}},
        {"mem_map:2:UNKNOWN:process=1", {VMM_CALL_mem_map, 2, VMM_ERROR_UNKNOWN, false, 1}},
        {"init:18446744073709551615", {VMM_CALL_init, UINT64_MAX, VMM_ERROR_OUT_OF_MEMORY, false, 0}},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct fault_plan plan = {VMM_CALL_COUNT, 0, VMM_SUCCESS, false, 0};
        struct fault_error error = {0, ""};
        bool read = fault_parse(good[i].text, &plan, &error);
        tap_ok(read && plan.call == good[i].plan.call && plan.nth == good[i].plan.nth &&
                   plan.result == good[i].plan.result && plan.forever == good[i].plan.forever && plan.process == good[i].plan.process,
               "'%s' is read", good[i].text);
    }
}

static void test_bad_plans(void)
{
    static const struct {
        const char *text;
        size_t column;
        const char *says;
    } bad[] = {
        {"", 1, "expected a call such as mem_create or cuMemCreate, or any, found nothing"},
        {"mem_creat:1", 1, "or any, found \"mem_creat\""},
        {"MEM_CREATE:1", 1, "found \"MEM_CREATE\""},
        {"anything:1", 1, "found \"anything\""},
        {" any:1", 1, "found \" any\""},
        {"mem_create_mem_create_mem_create_mem_create_mem_create_mem_create:1", 1,
         "found \"mem_create_mem_create_mem_create\""},
        {"mem_create", 11, "expected which call is to fail, a number from 1, found nothing"},
        {"mem_create:", 12, "found nothing"},
        {"mem_create:0", 12, "found \"0\""},
        {"mem_create:-1", 12, "found \"-1\""},
        {"mem_create:1x", 12, "found \"1x\""},
        {"mem_create:18446744073709551616", 12, "found \"18446744073709551616\""},
        {"mem_create:1:", 14, "expected an error's name or \"forever\", found nothing"},
        {"mem_create:1:SUCCESS", 14, "found \"SUCCESS\""},
        {"mem_create:1:CUDA_SUCCESS", 14, "found \"CUDA_SUCCESS\""},
        {"mem_create:1:NO_SUCH", 14, "found \"NO_SUCH\""},
        {"mem_create:1:2", 14, "found \"2\""},
        {"mem_create:1:UNKNOWN:UNKNOWN", 22, "expected \"forever\" or the end, found \"UNKNOWN\""},
        {"mem_create:1:forever:UNKNOWN", 22, "expected the end after \"forever\", found \"UNKNOWN\""},
        {"mem_create:1:process=0", 14, "expected one process, a number from 1, as process=2, found \"process=0\""},
        {"mem_create:1:process=", 14, "found \"process=\""},
        {"mem_create:1:process=4294967296", 14, "found \"process=4294967296\""},
        {"mem_create:1:process=1:process=2", 24, "found \"process=2\""},
        {"mem_create:1:UNKNOWN:forever:", 30, "expected the end after \"forever\", found nothing"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fault_plan plan = {VMM_CALL_mem_free, 99, VMM_ERROR_UNKNOWN, true, 0};
        struct fault_error error = {0, ""};
        bool read = fault_parse(bad[i].text, &plan, &error);
        if (!tap_ok(!read && error.column == bad[i].column && strstr(error.text, bad[i].says),
                    "'%s' is refused at character %zu", bad[i].text, bad[i].column))
            tap_note("got %zu: %s", error.column, error.text);
        tap_ok(plan.call == VMM_CALL_mem_free && plan.nth == 99 && plan.result == VMM_ERROR_UNKNOWN && plan.forever,
               "the plan is unchanged");
    }
}

/* ---- the layer over a fake backend ---- */

static struct vmm_backend *open_over(struct fake *fake, const char *args)
{
    struct vmm_backend *top = NULL;
    fake_init(fake);
    if (vmm_fault_open(args, &fake->base, &top) != VMM_SUCCESS)
        tap_bail("fault=%s does not open: %s", args, vmm_last_detail()->note);
    return top;
}

static vmm_result create(struct vmm_backend *top, uint64_t *handle)
{
    static vmm_mem_allocation_prop prop;
    struct vmm_call_mem_create call = {{VMM_CALL_mem_create, 0}, handle, 4096, &prop, 0};
    return fake_dispatch(top, &call.head, 1);
}

static vmm_result release(struct vmm_backend *top)
{
    struct vmm_call_mem_release call = {{VMM_CALL_mem_release, 0}, 5};
    return fake_dispatch(top, &call.head, 1);
}

static void test_nth(void)
{
    struct fake fake;
    struct vmm_backend *top = open_over(&fake, "mem_create:2");
    uint64_t handle = 77;
    tap_result(create(top, &handle), VMM_SUCCESS, "the first create passes");
    tap_u64(handle, UINT64_C(0x100000000000), "its output is written");
    tap_result(release(top), VMM_SUCCESS, "another call does not count");
    handle = 77;
    tap_result(create(top, &handle), VMM_ERROR_OUT_OF_MEMORY, "the second create fails");
    tap_u64(handle, 77, "the failed call writes no output");
    tap_u64(fake.seen, 2, "the failed call does not reach the backend");
    const vmm_detail *detail = vmm_last_detail();
    tap_ok(detail->severity == VMM_SEVERITY_ERROR && detail->result == VMM_ERROR_OUT_OF_MEMORY && !detail->rule,
           "the detail is an error without a rule");
    tap_text(detail->note, "layer fault, call 2 of mem_create: made to fail; the backend did not see the call",
             "the note names the layer");
    tap_text(detail->function, "cuMemCreate", "the record names the call");
    tap_result(create(top, &handle), VMM_SUCCESS, "the third create passes");
    tap_ok(vmm_last_detail()->severity == VMM_SEVERITY_NONE, "its record is empty");
    top->ops->close(top);
    tap_u64((uint64_t)fake.closed, 1, "close reaches the backend once");
}

static void test_forever_and_any(void)
{
    struct fake fake;
    uint64_t handle = 0;
    struct vmm_backend *top = open_over(&fake, "any:2:UNKNOWN:forever");
    tap_result(release(top), VMM_SUCCESS, "any: the first call passes");
    tap_result(create(top, &handle), VMM_ERROR_UNKNOWN, "the second call fails, whichever it is");
    tap_result(release(top), VMM_ERROR_UNKNOWN, "so does the third");
    tap_text(vmm_last_detail()->note, "layer fault, call 3 of any: made to fail; the backend did not see the call",
             "the note counts on");
    tap_u64(fake.seen, 1, "one call reached the backend");
    top->ops->close(top);
}

/* Each call by its name: no slot of the table may call another one. */
static void test_every_call(void)
{
    bool all = true;
    for (int id = 0; id < VMM_CALL_COUNT; id++) {
        struct fake fake;
        char args[64];
        snprintf(args, sizeof args, "%s:1", vmm_call_name((enum vmm_call_id)id));
        struct vmm_backend *top = open_over(&fake, args);
        for (int other = 0; other < VMM_CALL_COUNT; other++) {
            union vmm_any_call call;
            memset(&call, 0, sizeof call);
            call.head.id = (uint16_t)other;
            vmm_result want = other == id ? VMM_ERROR_OUT_OF_MEMORY : VMM_SUCCESS;
            if (fake_dispatch(top, &call.head, 1) != want) {
                all = false;
                tap_note("fault=%s changes %s wrongly", args, vmm_call_name((enum vmm_call_id)other));
            }
        }
        top->ops->close(top);
    }
    tap_ok(all, "each of %d calls can be made to fail, and no other fails with it", VMM_CALL_COUNT);
}

static void test_the_rest_passes(void)
{
    struct fake fake;
    struct vmm_backend *top = open_over(&fake, "any:1:UNKNOWN:forever"), *peer = NULL;
    tap_result(top->ops->visit(top, NULL, NULL), VMM_SUCCESS, "visit is passed on");
    tap_u64(top->ops->leaks(top, NULL, NULL), 1, "leaks is passed on");
    tap_result(top->ops->attach(top, &peer), VMM_SUCCESS, "attach is passed on");
    tap_ok(peer == &fake.base && fake.visited == 1 && fake.leaked == 1 && fake.attached == 1,
           "each is called once, and a peer has no layer");
    top->ops->close(top);
}

static void test_bad_open(void)
{
    struct fake fake;
    struct vmm_backend *top = NULL;
    fake_init(&fake);
    tap_result(vmm_fault_open("mem_map:x", &fake.base, &top), VMM_ERROR_INVALID_VALUE, "an invalid plan");
    tap_ok(!top && fake.closed == 0, "the inner backend still belongs to the caller");
    tap_text(vmm_last_detail()->note,
             "fault, character 9: expected which call is to fail, a number from 1, found \"x\"", "the note has the reason");
}

static void *racer(void *argument)
{
    struct vmm_backend *top = argument;
    uintptr_t hits = 0;
    for (int i = 0; i < 1000; i++)
        hits += release(top) == VMM_ERROR_UNKNOWN;
    return (void *)hits;
}

static void test_race(void)
{
    struct fake fake;
    struct vmm_backend *inner = NULL, *top = NULL;
    pthread_t thread[4];
    uintptr_t hits = 0;
    fake_init(&fake);
    /* The inner layer stops every call before the fake, which is not thread-safe. */
    if (vmm_fault_open("any:1:NOT_READY:forever", &fake.base, &inner) != VMM_SUCCESS ||
        vmm_fault_open("mem_release:2001:UNKNOWN", inner, &top) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    for (int i = 0; i < 4; i++)
        if (pthread_create(&thread[i], NULL, racer, top))
            tap_bail("no thread");
    for (int i = 0; i < 4; i++) {
        void *result = NULL;
        pthread_join(thread[i], &result);
        hits += (uintptr_t)result;
    }
    tap_u64(hits, 1, "exactly one of 4000 calls by four threads is the 2001st");
    tap_u64(fake.seen, 0, "no call passes the inner layer");
    top->ops->close(top);
    tap_u64((uint64_t)fake.closed, 1, "one close ends all layers");
}

/* ---- over the simulator ---- */

static void test_on_the_simulator(void)
{
    vmm_system *sys = NULL;
    vmm_mem_generic_allocation_handle handle = 77;
    vmm_mem_allocation_prop prop;
    uint64_t size = 0;
    memset(&prop, 0, sizeof prop);
    prop.type = VMM_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = VMM_MEM_LOCATION_TYPE_DEVICE;
    if (!tap_ok(vmm_open("fault=mem_create:2 | fault=any:4:UNKNOWN | sim:min", &sys) == VMM_SUCCESS, "two layers open"))
        return;
    tap_result(vmm_init(sys, 0), VMM_SUCCESS, "call 1 of the inner layer");
    tap_result(vmm_mem_get_allocation_granularity(sys, &size, &prop, 0), VMM_SUCCESS, "call 2");
    tap_result(vmm_mem_create(sys, &handle, size, &prop, 0), VMM_SUCCESS, "call 3, create 1");
    vmm_mem_generic_allocation_handle second = 77;
    tap_result(vmm_mem_create(sys, &second, size, &prop, 0), VMM_ERROR_OUT_OF_MEMORY, "create 2 fails in the outer layer");
    tap_u64(second, 77, "the failed call writes nothing");
    tap_result(vmm_mem_release(sys, handle), VMM_ERROR_UNKNOWN, "so this is call 4 of the inner layer");
    tap_u64(vmm_leaks(sys, NULL, NULL), 1, "the handle still exists");
    tap_result(vmm_mem_release(sys, handle), VMM_SUCCESS, "the handle can be released");
    tap_u64(vmm_leaks(sys, NULL, NULL), 0, "no leak remains");
    vmm_close(sys);
    sys = NULL;
    tap_result(vmm_open("fault=mem_create|sim:min", &sys), VMM_ERROR_INVALID_VALUE, "a spec with an invalid plan");
    tap_ok(!sys && strstr(vmm_last_detail()->note, "character 11: expected which call is to fail"),
           "opens no system, and the note has the position");
}

int main(void)
{
    test_good_plans();
    test_bad_plans();
    test_nth();
    test_forever_and_any();
    test_every_call();
    test_the_rest_passes();
    test_bad_open();
    test_race();
    test_on_the_simulator();
    return tap_done();
}
