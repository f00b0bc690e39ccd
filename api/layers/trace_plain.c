/* SPDX-License-Identifier: Apache-2.0 */
/* The path of most calls in most traces: a single thread, numbers and a few structures, nothing to report. See trace_layer.h.
 *
 *     vmm_mem_map  ->  plain_mem_map  ->  sim            7 words into the window, and one that counts them
 *
 * Any other call takes the general path.
 */
#include "trace_layer.h"
#include "trace_record_put.h"
#include "single_thread.h"

/* May the call take this path so far? */
INLINE bool is_plain(const struct trace *trace)
{
    return VMM_SINGLE_THREAD && life_stamp() == trace->process && !trace->stopped;
}

/* And may it still, after it has returned? It may have started a second thread. */
INLINE bool stays_plain(const struct trace *trace, const vmm_detail *detail, size_t room)
{
    return VMM_SINGLE_THREAD && detail->severity == VMM_SEVERITY_NONE && room <= trace->file.room - trace->file.used &&
           trace->alone_number && pthread_equal(trace->alone, pthread_self());
}

/* Memory of other kinds is rare in programs that make many calls, and would make this file three times as large. */
#define IS_RARE(kind)                                                                                                 \
    ((kind) > VMM_PARAM_LOCATION && (kind) != VMM_PARAM_DESCS && (kind) != VMM_PARAM_OUT_PROP &&                        \
     ((kind) < VMM_PARAM_OUT_INT || (kind) > VMM_PARAM_OUT_POOL))
#define RARE(type, param) | (IS_RARE((int)KIND_##type) ? IS_RARE_CALL : 0)
enum { IS_RARE_CALL = 1 << 16 };

/* Calls that need more than their records take the general path from the beginning. */
#define VMM_CALL(name, symbol, form, traits)                                                                          \
    static vmm_result plain_##name(struct vmm_backend *self, struct vmm_call *record)                                 \
    {                                                                                                                 \
        enum {                                                                                                        \
            id = VMM_CALL_##name,                                                                                     \
            needs = (0 VMM_EACH(TRACE_TRAITS, VMM_PARAMS_##name) VMM_EACH(RARE, VMM_PARAMS_##name)) | ((traits) & CALL_WAITS) \
        };                                                                                                            \
        struct trace *trace = (struct trace *)self;                                                                   \
        const struct vmm_call_##name *call = (const void *)record;                                                    \
        size_t room = TRACE_HEAD_WORDS;                                                                               \
        unsigned index = 0, pointers = 0;                                                                             \
        if (needs != 0 || !is_plain(trace))                                                                              \
            return trace_call(self, record);                                                                          \
        const vmm_result result = self->inner->ops->call[id](self->inner, record);                                    \
        const struct trace_event plain = {.call = record, .result = result, .wrote = result == VMM_SUCCESS,           \
                                          .thread = trace->alone_number}, *event = &plain;                            \
        VMM_EACH(TRACE_ROOM, VMM_PARAMS_##name)                                                                       \
        if (!stays_plain(trace, vmm_last_detail(), room)) {                                                           \
            trace_write_late(trace, record, result);                                                                  \
            return result;                                                                                            \
        }                                                                                                             \
        uint64_t *start = trace->file.window + trace->file.used, *at = start + TRACE_HEAD_WORDS;                      \
        VMM_EACH(TRACE_ARGUMENT, VMM_PARAMS_##name)                                                                   \
        VMM_EACH(TRACE_MEMORY, VMM_PARAMS_##name)                                                                     \
        index = 0;                                                                                                    \
        if (event->wrote) {                                                                                           \
            VMM_EACH(TRACE_OUTPUT, VMM_PARAMS_##name)                                                                 \
        }                                                                                                             \
        put_head(start, at, event, pointers, false, false, false);                                                    \
        trace_file_commit(&trace->file, (size_t)(at - start), true, record->number);                                  \
        trace->calls++;                                                                                               \
        (void)call;                                                                                                   \
        (void)index;                                                                                                  \
        return result;                                                                                                \
    }
#include "calls.def"

const struct vmm_backend_ops trace_plain_ops = {
    .size = sizeof(struct vmm_backend_ops),
    .name = "trace",
    .call =
        {
#define VMM_CALL(name, ...) [VMM_CALL_##name] = plain_##name,
#include "calls.def"
        },
    .visit = vmm_layer_visit,
    .leaks = vmm_layer_leaks,
    .attach = vmm_layer_attach,
    .close = trace_close,
};
