/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_layout.h - where CPython 3.10 to 3.14 keeps the parts of a frame, as offsets in its structures.
 *
 *     3.10 .. 3.12   a table, from the headers of each version (64-bit builds)
 *     3.13, 3.14     what the interpreter publishes at the start of _PyRuntime
 *     others         none
 */
#ifndef CUVMM_STACKS_LAYOUT_H
#define CUVMM_STACKS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* How the runs of the interpreter's loop are found on the C stack. */
enum python_runs {
    RUNS_PER_FRAME, /* 3.10: the thread's list of runs has one for each frame */
    RUNS_ENTERED,   /* 3.11: the same list; a frame says whether its run began with it */
    RUNS_SHIMMED    /* later: the list of frames has one on the C stack below the frames of a run */
};

struct python_layout {
    enum python_runs runs;
    uint16_t thread_frame;              /* the first frame; unused with thread_cframe */
    uint16_t thread_cframe;             /* the first run; 0: threads have no list of runs */
    uint16_t cframe_frame, cframe_next; /* of a run: its first frame, and the run before it */
    uint16_t frame_next, frame_code, frame_at, frame_owner, frame_entered;
    uint16_t code_file, code_name, code_lines, code_first_line, code_bytes;
    uint16_t object_type;
    uint16_t bytes_size, bytes_data;
    uint16_t text_length, text_state, text_ascii, text_compact; /* the last two: where characters begin */
    bool frame_counts; /* frame_at is a 32-bit number of code units, not an address */
    bool pairs;        /* lines are in the format of 3.10 */
};

/* The layout of a version, given as PY_VERSION_HEX. offsets: readable bytes at the start of _PyRuntime, for versions that
 * publish theirs there. False: none is known. */
enum { PYTHON_OFFSETS = 88 * 8 };
bool python_layout(uint32_t version, const uint64_t offsets[PYTHON_OFFSETS / 8], struct python_layout *layout);

#endif
