/* SPDX-License-Identifier: Apache-2.0 */
/* 64 bytes as a fabric handle: invented, or a valid handle's with bytes changed, with a correct checksum or not. Only
 * valid handles are accepted.
 *
 * input [ how | 64 bytes ] how: 1 as they are, else XORed over a valid handle; 2 with a correct checksum; 4, 8 which
 * one */
#include "fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "fabric_handle.h"
#include "share_rig.h"

enum { GOOD = 4, UNTOUCHED = 0x77, BYTES = VMM_FABRIC_HANDLE_SIZE };

struct nodes {
    vmm_system *sys[2];
    unsigned char of[GOOD][BYTES];
};

static vmm_system *node(const char *name)
{
    vmm_system *sys = NULL;
    char spec[300];
    snprintf(spec, sizeof spec, "sim:max,machine=%s,imex=%s/imex", name, fuzz_room());
    if (vmm_open(spec, &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS)
        tap_bail("%s does not start: %s", spec, vmm_last_detail()->note);
    return sys;
}

static void channel(unsigned number, bool there)
{
    char path[100];
    snprintf(path, sizeof path, "%s/imex/channel%u", fuzz_room(), number);
    if (there)
        close(open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    else
        unlink(path);
}

static void export(vmm_system *sys, unsigned char bytes[BYTES])
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .requested_handle_types = VMM_MEM_HANDLE_TYPE_FABRIC,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    uint64_t unit = 0;
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_mem_get_allocation_granularity(sys, &unit, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (vmm_mem_create(sys, &handle, unit, &prop, 0) ||
        vmm_mem_export_to_shareable_handle(sys, bytes, handle, VMM_MEM_HANDLE_TYPE_FABRIC, 0))
        tap_bail("nothing is exported: %s", vmm_last_detail()->note);
}

/* Two nodes; the last handle is on another channel. */
static struct nodes *nodes(void)
{
    static struct nodes made;
    if (made.sys[0])
        return &made;
    fuzz_room();
    if (mkdir("imex", 0700))
        tap_bail("no folder of channels");
    channel(0, true);
    made.sys[0] = node("one");
    made.sys[1] = node("two");
    for (unsigned i = 0; i < GOOD; i++) {
        if (i == GOOD - 1) {
            channel(1, true);
            channel(0, false);
        }
        export(made.sys[i % 2], made.of[i]);
    }
    channel(0, true);
    return &made;
}

static bool is_good(const struct nodes *n, const unsigned char bytes[BYTES])
{
    for (unsigned i = 0; i < GOOD; i++)
        if (!memcmp(n->of[i], bytes, BYTES))
            return true;
    return false;
}

static void import(vmm_system *sys, unsigned char bytes[BYTES], bool good)
{
    static const char prefix[] = "VMM-IMPORT-FABRIC";
    vmm_mem_generic_allocation_handle handle = UNTOUCHED;
    vmm_result result = vmm_mem_import_from_shareable_handle(sys, &handle, bytes, VMM_MEM_HANDLE_TYPE_FABRIC);
    fuzz_answer(result, "import");
    if ((result == VMM_SUCCESS) != good)
        fuzz_finding("%s, of a handle that is %s", vmm_result_name(result), good ? "good" : "none");
    if (result && (handle != UNTOUCHED || strncmp(vmm_last_detail()->rule, prefix, sizeof prefix - 1) != 0))
        fuzz_finding("refused by %s, the handle is %#" PRIx64, vmm_last_detail()->rule, handle);
    if (!result)
        vmm_mem_release(sys, handle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nodes *n = nodes();
    struct fuzz_bytes in = {data, size};
    unsigned how = fuzz_byte(&in);
    unsigned char bytes[BYTES];
    for (unsigned i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(fuzz_byte(&in) ^ (how & 1 ? 0 : n->of[how / 4 % GOOD][i]));
    if (how & 2) { /* with any value, and everything else correct */
        struct imex_place place;
        struct share_label label;
        (void)fabric_handle_read(bytes, &place, &label);
        fabric_handle_write(bytes, &place, &label);
    }
    import(n->sys[how / 16 % 2], bytes, is_good(n, bytes));
    return 0;
}
