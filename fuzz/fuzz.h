/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - what the fuzz targets share: the folder that confines an input, its bytes one by one, and findings.
 *
 *   corpus/script/aliases  --.                               a message and abort(): a finding
 *   libFuzzer's bytes      --+->  LLVMFuzzerTestOneInput  -> 0: the input was refused or accepted, either is fine
 *                                  in fuzz_room()
 *
 * X_fuzz.c is one target. Linked with libFuzzer it is a fuzzer (`make fuzz TARGET=X`); linked with replay.c it is a
 * test that runs every input of corpus/X once. See docs/fuzzing.md.
 */
#ifndef CUVMM_FUZZ_H
#define CUVMM_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "vmm.h"

/* Runs the input; always returns 0. Defined by the target. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The folder that inputs may write in: new, empty, the working directory from the first call on, removed when the
 * program ends. The environment's CUVMM_ settings are cleared, and shared machines lie in it. Its path is short and
 * absolute. */
const char *fuzz_room(void);

/* Removes everything that lies in the room. */
void fuzz_sweep(void);

/* Prints what is wrong and aborts. */
_Noreturn void fuzz_finding(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Checks a call's result: it is a finding unless the rule of the thread's detail may return that code. what names the call. */
void fuzz_answer(vmm_result result, const char *what);

/* ---- an input, byte by byte; past its end all bytes are 0 ---- */

struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
};

uint8_t fuzz_byte(struct fuzz_bytes *bytes);
uint64_t fuzz_word(struct fuzz_bytes *bytes);

/* An input as text: a zero-terminated copy without zeros inside. The caller frees it. */
char *fuzz_text(const uint8_t *data, size_t size);

/* A stream that reads the input; NULL where it is empty. */
FILE *fuzz_reading(const uint8_t *data, size_t size);

/* ---- machines with little memory, for inputs that use what they make ---- */

/* Writes the spec of an input's `backend SPEC` line into spec if that is a built-in simulator with options that open
 * nothing, else sim:h200x2; either with 64 MiB for each device and node. */
enum { FUZZ_SPEC = 160 };
void fuzz_machine(const char *text, char spec[FUZZ_SPEC]);

#endif
