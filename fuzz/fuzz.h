/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - what the fuzz targets share: the room that an input is confined to, its bytes one by one, and findings.
 *
 *   corpus/script/aliases  --.                               a message and abort(): a finding
 *   libFuzzer's bytes      --+->  LLVMFuzzerTestOneInput  -> 0: the input was refused or did something, either is fine
 *                                  in fuzz_room()
 *
 * X_fuzz.c is one target. Linked with libFuzzer it is a fuzzer (`make fuzz TARGET=X`); linked with replay.c it is a test that
 * makes every input of corpus/X once. docs/fuzzing.md says more.
 */
#ifndef CUVMM_FUZZ_H
#define CUVMM_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "vmm.h"

/* Makes the input; always 0. Defined by the target. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The folder that inputs may write in: new, empty, the current one from the first call on, gone when the program ends. The
 * environment's CUVMM_ settings are cleared, and machines that processes share lie in it. Its path is short and absolute. */
const char *fuzz_room(void);

/* Removes everything that lies in the room. */
void fuzz_sweep(void);

/* Says what is wrong and aborts. */
_Noreturn void fuzz_finding(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Is it a code of the rule that the thread's detail names? A finding where not. what: the call. */
void fuzz_answer(vmm_result result, const char *what);

/* ---- an input, byte by byte; past its end all bytes are 0 ---- */

struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
};

uint8_t fuzz_byte(struct fuzz_bytes *bytes);
uint64_t fuzz_word(struct fuzz_bytes *bytes);

/* An input as text: a copy that ends in 0, which stands for nothing in it. Freed by the caller. */
char *fuzz_text(const uint8_t *data, size_t size);

/* A stream that reads the input; NULL where it is empty. */
FILE *fuzz_reading(const uint8_t *data, size_t size);

/* ---- machines with little memory, for inputs that use what they make ---- */

/* Writes the spec that an input's `backend SPEC` line asks for into spec where that is a built-in simulator with options that
 * open nothing, else that of sim:h200x2; either with 64 MiB for each device and node. */
enum { FUZZ_SPEC = 160 };
void fuzz_machine(const char *text, char spec[FUZZ_SPEC]);

#endif
