/* SPDX-License-Identifier: Apache-2.0 */
/* facts_calls.h - the public calls, each remembering its arguments so that an explanation can be held to them.
 *
 *   fc_map(f, p, n, 0, h, 0)   ->   vmm_mem_map(f->sys, p, n, 0, h, 0), and f->call = cuMemMap{ptr = p, size = n, ...}
 */
#ifndef CUVMM_FACTS_CALLS_H
#define CUVMM_FACTS_CALLS_H

#include "factcheck.h"

vmm_result fc_granularity(struct facts *f, uint64_t *g, const vmm_mem_allocation_prop *prop, int option);
vmm_result fc_create(struct facts *f, vmm_mem_generic_allocation_handle *handle, uint64_t size,
                     const vmm_mem_allocation_prop *prop, uint64_t flags);
vmm_result fc_release(struct facts *f, vmm_mem_generic_allocation_handle handle);
vmm_result fc_retain(struct facts *f, vmm_mem_generic_allocation_handle *handle, vmm_deviceptr addr);
vmm_result fc_properties(struct facts *f, vmm_mem_allocation_prop *prop, vmm_mem_generic_allocation_handle handle);
vmm_result fc_reserve(struct facts *f, vmm_deviceptr *ptr, uint64_t size, uint64_t alignment, vmm_deviceptr addr,
                      uint64_t flags);
vmm_result fc_free(struct facts *f, vmm_deviceptr ptr, uint64_t size);
vmm_result fc_map(struct facts *f, vmm_deviceptr ptr, uint64_t size, uint64_t offset,
                  vmm_mem_generic_allocation_handle handle, uint64_t flags);
vmm_result fc_unmap(struct facts *f, vmm_deviceptr ptr, uint64_t size);
vmm_result fc_set_access(struct facts *f, vmm_deviceptr ptr, uint64_t size, const vmm_mem_access_desc *desc,
                         uint64_t count);
vmm_result fc_get_access(struct facts *f, uint64_t *flags, const vmm_mem_location *location, vmm_deviceptr ptr);
vmm_result fc_attribute(struct facts *f, void *data, vmm_pointer_attribute attribute, vmm_deviceptr ptr);
vmm_result fc_range(struct facts *f, vmm_deviceptr *base, uint64_t *size, vmm_deviceptr ptr);
vmm_result fc_dmabuf(struct facts *f, void *handle, vmm_deviceptr ptr, uint64_t size, int type, uint64_t flags);
vmm_result fc_export(struct facts *f, void *out, vmm_mem_generic_allocation_handle handle, int type, uint64_t flags);
vmm_result fc_import(struct facts *f, vmm_mem_generic_allocation_handle *handle, void *in, int type);
vmm_result fc_alloc(struct facts *f, vmm_deviceptr *ptr, uint64_t size);
vmm_result fc_alloc_free(struct facts *f, vmm_deviceptr ptr);
vmm_result fc_htod(struct facts *f, vmm_deviceptr dst, const void *src, uint64_t size);
vmm_result fc_dtoh(struct facts *f, void *dst, vmm_deviceptr src, uint64_t size);
vmm_result fc_dtod(struct facts *f, vmm_deviceptr dst, vmm_deviceptr src, uint64_t size);
vmm_result fc_fill(struct facts *f, vmm_deviceptr dst, unsigned char value, uint64_t n);
vmm_result fc_device_attribute(struct facts *f, int *value, vmm_device_attribute attribute, vmm_device device);

vmm_result fc_fill16(struct facts *f, vmm_deviceptr dst, unsigned short value, uint64_t n);
vmm_result fc_fill32(struct facts *f, vmm_deviceptr dst, unsigned value, uint64_t n);
vmm_result fc_attributes(struct facts *f, unsigned count, const vmm_pointer_attribute *attributes, void **data,
                         vmm_deviceptr ptr);

