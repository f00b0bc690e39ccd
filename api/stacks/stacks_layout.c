/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks_layout.h"

#include <stddef.h>
#include <string.h>

enum { V310 = 0x030A, V311, V312, V313, V314 };

static const struct python_layout v310 = {
    .runs = RUNS_PER_FRAME, .thread_frame = 24, .thread_cframe = 48, .cframe_next = 8,
    .frame_next = 24, .frame_code = 32, .frame_at = 96, .frame_counts = true,
    .code_file = 104, .code_name = 112, .code_lines = 120, .code_first_line = 40, .pairs = true,
    .object_type = 8, .bytes_size = 16, .bytes_data = 32, .text_length = 16, .text_state = 32, .text_ascii = 48, .text_compact = 72};

static const struct python_layout v311 = {
    .runs = RUNS_ENTERED, .thread_cframe = 56, .cframe_frame = 8, .cframe_next = 16,
    .frame_next = 48, .frame_code = 32, .frame_at = 56, .frame_owner = 69, .frame_entered = 68,
    .code_file = 112, .code_name = 128, .code_lines = 136, .code_first_line = 72, .code_bytes = 184,
    .object_type = 8, .bytes_size = 16, .bytes_data = 32, .text_length = 16, .text_state = 32, .text_ascii = 48, .text_compact = 72};

static const struct python_layout v312 = {
    .runs = RUNS_SHIMMED, .thread_cframe = 56, .cframe_frame = 0, .cframe_next = 8,
    .frame_next = 8, .frame_code = 0, .frame_at = 56, .frame_owner = 70,
    .code_file = 112, .code_name = 128, .code_lines = 136, .code_first_line = 68, .code_bytes = 192,
    .object_type = 8, .bytes_size = 16, .bytes_data = 32, .text_length = 16, .text_state = 32, .text_ascii = 40, .text_compact = 56};

/* The meaning of each word of the published offsets. 3.14 has three more words for interpreters, two more for frames, and so
 * on. */
struct words {
    uint8_t free_threaded, thread_frame, frame_next, frame_code, frame_at, frame_owner;
    uint8_t code_file, code_name, code_lines, code_first_line, code_bytes;
    uint8_t object_type, bytes_size, bytes_data, text_state, text_length, text_ascii;
};

static const struct words words313 = {2, 23, 29, 30, 31, 33, 35, 37, 38, 39, 43, 45, 65, 66, 68, 69, 70};
static const struct words words314 = {2, 26, 32, 33, 34, 36, 40, 42, 43, 44, 48, 51, 75, 76, 78, 79, 80};

/* None of these structures is larger; a word that is not a plausible offset means that the format is unknown. */
enum { OFFSET_MOST = 4096 };

static bool from_words(const struct words *words, const uint64_t *offset, struct python_layout *layout)
{
    const uint8_t *word = &words->thread_frame;
    for (size_t i = 0; i < sizeof *words - offsetof(struct words, thread_frame); i++)
        if (offset[word[i]] > OFFSET_MOST)
            return false;
#define AT(field) .field = (uint16_t)offset[words->field]
    *layout = (struct python_layout){
        .runs = RUNS_SHIMMED, AT(thread_frame), AT(frame_next), AT(frame_code), AT(frame_at), AT(frame_owner), AT(code_file),
        AT(code_name), AT(code_lines), AT(code_first_line), AT(code_bytes), AT(object_type), AT(bytes_size), AT(bytes_data),
        AT(text_state), AT(text_length), AT(text_ascii)};
#undef AT
    layout->text_compact = (uint16_t)(layout->text_ascii + 2 * sizeof(void *)); /* after a length and a pointer */
    return true;
}

static bool published(uint32_t version, const uint64_t *offset, struct python_layout *layout)
{
    const struct words *words = version >> 16 == V313 ? &words313 : &words314;
    if (memcmp(offset, "xdebugpy", 8) != 0 || offset[1] >> 16 != version >> 16)
        return false;
    /* Free-threaded 3.14 runs a thread's own copy of the code. */
    if (version >> 16 == V314 && offset[words->free_threaded])
        return false;
    return from_words(words, offset, layout);
}

bool python_layout(uint32_t version, const uint64_t offsets[PYTHON_OFFSETS / 8], struct python_layout *layout)
{
    switch (version >> 16) {
    case V310: *layout = v310; return true;
    case V311: *layout = v311; return true;
    case V312: *layout = v312; return true;
    case V313:
    case V314: return published(version, offsets, layout);
    default: return false;
    }
}
