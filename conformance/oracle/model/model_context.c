/* SPDX-License-Identifier: Apache-2.0 */
/* model_context.c - initialisation, devices and contexts, as far as the other calls depend on them. */
#include "model_managed.h"

MODEL_ON(init)
{
    if (c->flags) {
        model_refuse(a, VMM_ERROR_INVALID_VALUE, "VMM-INIT-FLAGS");
        return;
    }
    if (model_succeeded(a))
        m->initialised = true;
}

static bool device_exists(const struct model *m, int device, struct model_answer *a)
{
    return (device >= 0 && device < m->profile->devices) ||
           model_refuse(a, VMM_ERROR_INVALID_DEVICE, "VMM-DEVICE-ID");
}

static bool given(const void *output, struct model_answer *a, const char *rule)
{
    return output || model_refuse(a, VMM_ERROR_INVALID_VALUE, rule);
}

MODEL_ON(device_get_count)
{
    if (given(c->count, a, "VMM-DEVICE-NULL") && model_succeeded(a))
        model_expect(a, "count", (uint64_t)*c->count, (uint64_t)m->profile->devices);
}

MODEL_ON(device_get)
{
    if (given(c->device, a, "VMM-DEVICE-NULL") && device_exists(m, c->ordinal, a) && model_succeeded(a))
        model_expect(a, "device", (uint64_t)*c->device, (uint64_t)c->ordinal);
}

MODEL_ON(device_total_mem)
{
    if (!given(c->bytes, a, "VMM-DEVICE-NULL"))
        return;
    a->writes_zero = !device_exists(m, c->dev, a);
    if (model_succeeded(a))
        model_expect(a, "bytes", *c->bytes, m->profile->device_memory);
}

static bool attribute_listed(const struct model *m, int attribute, struct model_answer *a)
{
    if (m->driver && attribute >= 0 && attribute < MODEL_ATTRIBUTES && m->driver[0].has[attribute])
        return true;
    for (int i = 0; !m->driver && i < m->profile->attributes; i++)
        if (m->profile->attribute[i].attribute == attribute)
            return true;
    return model_refuse(a, VMM_ERROR_INVALID_VALUE, "VMM-DEVICE-ATTRIBUTE");
}

static int reported(const struct model *m, int attribute, int device)
{
    return m->driver ? m->driver[device].attribute[attribute] : model_attribute(m, attribute);
}

MODEL_ON(device_get_attribute)
{
    if (!given(c->pi, a, "VMM-DEVICE-NULL"))
        return;
    if (device_exists(m, c->dev, a) && attribute_listed(m, c->attrib, a) && model_succeeded(a))
        model_expect(a, "pi", (uint64_t)*c->pi, (uint64_t)reported(m, c->attrib, c->dev));
}

MODEL_ON(device_can_access_peer)
{
    if (!given(c->can_access_peer, a, "VMM-DEVICE-NULL") || !device_exists(m, c->dev, a) ||
        !device_exists(m, c->peer_dev, a) || !model_succeeded(a))
        return;
    bool can = c->dev != c->peer_dev && (m->profile->peers[c->dev] >> c->peer_dev & 1);
    model_expect(a, "canAccessPeer", (uint64_t)*c->can_access_peer, can);
}

/* ---- contexts: only primary ones, one a device ---- */

int model_current_device(const struct model *model)
{
    return model->current < 0 ? -1 : model->contexts[model->current].device;
}

static int context_of_device(const struct model *m, int device)
{
    for (size_t i = 0; i < m->context_count; i++)
        if (m->contexts[i].device == device && m->contexts[i].references)
            return (int)i;
    return -1;
}

MODEL_ON(device_primary_ctx_retain)
{
    if (!given(c->pctx, a, "VMM-CTX-NULL") || !device_exists(m, c->dev, a) || !model_succeeded(a))
        return;
    int known = context_of_device(m, c->dev);
    if (known >= 0) {
        model_expect(a, "pctx", (uint64_t)(uintptr_t)*c->pctx, (uint64_t)(uintptr_t)m->contexts[known].value);
        m->contexts[known].references++;
        return;
    }
    model_expect(a, "pctx is NULL", *c->pctx == NULL, false);
    for (size_t i = 0; i < m->context_count; i++)
        model_expect(a, "pctx equals another context", m->contexts[i].value == *c->pctx, false);
    m->contexts[m->context_count++] = (struct model_context){*c->pctx, c->dev, 1};
}

