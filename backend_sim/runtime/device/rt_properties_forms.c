/* SPDX-License-Identifier: Apache-2.0 */
/* cudaDeviceProp in its layouts. libcudart.so.12 has two: programs built with CUDA 12 use cudaGetDeviceProperties_v2;
 * those built with CUDA 11 use the name without _v2, and have room for only the beginning of the struct. */
#include <stddef.h>
#include <string.h>

#include "rt.h"

/* A field of type int, unsigned or size_t, and its attribute. */
static const struct property {
    size_t offset, size;
    CUdevice_attribute attribute;
} properties[] = {
#define RT_PROPERTY(field, name)                                                                                    \
    {offsetof(struct cudaDeviceProp, field), sizeof((struct cudaDeviceProp *)0)->field, CU_DEVICE_ATTRIBUTE_##name},
#define RT_NEW(field, name) RT_PROPERTY(field, name)
#if CUDART_VERSION < 13000
#define RT_12(field, name) RT_PROPERTY(field, name)
#define RT_13(field, name)
#else
#define RT_12(field, name)
#define RT_13(field, name) RT_PROPERTY(field, name)
#endif
#include "rt_properties.def"
};

enum { PROPERTIES = sizeof properties / sizeof *properties };

static size_t get_field(const struct cudaDeviceProp *prop, const struct property *property)
{
    size_t value = 0;
    int number;
    const char *from = (const char *)prop + property->offset;
    if (property->size == sizeof value)
        memcpy(&value, from, sizeof value);
    else
        value = (size_t)(memcpy(&number, from, sizeof number), number);
    return value;
}

static void set_field(struct cudaDeviceProp *prop, const struct property *property, int number)
{
    size_t value = (size_t)number;
    memcpy((char *)prop + property->offset, property->size == sizeof value ? (void *)&value : (void *)&number, property->size);
}

/* LUIDs exist only on Windows. */
static cudaError_t name_device(struct cudaDeviceProp *prop, int device)
{
    cudaError_t result = DRIVER(cuDeviceGetName, prop->name, sizeof prop->name, device);
    if (result == cudaSuccess)
        result = DRIVER(cuDeviceGetUuid, &prop->uuid, device);
    if (result == cudaSuccess)
        result = DRIVER(cuDeviceTotalMem, &prop->totalGlobalMem, device);
    return result;
}

/* An attribute that an older driver does not know is 0. */
static cudaError_t get(struct cudaDeviceProp *prop, int device)
{
    memset(prop, 0, sizeof *prop);
    cudaError_t result = name_device(prop, device);
    for (size_t i = 0; i < PROPERTIES && result == cudaSuccess; i++) {
        int value = 0;
        (void)DRIVER(cuDeviceGetAttribute, &value, properties[i].attribute, device);
        set_field(prop, &properties[i], value);
    }
    return result;
}

/* Writes the first `size` bytes once everything is known. */
static cudaError_t get_part(void *to, size_t size, int device)
{
    struct cudaDeviceProp prop;
    cudaError_t result = to ? get(&prop, device) : cudaErrorInvalidValue;
    if (result == cudaSuccess)
        memcpy(to, &prop, size);
    return result;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    RT_ANYWHERE(get_part(prop, sizeof *prop, device));
}

#if CUDART_VERSION < 13000
#undef cudaGetDeviceProperties
#pragma GCC visibility push(default)
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);
#pragma GCC visibility pop

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    RT_ANYWHERE(get_part(prop, offsetof(struct cudaDeviceProp, hostRegisterSupported), device));
}
#endif

/* The number of requested properties that the device meets: it has at least the value of each field that is not 0. */
static int matches(const struct cudaDeviceProp *wished, const struct cudaDeviceProp *prop)
{
    int met = wished->totalGlobalMem && prop->totalGlobalMem >= wished->totalGlobalMem;
    for (size_t i = 0; i < PROPERTIES; i++) {
        size_t wish = get_field(wished, &properties[i]);
        met += wish && get_field(prop, &properties[i]) >= wish;
    }
    return met;
}

/* NVIDIA documents only "best match": here, the first of the devices that meet the most requests. */
static cudaError_t choose(int *device, const struct cudaDeviceProp *wished)
{
    struct cudaDeviceProp prop;
    int count = 0, best = -1;
    if (!device || !wished)
        return cudaErrorInvalidValue;
    cudaError_t result = DRIVER_CORE(cuDeviceGetCount, &count);
    for (int i = 0; i < count && result == cudaSuccess; i++) {
        result = get(&prop, i);
        if (result == cudaSuccess && matches(wished, &prop) > best) {
            best = matches(wished, &prop);
            *device = i;
        }
    }
    return result;
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    RT_ANYWHERE(choose(device, prop));
}
