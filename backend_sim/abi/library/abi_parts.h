/* SPDX-License-Identifier: Apache-2.0 */
/* abi_parts.h - what each part of the face gives back when the library goes, and the notes that parts share. */
#ifndef SIM_ABI_PARTS_H
#define SIM_ABI_PARTS_H

#include <stdbool.h>
#include <stdint.h>

void abi_plugins_close(void);
void abi_logs_close(void);
void abi_callbacks_close(void);
void abi_host_close(void);
void abi_code_close(void);
void abi_captures_close(void);
void abi_notes_close(void);

/* ---- notes: what the ABI knows of a thing and the engine does not ----
 *
 *     cuStreamCreateWithPriority(S, ..., -3)     notes: S -> {priority -3}
 *     cuStreamGetPriority(S)                     -3
 *
 * By value; contexts, streams and events have values of their own, which are not used twice. */
struct abi_note {
    unsigned flags;   /* as it was created */
    int priority;     /* of a stream */
    double recorded;  /* of an event: when, in milliseconds; 0 before */
    uint64_t limit[16]; /* of a context, by CUlimit: 1 + what was set; 0: not set */
    unsigned capture, capture_mode; /* of a stream: CUstreamCaptureStatus, and how it was begun */
    uint64_t capture_thread;        /* by whom */
    unsigned cache; /* of a context: what was set */
};

/* The note of value, a copy; zeros when there is none. */
struct abi_note abi_note_get(uint64_t value);
/* Keeps it. False when memory is out. */
bool abi_note_set(uint64_t value, const struct abi_note *note);
void abi_note_drop(uint64_t value);

#endif
