/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations on devices that lack some of them, as attributes of the profile say: one attribute each for flushes, for
 * values of 64 bits, and for waits with NOR. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "tap.h"

enum { FLUSHES = 1, WIDE = 2, NOR = 4, ALL = 7 };

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", vmm_result_name(result), vmm_last_detail()->note);
}

static vmm_system *open_with(unsigned has)
{
    char path[] = "call_mem_op_test.XXXXXX", text[128], spec[64];
    vmm_system *sys = NULL;
    vmm_context context;
    int file = mkstemp(path);
    int length = snprintf(text, sizeof text, "base = h100\nattribute.98 = %d\nattribute.122 = %d\nattribute.123 = %d\n", (has & FLUSHES) != 0,
                          (has & WIDE) != 0, (has & NOR) != 0);
    if (file < 0 || write(file, text, (size_t)length) != length)
        tap_bail("no profile");
    close(file);
    snprintf(spec, sizeof spec, "sim:%s", path);
    need(vmm_open(spec, &sys));
    unlink(path);
    need(vmm_init(sys, 0));
    need(vmm_device_primary_ctx_retain(sys, &context, 0));
    need(vmm_ctx_set_current(sys, context));
    return sys;
}

static const struct {
    const char *what;
    int operation;
    unsigned flags, needs;
} rows[] = {
    {"write of 32 bits", VMM_STREAM_MEM_OP_WRITE_VALUE_32, 0, 0},
    {"write of 64 bits", VMM_STREAM_MEM_OP_WRITE_VALUE_64, 0, WIDE},
    {"wait of 32 bits for GEQ", VMM_STREAM_MEM_OP_WAIT_VALUE_32, VMM_STREAM_WAIT_VALUE_GEQ, 0},
    {"wait of 32 bits for EQ", VMM_STREAM_MEM_OP_WAIT_VALUE_32, VMM_STREAM_WAIT_VALUE_EQ, 0},
    {"wait of 32 bits for NOR", VMM_STREAM_MEM_OP_WAIT_VALUE_32, VMM_STREAM_WAIT_VALUE_NOR, NOR},
    {"wait of 32 bits for EQ with a flush",
     VMM_STREAM_MEM_OP_WAIT_VALUE_32, VMM_STREAM_WAIT_VALUE_EQ | VMM_STREAM_WAIT_VALUE_FLUSH,
     FLUSHES},
    {"wait of 32 bits for NOR with a flush",
     VMM_STREAM_MEM_OP_WAIT_VALUE_32, VMM_STREAM_WAIT_VALUE_NOR | VMM_STREAM_WAIT_VALUE_FLUSH,
     FLUSHES | NOR},
    {"wait of 64 bits for EQ", VMM_STREAM_MEM_OP_WAIT_VALUE_64, VMM_STREAM_WAIT_VALUE_EQ, WIDE},
    {"wait of 64 bits for NOR", VMM_STREAM_MEM_OP_WAIT_VALUE_64, VMM_STREAM_WAIT_VALUE_NOR, WIDE | NOR},
    {"flush", VMM_STREAM_MEM_OP_FLUSH_REMOTE_WRITES, 0, FLUSHES},
    {"barrier", VMM_STREAM_MEM_OP_BARRIER, 0, 0},
};

/* On memory of zeros each wait ends at once: for 0, and for NOR with 0. */
static void test_rows(unsigned has)
{
    vmm_system *sys = open_with(has);
    vmm_deviceptr at;
    need(vmm_mem_alloc(sys, &at, 4096));
    need(vmm_memset_d8(sys, at, 0, 4096));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        vmm_stream_batch_mem_op_params list[2] = {{.memory_barrier = {VMM_STREAM_MEM_OP_BARRIER, VMM_STREAM_MEMORY_BARRIER_TYPE_GPU}}};
        list[1].operation = rows[i].operation;
        if (vmm_mem_op_has_value(rows[i].operation))
            list[1].wait_value = (struct vmm_stream_mem_op_value_params){.operation = rows[i].operation, .address = at, .flags = rows[i].flags};
        const bool lacks = (rows[i].needs & ~has) != 0;
        vmm_result result = vmm_stream_batch_mem_op(sys, NULL, 2, list, 0);
        const vmm_detail *detail = vmm_last_detail();
        const char *rule = detail->rule ? detail->rule : "";
        tap_ok(result == (lacks ? VMM_ERROR_NOT_SUPPORTED : VMM_SUCCESS) && !strcmp(rule, lacks ? "VMM-MEMOP-UNSUPPORTED" : ""),
               "attributes %u, %s: %s %s", has, rows[i].what, vmm_result_name(result), rule);
        if (lacks)
            tap_ok(detail->value == (uint64_t)rows[i].operation && strstr(detail->note, "entry 1 of the list has this flags"),
                   "the message has the operation and its index: %s", detail->note);
    }
    need(vmm_ctx_synchronize(sys));
    vmm_close(sys);
}

int main(void)
{
    for (unsigned has = 0; has <= ALL; has++)
        test_rows(has);
    return tap_done();
}
