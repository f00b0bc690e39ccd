/* SPDX-License-Identifier: Apache-2.0 */
/* What survives the end of a context, and of the process that initialised. */
#include "facts_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define G FACTS_G
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

void facts_context_end(struct facts *f)
{
    vmm_context first = NULL, second = NULL;
    vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    unsigned char byte = 0;
    uint64_t flags = 99;
    facts_setup(f, fc_ctx_create(f, &first, 0, 0), "context");
    vmm_mem_generic_allocation_handle handle = fc_make(f, G);
    vmm_deviceptr p = fc_take(f, 2 * G);
    fc_put(f, p, G, handle);
    fc_grant(f, p, G, RW);
    facts_result(f, fc_fill(f, p, 5, G), "ctx.memset");
    facts_result(f, fc_ctx_destroy(f, first), "ctx.destroy");
    facts_result(f, fc_ctx_create(f, &second, 0, 0), "ctx.new");
    facts_result(f, fc_dtoh(f, &byte, p + 3, 1), "ctx.read_after");
    facts_value(f, "ctx.v(5)", "%d", byte);
    facts_result(f, fc_get_access(f, &flags, &device, p), "ctx.getaccess_after");
    facts_value(f, "ctx.fl(3)", "%" PRIu64, flags);
    facts_result(f, fc_unmap(f, p, G), "ctx.unmap_after");
    facts_result(f, fc_release(f, handle), "ctx.release_after");
    facts_result(f, fc_free(f, p, 2 * G), "ctx.free_after");
}

void facts_context_reset(struct facts *f)
{
    vmm_mem_generic_allocation_handle handle = fc_make(f, G);
    vmm_deviceptr p = fc_take(f, 2 * G);
    fc_put(f, p, G, handle);
    fc_grant(f, p, G, RW);
    facts_result(f, fc_primary_reset(f, 0), "reset.do");
    facts_setup(f, fc_ctx_set_current(f, NULL), "no context");
    facts_setup(f, fc_primary_retain(f, &f->ctx, 0), "primary context");
    facts_setup(f, fc_ctx_set_current(f, f->ctx), "current context");
    facts_result(f, fc_fill(f, p, 5, G), "reset.memset_after");
    facts_result(f, fc_unmap(f, p, G), "reset.unmap_after");
    facts_result(f, fc_release(f, handle), "reset.release_after");
    facts_result(f, fc_free(f, p, 2 * G), "reset.free_after");
}

/* The child's answers cross to the parent as results with what their explanations lack. */
struct child_answer {
    vmm_result result;
    char rule[64], fault[96];
};

#define CHILD_CALLS 3

static void answer(const struct facts *f, struct child_answer *a, vmm_result result)
{
    const char *fault = result == VMM_SUCCESS ? NULL : facts_unexplained(f, result, false);
    a->result = result;
    snprintf(a->rule, sizeof a->rule, "%s", vmm_last_detail()->rule ? vmm_last_detail()->rule : "nothing");
    snprintf(a->fault, sizeof a->fault, "%s", fault ? fault : "");
}

static void child(struct facts *f, int out, vmm_mem_generic_allocation_handle handle)
{
    struct child_answer answers[CHILD_CALLS];
    vmm_mem_allocation_prop prop = fc_prop(0);
    vmm_mem_generic_allocation_handle another;
    vmm_deviceptr ptr = 0;
    memset(answers, 0, sizeof answers);
    answer(f, &answers[0], fc_create(f, &another, G, &prop, 0));
    answer(f, &answers[1], fc_reserve(f, &ptr, G, 0, 0, 0));
    answer(f, &answers[2], fc_map(f, ptr, G, 0, handle, 0));
    _exit(write(out, answers, sizeof answers) != (ssize_t)sizeof answers);
}

static void fork_lines(struct facts *f, const struct child_answer *answers)
{
    static const char *const names[CHILD_CALLS] = {"fork.child.create", "fork.child.reserve", "fork.child.map"};
    for (size_t i = 0; i < CHILD_CALLS; i++)
        facts_told(f, answers[i].result, answers[i].rule, answers[i].fault, names[i]);
}

void facts_fork(struct facts *f)
{
    struct child_answer answers[CHILD_CALLS];
    int ends[2], status = 0;
    vmm_mem_generic_allocation_handle handle = fc_make(f, G);
    bool piped = pipe(ends) == 0;
    fflush(stdout);
    pid_t pid = piped ? fork() : -1;
    if (pid == 0)
        child(f, ends[1], handle);
    bool heard = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 &&
                 read(ends[0], answers, sizeof answers) == (ssize_t)sizeof answers;
    facts_require(f, heard, "fork.child.create", "the child did not answer");
    if (heard)
        fork_lines(f, answers);
    if (piped) {
        close(ends[0]);
        close(ends[1]);
    }
}
