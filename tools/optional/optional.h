/* SPDX-License-Identifier: Apache-2.0 */
/* optional.h - functions of a library that most runs of the command do not need, loaded at the first use.
 *
 *     #define FUNCTIONS(X) X(el_init) X(el_end)
 *     static struct { FUNCTIONS(OPTIONAL_MEMBER) } lib;
 *     static const char *const names[] = {FUNCTIONS(OPTIONAL_NAME)};
 *
 *     optional_load("libedit.so.2", names, 2, &lib)     lib.el_init, lib.el_end
 *
 * libcuvmm-optional.so beside this project's libraries needs them all, so that a package names and brings the right ones; the name of
 * the file is for a command without it, as in tests.
 */
#ifndef CUVMM_TOOLS_OPTIONAL_H
#define CUVMM_TOOLS_OPTIONAL_H

#include <stdbool.h>
#include <stddef.h>

#define OPTIONAL_MEMBER(name) __typeof__(&name) name;
#define OPTIONAL_NAME(name) #name,

/* Fills in count pointers to functions, in the order of their names. False, with nothing filled in, where the library or one of
 * them is missing. */
bool optional_load(const char *file, const char *const *names, size_t count, void *functions);

#endif
