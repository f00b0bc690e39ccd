/* SPDX-License-Identifier: Apache-2.0 */
/* Imported files: invented contents, a token's with bytes changed, the token itself overwritten, a valid descriptor as
 * another type. Only the unchanged token is accepted.
 *
 *   input   [ how | the file ]  [ how | bytes to XOR over the token ]  [ how | a type ] */
#include "fuzz.h"

#include <fcntl.h>
#include <string.h>

#include "share_rig.h"
#include "share_token.h"

enum { MOST = 4096, UNTOUCHED = 0x77 };

struct rig {
    vmm_system *sys;
    int fd, file; /* exported; of the same file, for writing */
    struct share_token token;
};

static struct rig *rig(void)
{
    static struct rig made = {.sys = NULL};
    vmm_mem_generic_allocation_handle handle = 0;
    struct os_file_is is;
    char name[64];
    if (made.sys)
        return &made;
    snprintf(rig_root, sizeof rig_root, "%s", fuzz_room());
    made.sys = rig_open("one");
    if (!made.sys || rig_create(made.sys, RIG_G, &handle) || (made.fd = rig_export(made.sys, handle)) < 0 ||
        share_token_read(made.fd, &made.token, &is) != SHARE_TOKEN)
        tap_bail("nothing is exported: %s", vmm_last_detail()->note);
    snprintf(name, sizeof name, "token.%" PRIu64, made.token.number);
    made.file = open(rig_path("one", name), O_RDWR | O_CLOEXEC);
    if (made.file < 0)
        tap_bail("the token cannot be written to");
    return &made;
}

static void import(const struct rig *r, int fd, int type, bool good)
{
    static const char prefix[] = "VMM-IMPORT-";
    vmm_mem_generic_allocation_handle handle = UNTOUCHED;
    vmm_result result = vmm_mem_import_from_shareable_handle(r->sys, &handle, (void *)(uintptr_t)(unsigned)fd, type);
    fuzz_answer(result, "import");
    if ((result == VMM_SUCCESS) != good)
        fuzz_finding("%s, of a descriptor that is %s", vmm_result_name(result), good ? "good" : "none of ours");
    if (result && handle != UNTOUCHED)
        fuzz_finding("the handle of a refused import was written to");
    if (result && strncmp(vmm_last_detail()->rule, prefix, sizeof prefix - 1) != 0)
        fuzz_finding("refused by %s", vmm_last_detail()->rule);
    if (!result)
        vmm_mem_release(r->sys, handle);
}

static void write_all(int file, const void *bytes, size_t size)
{
    if (pwrite(file, bytes, size, 0) != (ssize_t)size || ftruncate(file, (off_t)size))
        tap_bail("a file in the room cannot be written to");
}

static void import_file(const struct rig *r, const void *bytes, size_t size)
{
    int file = open("made-up", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        tap_bail("no file in the room");
    write_all(file, bytes, size);
    import(r, file, RIG_FD, false);
    close(file);
}

static void import_type(const struct rig *r, struct fuzz_bytes *bytes)
{
    int type = (int)(uint32_t)fuzz_word(bytes);
    if (type != RIG_FD && type != VMM_MEM_HANDLE_TYPE_FABRIC) /* which would read 64 bytes at that address */
        import(r, r->fd, type, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct rig *r = rig();
    struct fuzz_bytes bytes = {data, size};
    uint8_t how = fuzz_byte(&bytes), over[MOST];
    size_t length = bytes.left > sizeof r->token ? bytes.left : sizeof r->token;
    if (size > MOST)
        return 0;
    memset(over, 0, sizeof over);
    memcpy(over, &r->token, sizeof r->token);
    for (size_t i = 0; i < bytes.left; i++)
        over[i] ^= bytes.at[i];
    if (how >= 64) /* cut */
        length = length * (how & 31u) / 32;
    switch (how % 4) {
    case 0: import_file(r, bytes.at, bytes.left); break;
    case 1: import_file(r, over, length); break;
    case 2:
        write_all(r->file, over, length);
        import(r, r->fd, RIG_FD, length == sizeof r->token && !memcmp(over, &r->token, sizeof r->token));
        write_all(r->file, &r->token, sizeof r->token);
        break;
    default: import_type(r, &bytes);
    }
    import(r, r->fd, RIG_FD, true);
    return 0;
}
