/* SPDX-License-Identifier: Apache-2.0 */
/* abi_parts.h - frees each part of the driver ABI when the library is unloaded, and declares the notes that parts share. */
#ifndef SIM_ABI_PARTS_H
#define SIM_ABI_PARTS_H

#include <stdbool.h>
#include <stdint.h>

/* Before the machine closes: frees the memory that the library itself allocated in it. */
struct vmm_system;
void abi_code_end(struct vmm_system *sys);

/* Reports which kernels were skipped, after the last of them (abi_missing.h). */
void abi_missing_say(void);
void abi_missing_close(void);
void abi_ptx_close(void);
void abi_links_close(void);

void abi_plugins_close(void);
void abi_logs_close(void);
void abi_callbacks_close(void);
void abi_host_close(void);
void abi_code_close(void);
void abi_variable_memory_close(void);
void abi_notes_close(void);

/* ---- notes: what the ABI knows about an object but the engine does not ----
 *
 *     cuStreamCreateWithPriority(S, ..., -3)     notes: S -> {priority -3}
 *     cuStreamGetPriority(S)                     -3
 *
 * The key is the object's value; contexts, streams and events have distinct values, which are never reused. */
struct abi_note {
    unsigned flags;   /* the flags of its creation */
    int priority;     /* of a stream */
    uint64_t limit[16]; /* of a context, by CUlimit: 1 + the value that was set; 0: not set */
    bool shared;     /* of an event: with other processes */
    unsigned cache; /* of a context: the cache configuration that was set */
};

/* Returns a copy of the note; zeros if there is none. */
struct abi_note abi_note_get(uint64_t value);
/* Stores the note of an object, whose value is not 0. False when out of memory. */
bool abi_note_set(uint64_t value, const struct abi_note *note);
void abi_note_drop(uint64_t value);

#endif
