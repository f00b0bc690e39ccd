/* SPDX-License-Identifier: Apache-2.0 */
/* tail_call.h - a function that replaces one of the C library's and ends with a jump to it, so that the C library sees the
 * program as its caller: what dlsym(RTLD_NEXT, ...) and dlopen("libx.so", ...) find depends on that.
 *
 *     TAIL_CALLER void *dlsym(void *handle, const char *symbol)
 *     {
 *         TAIL_CALL return function(handle, symbol);
 *     }
 *
 * Clang makes any call behind its attribute a jump; gcc makes jumps where it optimises, and where the stack protector is off.
 */
#ifndef CUVMM_TAIL_CALL_H
#define CUVMM_TAIL_CALL_H

#if defined __clang__
#define TAIL_CALLER
#define TAIL_CALL __attribute__((musttail))
#else
#define TAIL_CALLER __attribute__((optimize("O2", "no-stack-protector")))
#define TAIL_CALL
#endif

#endif
