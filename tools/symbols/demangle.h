/* SPDX-License-Identifier: Apache-2.0 */
/* demangle.h - names as the source has them.
 *
 *     _ZN4pool4growEm                            pool::grow(unsigned long)
 *     _ZN4pool4grow17h0123456789abcdefE          pool::grow          Rust: without the hash
 *     main                                       main
 *
 * C++'s own library does it (__cxa_demangle of libstdc++ or libc++abi), which is loaded when the first such name comes; where
 * there is none, names stay as they are. So do those of Rust's newer scheme (_R...).
 */
#ifndef CUVMM_TOOLS_DEMANGLE_H
#define CUVMM_TOOLS_DEMANGLE_H

/* A new text, or NULL when memory is out. */
char *demangle(const char *name);

#endif
