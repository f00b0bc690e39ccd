/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - the place of a call in the program: the calling thread's frames outside cuvmm's own library, as a small number.
 *
 *     stack   call_create, cuMemCreate (ours) | grow | main | libc       stacks_here()  ->  17
 *     depot   17: {/srv/pool.so, build 5f3a.., 0x11f5} {/srv/a.out, build 90c1.., 0x1302} {libc.so.6, ...}
 *
 *     stack   cuMemCreate (ours) | binding.so | libpython (12 frames)    stacks_here()  ->  18
 *     depot   18: {binding.so, ...} {"pool.py", line 12, grow} {"train.py", line 40, <module>}
 *
 * Equal stacks have equal numbers for as long as the process lives, so a number is all that an object or a work item keeps. A
 * stack is stored when it is seen for the first time, with the modules that are loaded then: a plugin may be closed before its
 * stack is read. Names, files and lines are resolved outside the process, by the parent (tools/symbols); only Python's are
 * read here, because only this process can.
 *
 * Any thread may call these functions, also in a signal handler and in a forked child, which inherits its parent's stacks.
 * They take no lock, use no heap and call no code of the program. A capture that finds its stack in the depot costs
 * well under a microsecond (README.md has figures).
 *
 * If Python is among the callers, the native frames before its first frame take at most half of the room, however many there are.
 *
 * CUVMM_CHECK_STACKS in the environment sets how many frames are kept: "none", "short" (8) or "full" (64). Without it none.
 */
#ifndef CUVMM_STACKS_H
#define CUVMM_STACKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum stacks_mode { STACKS_NONE, STACKS_SHORT, STACKS_FULL };
enum { STACKS_SHORT_MOST = 8, STACKS_MOST = 64 };

/* One frame. A frame of Python has python, function and line; any other has module, build and offset. The strings last as long
 * as the process. */
struct stacks_frame {
    const char *module;   /* the file's absolute path as it was loaded; "[vdso]"; "" for code without a file, whose offset
                             is its address; NULL for a Python frame */
    const char *build;    /* its build id in hexadecimal digits, "" if it has none */
    uint64_t offset;      /* the address of the call in the file, as addr2line expects it, even for programs at fixed addresses */
    const char *python;   /* the source file as Python knows it, UTF-8 */
    const char *function; /* the qualified name, if the version has one */
    uint32_t line;        /* 0 if it is unknown */
};

/* The calling thread's stack; 0 if stacks are off, the depot is full, or no frame lies outside this library. */
uint32_t stacks_here(void);

/* Writes up to `most` frames of a stack, innermost first. Returns how many it wrote: 0 for stack 0. */
unsigned stacks_frames(uint32_t stack, struct stacks_frame *frames, unsigned most);

/* Stores a stack under a number of the caller's choice, for things that outlive the object that would hold it, such as an
 * exported descriptor. The first one stays. Returns 0 if none was stored. */
void stacks_keep(uint64_t key, uint32_t stack);
uint32_t stacks_kept(uint64_t key);

/* Reads the environment at its first call. stacks_set is for tests, and for libraries that decide otherwise. */
enum stacks_mode stacks_mode(void);
void stacks_set(enum stacks_mode mode);

/* May stacks_here give a stack? Costs one load. */
extern _Atomic int stacks_setting; /* enum stacks_mode; -1: the environment has not been read */
static inline bool stacks_wanted(void)
{
    return atomic_load_explicit(&stacks_setting, memory_order_relaxed) != STACKS_NONE;
}

/* What should be reported once about the stacks of this process, as a clause in English: that the depot is full, or why
 * Python frames are not available. NULL if there is nothing. Ask at the end. */
const char *stacks_note(void);

#endif