/* The last release would end the context; the model covers only the earlier ones. */
MODEL_ON(device_primary_ctx_release)
{
    if (!device_exists(m, c->dev, a))
        return;
    int known = context_of_device(m, c->dev);
    if (known < 0) {
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-PRIMARY-UNUSED");
        return;
    }
    a->foreseen = m->contexts[known].references > 1;
    if (a->foreseen && model_succeeded(a))
        m->contexts[known].references--;
}

MODEL_ON(ctx_set_current)
{
    int found = -1;
    for (size_t i = 0; i < m->context_count; i++)
        if (m->contexts[i].value == c->ctx)
            found = (int)i;
    if (c->ctx && found < 0)
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-FORGED");
    else if (model_succeeded(a))
        m->current = found;
}

MODEL_ON(ctx_get_current)
{
    if (!given(c->pctx, a, "VMM-CTX-NULL") || !model_succeeded(a))
        return;
    vmm_context current = m->current < 0 ? NULL : m->contexts[m->current].value;
    model_expect(a, "pctx", (uint64_t)(uintptr_t)*c->pctx, (uint64_t)(uintptr_t)current);
}

MODEL_ON(ctx_get_device)
{
    if (!given(c->device, a, "VMM-CTX-NULL"))
        return;
    if (m->current < 0)
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    else if (model_succeeded(a))
        model_expect(a, "device", (uint64_t)*c->device, (uint64_t)model_current_device(m));
}

/* A driver takes memory for graphs and their instances, 2 MiB at a time, and gives it back; when, and for which, is not followed. Nor is when
 * it returns all that a pool has idle, though the threshold would keep it: 8 times in 1,200,000 calls. */
static void adopt(struct model *m, int device, uint64_t got)
{
    const uint64_t unit = m->profile->device_granularity[0], want = model_device_free(m, device);
    const uint64_t more = got < want ? want - got : 0, less = got > want ? got - want : 0;
    for (uint64_t own = 0; m->driver && less && own <= (m->may_take ? 1 : 0); own++) /* and it may have taken some at once */
        if (model_pools_gave_back(m, device, less + own * unit)) {
            m->taken[device] += own * unit;
            m->may_take -= own;
            m->adopted++;
            return;
        }
    if (m->driver && m->managed_ever && got != want && (more + less) % unit == 0) { /* which moves */
        m->taken[device] += more - less;
        m->adopted++;
        return;
    }
    if (!m->driver || got == want || (more + less) % unit || more / unit > m->may_take || less > m->taken[device])
        return;
    m->taken[device] += more - less;
    m->may_take -= more / unit;
    m->adopted++;
}

MODEL_ON(mem_get_info)
{
    int device = model_current_device(m);
    if (device < 0) {
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
        a->writes_zero = true;
        return;
    }
    if (!model_succeeded(a))
        return;
    if (c->free)
        adopt(m, device, *c->free);
    if (c->free)
        model_expect(a, "free", *c->free, model_device_free(m, device));
    if (c->total)
        model_expect(a, "total", *c->total, m->profile->device_memory);
}

/* The model makes no memory of cuMemAlloc, so only 0, managed memory and memory of pools can be freed. */
MODEL_ON(mem_free)
{
    struct model_block *block = model_block_at(m, c->dptr);
    struct model_managed *managed = model_managed_at(m, c->dptr);
    if (!c->dptr)
        return;
    if (managed && managed->start == c->dptr) {
        if (model_succeeded(a))
            model_managed_free(m, managed);
        return;
    }
    if (block && block->start == c->dptr) {
        if (model_succeeded(a))
            model_block_free_now(m, block);
        return;
    }
    bool vmm = model_reservation_at(m, c->dptr) || model_mapping_at(m, c->dptr);
    model_refuse(a, VMM_ERROR_INVALID_VALUE, vmm ? "VMM-ALLOC-FREE-VMM" : "VMM-ALLOC-FREE-UNKNOWN");
}
