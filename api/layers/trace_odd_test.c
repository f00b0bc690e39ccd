/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that programs rarely make, in both forms of a trace: lists without a length, lengths without a list, and more elements
 * than are written. A record fits into the room that it was promised, whatever the call. */
#include "trace_record.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "tap.h"
#include "trace_value.h"

enum { MANY = 1000, WORDS = 8192 };

static uint64_t record[WORDS];

/* Writes the call in both forms and searches for a part of the line. */
static void writes(const struct vmm_call *call, vmm_result result, const char *part)
{
    const struct trace_event event = {.call = call, .result = result, .wrote = result == VMM_SUCCESS, .detail = vmm_last_detail(), .thread = 1};
    struct json json = {0};
    const size_t room = trace_record_room(&event), words = trace_record_write(record, &event, false);
    jsonw_open(&json, NULL, '{');
    trace_args(&json, &event);
    if (event.wrote)
        trace_outs(&json, &event);
    jsonw_close(&json, '}');
    tap_ok(words >= TRACE_HEAD_WORDS && words <= room && words == trace_head_words(record[0]), "%s: %zu words of %zu",
           vmm_call_name((enum vmm_call_id)call->id), words, room);
    char *line = json.failed ? NULL : strndup(json.text, json.length);
    tap_ok(line && strstr(line, part), "the line has %s: %.300s", part, line ? line : "no memory");
    free(line);
    jsonw_free(&json);
}

static void test_lists_of_the_system(void)
{
    vmm_graph_node node = (vmm_graph_node)(uintptr_t)0x77;
    const vmm_graph_node *list = &node, *none = NULL;
    const vmm_graph_edge_data *edges = NULL;
    int status = VMM_STREAM_CAPTURE_STATUS_ACTIVE;
    uint64_t count = 1;
    struct vmm_call_stream_get_capture_info info = {.head = {VMM_CALL_stream_get_capture_info, 0}, .capture_status_out = (void *)&status,
                                                    .dependencies_out = (void *)&list, .edge_data_out = (void *)&edges,
                                                    .num_dependencies_out = (void *)&count};
    writes(&info.head, VMM_SUCCESS, "\"dependencies_out\":[\"0x77\"]");
    info.dependencies_out = (void *)&none;
    writes(&info.head, VMM_SUCCESS, "\"dependencies_out\":[]");
    info.dependencies_out = (void *)&list;
    info.num_dependencies_out = NULL;
    writes(&info.head, VMM_SUCCESS, "\"dependencies_out\":[]");
}

static void test_attributes(void)
{
    int attributes[MANY], values[MANY];
    void *data[MANY];
    for (int i = 0; i < MANY; i++) {
        attributes[i] = VMM_POINTER_ATTRIBUTE_MEMORY_TYPE;
        values[i] = i;
        data[i] = &values[i];
    }
    struct vmm_call_pointer_get_attributes call = {{VMM_CALL_pointer_get_attributes, 0}, MANY, (void *)attributes, data, 5};
    writes(&call.head, VMM_SUCCESS, "\"num_attributes\":\"0x3e8\"");
    call.attributes = NULL;
    writes(&call.head, VMM_SUCCESS, "\"attributes\":null");
}

static void test_many(void)
{
    static vmm_memcpy3d_batch_op boxes[MANY];
    static vmm_stream_batch_mem_op_params operations[MANY];
    static vmm_memcpy_attributes attributes[MANY];
    static uint64_t words[MANY];
    struct vmm_call_memcpy_3d_batch_async copies = {.head = {VMM_CALL_memcpy_3d_batch_async, 0}, .num_ops = MANY, .op_list = boxes};
    writes(&copies.head, VMM_ERROR_INVALID_VALUE, "\"num_ops\":\"0x3e8\"");
    struct vmm_call_stream_batch_mem_op batch = {.head = {VMM_CALL_stream_batch_mem_op, 0}, .count = MANY, .param_array = operations};
    writes(&batch.head, VMM_ERROR_INVALID_VALUE, "\"count\":\"0x3e8\",\"param_array\":[]");
    struct vmm_call_memcpy_batch_async listed = {.head = {VMM_CALL_memcpy_batch_async, 0}, .dsts = (void *)words, .srcs = (void *)words,
                                                 .sizes = (void *)words, .count = MANY, .attrs = attributes,
                                                 .attrs_idxs = (void *)words, .num_attrs = MANY};
    writes(&listed.head, VMM_ERROR_INVALID_VALUE, "\"attrs\":[{");
}

/* A line holds only the first TRACE_LIST_MAX elements of a longer list; here each element has a name of its own. */
static void test_first_of_many(void)
{
    static int ints[MANY];
    static vmm_array_map_info tiles[MANY];
    for (int i = 0; i < MANY; i++) {
        ints[i] = 100000 + i;
        tiles[i].flags = 100000 + (unsigned)i;
    }
    const struct vmm_call_mem_range_get_attribute range = {{VMM_CALL_mem_range_get_attribute, 0}, ints, sizeof ints,
                                                           VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, 0x200000, 64};
    writes(&range.head, VMM_SUCCESS, ",100254,100255]");
    struct vmm_call_mem_map_array_async map = {{VMM_CALL_mem_map_array_async, 0}, tiles, MANY, NULL};
    writes(&map.head, VMM_SUCCESS, "\"map_info_list\":[");
}

int main(void)
{
    test_lists_of_the_system();
    test_attributes();
    test_many();
    test_first_of_many();
    return tap_done();
}
