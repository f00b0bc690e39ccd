/* SPDX-License-Identifier: Apache-2.0 */
/* Imported memory with a backend: its size is unknown until it is mapped, and everything else about it is checked. */
#include "shadow_rig.h"

/* A descriptor of memory that this process exported. */
static handle_t imported(struct world *w)
{
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    handle_t own = 0, handle = 0;
    int fd = -1;
    prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (vmm_mem_create(w->sys, &own, 2 * G, &prop, 0) ||
        vmm_mem_export_to_shareable_handle(w->sys, &fd, own, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))
        tap_bail("no descriptor: %s", vmm_last_detail()->note);
    tap_result(vmm_mem_import_from_shareable_handle(w->sys, &handle, (void *)(uintptr_t)(unsigned)fd,
                                                    VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
               VMM_SUCCESS, "an import");
    said(NULL, "", "an import");
    vmm_mem_release(w->sys, own);
    close(fd);
    return handle;
}

/* The first mapping shows the size of imported memory; all calls before and after it are checked. */
static void test_imported(void)
{
    struct world w = opened("", "h100");
    uint64_t held = vmm_leaks(w.sys, NULL, NULL);
    vmm_mem_allocation_prop prop;
    vmm_deviceptr at = 0;
    int fd = -1;
    vmm_mem_address_reserve(w.sys, &at, 8 * G, 0, 0, 0);
    handle_t first = imported(&w), second = imported(&w), again = 0;
    tap_u64(vmm_leaks(w.sys, NULL, NULL), held + 3, "two imports and the reservation are held");
    tap_result(vmm_mem_get_allocation_properties_from_handle(w.sys, &prop, first), VMM_SUCCESS, "its properties");
    said(NULL, "", "its properties");
    tap_result(vmm_mem_export_to_shareable_handle(w.sys, &fd, first, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), VMM_ERROR_INVALID_VALUE,
               "its export");
    said("VMM-EXPORT-IMPORTED", "", "its export");
    tap_result(vmm_mem_map(w.sys, at, G, 0, first, 0), VMM_ERROR_NOT_SUPPORTED, "a mapping of half of it, before its size is known");
    said("VMM-MAP-SIZE-WHOLE", "no call reports the size of imported memory", "half of it");
    tap_result(vmm_mem_map(w.sys, at, 2 * G, G, first, 0), VMM_ERROR_NOT_SUPPORTED, "from its middle on");
    said("VMM-MAP-OFFSET", "", "from its middle on");
    tap_result(vmm_mem_map(w.sys, w.at, 2 * G, 0, first, 0), VMM_ERROR_INVALID_VALUE, "where something is mapped");
    said("VMM-MAP-OVERLAP", "", "where something is mapped");
    tap_result(vmm_mem_map(w.sys, at, 2 * G, 0, first, 0), VMM_SUCCESS, "all of it");
    said(NULL, "", "all of it");
    tap_result(vmm_mem_map(w.sys, at + 2 * G, 4 * G, 0, first, 0), VMM_ERROR_NOT_SUPPORTED, "more of it than there is");
    said("VMM-MAP-SIZE-WHOLE", "", "more of it than there is");
    tap_ok(vmm_last_detail()->nearest.size == 2 * G && !strstr(vmm_last_detail()->note, "no call reports"), "now its size is known");
    tap_result(vmm_mem_map(w.sys, at + 2 * G, 2 * G, 0, second, 0), VMM_SUCCESS, "the other import");
    said(NULL, "", "the other import");
    tap_result(vmm_memset_d8(w.sys, at, 1, G), VMM_ERROR_INVALID_VALUE, "a fill without rights");
    said("VMM-COPY-NO-WRITE", "", "a fill without rights");
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW};
    tap_result(vmm_mem_set_access(w.sys, at, 4 * G, &desc, 1), VMM_SUCCESS, "rights");
    said(NULL, "", "rights");
    tap_result(vmm_memset_d8(w.sys, at, 1, 4 * G), VMM_SUCCESS, "a fill across both");
    said(NULL, "", "a fill across both");
    tap_result(vmm_mem_retain_allocation_handle(w.sys, &again, at), VMM_SUCCESS, "it is retained");
    said(NULL, "", "it is retained");
    tap_ok(again == first, "and has the same value");
    vmm_mem_release(w.sys, again);
    vmm_mem_release(w.sys, first);
    vmm_mem_release(w.sys, second);
    answer(&w, VMM_CALL_mem_release, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_mem_release(w.sys, second), VMM_ERROR_INVALID_VALUE, "once too often");
    said("VMM-RELEASE-HANDLE-STALE", "", "once too often");
    tap_result(vmm_mem_unmap(w.sys, at, 4 * G), VMM_SUCCESS, "both are unmapped");
    said(NULL, "", "both are unmapped");
    vmm_mem_address_free(w.sys, at, 8 * G);
    tap_u64(vmm_leaks(w.sys, NULL, NULL), held, "nothing of it is left");
    handle_t never = imported(&w);
    tap_result(vmm_mem_release(w.sys, never), VMM_SUCCESS, "an import that was never mapped");
    said(NULL, "", "never mapped");
    tap_u64(vmm_leaks(w.sys, NULL, NULL), held, "nothing of that one either");
    imported(&w);
    follows(&w, true, "after imports");
    tap_u64(vmm_leaks(w.sys, NULL, NULL), held + 1, "an import that is not released is a leak");
    vmm_close(w.sys);
}

