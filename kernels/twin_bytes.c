/* SPDX-License-Identifier: Apache-2.0 */
/* Twins that move bytes or add them up. */
#include <string.h>

#include "twin.h"

bool twin_fill(struct twin_memory *memory, const uint64_t *args)
{
    unsigned char *to;
    uint64_t size;
    for (uint64_t dst = args[0], left = args[1]; left; dst += size, left -= size) {
        size = left;
        if (!memory->run(memory, dst, 1, &size, TWIN_WRITE, &to))
            return false;
        if (to)
            memset(to, (int)args[2], size);
    }
    return true;
}

/* Through a small buffer: the source's and the destination's runs may overlap. */
bool twin_copy(struct twin_memory *memory, const uint64_t *args)
{
    unsigned char buffer[4096], *from, *to;
    uint64_t dst = args[0], src = args[1], size, part;
    for (uint64_t left = args[2]; left; src += size, left -= size) {
        size = left < sizeof buffer || memory->dry ? left : sizeof buffer;
        if (!memory->run(memory, src, 1, &size, TWIN_READ, &from))
            return false;
        if (from)
            memcpy(buffer, from, size);
        else
            memset(buffer, 0, size < sizeof buffer ? size : sizeof buffer);
        for (uint64_t done = 0; done < size; done += part, dst += part) {
            part = size - done;
            if (!memory->run(memory, dst, 1, &part, TWIN_WRITE, &to))
                return false;
            if (to)
                memcpy(to, buffer + done, part);
        }
    }
    return true;
}

bool twin_sum(struct twin_memory *memory, const uint64_t *args)
{
    unsigned char *from;
    uint64_t size, sum = 0;
    for (uint64_t src = args[0], left = args[1]; left; src += size, left -= size) {
        size = left;
        if (!memory->run(memory, src, 1, &size, TWIN_READ, &from))
            return false;
        for (uint64_t i = 0; from && i < size; i++)
            sum += from[i];
    }
    return twin_add(memory, args[2], sum);
}

/* Adds up the bytes, out of size, that the stride reaches from the first one on. It reads in four places at once, which the processor
 * fetches as four streams. Returns the offset of the last byte. */
static uint64_t add_strided(const unsigned char *at, uint64_t size, uint64_t stride, uint64_t *sum)
{
    enum { PLACES = 4 };
    const uint64_t count = (size - 1) / stride + 1, part = count / PLACES * stride;
    const unsigned char *b = at + part, *c = b + part, *d = c + part;
    uint64_t all = 0;
    for (uint64_t i = 0; i < part; i += stride)
        all += (uint64_t)at[i] + b[i] + c[i] + d[i];
    for (uint64_t i = count / PLACES * PLACES; i < count; i++)
        all += at[i * stride];
    *sum += all;
    return (count - 1) * stride;
}

/* Granted bytes are read without another query for each. */
bool twin_stride_read(struct twin_memory *memory, const uint64_t *args)
{
    uint64_t sum = 0, value = 0, n = args[1], stride = args[2], size;
    for (uint64_t i = 0; i < n; i = stride < n - i ? i + stride : n) {
        const unsigned char *at = twin_granted(memory, args[0] + i, &size);
        if (at)
            i += add_strided(at, size < n - i ? size : n - i, stride, &sum);
        else if (!twin_load(memory, args[0] + i, 1, &value))
            return false;
        else
            sum += value;
    }
    return twin_add(memory, args[3], sum);
}

bool twin_touch(struct twin_memory *memory, const uint64_t *args)
{
    unsigned width = (unsigned)args[2];
    uint64_t value = 0;
    if (args[1])
        return twin_store(memory, args[0], width, VMM_KERNEL_TOUCH_VALUE);
    return twin_load(memory, args[0], width, &value) && twin_store(memory, args[3], 8, value);
}

bool twin_atomic_add(struct twin_memory *memory, const uint64_t *args)
{
    return !args[1] || twin_add(memory, args[0], args[1]);
}