/* Devices, contexts and streams (facts_calls_context.c). */
vmm_result fc_init(struct facts *f, unsigned flags);
vmm_result fc_driver_version(struct facts *f, int *version);
vmm_result fc_device_count(struct facts *f, int *count);
vmm_result fc_device(struct facts *f, vmm_device *device, int ordinal);
vmm_result fc_device_name(struct facts *f, char *name, int len, vmm_device dev);
vmm_result fc_device_total(struct facts *f, uint64_t *bytes, vmm_device dev);
vmm_result fc_can_access_peer(struct facts *f, int *can, vmm_device dev, vmm_device peer);
vmm_result fc_primary_retain(struct facts *f, vmm_context *ctx, vmm_device dev);
vmm_result fc_primary_release(struct facts *f, vmm_device dev);
vmm_result fc_primary_reset(struct facts *f, vmm_device dev);
vmm_result fc_ctx_create(struct facts *f, vmm_context *ctx, unsigned flags, vmm_device dev);
vmm_result fc_ctx_destroy(struct facts *f, vmm_context ctx);
vmm_result fc_ctx_set_current(struct facts *f, vmm_context ctx);
vmm_result fc_ctx_get_current(struct facts *f, vmm_context *ctx);
vmm_result fc_ctx_get_device(struct facts *f, vmm_device *device);
vmm_result fc_ctx_synchronize(struct facts *f);
vmm_result fc_stream_create(struct facts *f, vmm_stream *stream, unsigned flags);
vmm_result fc_stream_destroy(struct facts *f, vmm_stream stream);
vmm_result fc_stream_synchronize(struct facts *f, vmm_stream stream);
vmm_result fc_stream_query(struct facts *f, vmm_stream stream);
vmm_result fc_host_func(struct facts *f, vmm_stream stream, vmm_host_fn fn, void *user_data);
vmm_result fc_event_create(struct facts *f, vmm_event *event, unsigned flags);
vmm_result fc_event_destroy(struct facts *f, vmm_event event);
vmm_result fc_event_record(struct facts *f, vmm_event event, vmm_stream stream);
vmm_result fc_event_query(struct facts *f, vmm_event event);
vmm_result fc_event_synchronize(struct facts *f, vmm_event event);
vmm_result fc_stream_wait_event(struct facts *f, vmm_stream stream, vmm_event event, unsigned flags);
vmm_result fc_memory_info(struct facts *f, uint64_t *free_bytes, uint64_t *total);

/* Work in a stream (facts_calls_async.c). */
vmm_result fc_htod_async(struct facts *f, vmm_deviceptr dst, const void *src, uint64_t size, vmm_stream stream);
vmm_result fc_dtoh_async(struct facts *f, void *dst, vmm_deviceptr src, uint64_t size, vmm_stream stream);
vmm_result fc_dtod_async(struct facts *f, vmm_deviceptr dst, vmm_deviceptr src, uint64_t size, vmm_stream stream);
vmm_result fc_fill_async(struct facts *f, vmm_deviceptr dst, unsigned char value, uint64_t n, vmm_stream stream);

/* A kernel and the wait for it, which is the call remembered (facts_kernels.c). */
vmm_result fc_kernel_fill(struct facts *f, vmm_deviceptr dst, unsigned char value, uint64_t n);
vmm_result fc_kernel_sum(struct facts *f, vmm_deviceptr src, uint64_t n, uint64_t *sum);

/* For further wrappers: names the call that is about to be made, and its arguments one by one. */
void fc_begin(struct facts *f, const char *function);
void fc_arg(struct facts *f, const char *name, uint64_t value);
void fc_arg_int(struct facts *f, const char *name, int value);
void fc_arg_pointer(struct facts *f, const char *name, const void *pointer);

/* PINNED memory of device id; a grant to device id. */
vmm_mem_allocation_prop fc_prop(int id);
vmm_mem_access_desc fc_desc(int id, int flags);

/* Set-up in one word: a handle on device 0, a reservation, a mapping with rights for device 0. A failing point and 0
 * when it cannot be had. */
vmm_mem_generic_allocation_handle fc_make(struct facts *f, uint64_t size);
vmm_deviceptr fc_take(struct facts *f, uint64_t size);
void fc_put(struct facts *f, vmm_deviceptr ptr, uint64_t size, vmm_mem_generic_allocation_handle handle);
void fc_grant(struct facts *f, vmm_deviceptr ptr, uint64_t size, int flags);

/* The byte at ptr as the current context's device reads it; 0 and a failing point when it may not. */
unsigned char fc_byte(struct facts *f, vmm_deviceptr ptr);
/* The sum of n bytes from ptr on, read the same way. */
uint64_t fc_sum(struct facts *f, vmm_deviceptr ptr, uint64_t n);
/* Free bytes of the current device. */
uint64_t fc_free_memory(struct facts *f);

#endif