/* If the backend reports no properties, the object and its mapping are not tracked. */
static void test_imported_object(void)
{
    struct world w = opened("", "h100");
    handle_t handle = 0;
    answer_with(&w, VMM_CALL_mem_import_from_shareable_handle, 0x1234, sizeof handle);
    tap_result(vmm_mem_import_from_shareable_handle(w.sys, &handle, (void *)3, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), VMM_SUCCESS,
               "an import whose properties the backend does not report");
    said(NULL, "", "such an import");
    answer(&w, VMM_CALL_mem_map, VMM_SUCCESS);
    tap_result(vmm_mem_map(w.sys, w.at + 2 * G, 2 * G, 0, handle, 0), VMM_SUCCESS, "its mapping");
    said("VMM-SHADOW-OPAQUE", "", "its mapping");
    follows(&w, true, "beside an object that is not followed");
    vmm_close(w.sys);
}

/* Memory of a device that the process does not see, for example from a peer process with another CUDA_VISIBLE_DEVICES. */
static void test_hidden_device(void)
{
    struct world w = opened("", "h200x2");
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, -2);
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 1}, RW};
    uint64_t held = vmm_leaks(w.sys, NULL, NULL);
    handle_t handle = 0;
    answer_next(&w, VMM_CALL_mem_import_from_shareable_handle, 0x1234, sizeof handle, VMM_CALL_mem_get_allocation_properties_from_handle, &prop);
    tap_result(vmm_mem_import_from_shareable_handle(w.sys, &handle, (void *)3, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), VMM_SUCCESS,
               "an import of a hidden device's memory");
    tap_u64(vmm_leaks(w.sys, NULL, NULL), held + 1, "it is followed");
    answer(&w, VMM_CALL_mem_map, VMM_SUCCESS);
    tap_result(vmm_mem_map(w.sys, w.at + 2 * G, 2 * G, 0, handle, 0), VMM_SUCCESS, "its mapping");
    said(NULL, "", "its mapping");
    answer(&w, VMM_CALL_mem_set_access, VMM_SUCCESS);
    tap_result(vmm_mem_set_access(w.sys, w.at + 2 * G, 2 * G, &desc, 1), VMM_SUCCESS, "rights of a device that is seen");
    said(NULL, "", "rights");
    answer(&w, VMM_CALL_mem_release, VMM_SUCCESS);
    vmm_mem_release(w.sys, handle);
    answer(&w, VMM_CALL_mem_unmap, VMM_SUCCESS);
    vmm_mem_unmap(w.sys, w.at + 2 * G, 2 * G);
    tap_u64(vmm_leaks(w.sys, NULL, NULL), held, "and released");
    vmm_close(w.sys);
}

int main(void)
{
    test_hidden_device();
    test_imported();
    test_imported_object();
    return tap_done();
}
