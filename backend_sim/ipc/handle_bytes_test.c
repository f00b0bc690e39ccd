/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that one process writes and another reads, possibly with a different build of this version: handles of IPC and of
 * fabrics, tokens, and the head of the shared state. A test that reads what it wrote itself would not notice a change. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "fabric_handle.h"
#include "ipc_handle.h"
#include "share_rig.h"
#include "share_state.h"
#include "share_token.h"

enum { SIZE = VMM_FABRIC_HANDLE_SIZE };

/* Are they these words, lowest byte first? */
static void words_are(const void *bytes, const uint64_t *want, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word = 0;
        for (size_t byte = 8; byte--;)
            word = word << 8 | ((const unsigned char *)bytes)[8 * i + byte];
        tap_ok(word == want[i], "word %zu of %s is 0x%" PRIx64 " (0x%" PRIx64 ")", i, what, want[i], word);
    }
}

static void test_ipc(void)
{
    unsigned char bytes[SIZE];
    struct ipc_handle handle = {.kind = IPC_MEMORY,
                                .label = {.machine = 0x11, .number = 0x12, .nonce = {0x13, 0x14}, .index = 0x15},
                                .home = 0x16,
                                .size = UINT64_C(1) << 40,
                                .process = 0x17,
                                .context = 0x18};
    ipc_handle_write(bytes, &handle);
    words_are(bytes, (const uint64_t[]){0x3163706976756300, 0x11, 0x12, 0x13, 0x14, 0x0100000000000015, 0x1600170018, 0x7a81073c44f581a9}, 8,
              "a handle of memory");
    handle.kind = IPC_EVENT;
    ipc_handle_write(bytes, &handle);
    words_are(bytes, (const uint64_t[]){0x3163706976756301}, 1, "one of an event");
}

static void test_fabric(void)
{
    unsigned char bytes[SIZE];
    const struct imex_place place = {.domain = 0x21, .channel = 0x22};
    const struct share_label label = {.machine = 0x23, .number = 0x24, .nonce = {0x25, 0x26}, .index = 0x27};
    fabric_handle_write(bytes, &place, &label);
    words_are(bytes, (const uint64_t[]){0x3163697262616676, 0x21, 0x2700000022, 0x23, 0x24, 0x25, 0x26, 0x375dfb525415712b}, 8, "a fabric handle");
}

static void test_token(void)
{
    const struct share_token token = {.machine = 0x31, .index = 0x32, .number = 0x33, .nonce = {0x34, 0x35}, .name = "named"};
    struct os_file_is is;
    unsigned char bytes[64] = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/token", rig_root);
    int file = os_file_open(path, OS_OPEN_NEW);
    if (file < 0 || !share_token_write(file, &token, &is) || !os_file_read(file, 0, bytes, sizeof bytes))
        tap_bail("no token");
    os_file_close(file);
    unlink(path);
    words_are(bytes, (const uint64_t[]){0x31656b6f74636d76, 0x31, 0x32, 0x33, 0x34, 0x35}, 6, "a token");
    tap_text((const char *)bytes + 48, "named", "behind them is its name");
}

static void test_state(void)
{
    struct sim_profile profile;
    struct share_state *state = calloc(1, sizeof *state);
    if (!state || !sim_profile_builtin("h100", &profile))
        tap_bail("no state");
    share_state_init(state, &profile, 7);
    words_are(state, (const uint64_t[]){0x3165686873756376, SHARE_VERSION, sizeof *state, 7}, 4, "the shared state");
    free(state);
}

int main(void)
{
    rig_begin();
    test_ipc();
    test_fabric();
    test_token();
    test_state();
    rig_end();
    return tap_done();
}
