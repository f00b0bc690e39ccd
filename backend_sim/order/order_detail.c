/* SPDX-License-Identifier: Apache-2.0 */
#include "order_detail.h"

#include <inttypes.h>
#include <stdio.h>

#include "detail.h"
#include "units.h"

static vmm_access access_of(const struct order_side *side)
{
    const struct order_name *name = &side->name;
    return (vmm_access){.issued = {name->what, name->call, name->stack}, .kernel = name->kernel, .stream = name->value,
                        .stream_number = name->stream, .per_thread = name->per_thread, .graph = name->graph,
                        .host = name->host, .writes = side->use != ORDER_READ};
}

enum { STREAM_TEXT = 40 };

static const char *stream_of(const vmm_access *access, char text[STREAM_TEXT])
{
    if (access->stream_number)
        snprintf(text, STREAM_TEXT, "S%" PRIu32, access->stream_number);
    else
        snprintf(text, STREAM_TEXT, access->per_thread ? "the thread's default stream" : "the default stream");
    return text;
}

/* The fix: what would order the two. */
static void say_missing(vmm_order *order)
{
    char first[STREAM_TEXT], second[STREAM_TEXT];
    const uint64_t before = order->first.issued.call, after = order->second.issued.call;
    stream_of(&order->first, first);
    stream_of(&order->second, second);
    if (order->first.graph || order->second.graph)
        snprintf(order->missing, sizeof order->missing, before == after ? "a dependency between the two nodes of the graph"
                                                                        : "a wait for the launch of the graph before the other access");
    else if (order->second.host)
        snprintf(order->missing, sizeof order->missing,
                 "cuStreamSynchronize of %s, or of an event recorded there after call %" PRIu64 ", before call %" PRIu64, first, before,
                 after);
    else
        snprintf(order->missing, sizeof order->missing,
                 "cuEventRecord on %s after call %" PRIu64 ", and cuStreamWaitEvent for it on %s before call %" PRIu64, first, before,
                 second, after);
}

static const char *does(const vmm_access *access)
{
    return access->writes ? "writes" : "reads";
}

static const char *name_of(const vmm_access *access)
{
    return access->kernel ? access->kernel : access->issued.function;
}

static void say_here(const vmm_order *order)
{
    char size[UNITS_TEXT];
    units_text(order->size, size);
    if (order->first.issued.function)
        vmm_detail_note("%s of call %" PRIu64 " %s and %s of call %" PRIu64 " %s the same %s", name_of(&order->first),
                        order->first.issued.call, does(&order->first), name_of(&order->second), order->second.issued.call, does(&order->second), size);
    else
        vmm_detail_note("%s of call %" PRIu64 " reads %s, of which the first were never written", name_of(&order->second),
                        order->second.issued.call, size);
}

static enum vmm_rule_id rule_of(const struct order_found *found)
{
    if (found->unwritten)
        return VMM_RULE_UNWRITTEN_READ;
    if (found->side[1].name.frees)
        return VMM_RULE_POOL_FREE_IN_FLIGHT;
    if (found->side[0].name.allocates)
        return VMM_RULE_POOL_USE_UNORDERED;
    return found->side[0].name.host || found->side[1].name.host ? VMM_RULE_ORDER_HOST : VMM_RULE_ORDER_STREAMS;
}

void order_warn(const struct order_found *found, const vmm_object *nearest)
{
    vmm_order order = {.second = access_of(&found->side[1]), .memory = found->range.memory, .offset = found->range.first,
                       .size = found->range.last - found->range.first + 1};
    if (!found->unwritten) {
        order.first = access_of(&found->side[0]);
        say_missing(&order);
    }
    vmm_detail_warn(rule_of(found), order.offset, 0, nearest);
    say_here(&order);
    vmm_detail_order(&order);
    vmm_detail_note_call(vmm_detail_here(), order.second.issued.function, order.second.issued.call);
}
