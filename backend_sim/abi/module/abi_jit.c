/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_jit.h"

#include <string.h>

/* An option's value is stored in a pointer, whatever its type. */
static size_t number(void *value)
{
    return (size_t)(uintptr_t)value;
}

/* The index of an option; count if it was not passed. The last one wins. */
static unsigned place_of(CUjit_option option, const CUjit_option *options, unsigned count)
{
    unsigned place = count;
    for (unsigned i = 0; i < count; i++)
        if (options[i] == option)
            place = i;
    return place;
}

/* Writes a log, as far as there is room, and its length; a buffer without a size option has size 0. */
static void write_log(const char *log, CUjit_option buffer, CUjit_option size, const CUjit_option *options, void **values,
                      unsigned count)
{
    unsigned at_buffer = place_of(buffer, options, count), at_size = place_of(size, options, count);
    if (at_size == count)
        return;
    size_t room = number(values[at_size]), length = strlen(log);
    if (at_buffer == count || !values[at_buffer] || room == 0)
        length = 0;
    else {
        length = length < room ? length : room - 1;
        memcpy(values[at_buffer], log, length);
        ((char *)values[at_buffer])[length] = '\0';
    }
    values[at_size] = (void *)(uintptr_t)length; /* the number of bytes logged */
}

CUresult abi_jit_answered(CUresult result, const char *log, const CUjit_option *options, void **values, unsigned count)
{
    if ((result != CUDA_SUCCESS && !log[0]) || !options || !values)
        return result;
    write_log("", CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, options, values, count);
    write_log(log, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, options, values, count);
    unsigned wall_time = place_of(CU_JIT_WALL_TIME, options, count);
    if (wall_time < count)
        values[wall_time] = NULL; /* 0.0f milliseconds */
    return result;
}
