/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_python.h - the frames of Python of the calling thread, between the native ones.
 *
 *     native                               Python's own list                      kept
 *     binding.so                                                                  binding.so
 *     libpython  cfunction_vectorcall                                             (nothing)
 *     libpython  _PyEval_EvalFrameDefault  grow (pool.py), step (train.py)        grow, step
 *     torch.so   a call back                                                      torch.so
 *     libpython  _PyEval_EvalFrameDefault  <module> (train.py)                    <module>
 *
 * Each run of the interpreter's loop has a variable on the C stack that Python's list of frames goes through, so its address
 * shows to which native frame the run belongs.
 *
 * The interpreter's lock is neither taken nor needed: bindings release it around their calls, and yet the thread's state is found
 * by PyGILState_GetThisThreadState, which may be called without it, and a thread's frames change by that thread alone, which
 * is here. Measured so for PyTorch and cuda.bindings (README.md). Offsets come from the interpreter itself (3.13, 3.14:
 * _PyRuntime.debug_offsets) or from a table by version (3.10 to 3.12). Until several walks have confirmed them, each
 * read first asks the system whether the bytes are mapped.
 */
#ifndef CUVMM_STACKS_PYTHON_H
#define CUVMM_STACKS_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "stacks_module.h"

/* A walk through a thread's list of frames; it begins at the first native frame of an interpreter. */
enum python_state { PYTHON_UNSEEN, PYTHON_WALKING, PYTHON_OVER };

struct python;
struct python_walk {
    enum python_state state;
    const struct python *python;
    uintptr_t frame;  /* the next of Python's frames; 0: no more */
    uintptr_t marker; /* the address on the C stack of the run that the frame belongs to */
    uintptr_t cframe; /* for versions whose runs have a list of their own */
    unsigned steps, given;
    bool checked;     /* each read checks with the system */
};

/* Does this thread's stack contain Python frames? */
enum python_expectation { PYTHON_UNKNOWN, PYTHON_HERE, PYTHON_NOT_HERE };
enum python_expectation python_expected(void);

/* Is the module an interpreter whose frames can be read in this thread? */
bool python_is_interpreter(struct python_walk *walk, const struct module *module);

/* The next Python frame of the native frame that lies from sp to next_sp; 0 if there are no more. */
uint32_t python_next(struct python_walk *walk, uintptr_t sp, uintptr_t next_sp);

/* What a frame is called. The strings last. */
bool python_names(uint32_t frame, const char **file, const char **function, uint32_t *line);

/* Why Python frames are not available in this process, as a clause; NULL if they are, or there is no interpreter. */
const char *python_note(void);

#endif
