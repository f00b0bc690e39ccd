/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_refusal.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "detail.h"

void cuda_words_open(struct cuda_words *words, const struct cuda_library *library)
{
    cuda_function name = CUDA_FIND(library, cuGetErrorName);
    cuda_function string = CUDA_FIND(library, cuGetErrorString);
    memcpy(&words->error_name, &name, sizeof name);
    memcpy(&words->error_string, &string, sizeof string);
}

/* The fix for results that the call's arguments did not cause. */
static const char *way_out(vmm_result result)
{
    switch (result) {
    case VMM_ERROR_NOT_INITIALIZED:
        return "call vmm_init first; a forked child cannot use the driver that its parent initialised";
    case VMM_ERROR_NO_DEVICE:
        return "check nvidia-smi, /dev/nvidia* and CUDA_VISIBLE_DEVICES";
    case VMM_ERROR_STUB_LIBRARY:
        return "this is the toolkit's stub to link with, not a driver: name the driver's libcuda.so.1";
    case VMM_ERROR_DEVICE_UNAVAILABLE:
        return "another process uses the device, or it is blocked: check nvidia-smi";
    case VMM_ERROR_ILLEGAL_ADDRESS:
        return "earlier device work faulted and its context is lost; mappings can still be unmapped and memory released";
    case VMM_ERROR_SYSTEM_DRIVER_MISMATCH:
        return "libcuda and the kernel module have different versions: reboot, or install matching versions";
    default:
        return "";
    }
}

static const char *ask(vmm_result (*question)(vmm_result, const char **), vmm_result result)
{
    const char *text = NULL;
    return question && question(result, &text) == VMM_SUCCESS && text ? text : NULL;
}

static bool listed(vmm_result result)
{
    switch (result) {
#define VMM_RESULT(name, number, text) case VMM_##name:
#include "results.def"
        return true;
    default:
        return false;
    }
}

/* Appends to the note, truncated to fit. */
static void add(vmm_detail *detail, const char *text)
{
    size_t at = strlen(detail->note);
    if (text && text[0])
        snprintf(detail->note + at, sizeof detail->note - at, "%s%s", at ? "; " : "", text);
}

static void add_name(vmm_detail *detail, const struct cuda_words *words, vmm_result result)
{
    char text[80];
    const char *name = ask(words->error_name, result);
    snprintf(text, sizeof text, "%s (%d)", name ? name : "a code that the driver has no name for", (int)result);
    add(detail, text);
}

vmm_result cuda_refused(const struct cuda_words *words, vmm_result result)
{
    vmm_detail *detail = vmm_detail_here();
    char said[sizeof detail->note];
    detail->result = result;
    /* NOT_READY is not a refusal. */
    if (result == VMM_ERROR_NOT_READY) {
        detail->note[0] = '\0';
        return result;
    }
    detail->severity = VMM_SEVERITY_ERROR;
    const char *help = way_out(result);
    if (listed(result)) {
        add(detail, help);
        return result;
    }
    memcpy(said, detail->note, sizeof said);
    detail->note[0] = '\0';
    add_name(detail, words, result);
    add(detail, said[0] ? said : ask(words->error_string, result));
    add(detail, help);
    return result;
}
