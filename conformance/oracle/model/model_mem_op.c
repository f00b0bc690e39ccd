/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations on the default stream, each waited for at once. A list of them is not modelled. */
#include "model_parts.h"

#define INVALID VMM_ERROR_INVALID_VALUE

enum { CAN_FLUSH_REMOTE_WRITES = 98 };

struct op {
    uint64_t address, value;
    unsigned width, flags;
    bool waits;
};

/* The value in memory. False when the model does not keep all of its bytes. */
static bool known_value(struct model *m, uint64_t address, unsigned width, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < width; i++) {
        int byte = model_byte(m, address + i);
        if (byte < 0)
            return false;
        *value |= (uint64_t)byte << 8 * i;
    }
    return true;
}

/* Is the wait over as things are? A difference counts as a number with a sign. */
static bool is_over(const struct op *op, uint64_t memory)
{
    uint64_t difference = memory - op->value;
    switch (op->flags) {
    case VMM_STREAM_WAIT_VALUE_GEQ: return op->width == 4 ? (int32_t)(uint32_t)difference >= 0 : (int64_t)difference >= 0;
    case VMM_STREAM_WAIT_VALUE_EQ: return memory == op->value;
    case VMM_STREAM_WAIT_VALUE_AND: return memory & op->value;
    default: return op->width == 4 ? (uint32_t) ~(memory | op->value) : ~(memory | op->value);
    }
}

static bool flags_allowed(const struct model *m, const struct op *op, struct model_answer *a)
{
    const unsigned flush = VMM_STREAM_WAIT_VALUE_FLUSH;
    if (op->waits ? (op->flags & ~flush) > VMM_STREAM_WAIT_VALUE_NOR : op->flags != 0)
        return model_refuse(a, INVALID, "VMM-MEMOP-FLAGS");
    if ((op->flags & flush) && !model_attribute(m, CAN_FLUSH_REMOTE_WRITES))
        return model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-MEMOP-UNSUPPORTED");
    return true;
}

static bool allowed(struct model *m, const struct op *op, struct model_answer *a)
{
    const int device = model_current_device(m);
    if (device < 0)
        return model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    if (!flags_allowed(m, op, a))
        return false;
    if (op->address % op->width)
        return model_refuse(a, INVALID, "VMM-MEMOP-ALIGNMENT");
    const struct model_mapping *mapping = model_mapping_at(m, op->address);
    if (!mapping)
        return model_refuse(a, INVALID, "VMM-MEMOP-ADDRESS");
    const int rights = model_device_rights(mapping, device);
    if (!rights)
        return model_refuse(a, INVALID, "VMM-MEMOP-NO-ACCESS");
    a->loses = !op->waits && rights != VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return !a->loses || model_breach(m, a, "VMM-MEMOP-READ-ONLY");
}

static void predict(struct model *m, const struct op *op, struct model_answer *a)
{
    uint64_t memory;
    if (!allowed(m, op, a))
        return;
    if (op->waits) /* one that may not be over is not made: it takes the stream, as a fault takes the device */
        a->loses = !known_value(m, op->address, op->width, &memory) || !is_over(op, memory);
    else if (model_succeeded(a)) {
        uint8_t bytes[8];
        for (unsigned i = 0; i < op->width; i++)
            bytes[i] = (uint8_t)(op->value >> 8 * i);
        model_write(m, op->address, op->width, bytes, op->width);
    }
}

MODEL_ON(stream_write_value32)
{
    predict(m, &(struct op){c->addr, c->value, 4, c->flags, false}, a);
}

MODEL_ON(stream_write_value64)
{
    predict(m, &(struct op){c->addr, c->value, 8, c->flags, false}, a);
}

MODEL_ON(stream_wait_value32)
{
    predict(m, &(struct op){c->addr, c->value, 4, c->flags, true}, a);
}

MODEL_ON(stream_wait_value64)
{
    predict(m, &(struct op){c->addr, c->value, 8, c->flags, true}, a);
}
