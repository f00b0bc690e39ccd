/* SPDX-License-Identifier: Apache-2.0 */
/* os_wasm.h - the substitute for an operating system in a WebAssembly module, for the files that implement os.h and
 * its parts there.
 *
 *   the page, or node     print, clock, random, ended          imported, and nothing else
 *   this module           files and folders in its memory      memory_files_wasm.h
 *                         addresses of the host as a table     below; 64-bit ones, of which the module itself can reach none
 *
 * One thread, one process: functions that need another one fail as if the system refused it.
 */
#ifndef SIM_OS_WASM_H
#define SIM_OS_WASM_H

#include "memory_files_wasm.h"

/* The files of this module, including those from the page. */
struct memory_files *os_files(void);

/* ---- imports ---- */

#define OS_IMPORT(name) __attribute__((import_module("cuvmm"), import_name(name)))

/* stream is 1 or 2; the bytes may end inside a character. */
OS_IMPORT("print") void os_import_print(int stream, const void *bytes, size_t length);
/* Nanoseconds: since an arbitrary moment, or since 1970 with real. */
OS_IMPORT("clock") double os_import_clock(int real);
OS_IMPORT("random") void os_import_random(void *bytes, size_t length);
/* The module has ended and must not be called again. Does not return. */
OS_IMPORT("ended") _Noreturn void os_import_ended(int status);

/* ---- addresses of the host ---- */

/* The byte at an address that os_map_fixed has mapped with this right; NULL if a program's access would raise SIGSEGV. */
unsigned char *os_host_byte(uint64_t address, bool write);

#endif
